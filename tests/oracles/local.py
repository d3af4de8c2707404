"""Local errors and local recalibration, as loops over rows (Luo et al. 2022, eqs. 4 and 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence

Rows = Sequence[Sequence[float]]


def bin_of(confidence: float, n_bins: int) -> int:
    """The number of inner edges k/B that are below the confidence."""
    return sum(k / n_bins < confidence for k in range(1, n_bins))


def similarity(a: Sequence[float], b: Sequence[float], kernel: str, gamma: float) -> float:
    if kernel == "laplacian":
        return math.exp(-sum(abs(s - t) for s, t in zip(a, b, strict=True)) / (len(a) * gamma))
    return math.exp(-sum((s - t) ** 2 for s, t in zip(a, b, strict=True)) / (2 * gamma**2))


def standardised(rows: Rows, weights: Sequence[float] | None = None) -> list[list[float]]:
    """Columns that vary, divided by their population standard deviation."""
    w = [1.0] * len(rows) if weights is None else list(weights)
    total = math.fsum(w)
    columns = []
    for column in zip(*rows, strict=True):
        if max(column) == min(column):
            continue
        mean = math.fsum(v * x for v, x in zip(w, column, strict=True)) / total
        spread = math.sqrt(
            math.fsum(v * (x - mean) ** 2 for v, x in zip(w, column, strict=True)) / total
        )
        columns.append([x / spread for x in column])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[0.0] for _ in rows]


def local_gaps(
    p: Sequence[float],
    y: Sequence[float],
    points: Rows,
    gamma: float,
    kernel: str = "laplacian",
    n_bins: int = 15,
    weights: Sequence[float] | None = None,
) -> list[float]:
    """Observed − predicted at every row, itself among its neighbors."""
    w = [1.0] * len(p) if weights is None else list(weights)
    bins = [bin_of(c, n_bins) for c in p]
    found = []
    for x, b in zip(points, bins, strict=True):
        rows = [i for i in range(len(p)) if bins[i] == b]
        k = {i: w[i] * similarity(x, points[i], kernel, gamma) for i in rows}
        found.append(math.fsum(k[i] * (y[i] - p[i]) for i in rows) / math.fsum(k.values()))
    return found


def group_gaps(
    p: Sequence[float], y: Sequence[float], groups: Sequence[object], n_bins: int = 15
) -> list[float]:
    """Mean outcome less mean score of the bin and group of every row."""
    cells = [(bin_of(c, n_bins), g) for c, g in zip(p, groups, strict=True)]
    found = []
    for cell in cells:
        rows = [i for i in range(len(p)) if cells[i] == cell]
        found.append(math.fsum(y[i] - p[i] for i in rows) / len(rows))
    return found


def recalibrated(
    confidence: Sequence[float],
    right: Sequence[float],
    points: Rows,
    new_confidence: Sequence[float],
    new_points: Rows,
    gamma: float,
    kernel: str = "laplacian",
    n_bins: int = 15,
    weights: Sequence[float] | None = None,
) -> list[float]:
    """New confidences: accuracy around each new row; that of an empty bin stays as it was."""
    w = [1.0] * len(right) if weights is None else list(weights)
    bins = [bin_of(c, n_bins) for c in confidence]
    found = []
    for c, x in zip(new_confidence, new_points, strict=True):
        rows = [i for i in range(len(right)) if bins[i] == bin_of(c, n_bins)]
        k = {i: w[i] * similarity(x, points[i], kernel, gamma) for i in rows}
        total = math.fsum(k.values())
        found.append(math.fsum(k[i] * right[i] for i in rows) / total if rows else c)
    return found
