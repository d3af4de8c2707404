"""Measures and grades of how well a simulated model fits the data.

Scores: the largest difference of the fitted and the empirical distribution function, over the
scores that equal neither 0 nor 1. Sampling noise gives about 1.36/√n, so a fit is graded *well* up
to 0.03, *fairly* up to 0.08, and *poorly* beyond, each plus 1.36/√n.

Curve: the mean of |fraction of positives − mean of the curve| over up to 15 equal-mass bins.
Sampling noise gives Σ share·√(2 T(1 − T)/(π n_b)); *well* up to 0.01, *fairly* up to 0.03, each
plus 1.5 times that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.notebook import named_values
from trueup.simulate.fitting.rounding import Rounding

SCORE_LIMITS = (0.03, 0.08)
CURVE_LIMITS = (0.01, 0.03)
CHANCE = 1.36  # 5% of Kolmogorov's distances are larger
MOST_POINTS = 4096
MOST_BINS = 15


class Quality(NamedTuple):
    """A distance between fit and data, the distance expected by chance, and its grade."""

    distance: float
    chance: float
    grade: str

    def __repr__(self) -> str:
        """Print its values with few digits."""
        return named_values(self)


def scores_quality(
    score: Floats,
    weight: Floats,
    inside: NDArray[np.bool_],
    rounding: Rounding,
    alpha: float,
    beta: float,
) -> Quality:
    """Compare distribution functions at the ends of the rounding cells of scores inside (0, 1)."""
    from scipy.special import betainc

    value, index = np.unique(score, return_inverse=True)
    mass = np.bincount(index, weight)
    up_to = np.cumsum(mass) / mass.sum()
    kept = np.flatnonzero(np.isin(value, score[inside]))
    kept = kept[np.unique(np.linspace(0, len(kept) - 1, MOST_POINTS).astype(np.int64))]
    before = up_to[kept] - mass[kept] / mass.sum()
    c, d, half = value[kept], 1 - value[kept], rounding.half_step(value[kept])

    def fitted(shift: Floats) -> Floats:
        """Return P(score ≤ c + shift), from the complement near 1 to avoid rounding."""
        low = betainc(alpha, beta, np.clip(c + shift, 0, 1))
        high = 1 - betainc(beta, alpha, np.clip(d - shift, 0, 1))
        return np.asarray(np.where(c < 0.5, low, high))

    gaps = np.concatenate([fitted(half) - up_to[kept], fitted(-half) - before])
    distance = float(np.abs(gaps).max())
    # The sum under the root is the number of equally weighted rows that say as much.
    chance = CHANCE / math.sqrt(float(weight.sum() ** 2 / (weight @ weight)))
    return Quality(distance, chance, _grade(distance - chance, SCORE_LIMITS))


def curve_quality(score: Floats, label: Floats, weight: Floats, truth: Floats) -> Quality:
    """Compare fractions of positives with the curve in each bin; equal scores share a bin."""
    order = np.argsort(score, kind="stable")
    rank = np.searchsorted(score[order], score, side="left")
    n_bins = min(MOST_BINS, max(1, len(score) // 20))
    _, bins = np.unique(rank * n_bins // len(score), return_inverse=True)
    mass = np.bincount(bins, weight)
    share, n = mass / mass.sum(), mass**2 / np.bincount(bins, weight**2)
    gap = np.bincount(bins, weight * (label - truth)) / mass
    spread = np.bincount(bins, weight * truth * (1 - truth)) / mass
    distance = float(share @ np.abs(gap))
    chance = float(share @ np.sqrt(2 * spread / (np.pi * n)))
    return Quality(distance, chance, _grade(distance - 1.5 * chance, CURVE_LIMITS))


def _grade(excess: float, limits: tuple[float, float]) -> str:
    return "well" if excess <= limits[0] else "fairly" if excess <= limits[1] else "poorly"
