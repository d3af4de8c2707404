"""Vaicenavicius et al. 2019, Examples 1 and 3: what each lens can and cannot see.

The datasets are the populations: ten rows for every prediction, with as many of each label as
ten times its probability. Every answer is then a number worked out by hand, met up to the
rounding of float64 sums of up to sixty terms (1e-15).
"""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu

TABLE_1 = [
    ((0.1, 0.3, 0.6), (2, 2, 6)),
    ((0.1, 0.6, 0.3), (0, 7, 3)),
    ((0.3, 0.1, 0.6), (2, 2, 6)),
    ((0.3, 0.6, 0.1), (4, 5, 1)),
    ((0.6, 0.1, 0.3), (7, 0, 3)),
    ((0.6, 0.3, 0.1), (5, 4, 1)),
]
TABLE_2 = [
    ((0.6, 0.1, 0.3), (7, 2, 1)),
    ((0.4, 0.6, 0.0), (3, 5, 2)),
]
BINNINGS = [tu.EqualWidth(15), tu.EqualMass(15), tu.bins.VarianceTree(min_samples=1)]
PARTITIONS = [tu.bins.VarianceTree(min_samples=1), tu.bins.SimplexGrid(10)]
OF_THREE = [*PARTITIONS, tu.bins.SimplexTriangles(10)]
ROUNDING = 1e-15

Table = list[tuple[tuple[float, ...], tuple[int, ...]]]


def population(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Ten rows per prediction, label k as often as ten times its probability."""
    probs = np.repeat([prediction for prediction, _ in table], 10, axis=0)
    labels = [k for _, tenths in table for k, times in enumerate(tenths) for _ in range(times)]
    return probs, np.array(labels)


def weighted_population(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One row per prediction and possible label, weighted by its probability."""
    rows = [(q, k, t / 10) for q, tenths in table for k, t in enumerate(tenths)]
    probs, labels, weights = zip(*rows, strict=True)
    return np.array(probs), np.array(labels), np.array(weights)


@pytest.mark.parametrize("binning", BINNINGS, ids=repr)
@pytest.mark.parametrize("norm", [1, 2, float("inf")])
def test_example_1_is_calibrated_by_top_label_and_by_class(binning: object, norm: float) -> None:
    probs, labels = population(TABLE_1)
    for lens in (
        tu.lens.TopLabel(),
        tu.lens.TopLabelByClass(),
        tu.lens.ClassWise(),
        tu.lens.Pooled(),
        tu.lens.OneVsRest(2),
    ):
        assert tu.BinnedError(lens, binning, norm)(probs, labels) <= ROUNDING


@pytest.mark.parametrize("binning", OF_THREE, ids=repr)
def test_example_1_is_not_calibrated(binning: object) -> None:
    probs, labels = population(TABLE_1)
    canonical = tu.BinnedError(tu.lens.Canonical(), binning)
    found = canonical.measure(probs, labels)
    assert found.table.n_bins == 6
    assert found.table.count.tolist() == [10] * 6
    assert found.value == pytest.approx(0.1, abs=ROUNDING)
    squared = tu.BinnedError(tu.lens.Canonical(), binning, distance="squared")(probs, labels)
    assert squared == pytest.approx(0.02, abs=ROUNDING)
    worst = tu.BinnedError(tu.lens.Canonical(), binning, float("inf"))(probs, labels)
    assert worst == pytest.approx(0.1, abs=ROUNDING)


@pytest.mark.parametrize("binning", PARTITIONS, ids=repr)
def test_example_1_hides_from_ranks_and_from_pairs_of_groups(binning: object) -> None:
    probs, labels = population(TABLE_1)
    for lens in (tu.lens.TopK(k=1), tu.lens.TopK(k=2), tu.lens.Partition(groups=((0, 1), (2,)))):
        assert tu.BinnedError(lens, binning)(probs, labels) <= ROUNDING


@pytest.mark.parametrize("binning", OF_THREE, ids=repr)
@pytest.mark.parametrize(("table", "canonical"), [(TABLE_1, 0.1), (TABLE_2, 0.2)])
def test_weights_make_the_same_population(binning: object, table: Table, canonical: float) -> None:
    probs, labels, weights = weighted_population(table)
    error = tu.BinnedError(tu.lens.Canonical(), binning)
    assert error(probs, labels, weights=weights) == pytest.approx(canonical, abs=ROUNDING)
    assert tu.ece(probs, labels, weights=weights) <= ROUNDING


@pytest.mark.parametrize("binning", BINNINGS, ids=repr)
def test_example_3_top_label_is_calibrated_and_no_class_is(binning: object) -> None:
    probs, labels = population(TABLE_2)
    assert tu.BinnedError(tu.lens.TopLabel(), binning)(probs, labels) <= ROUNDING
    by_class = tu.BinnedError(tu.lens.ClassWise(), binning).measure(probs, labels)
    assert by_class.notes["class_powers"] == pytest.approx([0.1, 0.1, 0.2], abs=ROUNDING)
    assert by_class.value == pytest.approx(0.4 / 3, abs=ROUNDING)
    squared = tu.BinnedError(tu.lens.ClassWise(), binning, norm=2).measure(probs, labels)
    assert squared.pth_power == pytest.approx(0.06 / 3, abs=ROUNDING)
    worst = tu.BinnedError(tu.lens.ClassWise(), binning, float("inf"))(probs, labels)
    assert worst == pytest.approx(0.2, abs=ROUNDING)


@pytest.mark.parametrize("binning", OF_THREE, ids=repr)
def test_example_3_is_not_calibrated(binning: object) -> None:
    probs, labels = population(TABLE_2)
    canonical = tu.BinnedError(tu.lens.Canonical(), binning)
    assert canonical(probs, labels) == pytest.approx(0.2, abs=ROUNDING)
    squared = tu.BinnedError(tu.lens.Canonical(), binning, distance="squared")(probs, labels)
    assert squared == pytest.approx(0.06, abs=ROUNDING)


def test_example_3_given_the_predicted_class() -> None:
    """Confidence 0.6 is right 7 times of 10 for class 0 and 5 of 10 for class 1."""
    assert tu.BinnedError(tu.lens.TopLabelByClass())(*population(TABLE_2)) == pytest.approx(
        0.1, abs=ROUNDING
    )


def test_two_classes_top_label_is_not_the_binary_question() -> None:
    """p = 0.2 with rate 0.3 and p = 0.8 with rate 0.9: confidence 0.8 is right 0.8 of the time."""
    probs, labels = population([((0.8, 0.2), (7, 3)), ((0.2, 0.8), (1, 9))])
    assert tu.ece(probs[:, 1], labels) == pytest.approx(0.1, abs=ROUNDING)
    assert tu.BinnedError(tu.lens.Binary())(probs, labels) == pytest.approx(0.1, abs=ROUNDING)
    assert tu.BinnedError(tu.lens.OneVsRest(1))(probs, labels) == pytest.approx(0.1, abs=ROUNDING)
    assert tu.ece(probs, labels) <= ROUNDING
    assert tu.BinnedError(tu.lens.TopLabel())(probs[:, 1], labels) <= ROUNDING
