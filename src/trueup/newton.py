"""Newton's method for a few parameters; every step increases the value and stays in range."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats

MOST_STEPS = 200
ENOUGH = 1e-14  # what a further step promises to add to the log-likelihood
NEARLY = 1e-6  # the same, where rounding errors of the value hide any further step
NO_ROOM = 1e-9  # a share of the step this small: the limit itself holds the maximum


class Terms(NamedTuple):
    """A function with its first and second derivatives at one point."""

    value: float
    gradient: Floats
    hessian: Floats


class Maximum(NamedTuple):
    """The end of the search, and whether it is a maximum."""

    point: Floats
    terms: Terms
    converged: bool

    @property
    def errors(self) -> Floats:
        """Standard errors from the observed information; NaN if there are none."""
        try:
            variance = np.diag(np.linalg.inv(-self.terms.hessian))
        except np.linalg.LinAlgError:
            return np.full(len(self.point), np.nan)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(variance))


def climb(
    function: Callable[[Floats], Terms],
    start: Floats,
    room: Callable[[Floats, Floats], float] = lambda point, step: np.inf,
    longest: float = np.inf,
) -> Maximum:
    """Maximize from ``start``; ``room`` returns how many steps fit within the allowed range.

    If the function is not concave, directions with the wrong curvature are reversed, so that a step
    increases the value. No step is longer than ``longest`` in any parameter.
    """
    point, here = start, function(start)
    for _ in range(MOST_STEPS):
        step = _ascent(here)
        step *= min(1.0, longest / max(float(np.abs(step).max()), 1e-300))
        promise = float(here.gradient @ step)
        if promise <= 2 * ENOUGH:
            return Maximum(point, here, bool(np.isfinite(here.value)))
        share = min(1.0, 0.99 * room(point, step))
        slack = 1e-13 * (1 + abs(here.value))  # rounding errors of the value
        while share > NO_ROOM:
            there = function(point + share * step)
            if there.value >= here.value + 1e-4 * share * promise - slack:
                break
            share /= 2
        else:
            return Maximum(point, here, promise <= NEARLY)
        point, here = point + share * step, there
    return Maximum(point, here, promise <= NEARLY)


def _ascent(here: Terms) -> Floats:
    """Return the Newton step, with the curvature taken as negative in every direction."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(here.hessian)), 1e-100))
    curvature, axes = np.linalg.eigh(here.hessian / np.outer(scale, scale))
    size = np.maximum(np.abs(curvature), 1e-12)
    along = axes.T @ (here.gradient / scale)
    return np.asarray((axes @ (along / size)) / scale)
