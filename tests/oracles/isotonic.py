"""Pool adjacent violators in exact fractions, and the CORP decomposition (Dimitriadis 2021)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from .arithmetic import Floats, Ints, integer_weights, same_shape
from .scores import log_loss


class Corp(NamedTuple):
    """score = miscalibration - discrimination + uncertainty."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def isotonic_fit(p: Floats, y: Floats, weights: Floats | None = None) -> list[Fraction]:
    """The non-decreasing weighted least-squares fit, one value per row; tied rows share theirs."""
    same_shape(p, y)
    w = integer_weights(weights, len(p))
    pools: list[tuple[Fraction, int, list[float]]] = []  # (sum of w y, sum of w, scores)
    for score in sorted({float(v) for v in p}):
        rows = [i for i in range(len(p)) if float(p[i]) == score]
        total = sum((w[i] * Fraction(float(y[i])) for i in rows), Fraction(0))
        mass = sum(w[i] for i in rows)
        scores = [score]
        while pools and pools[-1][0] / pools[-1][1] >= total / mass:
            below = pools.pop()
            total, mass, scores = below[0] + total, below[1] + mass, below[2] + scores
        pools.append((total, mass, scores))
    fitted = {score: total / mass for total, mass, scores in pools for score in scores}
    return [fitted[float(v)] for v in p]


def corp_brier(p: Floats, y: Ints, weights: Floats | None = None) -> Corp:
    """Brier score of the forecasts, against their isotonic fit and against the base rate."""
    w = integer_weights(weights, len(p))

    def score(forecasts: list[Fraction]) -> Fraction:
        squares = [(forecasts[i] - Fraction(float(y[i]))) ** 2 for i in range(len(y))]
        return sum((w[i] * v for i, v in enumerate(squares)), Fraction(0)) / sum(w)

    given = score([Fraction(float(v)) for v in p])
    best = score(isotonic_fit(p, y, weights))
    base = score([_base_rate(y, w)] * len(y))
    return Corp(float(given), float(given - best), float(base - best), float(base))


def corp_log_loss(p: Floats, y: Ints, weights: Floats | None = None) -> Corp:
    """The same for log loss, 0/1 labels. Only the forecasts can need clipping.

    A fitted value of 0 or 1 has no row of the other label, so its rows lose nothing.
    """
    w = integer_weights(weights, len(p))
    total = sum(w)

    def score(forecasts: list[Fraction]) -> float:
        terms = []
        for i in range(len(y)):
            given_to_label = forecasts[i] if y[i] == 1 else 1 - forecasts[i]
            terms.append(float(Fraction(w[i], total)) * -math.log(given_to_label))
        return math.fsum(terms)

    given = log_loss(p, y, weights)[0]
    best = score(isotonic_fit(p, y, weights))
    base = score([_base_rate(y, w)] * len(y))
    return Corp(given, given - best, base - best, base)


def _base_rate(y: Ints, w: list[int]) -> Fraction:
    return sum((w[i] * Fraction(float(y[i])) for i in range(len(y))), Fraction(0)) / sum(w)
