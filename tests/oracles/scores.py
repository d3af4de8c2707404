"""Brier score and log loss, row by row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, float_weights, same_shape


def brier(probs: ArrayLike, labels: Ints, weights: Floats | None = None) -> float:
    """1-D and K = 2: mean (p1 - y)^2. K > 2: mean of the sum over classes."""
    given = np.asarray(probs, dtype=np.float64)
    same_shape(given, labels)
    w = float_weights(weights, len(given))
    terms = []
    for i, row in enumerate(given):
        if given.ndim == 1:
            terms.append((row - labels[i]) ** 2)
        elif given.shape[1] == 2:
            terms.append((row[1] - (1 if labels[i] == 1 else 0)) ** 2)
        else:
            squares = [(v - (1 if labels[i] == c else 0)) ** 2 for c, v in enumerate(row)]
            terms.append(math.fsum(squares))
    return math.fsum(w[i] * t for i, t in enumerate(terms)) / math.fsum(w)


def log_loss(probs: ArrayLike, labels: Ints, weights: Floats | None = None) -> tuple[float, int]:
    """(mean -log p_y, rows clipped). Clipped from below at the input dtype's smallest normal.

    A 1-D p gives p_y = p for label 1 and 1 - p, in float64, for label 0.
    """
    given = np.asarray(probs)
    if given.dtype.kind != "f":
        given = given.astype(np.float64)
    floor = float(np.finfo(given.dtype).tiny)
    same_shape(given, labels)
    w = float_weights(weights, len(given))
    terms, clipped = [], 0
    for i, row in enumerate(given):
        if given.ndim == 1:
            p = float(row) if labels[i] == 1 else 1.0 - float(row)
        else:
            p = float(row[int(labels[i])])
        if p < floor:
            p, clipped = floor, clipped + 1
        terms.append(-math.log(p))
    return math.fsum(w[i] * t for i, t in enumerate(terms)) / math.fsum(w), clipped
