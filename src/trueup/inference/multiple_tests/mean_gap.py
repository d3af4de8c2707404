"""The mean gap of some rows, and the test of whether outcomes occur as often as predicted."""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats
from trueup.inference.confidence_intervals.oe_ratio import quantile_of, wilson_ends
from trueup.inference.hypothesis_tests.null_distribution import ENOUGH, TINY
from trueup.lens import Pairs


def gap_test(pairs: Pairs) -> dict[str, float]:
    """Return the standard error of the mean of label − score under calibration, and its p-value.

    The two-sided p-value is from the normal distribution if the variance of the sum is at least 25
    times the square of its largest term. Otherwise it is that of `frequency_pvalue`, which is valid
    for any number of rows.
    """
    p, y = pairs.p.astype(np.float64), pairs.y.astype(np.float64)
    w = np.ones(len(p)) if pairs.w is None else pairs.w / pairs.w.max()
    # Plain sums, not products of vectors: those may round differently on other numbers of threads.
    variance = float(np.sum(w * w * p * (1 - p)))
    se = math.sqrt(variance) / float(w.sum())
    if variance < ENOUGH:
        return {"gap_se": se, "gap_pvalue": frequency_pvalue(pairs.p, pairs.y, pairs.w)}
    z = float(np.sum(w * (y - p))) / math.sqrt(variance)
    return {"gap_se": se, "gap_pvalue": max(TINY, math.erfc(abs(z) / math.sqrt(2)))}


def gap_interval(pairs: Pairs, confidence_level: float) -> dict[str, float]:
    """Return the interval of the mean of label − score among rows like these.

    It is a normal interval with the larger of two standard errors: that of the differences and that
    of `gap_test`. So it covers 0 if the normal test does not reject. With few expected outcomes,
    neither is reliable, and the interval also includes Wilson's interval of the rate minus the mean
    score. The latter uses the number of rows for which the rate would be as uncertain.
    """
    p, y = pairs.p.astype(np.float64), pairs.y.astype(np.float64)
    w = np.ones(len(p)) if pairs.w is None else pairs.w / pairs.w.max()
    total = float(w.sum())
    score, rate = float(np.sum(w * p)) / total, float(np.sum(w * y)) / total
    variance = float(np.sum(w * w * p * (1 - p)))
    observed = float(np.sum((w * (y - p - (rate - score))) ** 2))
    half = quantile_of(confidence_level, None) * math.sqrt(max(variance, observed)) / total
    low, high = rate - score - half, rate - score + half
    if min(variance, observed) < ENOUGH:
        middle = rate if 0 < rate < 1 else score
        spread = max(variance, observed, TINY)
        count = max(total, middle * (1 - middle) * total**2 / spread)
        ends = wilson_ends(rate, count, quantile_of(confidence_level, None))
        low, high = min(low, ends.low - score), max(high, ends.high - score)
    return {"gap_low": max(low, -score), "gap_high": min(high, 1 - score)}


def frequency_pvalue(p: Floats, y: Floats, w: Floats | None) -> float:
    """Return an upper bound on the two-sided p-value of the number of outcomes of a class.

    It uses the smaller of two bounds on a tail. One is Bennett's, from the variance of the sum
    (Boucheron, Lugosi & Massart 2013, theorem 2.9). The other is for rows without weights. At least
    one outcome away from the mean, it is the tail of a binomial distribution with the mean score,
    which has a larger variance than a sum of outcomes with different probabilities (Hoeffding 1956,
    theorem 5). Closer to the mean, it is Markov's bound.
    """
    score = p.astype(np.float64)
    weight = np.ones(len(score)) if w is None else w / w.max()
    mean, ones = float(weight @ score), float(weight @ y)
    spread = float((weight * weight) @ (score * (1 - score)))
    tail = _bennett(abs(ones - mean), spread)
    if w is None:
        tail = min(tail, _binomial(round(ones), mean, len(score)))
    return min(1.0, max(2 * tail, float(np.finfo(np.float64).tiny)))


def _bennett(beyond: float, spread: float) -> float:
    """Bound P(S ≥ mean + beyond) for a sum of terms of at most 1 with a variance ``spread``."""
    if beyond <= 1e-9:
        return 1.0
    if spread <= 0:
        return 0.0
    far = beyond / spread
    return math.exp(-spread * ((1 + far) * math.log1p(far) - far))


def _binomial(ones: int, mean: float, n: int) -> float:
    from scipy.stats import binom

    if ones > mean:  # look at the other outcome: then every tail is a lower one
        ones, mean = n - ones, n - mean
    if ones > mean - 1:
        return min(1.0, (n - mean) / (n - ones)) if ones < n else 1.0
    return float(binom.cdf(ones, n, min(max(mean / n, 0.0), 1.0)))
