"""Two regions, overconfident and underconfident, that cancel: detected and recalibrated."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.local.local_error import LocalError
from trueup.local.named_metrics import lce, mlce
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.local_calibration import LocalCalibration
from trueup.recalibrate.scaling.temperature import TemperatureScaling

BY = 0.2


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of three classes, labels, and features of which the first tells the region."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2))
    top = rng.uniform(0.6, 0.8, n)
    right = rng.random(n) < top + np.where(x[:, 0] < 0, BY, -BY)
    predicted = rng.integers(0, 3, n)
    probs = np.repeat(((1 - top) / 2)[:, None], 3, axis=1)
    probs[np.arange(n), predicted] = top
    labels = np.where(right, predicted, (predicted + rng.integers(1, 3, n)) % 3)
    return probs, labels, x


@pytest.fixture(scope="module")
def data() -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    return draw(20_000, 0), draw(20_000, 1)


def test_it_is_there_and_bins_do_not_see_it(data) -> None:
    probs, labels, x = data[0]
    assert tu.ece(probs, labels) < 0.01
    assert tu.mce(probs, labels) < 0.02
    assert mlce(probs, labels, x) > 0.85 * BY
    assert np.mean(lce(probs, labels, x)) > 0.7 * BY
    # features that say nothing about the region find nothing
    noise = np.random.default_rng(2).normal(size=(len(x), 2))
    assert np.mean(lce(probs, labels, noise)) < 0.25 * BY


def test_the_landscape_shows_both_regions(data) -> None:
    table = LocalError().table(*data[0])
    left, right = table["x1"] < -0.3, table["x1"] > 0.3
    assert (table["gap"][left] > 0).mean() > 0.99
    assert (table["gap"][right] < 0).mean() > 0.99
    assert table["gap"][left].mean() == pytest.approx(BY, abs=0.05)
    assert table["gap"][right].mean() == pytest.approx(-BY, abs=0.05)


def test_lore_removes_it_on_new_data_and_global_methods_do_not(data) -> None:
    (probs, labels, x), (new_probs, new_labels, new_x) = data
    before = LocalError().measure(new_probs, new_labels, new_x).notes
    lore = LocalCalibration().fit(probs, labels, features=x)
    confidence = lore.predict_confidence(new_probs, features=new_x)
    right = lore.predict(new_probs) == new_labels
    after = LocalError().measure(confidence, right, new_x).notes
    assert after["mean"] < 0.35 * before["mean"]
    assert after["quantiles"][0.9] < 0.5 * before["quantiles"][0.9]
    left = new_x[:, 0] < -0.3
    for side in (left, new_x[:, 0] > 0.3):
        assert abs(confidence[side].mean() - right[side].mean()) < 0.05
    for other in (TemperatureScaling(), HistogramBinning(lens="top-label", binning="equal-width")):
        flat = other.fit(probs, labels).predict_proba(new_probs)
        assert LocalError(summary="mean")(flat, new_labels, new_x) > 0.8 * before["mean"]
    found = tu.log_loss(lore.predict_proba(new_probs, features=new_x), new_labels)
    assert found < tu.log_loss(new_probs, new_labels) - 0.05
