"""Defects that calibration libraries have shipped, D1 to D26 of our list of them, as tests.

Each test says what the other library did. Numbers are worked out by hand where that is possible.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import trueup as tu
from trueup.lens import Pairs

NOT_HERE = {
    "D9": "confidence intervals, later",
    "D21": "recalibration, later",
    "D23": "recalibration, later",
    "D24": "packaging: tests/package/test_install.py",
    "D26": "consistency test, later",
}


def overconfident(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores above 0.5 whose rate of positives is lower, and wavy."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.5, 1, n)
    return p, (rng.random(n) < p - 0.1 - 0.08 * np.sin(40 * p)).astype(int)


def inner_edges(binning: object, p: object) -> np.ndarray:
    scores = np.asarray(p, float)
    return binning.inner_edges(Pairs(scores, np.zeros(len(scores), int), None))


def test_every_defect_is_tested_or_listed() -> None:
    named = {name for name in vars(sys.modules[__name__]) if name.startswith("test_d")}
    tested = {f"D{int(name[6:8])}" for name in named}
    assert tested | set(NOT_HERE) == {f"D{i}" for i in range(1, 27)}
    assert not tested & set(NOT_HERE)


def test_d01_score_of_one_has_no_phantom_bin() -> None:
    """torchmetrics, relplot, uncertainty-metrics: 1.0 fell in an eleventh bin, 0.525."""
    error = tu.BinnedError(binning=tu.EqualWidth(10))
    assert tu.ece([0.95, 1.0], [1, 0], n_bins=10) == pytest.approx(0.475, abs=1e-15)
    table = error.table([0.95, 1.0], [1, 0])
    assert table.n_bins == 10
    assert table.count.tolist() == [0] * 9 + [2]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_d02_sums_do_not_saturate(kind: type[np.floating]) -> None:
    """torchmetrics: float32 sums, 0.0164 for 0.05 at n = 4·10^6 and 0.0 at 1.7·10^7."""
    n = 2_000_000
    p, y = np.full(n, 0.95, kind), np.ones(n, np.uint8)
    assert tu.ece(p, y) == pytest.approx(1 - float(kind(0.95)), abs=1e-10)
    assert tu.rmsce(p, y) == pytest.approx(1 - float(kind(0.95)), abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("metric", [tu.ece, tu.ece_debiased, tu.ece_sweep])
def test_d02_a_hundred_million_constant_scores(metric: object, kind: type[np.floating]) -> None:
    """The same at 10^8 rows, to 1e-10."""
    n = 10**8
    p, y = np.full(n, 0.95, kind), np.ones(n, bool)
    assert metric(p, y) == pytest.approx(1 - float(kind(0.95)), abs=1e-10)


def test_d03_logits_are_never_guessed() -> None:
    """torchmetrics: one p of 1.0000001 and a sigmoid went over everything, 0.3835 for 0.1667."""
    with pytest.raises(tu.InputError, match=r"^`probs` must be between 0 and 1; got 1\.0000001 in"):
        tu.ece([0.5, 0.6, 1.0000001], [0, 1, 1])
    logits = np.array([0.0, 0.25, 0.5, 1.0])
    labels = [0, 1, 0, 1]
    said = tu.Forecasts.from_arrays(logits, labels, logits=True)
    assert tu.ece(said) == pytest.approx(tu.ece(1 / (1 + np.exp(-logits)), labels), abs=1e-15)
    assert tu.ece(said) != pytest.approx(tu.ece(logits, labels), abs=1e-3)


def test_d04_ten_bins_are_ten_and_one_is_one() -> None:
    """MAPIE: `linspace(0, 1, n)` made n − 1 bins, and NaN of one."""
    p, y = overconfident(4, 400)
    assert tu.BinnedError(binning=tu.EqualWidth(10)).table(p, y).n_bins == 10
    assert tu.BinnedError(binning=tu.EqualMass(10)).table(p, y).n_bins == 10
    assert tu.ece(p, y, n_bins=10) != pytest.approx(tu.ece(p, y, n_bins=9), abs=1e-6)
    assert tu.ece(p, y, n_bins=1) == pytest.approx(abs(p.mean() - y.mean()), abs=1e-15)


@pytest.mark.parametrize("metric", [tu.ece_debiased, tu.rmsce_debiased, tu.ece_sweep])
def test_d05_equal_mass_bins_are_of_sorted_scores(metric: object) -> None:
    """MAPIE: "array split" cut rows in the order given, 0.0051 for 0.0289."""
    p, y = overconfident(5, 1000)
    order = np.argsort(p)
    assert metric(p, y) == pytest.approx(metric(p[order], y[order]), abs=1e-14)
    fifths = np.split(order, 5)
    exact = sum(abs(p[rows].mean() - y[rows].mean()) for rows in fifths) / 5
    assert tu.BinnedError(binning=tu.EqualMass(5))(p, y) == pytest.approx(exact, abs=1e-14)


def test_d06_classes_are_counted_in_columns_not_in_labels() -> None:
    """netcal: three classes with labels in {0, 1} crashed; labels {1, 2} gave an ECE of 1.133."""
    probs = [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]]
    assert tu.ece(probs, [0, 1, 0, 0]) == pytest.approx((0.5 + 0.3 + 0.4 + 0.8) / 4, abs=1e-15)
    with pytest.raises(tu.InputError, match=r"^`labels` must be 0 or 1; got 2 in row 1\."):
        tu.ece([0.3, 0.9, 0.4], [1, 2, 1])


def test_d07_confidence_of_one_dimension_is_that_of_two_columns() -> None:
    """netcal: MMCE took p, not max(p, 1 − p), against "was right"; 0.223 of a calibrated model."""
    rng = np.random.default_rng(7)
    p = rng.integers(0, 257, 4000) / 256
    y = (rng.random(4000) < p).astype(int)
    both = np.column_stack([1 - p, p])
    for kind in (tu.BinnedError, tu.SweepError, tu.MMCE, tu.SmoothError):
        assert kind(tu.lens.TopLabel())(p, y) == kind(tu.lens.TopLabel())(both, y)
    assert tu.BinnedError(tu.lens.TopLabel())(p, y) < 0.03
    assert tu.mmce(both, y) < 0.02  # noise alone has a standard deviation of 0.0065
    assert tu.mmce(p, y) < 0.02


@pytest.mark.parametrize("bad", [float("nan"), 7.0, float("inf"), -0.1])
def test_d08_ties_are_fine_and_nonsense_is_refused(bad: float) -> None:
    """netcal: equal-mass bins crashed on ties; NaN and 7.0 were counted in."""
    assert tu.ece_debiased([0.5] * 6, [0, 1, 1, 0, 1, 0]) == 0
    assert tu.BinnedError(binning=tu.EqualMass(4))([0.9] * 4, [1, 1, 1, 0]) == pytest.approx(0.15)
    with pytest.raises(tu.InputError, match=r"^`probs` must be between 0 and 1; got .* in row 1\."):
        tu.ece([0.2, bad], [0, 1])


def test_d10_labels_of_any_kind_and_missing_classes() -> None:
    """uncertainty-calibration: missing classes, booleans and floats failed; p > 1 did not.

    It also switched to another estimator for rounded scores, without a word.
    """
    probs = np.array([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
    for labels in ([1, 1, 1, 1], [2, 2, 2, 2], [1, 2, 1, 2]):
        assert math.isfinite(tu.marginal_error_debiased(probs, labels))
    p = [0.1, 0.4, 0.8]
    for kind in (bool, np.int8, np.int64, np.float32, float):
        assert tu.ece(p, np.array([0, 1, 1], kind)) == tu.ece(p, [0, 1, 1])
    with pytest.raises(tu.InputError, match=r"^`probs` must be between 0 and 1; got 1\.2 in row 0"):
        tu.marginal_error([[1.2, -0.2]], [0])
    rounded, y = np.round(overconfident(10, 500)[0], 1), overconfident(10, 500)[1]
    nudged = rounded + 1e-9 * (rounded < 1)
    exact = tu.rmsce_debiased(rounded, y)
    assert exact == pytest.approx(tu.rmsce_debiased(nudged, y), abs=1e-8)
    assert exact > 0.05


def test_d11_fewer_bins_than_asked_are_reported() -> None:
    """uncertainty-calibration: 15 bins asked, 90% zeros, 3 bins made, and not a word."""
    p = np.r_[np.zeros(90), np.linspace(0.1, 1, 10)]
    found = tu.BinnedError(binning=tu.EqualMass(15)).measure(p, np.r_[np.zeros(90), np.ones(10)])
    assert found.table.n_bins_requested == found.notes["n_bins_requested"] == 15
    assert found.table.n_bins == found.notes["n_bins"] == len(found.table.count) < 15
    assert found.table.count[0] == 90


def test_d12_shares_are_not_squared() -> None:
    """uncertainty-metrics 0.0.81: RMSCE was Σ (s·e)², 0.00307 for 0.01714."""
    p, y = [0.1] * 4 + [0.9] * 6, [1, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    expected = math.sqrt(0.4 * 0.15**2 + 0.6 * 0.4**2)
    assert tu.rmsce(p, y) == pytest.approx(expected, abs=1e-15)


def test_d13_parts_add_up_to_the_whole() -> None:
    """uncertainty-metrics: `update_state` overwrote, so the last batch was all that counted."""
    p, y = overconfident(13, 1000)
    error = tu.BinnedError()
    total = error.table(p[:500], y[:500]) + error.table(p[500:], y[500:])
    assert total.count.tolist() == error.table(p, y).count.tolist()
    value = float(np.nansum(total.share * np.abs(total.gap)))
    assert value == pytest.approx(tu.ece(p, y), abs=1e-14)


def test_d14_prediction_specific_errors_work() -> None:
    """uncertainty-metrics: the PSCE stopped with an AttributeError of NumPy."""
    probs = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]]
    assert tu.PointwiseError().errors(probs, [0, 2]).shape == (2, 3)
    assert tu.psce(probs, [0, 2]) == pytest.approx(tu.PointwiseError().errors(probs, [0, 2]).mean())


def test_d15_sweep_is_fast_orderless_and_has_classes() -> None:
    """caltrain: 326 s for 4,000 separable rows; ties made the order of rows count; no classes."""
    p = np.linspace(0, 1, 20_000)
    found = tu.SweepError().measure(p, p > 0.5)  # how long it takes: `make bench`
    assert found.notes == {"chosen": 20_000, "n_bins": 20_000}
    rng = np.random.default_rng(15)
    tied = rng.integers(0, 21, 600) / 20
    y = (rng.random(600) < tied).astype(int)
    values = set()
    for _ in range(5):
        order = rng.permutation(600)
        values.add(tu.ece_sweep(tied[order], y[order]))
    assert len(values) == 1
    probs = rng.dirichlet([1, 1, 1], 300)
    labels = rng.integers(0, 3, 300)
    each = [tu.ece_sweep(probs[:, k], labels == k) for k in range(3)]
    assert tu.SweepError(tu.lens.ClassWise())(probs, labels) == pytest.approx(
        np.mean(each), abs=1e-15
    )


def test_d16_largest_score_is_not_a_bin_of_its_own() -> None:
    """robustness_metrics: edges ended at max(p), so 8 swept bins were 9."""
    p, y = overconfident(16, 800)
    found = tu.SweepError().measure(p, y)
    assert found.notes["n_bins"] == found.notes["chosen"] == len(found.table.count)
    assert found.table.count.min() >= 800 // found.notes["chosen"]


@pytest.mark.parametrize("bad", [1.5, float("nan")])
def test_d17_scores_are_checked_and_lists_are_fine(bad: float) -> None:
    """relplot: one 1.5 gave an error of −4.65, NaN gave NaN, and lists a TypeError."""
    for metric in (tu.ece, tu.ece_sweep, tu.rmsce_debiased, tu.brier):
        with pytest.raises(tu.InputError, match=r"in row 2\."):
            metric([0.1, 0.2, bad, 0.3], [0, 1, 1, 0])
        assert metric([0.1, 0.2, 0.3], [0, 1, 1]) == metric(np.array([0.1, 0.2, 0.3]), [0, 1, 1])


def test_d18_fewer_rows_than_bins() -> None:
    """torch-uncertainty: adaptive errors were NaN."""
    probs, labels = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], [0, 1, 1]
    for metric in (tu.ace, tu.tace, tu.sce, tu.marginal_error, tu.marginal_error_debiased):
        assert math.isfinite(metric(probs, labels, n_bins=15))
    each = (0.3 + 0.1 + 0.3) + (0.2 + 0.2 + 0.7) + (0.1 + 0.1 + 0.4)
    assert tu.sce(probs, labels) == pytest.approx(each / 9, abs=1e-15)
    assert tu.ece_debiased([0.4], [1]) == pytest.approx(0.6, abs=1e-15)


def test_d19_uniform_edges_do_not_move_with_the_rows() -> None:
    """Fortuna: thresholds began at 1/n_samples."""
    for n in (1, 99):
        edges = inner_edges(tu.EqualWidth(10), [0.3] * n)
        assert edges.tolist() == [k / 10 for k in range(1, 10)]


def test_d20_edges_are_exact_zero_counts_and_softmax_is_by_row() -> None:
    """NN_calibration, PyCalib: `arange` edges did not meet, 49 bins were 50, 0 was dropped.

    Their softmax subtracted the largest logit of all rows: NaN.
    """
    for b in (20, 49):
        assert tu.BinnedError(binning=tu.EqualWidth(b)).table([0.0, 1.0], [0, 1]).n_bins == b
    assert tu.BinnedError().table([0.0, 0.0, 1.0], [0, 1, 1]).count.sum() == 3
    assert tu.ece([0.0, 0.0], [0, 1]) == 0.5
    far = tu.Forecasts.from_arrays([[1000.0, 1001.0], [0.0, 1.0]], [1, 1], logits=True)
    assert tu.ece(far) == pytest.approx(1 - 1 / (1 + math.exp(-1)), abs=1e-15)


def test_d22_ties_across_quantiles_are_reported() -> None:
    """scikit-learn: a quantile curve of 5 bins came back with 2 points, silently."""
    p = np.r_[np.full(80, 0.2), np.full(20, 0.7)]
    table = tu.BinnedError(binning=tu.EqualMass(5)).table(p, p > 0.5)
    assert (table.n_bins_requested, table.n_bins) == (5, 2)
    assert table.count.tolist() == [80, 20]


def test_d25_perfect_predictions_have_no_error() -> None:
    """pycalib (Wenger): bin midpoints stood for mean confidences; certain and right was not 0."""
    y = np.array([0, 1, 1, 0, 1])
    for metric in (tu.ece, tu.mce, tu.rmsce, tu.ece_sweep, tu.sce, tu.ace, tu.brier):
        assert metric(y.astype(float), y) == 0
    assert tu.ece(np.eye(3), [0, 1, 2]) == 0
