"""What happens to rows before a lens looks at them, and the small exact tools used elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

Floats = Sequence[float] | np.ndarray
Ints = Sequence[int] | np.ndarray


def softmax(z: ArrayLike) -> np.ndarray:
    """Row by row: exp(z - max of the row), divided by its sum. Float64."""
    out = []
    for row in np.asarray(z, dtype=np.float64):
        top = max(row)
        powers = [math.exp(v - top) for v in row]
        total = math.fsum(powers)
        out.append([v / total for v in powers])
    return np.array(out)


def sigmoid(z: ArrayLike) -> np.ndarray:
    """1 / (1 + exp(-z)), written so that no exponent overflows. Float64."""
    out = []
    for v in np.asarray(z, dtype=np.float64):
        if v >= 0:
            out.append(1.0 / (1.0 + math.exp(-v)))
        else:
            out.append(math.exp(v) / (1.0 + math.exp(v)))
    return np.array(out)


def renormalise(probs: ArrayLike) -> np.ndarray:
    """Each row divided by its correctly rounded float64 sum."""
    out = []
    for row in np.asarray(probs, dtype=np.float64):
        total = math.fsum(row)
        out.append([v / total for v in row])
    return np.array(out)


def drop_weightless(
    probs: ArrayLike, labels: ArrayLike, weights: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of weight 0 go."""
    probs, labels, weights = np.asarray(probs), np.asarray(labels), np.asarray(weights)
    keep = [i for i in range(len(weights)) if weights[i] != 0]
    return probs[keep], labels[keep], weights[keep]


def two_columns(probs: ArrayLike) -> np.ndarray:
    """(n,) P(positive) as (n, 2): class 0 is 1 - p. A matrix passes unchanged."""
    probs = np.asarray(probs, dtype=np.float64)
    if probs.ndim == 2:
        return probs
    return np.array([[1.0 - p, p] for p in probs])


def lowest_argmax(row: Floats) -> int:
    """The class of the largest probability; among equals the lowest index."""
    best = 0
    for k in range(1, len(row)):
        if row[k] > row[best]:
            best = k
    return best


def float_weights(weights: Floats | None, n: int) -> list[float]:
    """The weights as floats; ones when there are none."""
    if weights is None:
        return [1.0] * n
    return [float(v) for v in np.asarray(weights)]


def integer_weights(weights: Floats | None, n: int) -> list[int]:
    """Integers in exactly the ratio of the weights, so that ranks compare without rounding."""
    if weights is None:
        return [1] * n
    exact = [Fraction(float(v)) for v in np.asarray(weights)]
    scale = math.lcm(*[v.denominator for v in exact])
    return [int(v * scale) for v in exact]


def exact_mean(values: Floats, weights: Ints, rows: Ints) -> Fraction:
    """Weighted mean of the named rows, without rounding."""
    total = sum(weights[i] for i in rows)
    return sum((weights[i] * Fraction(float(values[i])) for i in rows), Fraction(0)) / total


def same_shape(*arrays: Sized) -> None:
    """Raise ValueError if lengths differ: a loop over the shorter array would hide a mistake."""
    if len({len(a) for a in arrays}) != 1:
        raise ValueError("lengths differ")
