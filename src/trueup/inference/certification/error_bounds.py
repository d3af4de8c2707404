"""Bounds on the calibration error of a model with finitely many outputs (Kumar et al. 2019, §5).

Scores are random as well as labels: the bounds refer to the error of all predictions that the
model will ever give, not to the fractions in these samples.
"""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.inference.certification.model_outputs import Tally
from trueup.inference.confidence_intervals.bin_noise import Bins
from trueup.inference.confidence_intervals.binned_errors import binned_ends, clopper_pearson


def finite_sample_bounds(tally: Tally, norm: float, delta: float) -> Ends:
    r"""Bounds that hold for every n, each with probability at least 1 − δ.

    Each of the B outputs s has an interval [lo, hi] for its rate that fails with probability δ/(2B)
    at most, so that all hold together except with probability δ/2. Then e_s = \|s − rate\| lies
    between l_s, the distance of s to the interval, and u_s = max(\|s − lo\|, \|hi − s\|). Shares
    are random too: the mean over n rows of a variable in [0, M] with mean q is Û or less with
    probability exp(−n·kl(Û/M ‖ q/M)) at most (Chernoff), which is δ/2 at the bound

        bound^p = M · sup { q : n·kl(Û/M ‖ q) ≤ ln(2/δ) },   Û = Σ p̂_s u_s^p,   M = max u_s^p,

    M over all outputs the model can give: an unseen one has u_s = max(s, 1 − s). It may be put
    too large, as it is where it is estimated, because kl(x/M ‖ q/M) falls with M. The lower
    bound is the same with l_s and the smallest q.

    In bins of continuous scores the intervals are those of Chernoff for independent labels of
    unequal rates. The gap is that of mean score and mean rate, which by Jensen's inequality is a
    lower bound on the error of the rows, and M = 1. No upper bound is possible.
    """
    miss = delta / (2 * len(tally.score))
    if tally.binned:
        low, high = _chernoff(tally, miss)
    else:
        ones, zeros = tally.count * tally.rate, tally.count * (1 - tally.rate)
        low, high = clopper_pearson(ones, zeros, miss / 2)
    budget = math.log(2 / delta) / tally.n
    distance = np.maximum(0.0, np.maximum(low - tally.score, tally.score - high))
    nearest = float(np.sum(tally.share * distance**norm))
    if tally.binned:
        return Ends(_kl_low(nearest, budget) ** (1 / norm), 1.0)
    farthest = np.maximum(np.abs(tally.score - low), np.abs(high - tally.score)) ** norm
    largest = float(farthest.max())
    mean = float(np.sum(tally.share * farthest))
    return Ends(
        (largest * _kl_low(nearest / largest, budget)) ** (1 / norm),
        min(1.0, largest * _kl_high(mean / largest, budget)) ** (1 / norm),
    )


def asymptotic_bounds(tally: Tally, norm: float, delta: float) -> Ends:
    """Ends of the interval of confidence 1 − δ for the binned error, one bin for each output.

    Scores are random too (a population interval). An output that was not seen widens the upper
    end; the gap of one seen once counts for the upper end only, being noise and error in one.
    """
    seen = tally.count > 0
    share, score, rate = (x[seen] for x in (tally.share, tally.score, tally.rate))
    noise, several = tally.noise[seen], tally.several[seen]
    q = 1 / tally.count[seen]
    smoothed = (rate + q) / (1 + 2 * q)
    spread = smoothed * (1 - smoothed)
    hidden = tally.score[~seen]
    unseen = float(np.max(np.maximum(hidden, 1 - hidden) ** 2, initial=0.0))

    def ends(rate: Floats, noise: Floats) -> Ends:
        bins = Bins(share, score, rate, q, noise, spread, population=True, unseen=unseen)
        return binned_ends(bins, norm, 1 - delta)

    low = ends(np.where(several, rate, score), np.where(several, noise, 0.0)).low
    return Ends(low, 1.0 if tally.binned else ends(rate, np.where(several, noise, 0.0)).high)


def _chernoff(tally: Tally, miss: float) -> tuple[Floats, Floats]:
    """Intervals for the mean rate of independent labels whose rates may differ."""
    low, high = np.zeros(len(tally.rate)), np.ones(len(tally.rate))
    for b in np.flatnonzero(tally.count > 0):
        budget = math.log(2 / miss) / float(tally.count[b])
        low[b] = _kl_low(float(tally.rate[b]), budget)
        high[b] = _kl_high(float(tally.rate[b]), budget)
    return low, high


def _kl(x: float, q: float) -> float:
    """Kullback–Leibler divergence of two coins, x and q."""
    first = x * math.log(x / q) if x > 0 else 0.0
    return first + ((1 - x) * math.log((1 - x) / (1 - q)) if x < 1 else 0.0)


def _kl_high(x: float, budget: float) -> float:
    """Largest q ≥ x with kl(x ‖ q) ≤ budget, rounded up."""
    if x >= 1:
        return 1.0
    inside, outside = max(x, 0.0), 1.0
    while (middle := 0.5 * (inside + outside)) not in (inside, outside):
        if _kl(x, middle) <= budget:
            inside = middle
        else:
            outside = middle
    return outside


def _kl_low(x: float, budget: float) -> float:
    """Smallest q ≤ x with kl(x ‖ q) ≤ budget, rounded down."""
    return 1.0 - _kl_high(1.0 - x, budget) if x > 0 else 0.0
