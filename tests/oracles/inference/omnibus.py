"""The omnibus test: six statistics of cells of equal mass, combined by ranks in one pool.

Label draws are an argument, so that the same draws can be given to the library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from oracles.arithmetic import Floats, Ints, float_weights, same_shape

N_FINE = 11_264
OUTER = 37 * 128
NAMES = ("mean", "cox", "range", "chi2", "kernel", "scan")
BLOCK_WEIGHTS = (Fraction(3), Fraction(1, 4), Fraction(2))
PART_WEIGHTS = tuple(Fraction(k, 2) for k in (3, 3, 1, 1, 3, 2))


class Cell(NamedTuple):
    """One cell of the test; ``number`` counts from 0 to ``of`` - 1, cells without rows included."""

    number: int
    rows: list[int]
    variance: float
    mean_score: float
    logit: float
    of: int = 45


def fine_cell(p: float) -> int:
    """The number of the cell of the grid that holds a score, in rising order of scores."""
    x = Fraction(float(p))
    q = min(x, 1 - x)
    if q >= Fraction(1, 16):
        return OUTER + min(math.floor(2048 * x), 1919) - 128
    if q < Fraction(1, 2**40):
        below = math.floor(q * 2**40 * 128)
    else:
        k = next(k for k in range(4, 40) if q >= Fraction(1, 2 ** (k + 1)))
        below = (40 - k) * 128 + math.floor((q * 2 ** (k + 1) - 1) * 128)
    return below if 2 * x < 1 else N_FINE - 1 - below


def number_of_cells(n: int) -> int:
    """45 cells from 360 rows on, fewer below, always a multiple of 3."""
    return 3 * min(max(n // 24, 1), 15)


def cells_of(p: Floats, weights: Floats | None = None) -> list[Cell]:
    """The cells that hold rows, in rising order of scores."""
    w = float_weights(weights, len(p))
    total = sum((Fraction(v) for v in w), Fraction(0))
    groups = number_of_cells(len(p))
    fine: dict[int, list[int]] = {}
    for i in range(len(p)):
        fine.setdefault(fine_cell(p[i]), []).append(i)
    before = Fraction(0)
    members: dict[int, list[list[int]]] = {}
    for number in sorted(fine):
        own = sum((Fraction(w[i]) for i in fine[number]), Fraction(0))
        group = min(math.floor(groups * (before + own / 2) / total), groups - 1)
        members.setdefault(group, []).append(fine[number])
        before += own
    return [_cell(number, members[number], p, w, groups) for number in sorted(members)]


def _cell(number: int, parts: list[list[int]], p: Floats, w: list[float], of: int) -> Cell:
    rows = [i for part in parts for i in part]
    variances = [_variance(part, p, w) for part in parts]
    logits = [_logit_of_mean(part, p, w) for part in parts]
    variance = math.fsum(variances)
    counted = [(v, z) for v, z in zip(variances, logits, strict=True) if v > 0]
    logit = math.fsum(v * z for v, z in counted) / variance if counted else 0.0
    mean = math.fsum(w[i] * float(p[i]) for i in rows) / math.fsum(w[i] for i in rows)
    return Cell(number, rows, variance, mean, logit, of)


def _variance(rows: list[int], p: Floats, w: list[float]) -> float:
    return math.fsum(w[i] ** 2 * float(p[i]) * (1 - float(p[i])) for i in rows)


def _logit_of_mean(rows: list[int], p: Floats, w: list[float]) -> float:
    """The mean distance to the nearer end, which all rows of a cell of the grid share."""
    upper = float(p[rows[0]]) >= 0.5
    near = [1 - float(p[i]) if upper else float(p[i]) for i in rows]
    q = math.fsum(w[i] * v for i, v in zip(rows, near, strict=True)) / math.fsum(w[i] for i in rows)
    if q == 0:
        return math.nan
    return (-1 if upper else 1) * (math.log(q) - math.log1p(-q))


def residuals(
    cells: list[Cell], p: Floats, y: Floats, weights: Floats | None = None
) -> list[float]:
    """Weighted sum of label - score of every cell."""
    w = float_weights(weights, len(p))
    return [math.fsum(w[i] * (float(y[i]) - float(p[i])) for i in cell.rows) for cell in cells]


def _ratio(square: float, variance: float) -> float:
    if variance > 0:
        return square / variance
    return 0.0 if square == 0 else math.inf


def merged(cells: list[Cell], r: Sequence[float]) -> list[tuple[float, float]]:
    """(Residual, variance) of every three neighbors that hold rows."""
    groups = sorted({cell.number // 3 for cell in cells})
    out = []
    for group in groups:
        inside = [b for b in range(len(cells)) if cells[b].number // 3 == group]
        out.append((math.fsum(r[b] for b in inside), math.fsum(cells[b].variance for b in inside)))
    return out


def cox_score(cells: list[Cell], r: Sequence[float]) -> float:
    """Score test of intercept and slope, the slope after the intercept."""
    total = math.fsum(c.variance for c in cells)
    first = _ratio(math.fsum(r) ** 2, total)
    counted = [b for b in range(len(cells)) if cells[b].variance > 0]
    if len({cells[b].logit for b in counted}) < 2:
        return first
    center = math.fsum(cells[b].variance * cells[b].logit for b in counted) / total
    spread = math.fsum(cells[b].variance * (cells[b].logit - center) ** 2 for b in counted)
    slope = math.fsum(r[b] * (cells[b].logit - center) for b in counted)
    return first + slope**2 / spread


def running_range(r: Sequence[float]) -> float:
    """Largest minus smallest running sum, the empty sum among them."""
    sums = [math.fsum(r[:b]) for b in range(len(r) + 1)]
    return max(sums) - min(sums)


def kernel_sum(cells: list[Cell], r: Sequence[float]) -> float:
    """R'(V⁻¹ − (V + V C V)⁻¹)R over cells whose labels vary, C a Gaussian kernel of their places.

    That is twice the log likelihood ratio, without its constant, of normal logit errors with
    covariance C to none.
    """
    some = [b for b in range(len(cells)) if cells[b].variance > 0]
    if not some:
        return 0.0
    v = np.array([cells[b].variance for b in some])
    place = np.array([cells[b].number / cells[b].of for b in some])
    c = 40 / v.sum() * np.exp(-((place[:, None] - place[None, :]) ** 2) / (2 * 0.05**2))
    x = np.array([r[b] for b in some])
    whole = np.diag(v) + np.diag(v) @ c @ np.diag(v)
    return float(x @ (x / v) - x @ np.linalg.inv(whole) @ x)


def scan(cells: list[Cell], r: Sequence[float]) -> tuple[float, tuple[int, int]]:
    """The largest standardized residual of runs of merged cells, and the run: [first, last]."""
    parts = merged(cells, r)
    total = math.fsum(v for _, v in parts)
    best, where = -1.0, (0, 0)
    for first in range(len(parts)):
        for last in range(first, len(parts)):
            run = parts[first : last + 1]
            variance = math.fsum(v for _, v in run) + 0.002 * total
            value = math.sqrt(_ratio(math.fsum(x for x, _ in run) ** 2, variance))
            if value > best:
                best, where = value, (first, last)
    return best, where


def six_statistics(cells: list[Cell], r: Sequence[float]) -> list[float]:
    """The statistics in the order of ``NAMES``."""
    return [
        math.fsum(r) ** 2,
        cox_score(cells, r),
        running_range(r),
        math.fsum(_ratio(x**2, v) for x, v in merged(cells, r)),
        kernel_sum(cells, r),
        scan(cells, r)[0],
    ]


def table_of(
    p: Floats, y: Floats, draws: Sequence[Floats], weights: Floats | None = None
) -> list[list[float]]:
    """Six statistics of the data (first row) and of every draw of labels."""
    for labels in (y, *draws):
        same_shape(p, labels)
    cells = cells_of(p, weights)
    return [six_statistics(cells, residuals(cells, p, v, weights)) for v in (y, *draws)]


def pooled(column: Sequence[float]) -> list[Fraction]:
    """Share of the pool that is at least as large, for every row; nearly equal is equal."""
    top = max((abs(v) for v in column if math.isfinite(v)), default=0.0)
    return [Fraction(sum(u >= v - 5e-10 * top for u in column), len(column)) for v in column]


def combined(table: Sequence[Sequence[float]]) -> list[Fraction]:
    """Sum of weight/p over the statistics of every row of the pool, exactly."""
    columns = [pooled([row[k] for row in table]) for k in range(len(table[0]))]
    weighted = [(PART_WEIGHTS[k % 6], c) for k, c in enumerate(columns)]
    return [sum((a / c[b] for a, c in weighted), Fraction(0)) for b in range(len(table))]


def share_at_least(values: Sequence[Fraction]) -> list[Fraction]:
    """As ``pooled``, of exact numbers."""
    return [Fraction(sum(other >= v for other in values), len(values)) for v in values]


def binary_pvalue(
    p: Floats, y: Floats, draws: Sequence[Floats], weights: Floats | None = None
) -> Fraction:
    """The p-value of the data, row 0 of the pool."""
    return share_at_least(combined(table_of(p, y, draws, weights)))[0]


def matrix_pvalue(
    probs: np.ndarray, y: Ints, draws: Sequence[Ints], weights: Floats | None = None
) -> Fraction:
    """Top label, sums over classes, and every class, ranked and joined with weights 3, 1/4, 2."""
    tops = [max(range(len(row)), key=lambda k, row=row: (row[k], -k)) for row in probs]
    score = [row[k] for row, k in zip(probs, tops, strict=True)]
    hits = [
        [float(label == k) for label, k in zip(labels, tops, strict=True)] for labels in (y, *draws)
    ]
    classes = [
        table_of(
            probs[:, k],
            [float(label == k) for label in y],
            [[float(label == k) for label in labels] for labels in draws],
            weights,
        )
        for k in range(probs.shape[1])
    ]
    return matrix_pvalue_of_tables(table_of(score, hits[0], hits[1:], weights), classes)


def matrix_pvalue_of_tables(
    top: Sequence[Sequence[float]], classes: Sequence[Sequence[Sequence[float]]]
) -> Fraction:
    """The p-value from the statistics of the top label and of every class."""
    size = range(len(top))
    sums = [[math.fsum(c[b][k] for c in classes) for k in range(6)] for b in size]
    each = [[v for c in classes for v in c[b]] for b in size]
    shares = [share_at_least(combined(block)) for block in (top, sums, each)]
    joined = [
        sum((w / q[b] for w, q in zip(BLOCK_WEIGHTS, shares, strict=True)), Fraction(0))
        for b in size
    ]
    return share_at_least(joined)[0]
