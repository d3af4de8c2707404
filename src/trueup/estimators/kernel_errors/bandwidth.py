"""The median heuristic: the bandwidth is the median distance between predictions."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.estimators.kernel_errors.residuals import RowResiduals

MOST_ROWS = 1000
FIRST_COORDINATES = 4
WITHOUT_DISTANCES = 1.0
NARROWEST = 0.05  # scores concentrated near 1 would give a kernel that only connects equal scores


def score_bandwidth(value: Floats, count: Ints | None, scale: float = 1.0) -> float:
    """Return the median of the positive |p_i − p_j|, at least 0.05; 1 if there is none.

    ``value`` is non-decreasing, and each value counts as ``count`` rows (None: 1). If there are
    more than 1,000 rows, those at 1,000 evenly spaced ranks are used, ties included. Distances are
    ``scale`` times those of the scores.
    """
    n = len(value) if count is None else int(count.sum())
    rank = _ranks(n)
    if len(value) < n:
        assert count is not None
        rank = np.searchsorted(np.cumsum(count), rank, side="right")
    return _wide_enough(scale * engine.pairs.median_gap(value[rank]))


def row_bandwidth(rows: RowResiduals, total_variation: bool) -> float:
    """Return the median of the positive distances of rows, at least 0.05; 1 if there is none.

    If there are more than 1,000 rows, those at 1,000 evenly spaced ranks are used, in the order of
    their largest coordinate, then of the sum of squares, then of the first four coordinates.
    """
    which = np.arange(rows.n) if rows.n <= MOST_ROWS else _order(rows)[_ranks(rows.n)]
    points, _ = rows.read(which)
    distance = engine.pairs.pair_distances(points, points, total_variation)
    positive = distance[np.triu_indices(len(points), 1)]
    positive = positive[positive > 0]
    return _wide_enough(float(np.median(positive)) if len(positive) else 0.0)


def _wide_enough(median: float) -> float:
    return max(median, NARROWEST) if median > 0 else WITHOUT_DISTANCES


def _ranks(n: int) -> Ints:
    """Return all ranks from 0 on, or the middles of 1,000 equal parts of them."""
    if n <= MOST_ROWS:
        return np.arange(n)
    middles: Ints = (2 * np.arange(MOST_ROWS) + 1) * n // (2 * MOST_ROWS)
    return middles


def _order(rows: RowResiduals) -> Ints:
    keys = []
    for block in row_blocks(rows.n, rows.m):
        points, _ = rows.read(block)
        squares = np.einsum("ij,ij->i", points, points)
        first = points[:, :FIRST_COORDINATES]
        keys.append(np.column_stack([points.max(axis=1), squares, first]))
    return np.lexsort(np.concatenate(keys).T[::-1])
