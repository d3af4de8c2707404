"""The smooth calibration curve: its values, and what its band covers."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from support.drawn import cropped, points_of
from trueup.errors import InputError
from trueup.estimators.bin_free.loess import widths
from trueup.estimators.ties import TiedScores
from trueup.inference import calibration_curve
from trueup.inference.calibration_curve import Smoother, _places
from trueup.lens import Pairs
from trueup.plotting import plot_calibration_curve


def sample(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    logit = 2 * rng.normal(size=n)
    p = 1 / (1 + np.exp(-logit))
    return p, rng.random(n) < 1 / (1 + np.exp(-0.6 * logit))


def test_the_curve_is_that_of_loess_made_monotone() -> None:
    p, y = sample(1500)
    raw = calibration_curve(p, y, span=0.75, monotone=False)
    loess = tu.CurveError().table(p, y)
    at = np.searchsorted(loess["score"], raw["score"])
    assert np.allclose(raw["mean_label"], np.clip(loess["mean_label"][at], 0, 1))
    curve = calibration_curve(p, y, span=0.2)
    for name in ("mean_label", "low", "high"):
        assert (np.diff(curve[name]) >= 0).all()
    assert (curve["low"] <= curve["mean_label"]).all()
    assert (curve["mean_label"] <= curve["high"]).all()
    assert curve["low"].min() >= 0
    assert curve["high"].max() <= 1
    assert curve["weight"].sum() == 1500


@pytest.mark.parametrize("n", [30, 3000])
def test_the_weights_of_labels_give_the_fits(n) -> None:
    p, y = sample(n)
    groups = TiedScores.of(Pairs(p, y.astype(int), None))
    at = _places(groups)
    smoother = Smoother.of(groups, at, widths(groups, at, 0.75))
    assert np.allclose(smoother.share.sum(axis=1), 1)
    curve = calibration_curve(p, y, span=0.75, monotone=False)
    cells = smoother.share.shape[1]
    if cells == n:
        heights = smoother.share @ y[np.argsort(p)]
        assert np.allclose(np.clip(heights, 0, 1), curve["mean_label"])
    else:  # scores are put together in cells, for the variance alone
        line = smoother.share @ smoother.score
        assert np.allclose(line, smoother.at, atol=1e-9)


def test_the_band_covers_the_true_rate_of_calibrated_models_at_most_rows() -> None:
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = rng.random(400)
        curve = calibration_curve(p, rng.random(400) < p)
        inside = (curve["low"] <= curve["score"]) & (curve["score"] <= curve["high"])
        covered.append(np.average(inside, weights=curve["weight"]))
    assert 0.9 < np.mean(covered) < 0.99


def test_rare_outcomes_have_a_band_with_a_width_everywhere() -> None:
    p = np.linspace(0.001, 0.02, 300)
    curve = calibration_curve(p, np.zeros(300, int))
    assert (curve["mean_label"] == 0).all()
    assert (curve["low"] == 0).all()
    assert (curve["high"] > 0.005).all()
    other = calibration_curve(1 - p, np.ones(300, int))
    mirrored = np.interp(1 - curve["score"], other["score"], other["low"])
    assert np.allclose(mirrored, 1 - curve["high"], atol=0.01)


def test_weights_are_copies_and_few_scores_have_their_means() -> None:
    p, y = sample(200)
    twice = calibration_curve(np.repeat(p, 2), np.repeat(y, 2), span=0.75)
    weighted = calibration_curve(p, y, weights=np.full(200, 2.0), span=0.75)
    assert np.allclose(np.interp(weighted["score"], twice["score"], twice["mean_label"]),
                       weighted["mean_label"], atol=2e-3)  # fmt: skip
    once = calibration_curve(p, y, span=0.75)
    assert np.allclose(weighted["high"] - weighted["low"], once["high"] - once["low"])
    two = calibration_curve([0.2] * 10 + [0.8] * 10, [0] * 8 + [1] * 2 + [1] * 10, span=0.4)
    assert np.allclose(two["mean_label"], [0.2, 1.0])
    one = calibration_curve([0.4], [1])
    assert (len(one), one["high"][0]) == (1, 1.0)


def test_dependent_rows_have_a_curve_without_a_band() -> None:
    p, y = sample(100)
    for forecasts in (
        tu.Forecasts.from_arrays(p, y, clusters=np.arange(100) // 2),
        tu.Forecasts.from_arrays(p, 0.5 * y + 0.2, soft_labels=True),
    ):
        curve = calibration_curve(forecasts)
        assert np.isnan(curve["low"]).all()
        assert np.isfinite(curve["mean_label"]).all()
        ax = plot_calibration_curve(curve)
        assert [each.get_label() for each in ax.collections] == []


def test_wrong_input_is_told_in_a_sentence() -> None:
    p, y = sample(50)
    with pytest.raises(InputError, match="`span` must be a number above 0 and up to 1, or None"):
        calibration_curve(p, y, span=2)
    with pytest.raises(InputError, match="`lens` must yield one score per row"):
        calibration_curve(np.column_stack([1 - p, p]), y, lens=tu.lens.ClassWise())


def test_the_figure_shows_the_numbers_of_the_curve() -> None:
    p, y = sample(800)
    curve = calibration_curve(p, y)
    ax = plot_calibration_curve(curve, name="model")
    (line,) = (line for line in ax.lines if line.get_gid() == "calibration curve")
    assert np.allclose(points_of(line), np.column_stack([curve["score"], curve["mean_label"]]))
    (band,) = ax.collections
    ends = band.get_paths()[0].vertices
    assert {*curve["low"].round(12), *curve["high"].round(12)} <= {*ends[:, 1].round(12)}
    (strip,) = ax.child_axes
    assert np.isclose(sum(bar.get_height() for bar in strip.patches), 1)
    other = plot_calibration_curve(calibration_curve(p**2, y), ax=ax, name="other")
    assert other is ax
    assert len(ax.child_axes) == 2
    assert cropped(ax.figure) == []
