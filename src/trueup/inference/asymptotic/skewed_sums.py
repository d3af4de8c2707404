r"""The ratio of the tail of a sum of residuals to that of a normal variable.

Rare outcomes give skewed residuals: on one side, the normal tail is too light by a factor that
grows with the distance. Barndorff-Nielsen's saddle-point approximation uses the distribution of
every term, and its relative error stays small. It is the normal tail at :math:`r + \log(u/r)/r`,
with :math:`r^2/2 = \hat s b - K(\hat s)`, :math:`u = \hat s \sqrt{K''(\hat s)}` and :math:`K'(\hat
s) = b`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from trueup._typing import Floats

NEAR = 0.5  # standard deviations below which both tails together are as good as normal
FARTHEST = 0.999  # of the largest possible sum: beyond it there is nothing
MOST_DOUBLINGS = 60


def heavier_tails(p: Floats, factor: Floats, z: float) -> float:
    r"""Return P(\|L\| ≥ zσ) for L = Σ factor · (p − y), in units of its normal approximation.

    >>> heavier_tails(np.full(40_000, 0.5), np.ones(40_000), 3.0) > 0.99
    True
    """
    if z < NEAR:
        return 1.0
    inside = (p > 0) & (p < 1) & (factor != 0)
    p, factor = p[inside], factor[inside]
    deviation = math.sqrt(float(np.sum(factor**2 * p * (1 - p))))
    factor = factor / deviation
    both = _tail(p, factor, z) + _tail(p, -factor, z)
    normal = 2 * float(ndtr(-z))
    return both / normal if normal > 0 else 1.0


def _tail(p: Floats, factor: Floats, b: float) -> float:
    """Return P(Σ factor · (p − y) ≥ b)."""
    rest = np.log(p) - np.log1p(-p)
    if b >= FARTHEST * float(np.sum(np.where(factor > 0, factor * p, -factor * (1 - p)))):
        return 0.0

    def tilted(s: float) -> Floats:
        return np.asarray(1 / (1 + np.exp(np.minimum(s * factor - rest, 700.0))))

    def away(s: float) -> float:
        return float(np.sum(factor * (p - tilted(s)))) - b

    high = 2 * b
    for _ in range(MOST_DOUBLINGS):
        if away(high) > 0:
            break
        high *= 2
    s = float(brentq(away, 0.0, high, xtol=1e-12, rtol=1e-12))
    rate = tilted(s)
    log_mean = float(np.sum(s * factor * p + np.log1p(-p) + np.logaddexp(0, rest - s * factor)))
    root = math.sqrt(max(0.0, 2 * (s * b - log_mean)))
    second = float(np.sum(factor**2 * rate * (1 - rate)))
    other = s * math.sqrt(second)
    return float(ndtr(-(root + math.log(other / root) / root)))
