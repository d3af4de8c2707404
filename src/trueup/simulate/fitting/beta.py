"""A maximum-likelihood Beta distribution of scores, in which scores of 0 or 1 are censored.

The density of a Beta distribution is 0 or infinite at 0 and 1, but half the scores of a network may
be exactly 1. Such a score only shows that its complement is below half a rounding step, so its
likelihood is the probability of that. With clipping, the result would depend on the clip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.errors import Verbatim, must_be
from trueup.newton import Maximum, Terms, climb
from trueup.simulate.fitting.rounding import Rounding

LOG_MOST = math.log(1e7)  # a larger shape is a point, a smaller one than its inverse two points

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreSums:
    """Sufficient statistics of the scores for the likelihood."""

    inside: float  # weight of the scores that read neither 0 nor 1
    log_score: float  # their Σ w log c
    log_complement: float  # their Σ w log(1 − c)
    at_0: float
    at_1: float
    rounding: Rounding


def sums_of(score: Floats, weight: Floats, rounding: Rounding) -> ScoreSums:
    """Return the sums over scores; raise InputError if all are equal."""
    at_0, at_1 = reads_0(score, rounding), reads_1(score, rounding)
    inside = ~(at_0 | at_1)
    c, w = score[inside], weight[inside]
    if len(c) == 0:
        ends = "0 and 1" if at_0.any() and at_1.any() else "1" if at_1.any() else "0"
        got = Verbatim(f"only scores that are exactly {ends}")
        rule = "contain one strictly between 0 and 1, to fit a Beta distribution"
        raise must_be("scores", rule, got)
    if len(c) == len(score) and c.min() == c.max():
        got = Verbatim(f"only {c[0]:g}")
        raise must_be("scores", "contain two distinct values, to fit a Beta distribution", got)
    return ScoreSums(
        float(w.sum()),
        float((w * np.log(c)).sum()),
        float((w * np.log1p(-c)).sum()),
        float(weight[at_0].sum()),
        float(weight[at_1].sum()),
        rounding,
    )


def reads_0(score: Floats, rounding: Rounding) -> Flags:
    """Whether each score is below half the smallest number of its rounding."""
    return np.asarray(score <= math.exp(rounding.log_step_at_0))


def reads_1(score: Floats, rounding: Rounding) -> Flags:
    """Whether the complement of each score is below half a rounding step."""
    return np.asarray(1 - score <= rounding.step_at_1)


def fit_beta(sums: ScoreSums, mean: float, variance: float) -> Maximum:
    """Return the shapes (alpha, beta) with the largest likelihood.

    ``mean`` and ``variance`` of the scores give one of the starting points. The search is in log
    shapes.
    """

    def in_logs(log_shapes: Floats) -> Terms:
        if np.abs(log_shapes).max() > LOG_MOST + 1:
            return Terms(-np.inf, np.zeros(2), np.zeros((2, 2)))
        shapes = np.exp(log_shapes)
        value, gradient, hessian = log_likelihood(sums, *shapes)
        slope = shapes * gradient
        return Terms(value, slope, np.outer(shapes, shapes) * hessian + np.diag(slope))

    total = max(mean * (1 - mean) / variance - 1, 1e-3) if variance > 0 else 1.0
    by_moments = np.array([mean, 1 - mean]) * total
    starts = (np.clip(by_moments, 1e-4, 1e6), np.array([1.0, 1.0]), np.array([1.0, 0.05]))
    ends = [climb(in_logs, np.log(start), longest=2.0) for start in starts]
    best = max(ends, key=lambda end: end.terms.value)
    if np.abs(best.point).max() > LOG_MOST:
        got = Verbatim("scores that are nearly all the same, or nearly all 0 or 1")
        raise must_be("scores", "spread out, to fit a Beta distribution", got)
    shapes = np.exp(best.point)
    return Maximum(shapes, log_likelihood(sums, *shapes), best.converged)


def log_likelihood(sums: ScoreSums, alpha: float, beta: float) -> Terms:
    """Return the censored log-likelihood of Beta(alpha, beta) and its derivatives in the shapes."""
    from scipy.special import betaln, digamma, polygamma

    m = sums.inside
    value = (alpha - 1) * sums.log_score + (beta - 1) * sums.log_complement
    value -= m * float(betaln(alpha, beta))
    common, bend = digamma(alpha + beta), polygamma(1, alpha + beta)
    gradient = np.array([sums.log_score, sums.log_complement])
    gradient += m * (common - digamma([alpha, beta]))
    hessian = m * (bend - np.diag(polygamma(1, [alpha, beta])))
    at_0 = (sums.at_0, alpha, beta, sums.rounding.log_step_at_0, 1)
    at_1 = (sums.at_1, beta, alpha, sums.rounding.log_step_at_1, -1)  # shapes change places
    for weight, a, b, log_step, way in (at_0, at_1):
        if weight > 0:
            tail = log_tail(a, b, log_step)
            value += weight * tail.value
            gradient += weight * tail.gradient[::way]
            hessian += weight * tail.hessian[::way, ::way]
    return Terms(value, gradient, hessian)


def log_tail(a: float, b: float, log_x: float) -> Terms:
    """Return the logarithm of I_x(a, b) = P(Beta(a, b) < x), with derivatives in (a, b).

    I_x = x^a (1 − x)^b / (a B(a, b)) · Σ_k Π_{j<k} x (a + b + j)/(a + 1 + j): all terms are
    positive, so nothing cancels, and in logarithms nothing underflows.
    """
    from scipy.special import betaln, digamma, polygamma

    x = math.exp(log_x)
    # Past this many terms each is at most 0.55 of the one before (x is never above 0.05).
    j = np.arange(64 + math.ceil(2 * (a + b) * x), dtype=np.float64)
    above, below = 1 / (a + b + j), 1 / (a + 1 + j)
    log_term = np.concatenate([[0.0], np.cumsum(log_x + np.log(below) - np.log(above))])
    share = np.exp(log_term - log_term.max())
    log_sum = float(np.log(share.sum()) + log_term.max())
    share /= share.sum()

    def running(steps: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(steps)])

    slopes = np.stack([running(above - below), running(above)])
    mean = slopes @ share
    bend = float(running(-(above**2)) @ share)
    bend_a = float(running(below**2) @ share)
    series = (slopes * share) @ slopes.T - np.outer(mean, mean) + bend + np.diag([bend_a, 0.0])
    value = a * log_x + b * math.log1p(-x) - math.log(a) - float(betaln(a, b)) + log_sum
    ends = np.array([digamma(a + 1), digamma(b)])
    gradient = np.array([log_x, math.log1p(-x)]) + digamma(a + b) - ends + mean
    curvature = np.diag([polygamma(1, a + 1), polygamma(1, b)])
    return Terms(value, gradient, polygamma(1, a + b) - curvature + series)
