"""Kernel calibration errors: SKCE (Widmann et al. 2019) and MMCE (Kumar et al. 2018).

`predictions` are (n,) scores with 0/1 labels, whose residual is p - y, or (n, K) points of
the simplex with class numbers, whose residual is the vector p - onehot(y).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import Floats, Ints, float_weights, same_shape


def distance_between(a: np.ndarray, b: np.ndarray, distance: str) -> float:
    """Euclidean, or total variation: half the sum of absolute differences."""
    if distance == "euclidean":
        return math.sqrt(math.fsum((u - v) ** 2 for u, v in zip(a, b, strict=True)))
    if distance == "total_variation":
        return 0.5 * math.fsum(abs(u - v) for u, v in zip(a, b, strict=True))
    raise ValueError("distance must be 'euclidean' or 'total_variation'")


def kernel_value(d: float, kernel: str, bandwidth: float) -> float:
    """exp(-d / bandwidth), or exp(-d^2 / (2 bandwidth^2))."""
    if kernel == "laplacian":
        return math.exp(-d / bandwidth)
    if kernel == "gaussian":
        return math.exp(-(d**2) / (2.0 * bandwidth**2))
    raise ValueError("kernel must be 'laplacian' or 'gaussian'")


def _points(predictions: ArrayLike, distance: str) -> tuple[np.ndarray, str]:
    """Predictions as rows of coordinates; scores have one, and only |p - p'| as distance."""
    given = np.asarray(predictions, dtype=np.float64)
    return (given.reshape(-1, 1), "euclidean") if given.ndim == 1 else (given, distance)


def _residuals(predictions: ArrayLike, labels: Floats) -> list[list[float]]:
    given = np.asarray(predictions, dtype=np.float64)
    same_shape(given, labels)
    if given.ndim == 1:
        return [[float(given[i]) - float(labels[i])] for i in range(len(given))]
    return [
        [float(v) - (1.0 if int(labels[i]) == c else 0.0) for c, v in enumerate(row)]
        for i, row in enumerate(given)
    ]


def median_bandwidth(predictions: ArrayLike, distance: str = "euclidean") -> float:
    """Median of the positive distances of all pairs, at least 0.05; 1 if there is none."""
    points, distance = _points(predictions, distance)
    found = []
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            d = distance_between(points[i], points[j], distance)
            if d > 0.0:
                found.append(d)
    if not found:
        return 1.0
    found.sort()
    half = len(found) // 2
    median = found[half] if len(found) % 2 else 0.5 * (found[half - 1] + found[half])
    return max(median, 0.05)


def kernel_terms(
    predictions: ArrayLike,
    labels: Floats,
    kernel: str = "laplacian",
    distance: str = "euclidean",
    bandwidth: float | None = None,
) -> list[list[float]]:
    """h_ij = (residual i . residual j) k(i, j) for every ordered pair, i = j included."""
    points, distance = _points(predictions, distance)
    if bandwidth is None:
        bandwidth = median_bandwidth(predictions, distance)
    residuals = _residuals(predictions, labels)
    n = len(points)
    table = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            dot = math.fsum(a * b for a, b in zip(residuals[i], residuals[j], strict=True))
            d = distance_between(points[i], points[j], distance)
            table[i][j] = table[j][i] = dot * kernel_value(d, kernel, bandwidth)
    return table


def _pooled(h: list[list[float]], w: list[float], pairs: list[tuple[int, int]]) -> float:
    """Weighted mean of h over ordered pairs of rows; 0 if there is no pair."""
    if not pairs:
        return 0.0
    total = math.fsum(w[i] * w[j] for i, j in pairs)
    return math.fsum(w[i] * w[j] * h[i][j] for i, j in pairs) / total


def skce_biased(
    predictions: ArrayLike,
    labels: Floats,
    kernel: str = "laplacian",
    distance: str = "euclidean",
    bandwidth: float | None = None,
    weights: Floats | None = None,
) -> float:
    """Mean over all ordered pairs, a row with itself included."""
    h = kernel_terms(predictions, labels, kernel, distance, bandwidth)
    n = len(h)
    return _pooled(h, float_weights(weights, n), [(i, j) for i in range(n) for j in range(n)])


def skce_unbiased(
    predictions: ArrayLike,
    labels: Floats,
    kernel: str = "laplacian",
    distance: str = "euclidean",
    bandwidth: float | None = None,
    weights: Floats | None = None,
) -> float:
    """Mean over ordered pairs of two different rows; may be negative."""
    return skce_block(predictions, labels, len(labels), kernel, distance, bandwidth, weights)


def skce_block(
    predictions: ArrayLike,
    labels: Floats,
    block_size: int = 2,
    kernel: str = "laplacian",
    distance: str = "euclidean",
    bandwidth: float | None = None,
    weights: Floats | None = None,
) -> float:
    """Mean over pairs of two rows of the same block of consecutive rows; a short last one goes.

    The median heuristic still sees every pair of rows.
    """
    h = kernel_terms(predictions, labels, kernel, distance, bandwidth)
    pairs = []
    for block in range(len(h) // block_size):
        rows = range(block * block_size, (block + 1) * block_size)
        pairs += [(i, j) for i in rows for j in rows if i != j]
    return _pooled(h, float_weights(weights, len(h)), pairs)


def mmce(p: Floats, correct: Ints, weights: Floats | None = None, bandwidth: float = 0.4) -> float:
    """Kumar eq. 4: root of the biased form, Laplacian kernel of the confidences."""
    value = skce_biased(p, correct, "laplacian", "euclidean", bandwidth, weights)
    return math.sqrt(max(0.0, value))


def mmce_weighted(
    p: Floats, correct: Ints, weights: Floats | None = None, bandwidth: float = 0.4
) -> float:
    """Kumar's weighted form: right and wrong rows each average over their own group.

    A group without rows leaves its terms, and the cross term, at 0.
    """
    same_shape(p, correct)
    w = float_weights(weights, len(p))
    right = [i for i in range(len(p)) if correct[i] == 1]
    wrong = [i for i in range(len(p)) if correct[i] == 0]
    pull = {i: 1.0 - float(p[i]) for i in right} | {i: float(p[i]) for i in wrong}

    def mean_over(first: list[int], second: list[int]) -> float:
        if not first or not second:
            return 0.0
        terms = []
        for i in first:
            for j in second:
                k = kernel_value(abs(float(p[i]) - float(p[j])), "laplacian", bandwidth)
                terms.append(w[i] * w[j] * pull[i] * pull[j] * k)
        return math.fsum(terms) / (math.fsum(w[i] for i in first) * math.fsum(w[j] for j in second))

    square = mean_over(wrong, wrong) + mean_over(right, right) - 2.0 * mean_over(right, wrong)
    return math.sqrt(max(0.0, square))
