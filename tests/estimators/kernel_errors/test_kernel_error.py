"""Kernel errors against their oracle, on data full of traps, and where rounding could hurt."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import trueup as tu
from oracles import kernels, lenses
from support.samples import Sample, binary_samples, draw_binary, draw_matrix, matrix_samples
from trueup.engines import set_threads
from trueup.estimators.kernel_errors.kernel_error import KernelError
from trueup.estimators.kernel_errors.residuals import RowResiduals

FORMS = ("biased", "unbiased", "block")
DISTANCES = {"euclidean": "euclidean", "tv": "total_variation"}
pytestmark = pytest.mark.usefixtures("each_engine")
# Squares of distances below 1e-162 are 0, to the oracle and on a simplex: no such scores here.
squarable = binary_samples.map(lambda s: replace(s, probs=np.where(s.probs < 1e-150, 0, s.probs)))
few = settings(max_examples=max(10, settings.default.max_examples // 3))  # slow oracle


def close(a: float, b: float) -> bool:
    return a == pytest.approx(b, rel=1e-11, abs=1e-13)


def oracle(form, size, points, y, kernel="laplacian", distance="euclidean", bandwidth=None, w=None):
    given_to = (kernel, distance, bandwidth, w)
    if form == "block":
        return kernels.skce_block(points, y, size, *given_to)
    which = kernels.skce_biased if form == "biased" else kernels.skce_unbiased
    return which(points, y, *given_to)


@few
@given(
    squarable,
    st.sampled_from(["laplacian", "gaussian"]),
    st.sampled_from([None, 0.4, 0.01, 1e-12, 1e6]),
    st.integers(2, 7),
)
def test_scores(sample: Sample, kernel: str, bandwidth: float | None, size: int):
    p, y, w = sample.probs, sample.labels, sample.weights
    for form in FORMS:
        found = KernelError(None, kernel, bandwidth, form, block_size=size).measure(p, y, weights=w)
        expected = oracle(form, size, p, y, kernel, bandwidth=bandwidth, w=w)
        assert close(found.value, expected)
        assert found.value == found.pth_power
        assert found.notes["form"] == form
        assert found.notes["bandwidth"] == (bandwidth or kernels.median_bandwidth(p))


@few
@given(
    matrix_samples,
    st.sampled_from(["laplacian", "gaussian"]),
    st.sampled_from(["euclidean", "tv"]),
    st.sampled_from([None, 0.3]),
    st.integers(2, 5),
)
def test_simplexes(sample: Sample, kernel: str, distance: str, bandwidth: float | None, size: int):
    probs, y, w = sample.probs, sample.labels, sample.weights
    k = probs.shape[1]
    induced = [(None, lenses.canonical(probs, y))]
    if k > 2:
        groups = [[0, k - 1], list(range(1, k - 1))]
        induced.append((tu.lens.TopK(2), lenses.top_k(probs, y, 2)))
        induced.append((tu.lens.Partition(groups), lenses.partition(probs, y, groups)))
    for form in FORMS:
        for lens, (points, outcome) in induced:
            estimator = KernelError(
                lens, kernel, bandwidth, form, distance=distance, block_size=size
            )
            expected = oracle(
                form, size, points, outcome, kernel, DISTANCES[distance], bandwidth, w
            )
            assert close(estimator(probs, y, weights=w), expected)


@few
@given(matrix_samples, st.sampled_from(["biased", "unbiased"]))
def test_families_average_their_values(sample: Sample, form: str):
    probs, y, w = sample.probs, sample.labels, sample.weights
    k = probs.shape[1]
    each = [oracle(form, 2, *lenses.one_vs_rest(probs, y, c), w=w) for c in range(k)]
    found = KernelError(tu.lens.ClassWise(), form=form).measure(probs, y, weights=w)
    assert close(found.value, math.fsum(each) / k)
    assert all(map(close, found.notes["class_errors"].values(), each))
    shares = np.arange(1, k + 1) / (k * (k + 1) / 2)
    weighted = KernelError(tu.lens.ClassWise(list(range(1, k + 1))), form=form)
    assert close(weighted(probs, y, weights=w), float(shares @ each))
    top = KernelError(tu.lens.TopLabel(), form=form)(probs, y, weights=w)
    assert close(top, oracle(form, 2, *lenses.top_label(probs, y), w=w))


@few
@given(squarable, st.sampled_from(FORMS))
def test_two_columns_are_twice_the_scores(sample: Sample, form: str):
    p, y, w = sample.probs, sample.labels, sample.weights
    columns = np.column_stack([1 - p, p])
    for bandwidth in (None, 0.3):
        for distance, scale in (("euclidean", math.sqrt(2)), ("tv", 1.0)):
            both = KernelError(
                tu.lens.Canonical(), bandwidth=bandwidth, form=form, distance=distance
            )
            found = both.measure(columns, y, weights=w)
            narrow = found.notes["bandwidth"] / scale
            scores = KernelError(tu.lens.Binary(), bandwidth=narrow, form=form)
            twice = 2 * scores(p, y, weights=w)
            assert found.value == pytest.approx(twice, rel=1e-11, abs=1e-13)


@given(squarable, st.integers(0, 10**6))
def test_soft_labels(sample: Sample, seed: int):
    p, w = sample.probs, sample.weights
    y = np.random.default_rng(seed).random(len(p))
    data = tu.Forecasts.from_arrays(p, y, weights=w, soft_labels=True)
    for form in FORMS:
        assert close(KernelError(form=form)(data), oracle(form, 2, p, y, w=w))
    hard = tu.Forecasts.from_arrays(p, sample.labels.astype(float), weights=w, soft_labels=True)
    assert close(KernelError()(hard), KernelError()(p, sample.labels, weights=w))


def test_one_row_has_no_pair():
    for probs in ([0.7], [[0.1, 0.2, 0.7]]):
        for form in ("unbiased", "block"):
            found = KernelError(form=form).measure(probs, [1])
            assert found.value == 0.0
            assert found.notes == {"bandwidth": 1.0, "form": form, "pairs": 0}
    assert KernelError(form="biased")([0.7], [1]) == pytest.approx(0.09)
    assert KernelError(form="biased")([[0.1, 0.2, 0.7]], [1]) == pytest.approx(1.14)
    assert KernelError(form="block", block_size=4).measure([0.1, 0.2], [0, 1]).notes["pairs"] == 0


def _half_sum(away: np.ndarray) -> np.ndarray:
    return np.abs(away).sum(-1) / 2


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_thousand_classes(distance: str):
    sample = draw_matrix(5, 9, 1000, "near_one")
    for form in FORMS:
        estimator = KernelError(form=form, distance=distance)
        expected = oracle(form, 2, sample.probs, sample.labels, distance=DISTANCES[distance])
        assert close(estimator(sample.probs, sample.labels), expected)
    many = draw_matrix(5, 300, 1000, "near_one")  # two blocks
    points, residual = many.probs, many.probs - np.eye(1000)[many.labels]
    norm = (lambda x: np.sqrt((x**2).sum(-1))) if distance == "euclidean" else _half_sum
    length = np.stack([norm(points - point) for point in points])
    h = np.exp(-length / 0.5) * (residual @ residual.T)
    found = KernelError(bandwidth=0.5, distance=distance)(many.probs, many.labels)
    assert close(found, (h.sum() - np.trace(h)) / (300 * 299))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-9])
def test_rows_that_nearly_agree_keep_their_distance(distance: str, gap: float):
    """From |a|² + |b|² − 2ab a distance of 1e-9 would be lost: anything from 0 to 1e-8."""
    rng = np.random.default_rng(3)
    moved = rng.integers(0, 8, 600) * gap
    points = np.tile([0.7, 0.2, 0.1], (600, 1)) + np.outer(moved, [1, -1, 0])
    y = rng.integers(0, 3, 600)
    for bandwidth in (gap, 0.5):
        ours = KernelError(bandwidth=bandwidth, distance=distance)(points[:40], y[:40])
        expected = oracle(
            "unbiased", 2, points[:40], y[:40], "laplacian", DISTANCES[distance], bandwidth
        )
        assert abs(ours - expected) < 1e-15 + 1e-13 * abs(expected)
        length = np.abs(moved[:, None] - moved) * (math.sqrt(2) if distance == "euclidean" else 1)
        residual = points - np.eye(3)[y]
        h = np.exp(-length / bandwidth) * (residual @ residual.T)
        ours = KernelError(bandwidth=bandwidth, distance=distance)(points, y)
        # the points themselves are rounded to 1e-16, which is 1e-7 of the smallest gap
        assert abs(ours - (h.sum() - np.trace(h)) / (600 * 599)) < 1e-10 + 4e-16 / bandwidth


@pytest.mark.parametrize("kind", ["near_one", "certain", "smooth", "rounded"])
def test_no_digits_are_lost_against_the_diagonal(kind: str):
    sample = draw_binary(11, 150, kind)
    p, y = sample.probs, sample.labels
    diagonal = math.fsum((p - y) ** 2) / 150
    for bandwidth in (1e-12, 1e-3, 0.4):
        for form in ("biased", "unbiased"):
            ours = KernelError(bandwidth=bandwidth, form=form)(p, y)
            expected = oracle(form, 2, p, y, bandwidth=bandwidth)
            assert abs(ours - expected) <= 1e-14 * diagonal


def test_ties_near_one_are_exact():
    """A million sure predictions: Σ(p−y) from n·p − Σy would keep four digits."""
    p, wrong, right = 1 - 1e-12, 3, 999_997
    y = np.r_[np.zeros(wrong), np.ones(right)].astype(int)
    q, m = Fraction(p), Fraction(wrong + right)
    within = wrong * (wrong - 1) * q**2 + right * (right - 1) * (1 - q) ** 2
    exact = (within - 2 * wrong * right * q * (1 - q)) / (m * (m - 1))
    ours = KernelError()(np.full(wrong + right, p), y)
    assert ours == pytest.approx(float(exact), rel=1e-13)
    biased = KernelError(form="biased")(np.full(wrong + right, p), y)
    gap = (wrong * q - right * (1 - q)) / m
    assert biased == pytest.approx(float(gap**2), rel=1e-13)


def test_uneven_and_huge_weights():
    p, y = np.array([0.2, 0.2, 0.6]), np.array([0, 1, 1])
    for w in ([1e9, 1, 1], [1, 1e9, 1e-9], [1e-150, 2e-150, 3e-150], [1e150, 2e150, 1e150]):
        exact = [Fraction(x) for x in w]
        h = np.array(kernels.kernel_terms(p, y, bandwidth=0.4))
        off = [(i, j) for i in range(3) for j in range(3) if i != j]
        top = sum(exact[i] * exact[j] * Fraction(h[i][j]) for i, j in off)
        expected = float(top / sum(exact[i] * exact[j] for i, j in off))
        assert KernelError(bandwidth=0.4)(p, y, weights=w) == pytest.approx(expected, rel=1e-12)
        rows = np.column_stack([1 - p, p])
        for form in ("unbiased", "block"):
            found = KernelError(bandwidth=0.4, form=form, distance="tv", block_size=3)
            assert found(rows, y, weights=w) == pytest.approx(2 * expected, rel=1e-12)


@pytest.mark.parametrize("weighting", ["none", "eighths"])
@pytest.mark.parametrize("kind", ["smooth", "rounded", "coarse"])
def test_the_order_of_rows_changes_nothing_but_blocks(kind: str, weighting: str):
    order = np.random.default_rng(0).permutation(3000)
    for sample in (
        draw_binary(4, 3000, kind, weighting),
        draw_matrix(4, 3000, 5, kind, weighting),
    ):
        w = sample.weights
        for form in ("biased", "unbiased"):
            one = KernelError(form=form).measure(sample.probs, sample.labels, weights=w)
            other = KernelError(form=form).measure(
                sample.probs[order],
                sample.labels[order],
                weights=None if w is None else w[order],
            )
            assert one.notes == other.notes
            assert one.value == pytest.approx(other.value, rel=1e-12, abs=1e-16)
            if sample.probs.ndim == 1:
                assert one.value == other.value


def test_single_precision_is_only_rounded_once():
    sample = draw_binary(8, 500, "smooth")
    p = sample.probs.astype(np.float32)
    for form in FORMS:
        estimator = KernelError(form=form)
        assert estimator(p, sample.labels) == estimator(p.astype(np.float64), sample.labels)


def test_threads_change_no_bit(monkeypatch):
    scores, rows = draw_binary(7, 200_000, "smooth"), draw_matrix(7, 1500, 4, "smooth", "eighths")
    few_scores = draw_binary(7, 2000, "smooth")
    monkeypatch.setattr("trueup.estimators.kernel_errors.residuals.HELD_ENTRIES", 5000)
    held = RowResiduals.of_cells(
        tu.lens.Canonical().cells(tu.Forecasts.from_arrays(rows.probs, rows.labels))
    )
    assert held.read(slice(3))[0].base is None  # read again: no view of a matrix that is kept
    calls = [
        (KernelError(), scores),
        (KernelError(form="block", block_size=3), scores),
        (KernelError(kernel="gaussian"), few_scores),
        *((KernelError(distance=d, form=f), rows) for d in DISTANCES for f in FORMS),
    ]
    for estimator, sample in calls:
        values = []
        for threads in (1, 2, 3):
            set_threads(threads)
            try:
                values.append(estimator(sample.probs, sample.labels, weights=sample.weights))
            finally:
                set_threads(None)
        assert values[0] == values[1] == values[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lens": tu.lens.Binary}, "`lens` must be a lens"),
        ({"kernel": "cubic"}, '`kernel` must be "laplacian" or "gaussian"'),
        ({"bandwidth": 0}, "`bandwidth` must be a finite number above 0, or None"),
        ({"bandwidth": math.inf}, "`bandwidth` must be a finite number above 0, or None"),
        ({"bandwidth": "median"}, "`bandwidth` must be a finite number above 0, or None"),
        ({"form": "linear"}, '`form` must be "biased", "unbiased" or "block"'),
        ({"distance": "l1"}, '`distance` must be "euclidean" or "tv"'),
        ({"block_size": 1}, "`block_size` must be a whole number of at least 2"),
        ({"lens": tu.lens.Pooled()}, '`form` must be "biased" for Pooled'),
    ],
)
def test_refusals(change, message):
    with pytest.raises(tu.InputError, match=message):
        KernelError(**change)
    assert repr(KernelError()) == (
        "KernelError(lens=None, kernel='laplacian', bandwidth=None, form='unbiased')"
    )
