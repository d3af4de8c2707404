"""Bounds on the calibration error of a model with finitely many outputs (Kumar et al. 2019, §5).

Both scores and labels are random: the bounds are for the error in the population of predictions,
not for the fractions in these samples.
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

    Each of the B outputs s has an interval [lo, hi] for its rate that fails with probability at
    most δ/(2B), so all of them hold with probability at least 1 − δ/2. Then e_s = \|s − rate\| lies
    between l_s, the distance of s to the interval, and u_s = max(\|s − lo\|, \|hi − s\|). Fractions
    are random too: the mean over n rows of a variable in [0, M] with mean q is at most Û with
    probability at most exp(−n·kl(Û/M ‖ q/M)) (Chernoff). This equals δ/2 at the bound

        bound^p = M · sup { q : n·kl(Û/M ‖ q) ≤ ln(2/δ) },   Û = Σ p̂_s u_s^p,   M = max u_s^p,

    with M over all outputs that the model can give: an unseen output has u_s = max(s, 1 − s). An M
    that is too large, as an estimated one is, is valid because kl(x/M ‖ q/M) decreases with M. The
    lower bound is the same with l_s and the smallest q.

    For bins of continuous scores, the intervals are Chernoff's for independent labels with unequal
    rates. The gap is the difference of mean score and mean rate, which by Jensen's inequality is a
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
    """Return the interval of confidence 1 − δ for the binned error, with one bin per output.

    Scores are random too (a population interval). An unobserved output widens the upper end. The
    gap of an output observed once counts for the upper end only, because its noise and its error
    cannot be separated.
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
    """Return intervals for the mean rate of independent labels whose rates may differ."""
    low, high = np.zeros(len(tally.rate)), np.ones(len(tally.rate))
    for b in np.flatnonzero(tally.count > 0):
        budget = math.log(2 / miss) / float(tally.count[b])
        low[b] = _kl_low(float(tally.rate[b]), budget)
        high[b] = _kl_high(float(tally.rate[b]), budget)
    return low, high


def _kl(x: float, q: float) -> float:
    """Return the Kullback–Leibler divergence of two Bernoulli distributions with rates x and q."""
    first = x * math.log(x / q) if x > 0 else 0.0
    return first + ((1 - x) * math.log((1 - x) / (1 - q)) if x < 1 else 0.0)


def _kl_high(x: float, budget: float) -> float:
    """Return the largest q ≥ x with kl(x ‖ q) ≤ budget, rounded up."""
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
    """Return the smallest q ≤ x with kl(x ‖ q) ≤ budget, rounded down."""
    return 1.0 - _kl_high(1.0 - x, budget) if x > 0 else 0.0
