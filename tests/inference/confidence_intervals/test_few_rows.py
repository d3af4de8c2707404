"""Few rows and certain predictions: no interval claims more than such data can show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import trueup as tu
from trueup.estimators.base import known_estimator

rng = np.random.default_rng(0)
P = rng.random(120)
Y = (rng.random(120) < P).astype(int)


@pytest.mark.parametrize("metric", [tu.ks_error, tu.smooth_ece, tu.psce, tu.brier, tu.mmce])
def test_one_row_or_one_cluster_tells_nothing(metric: Callable[..., float]) -> None:
    for probs, labels, clusters in (([0.3], [1], None), (P, Y, np.zeros(120))):
        data = tu.Forecasts.from_arrays(probs, labels, clusters=clusters)
        for method in ("auto", "percentile", "basic", "bca"):
            found = tu.interval(metric, data, method=method, rng=0)
            assert (found.low, found.high) == (0, 1)
            assert found.estimate == metric(data)
            assert found.notes["single_unit"].startswith("one row" if clusters is None else "one")
    assert "single_unit" not in tu.interval(metric, P, Y, n_resamples=39, rng=0).notes


def test_ends_are_values_that_there_can_be() -> None:
    for n in (1, 2, 3, 5):
        for metric in (tu.brier, tu.ks_error, tu.ece_kde, tu.skce):
            found = tu.interval(metric, P[:n], 1 - Y[:n], method="basic", n_resamples=39, rng=0)
            assert -1 <= found.low <= found.high <= 1
    three = np.full((1, 3), 1 / 3)
    assert tu.interval(tu.brier, three, [0]).high == 2
    assert tu.interval(tu.log_loss, three, [0]).high == np.inf


@pytest.mark.parametrize("name", [name for name in tu.metrics.__all__ if name != "mmce"])
@pytest.mark.parametrize("shape", ["scores", "classes"])
def test_possible_values_hold_the_worst(name: str, shape: str) -> None:
    """Certain and wrong, right and flat predictions of every metric are inside the range."""
    if shape == "classes" and name in ("ici", "e50", "e90"):
        pytest.skip("for scores alone")
    metric = getattr(tu, name)
    if shape == "scores":
        probs, labels = np.array([0.0, 1.0, 0.0, 1.0]), [np.array([1, 0, 1, 0])]
    else:
        probs, labels = np.eye(3)[[0, 1, 2, 0]], [np.array([1, 2, 0, 2])]
    labels.append(1 - labels[0] if shape == "scores" else np.array([0, 1, 2, 0]))
    for label in labels:
        data = tu.Forecasts.from_arrays(probs, label)
        low, high = known_estimator(metric).bounds(data)
        assert low <= metric(data) <= high


def test_a_few_rows_that_agree_show_no_difference() -> None:
    for n in range(1, 6):
        found = tu.compare([0.1] * n, [0.9] * n, [1] * n, rng=0)
        assert found.pvalue >= 2 ** (1 - n)
        assert (found.interval.low, found.interval.high) == (-1, 1)
        assert found.text.startswith("No difference in calibration was detected")
    clear = tu.compare([0.1] * 6, [0.9] * 6, [1] * 6, rng=0)
    assert clear.pvalue <= 0.05
    assert clear.interval.low > 0


def test_a_few_clusters_that_agree_show_no_difference() -> None:
    models = [tu.Forecasts.from_arrays(p, Y, clusters=np.arange(120) % 3) for p in (1 - P, P)]
    found = tu.compare(*models, n_resamples=99, rng=0)
    assert found.pvalue >= 0.25
    assert found.first_test.pvalue >= 0.125
    assert (found.interval.low, found.interval.high) == (-1, 1)


def test_certain_predictions_are_compared() -> None:
    """Equal-mass bins of many zeros have one of zeros alone, which resamples keep."""
    wrong = np.where(np.arange(120) < 40, 0.0, P)
    found = tu.compare(wrong, P, Y, n_resamples=99, rng=0)
    assert found.difference == tu.rmsce_debiased(wrong, Y) - tu.rmsce_debiased(P, Y)
    assert found.interval.low <= found.difference <= found.interval.high
    shares = tu.BinnedError(binning=tu.EqualMass(15), equal_shares=True)
    few = np.round(P, 1)
    same = tu.compare(few, few**2, Y, estimator=shares, n_resamples=99, rng=0)
    width = same.interval.high - same.interval.low
    assert width < 0.2  # of errors of about 0.1: shares are those of the bins asked for


@pytest.mark.parametrize("method", ["skce", "skce-block", "tcal", "ks", "spiegelhalter"])
def test_certain_predictions_that_are_wrong_are_refuted(method: str) -> None:
    """Errors to both sides, which cancel in a sum over pairs."""
    for probs in (np.array([0.0, 1.0]), np.eye(2)):
        found = tu.calibration_test(probs, [1, 0], method=method, n_resamples=99, rng=0)
        assert found.pvalue == 0.01
