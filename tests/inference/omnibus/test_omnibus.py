"""The omnibus test as a whole, against plain loops over the same drawn labels."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from oracles.inference import omnibus as oracle
from trueup.engines import using
from trueup.engines.draw_keys import binned_limits, class_limits, keys_of, limits_of
from trueup.engines.reference.draws import draw_classes, draw_labels
from trueup.inference.hypothesis_tests.binned_resamples import key_of_powers
from trueup.inference.omnibus.columns import Column, values_of_column
from trueup.inference.omnibus.matrices import draw_together
from trueup.inference.omnibus.omnibus import BLOCKS
from trueup.inference.omnibus.pooled_pvalues import pooled_pvalues
from trueup.inference.omnibus.statistics import NAMES
from trueup.lens import Pairs
from trueup.results import CalibrationTestResult
from trueup.seeds import seed_of

SEED = 11


def omnibus(probs, y, n_resamples=49, **options) -> CalibrationTestResult:
    return tu.calibration_test(
        probs, y, method="omnibus", n_resamples=n_resamples, rng=SEED, **options
    )


def drawn_labels(p, w, n_resamples=49):
    """What the library draws, row by row: in the order of cells, or of rows if weighted."""
    keys = keys_of(seed_of(SEED), n_resamples)
    if w is not None:
        return [1 - draw_classes(limits_of(p)[:, None], key) for key in keys]
    cells = oracle.cells_of(p)
    index = np.empty(len(p), np.int64)
    for number, cell in enumerate(cells):
        index[cell.rows] = number
    limits, place = binned_limits(p, index, len(cells))
    return [draw_labels(limits.limit, key)[place] for key in keys]


def scores_of(kind, n, rng):
    p = rng.random(n)
    if kind == "two decimals":
        return p.round(2)
    if kind == "ties":
        return rng.choice([0.2, 0.5, 0.9], n)
    if kind == "with certain":
        return np.where(p < 0.4, rng.integers(0, 2, n), p)
    return p.astype(np.float32) if kind == "float32" else p


def check(p, y, w=None):
    expected = oracle.binary_pvalue(p, y, drawn_labels(p, w), w)
    found = omnibus(p, y, weights=w)
    assert found.pvalue == pytest.approx(float(expected), abs=1e-12)
    assert list(found.notes["parts"]) == list(NAMES)
    table = np.array(oracle.table_of(p, y, drawn_labels(p, w), w))
    parts = [float(oracle.pooled(column)[0]) for column in table.T]
    assert list(found.notes["parts"].values()) == pytest.approx(parts)


@pytest.mark.parametrize("kind", ["smooth", "two decimals", "ties", "with certain", "float32"])
@pytest.mark.parametrize("n", [1, 2, 30, 100])
def test_pvalue_of_scores_is_that_of_loops(kind, n, each_engine) -> None:
    rng = np.random.default_rng(n)
    p = scores_of(kind, n, rng)
    if ((p == 0) | (p == 1)).all():
        p[0] = 0.3
    check(p, (rng.random(n) < p**1.2).astype(np.int64))


@pytest.mark.parametrize("weights", ["integer", "real"])
@pytest.mark.parametrize("n", [2, 30, 100])
def test_pvalue_with_weights(weights, n, each_engine) -> None:
    rng = np.random.default_rng(n)
    p = scores_of("with certain", n, rng)
    p[0] = 0.4
    w = rng.integers(1, 4, n).astype(float) if weights == "integer" else rng.random(n) + 0.2
    check(p, (rng.random(n) < p).astype(np.int64), w)


@pytest.mark.parametrize("n", [359, 360])
def test_pvalue_where_the_number_of_cells_changes(n) -> None:
    rng = np.random.default_rng(n)
    p = rng.random(n)
    y = rng.random(n) < p
    check(p, y)
    assert omnibus(p, y).pvalue == omnibus(p, y.astype(int)).pvalue  # labels may be bool


def matrix_of(n, n_classes, rng):
    probs = rng.dirichlet(np.full(n_classes, 0.5), n)
    y = np.array([rng.choice(n_classes - 1, p=row[:-1] / row[:-1].sum()) for row in probs])
    return probs, y  # no label of the last class


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "n_classes"), [(60, 2), (60, 3), (30, 10), (5, 1000)])
def test_pvalue_of_a_matrix_is_that_of_loops(n, n_classes, weighted, each_engine) -> None:
    rng = np.random.default_rng(n_classes)
    probs, y = matrix_of(n, n_classes, rng)
    w = rng.random(n) + 0.2 if weighted else None
    draws = 9 if n_classes > 10 else 29
    labels = [draw_classes(class_limits(probs), key) for key in keys_of(seed_of(SEED), draws)]
    found = omnibus(probs, y, draws, weights=w)
    assert found.pvalue == pytest.approx(float(oracle.matrix_pvalue(probs, y, labels, w)))
    assert set(found.notes["blocks"]) == set(BLOCKS)
    assert found.notes["strongest"]["block"] in BLOCKS


def test_labels_are_drawn_in_several_rounds_for_many_places(monkeypatch) -> None:
    probs, y = matrix_of(40, 4, np.random.default_rng(2))
    whole = omnibus(probs, y, 50).pvalue
    monkeypatch.setattr("trueup.inference.drawn_classes.MOST_ENTRIES", 700)
    monkeypatch.setattr("trueup.inference.drawn_classes.FEWEST_DRAWS", 7)
    assert omnibus(probs, y, 50).pvalue == whole


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4, 30])
def test_labels_drawn_together_with_other_statistics_give_the_same(n_classes, logits, kind) -> None:
    probs, y = matrix_of(300, n_classes, np.random.default_rng(n_classes))
    given = (np.log(np.maximum(probs, 1e-300)) if logits else probs).astype(kind)
    estimators = [tu.marginal_error_debiased.estimator(), tu.sce.estimator(n_bins=7)]
    alone = tu.Forecasts.from_arrays(given, y, logits=logits)
    together = tu.Forecasts.from_arrays(given, y, logits=logits)
    keys = keys_of(seed_of(SEED), 49)
    draw_together(together, estimators, keys)
    assert omnibus(together, None) == omnibus(alone, None)
    for each in estimators:
        asked = {"statistic": each, "n_resamples": 49, "rng": SEED}
        kept = vars(together)["_made_once"][key_of_powers(each, keys)]
        assert len(kept) == 50
        assert tu.calibration_test(together, **asked) == tu.calibration_test(alone, **asked)


@pytest.mark.parametrize("size", [53, 45, 30])
def test_certain_forecasts_that_are_right_are_not_rejected(size) -> None:
    n = 1000
    p = np.where(np.arange(n) < 100, 1 - 2.0**-size, 1 - 2.0**-size / 3)
    assert omnibus(p, np.ones(n, int), 99).pvalue == 1
    assert omnibus(1 - p, np.zeros(n, int), 99).pvalue == 1
    w = np.random.default_rng(0).random(n) + 0.1
    assert omnibus(p, np.ones(n, int), 99, weights=w).pvalue == 1
    assert omnibus(np.column_stack([p, 1 - p]), np.zeros(n, int), 99, weights=w).pvalue == 1


def test_certain_forecasts_only() -> None:
    p = np.array([0.0, 1.0, 1.0])
    assert omnibus(p, [0, 1, 1], 99).pvalue == 1
    assert omnibus(p, [1, 1, 1], 99).pvalue == 1 / 100


@pytest.mark.parametrize("factor", [1e-9, 1e9, 1e15])
def test_only_ratios_of_weights_count(factor) -> None:
    rng = np.random.default_rng(8)
    p = np.r_[np.zeros(40), rng.random(60)]
    y = np.r_[np.zeros(40), rng.random(60) < p[40:]].astype(int)
    w = rng.random(100) + 0.1
    assert (
        omnibus(p, y, weights=w * factor).notes["parts"] == omnibus(p, y, weights=w).notes["parts"]
    )


def test_an_impossible_outcome_refutes_the_model() -> None:
    rng = np.random.default_rng(9)
    p = np.r_[np.zeros(100), rng.random(100)]
    y = np.r_[np.zeros(100), rng.random(100) < p[100:]].astype(int)
    check(p, y)
    y[0] = 1
    found = omnibus(p, y)
    assert found.pvalue == 1 / 50
    assert "probability 0" in found.notes["strongest"]["part"]
    matrix = np.column_stack([1 - p, p])
    assert omnibus(matrix, y).pvalue == 1 / 50
    assert omnibus(matrix, y, weights=rng.random(200) + 0.1).pvalue == 1 / 50


def test_the_strongest_range_is_where_the_error_is() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    bad = (p > 0.6) & (p < 0.7)
    y = (rng.random(2000) < np.where(bad, p - 0.3, p)).astype(int)
    strongest = omnibus(p, y, 199).notes["strongest"]
    if strongest["part"] == "range of scores":
        low, high = strongest["scores"]
        assert 0.5 < low < 0.66
        assert 0.65 < high < 0.8
    assert omnibus(p, y, 199).pvalue == 1 / 200


@pytest.mark.parametrize("n_classes", [1, 3])
def test_pvalues_of_calibrated_data_are_uniform(n_classes) -> None:
    pvalues = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        probs = rng.random(60) if n_classes == 1 else rng.dirichlet(np.ones(n_classes), 60)
        upto = 1 - probs[:, None] if n_classes == 1 else np.cumsum(probs, axis=1)[:, :-1]
        y = (rng.random(60)[:, None] >= upto).sum(axis=1)
        found = tu.calibration_test(probs, y, method="omnibus", n_resamples=99, rng=10**6 + seed)
        pvalues.append(found.pvalue)
    ordered = np.sort(pvalues)
    ranks = np.arange(1, 301) / 300
    assert np.abs(ordered - ranks).max() < 0.11  # p-values are hundredths
    for level in (0.05, 0.1, 0.2):
        share = np.mean(ordered <= level)
        assert share <= level + 3.5 * np.sqrt(level * (1 - level) / 300)


def test_both_engines_agree() -> None:
    probs, y = matrix_of(80, 3, np.random.default_rng(6))
    with using("reference"):
        slow = omnibus(probs, y)
    assert slow.pvalue == omnibus(probs, y).pvalue


@pytest.mark.parametrize("kind", ["smooth", "ties", "with certain"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("near_one", [False, True])
def test_data_equal_to_a_draw_rank_with_it(kind, weighted, near_one) -> None:
    rng = np.random.default_rng(4)
    p = scores_of(kind, 100, rng)
    p = 1 - p * 1e-12 if near_one else p
    w = rng.random(100) + 0.2 if weighted else None
    pairs = Pairs(p, drawn_labels(p, w)[20].astype(np.int64), w)
    keys = keys_of(seed_of(SEED), 49)
    pvalues = pooled_pvalues(values_of_column(Column.from_pairs(pairs), pairs, keys))
    assert np.array_equal(pvalues[0], pvalues[21])


@pytest.mark.parametrize("n", [48, 100])
@pytest.mark.parametrize("rare", [1e-9, 2.0**-40])
def test_residuals_that_cancel_do_not_separate_data_from_equal_draws(n, rare) -> None:
    near = rare * np.random.default_rng(1).uniform(0.1, 10, n // 2)
    p = np.r_[near, 1 - near]
    assert omnibus(p, (p > 0.5).astype(np.int64), n_resamples=199).pvalue == 1


@pytest.mark.parametrize("heavy", [1e5, 1e7])
def test_rounding_of_heavy_certain_rows_does_not_separate_data_from_equal_draws(heavy) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        # Only the last label varies, and it is 0 in two of five draws.
        p = np.r_[1 - 10 ** rng.uniform(-15, -12, 3000), 0.6]
        w = np.r_[heavy * rng.uniform(0.5, 2, 3000), rng.uniform(0.5, 2)]
        order = rng.permutation(3001)
        y = (p != 0.6).astype(np.int64)
        assert omnibus(p[order], y[order], n_resamples=99, weights=w[order]).pvalue > 0.2


@pytest.mark.filterwarnings("error")
def test_scores_whose_variance_is_nearly_too_small_for_a_number() -> None:
    p, y = 3e-313 * np.arange(1, 101), np.zeros(100, np.int64)
    assert omnibus(p, y).pvalue == 1
    assert omnibus(p, np.arange(100) == 7).pvalue == 1 / 50
    half = np.random.default_rng(2).random(100)
    with_it = np.column_stack([half, 1 - half, p])
    labels = (np.random.default_rng(3).random(100) > half).astype(np.int64)
    without = np.column_stack([half, 1 - half, np.zeros(100)])
    assert omnibus(with_it, labels).pvalue == omnibus(without, labels).pvalue


def test_ties_at_the_edge_of_a_rounding_stay_ties() -> None:
    near = (13 / 32) ** 2 * (1 + np.array([-3e-16, 0, 3e-16]))
    assert pooled_pvalues(np.r_[1.0, near][:, None])[1:, 0].tolist() == [1, 1, 1]


def test_it_is_the_default() -> None:
    p, y = np.linspace(0.1, 0.9, 60), np.arange(60) % 2
    matrix = np.column_stack([1 - p, p])
    for given, lens in ((p, None), (matrix, None), (matrix, tu.lens.TopLabel())):
        asked = {"statistic": lens, "n_resamples": 99, "rng": 0}
        assert tu.calibration_test(given, y, **asked) == tu.calibration_test(
            given, y, method="omnibus", **asked
        )
    assert tu.calibration_test(p, y, statistic=tu.rmsce_debiased).method == "consistency"


def test_parts_and_the_strongest_of_them_are_named() -> None:
    p, y = np.linspace(0.1, 0.9, 60), np.arange(60) % 2
    found = tu.calibration_test(p, y)
    assert list(found.parts) == list(NAMES)
    assert found.strongest["pvalue"] == min(found.parts.values())
    assert found.parts[found.strongest["part"]] == found.strongest["pvalue"]
    of_matrix = tu.calibration_test(np.column_stack([1 - p, p]), y)
    assert of_matrix.strongest["pvalue"] == min(
        of_matrix.parts[of_matrix.strongest["block"]].values()
    )
    other = tu.calibration_test(p, y, statistic=tu.rmsce_debiased)
    assert other.parts == {}
    assert other.strongest == {}
