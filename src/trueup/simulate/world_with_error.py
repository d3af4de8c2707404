"""Worlds like the data whose calibration error is as large as we want it to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens import chosen_lens
from trueup.simulate.fitting.fit_world import fit
from trueup.simulate.worlds.calibration_curves import Curve, Identity, LogOdds
from trueup.simulate.worlds.score_distributions import Empirical
from trueup.simulate.worlds.world import World

OVERCONFIDENT = LogOdds(0.5)
CALIBRATED = 0.1  # a curve whose error is below this share of the one asked about has no shape


@dataclass(frozen=True, repr=False)
class Between(Curve):
    """The curve so many times as far from calibration as another, cut at 0 and 1."""

    curve: Curve = Identity()
    times: float = 1.0

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return np.clip(score + self.times * (self.curve(score, complement) - score), 0, 1)

    def alternatives(self) -> tuple[Curve, ...]:
        """Return the equally likely curves that this one stands for."""
        return tuple(Between(curve, self.times) for curve in self.curve.alternatives())

    def jumps(self) -> Sequence[float]:
        """Return the scores at which the curve jumps."""
        return self.curve.jumps()


def world_like(probs: object, labels: object, logits: bool = False) -> World:
    """Return a world itself, or the one that fits the data."""
    if isinstance(probs, World):
        return World(probs.scores, probs.curve)
    forecasts = Forecasts.from_arrays(probs, labels, logits=logits)
    fitted = fit(forecasts)
    if fitted.scores_quality.grade != "poorly":
        return fitted.world
    lens = chosen_lens(None, forecasts)
    pairs = lens.pairs(forecasts)
    value, index = np.unique(pairs.p.astype(np.float64), return_inverse=True)
    share = np.bincount(index.reshape(-1), pairs.w)
    return World(Empirical(value.tolist(), share.tolist()), fitted.world.curve)


def with_error(world: World, true_error: float, norm: float) -> World:
    """Return the world with its curve drawn out, or in, to have this error."""
    own = world.true_error(norm)
    curve = world.curve if own >= CALIBRATED * true_error else OVERCONFIDENT

    def drawn(times: float) -> World:
        return World(world.scores, Between(curve, times))

    first = drawn(1.0).true_error(norm)
    times = true_error / first
    if times <= 1:  # cut nowhere, so that the error is proportional
        return drawn(times)
    low, high = 1.0, times
    while (reached := drawn(high).true_error(norm)) < true_error * (1 - 1e-9):
        if high > 1e4 * times:
            rule = f"at most {reached:.3g}, the largest error of this kind of miscalibration"
            raise must_be("true_error", rule, true_error)
        low, high = high, 2 * high
    while high / low > 1 + 1e-7 and reached > true_error * (1 + 1e-9):
        middle = math.sqrt(low * high)
        error = drawn(middle).true_error(norm)
        low, high = (middle, high) if error < true_error else (low, middle)
        reached = reached if error < true_error else error
    return drawn(high)
