"""PSCE (Nixon et al. 5.4 and A.2): a decayed mean label at 101 points, brute force."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, float_weights, same_shape
from .lenses import binary, class_wise

CANONICAL = [j / 100 for j in range(101)]


def psce_curve(
    p: Floats, y: Floats, decay: float = 0.9, weights: Floats | None = None
) -> list[float]:
    """Accuracy at each canonical point: half from the scores at or below, half from those above.

    A score at the point itself is on both sides; an empty side leaves the other alone.
    """
    same_shape(p, y)
    w = float_weights(weights, len(p))
    curve = []
    for c in CANONICAL:
        left = [i for i in range(len(p)) if float(p[i]) <= c]
        right = [i for i in range(len(p)) if float(p[i]) >= c]
        sides = [_decayed_mean(p, y, w, rows, c, decay) for rows in (left, right) if rows]
        curve.append(math.fsum(sides) / len(sides))
    return curve


def _decayed_mean(
    p: Floats, y: Floats, w: list[float], rows: list[int], c: float, decay: float
) -> float:
    """Mean label with weights w decay^(|p - c| / 0.01)."""
    # Distances past the nearest row's: the ratio is the same and no weight of it underflows.
    nearest = min(abs(float(p[i]) - c) for i in rows)
    mass = {i: w[i] * decay ** ((abs(float(p[i]) - c) - nearest) / 0.01) for i in rows}
    return math.fsum(mass[i] * float(y[i]) for i in rows) / math.fsum(mass.values())


def interpolated(curve: Floats, score: float) -> float:
    """The curve between its two canonical neighbors, linearly."""
    j = max(k for k in range(100) if score >= CANONICAL[k])
    part = (score - CANONICAL[j]) / (CANONICAL[j + 1] - CANONICAL[j])
    return (1.0 - part) * curve[j] + part * curve[j + 1]


def pointwise_errors(
    p: Floats, y: Floats, decay: float = 0.9, weights: Floats | None = None
) -> list[float]:
    """|p - accuracy(p)| per row."""
    curve = psce_curve(p, y, decay, weights)
    return [abs(float(score) - interpolated(curve, float(score))) for score in p]


def psce(
    probs: ArrayLike, labels: Ints, decay: float = 0.9, weights: Floats | None = None
) -> float:
    """Mean of the errors over all (row, class), a row's weight on each; 1-D: positives only."""
    one_class = np.ndim(probs) == 1
    problems = [binary(probs, labels)] if one_class else class_wise(probs, labels)
    w = float_weights(weights, len(labels))
    terms = []
    for p, y in problems:
        errors = pointwise_errors(p, y, decay, weights)
        terms += [w[i] * errors[i] for i in range(len(errors))]
    return math.fsum(terms) / (len(problems) * math.fsum(w))
