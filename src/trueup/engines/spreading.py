"""The native engine's side of spreading rows onto a grid: a table for each chunk, then their sum.

Chunks depend on the number of rows alone and their tables are added in order, so the result has
the same bits on any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats, Spread
from trueup.engines.rooms import FRESH, Room
from trueup.engines.smooth_reference import folded
from trueup.engines.threads import cut, run
from trueup.native import spread as kernel

CHUNK_ROWS = 120_000  # fewer rows than this are not worth a table of their own
RUN_ROWS = 1 << 18  # a running sum is added to the totals after so many rows: no drift


def spread(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Spread:
    """Sums of w, wy and w(p − y) at the points j/size of a grid, rows shared by B-splines."""
    total = _added(kernel.add_rows, p, y, w, size, (size + 4, 3))
    return Spread(*folded(np.ascontiguousarray(total.T)))


def spread_residual(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Floats:
    """Sums of w(p − y) alone, the same as those of `spread`, in a third of the additions."""
    total = _added(kernel.add_residuals, p, y, w, size, (size + 4,))
    return np.asarray(folded(total[None])[0])


def spread_terms(value: Floats, term: Floats, size: int, room: Room = FRESH) -> Floats:
    """Sums of terms at non-decreasing values, shared out in the same way, on one thread."""
    moments = room.empty("moments", 4 * (size + 7), np.float64).reshape(-1, 4)
    totals = np.empty((1, size + 4))
    kernel.add_terms(value, term, moments, totals[0])
    return np.asarray(folded(totals)[0])


def _added(
    add_rows: Any,
    p: NDArray[Any],
    y: NDArray[Any],
    w: Floats | None,
    size: int,
    shape: tuple[int, ...],
) -> Floats:
    score = _plain(p, np.float32, np.float64)
    label = _plain(y.view(np.uint8) if y.dtype == bool else y, np.uint8, np.int32, np.int64)
    weight = None if w is None else _plain(w, np.float64)

    def add(start: int, stop: int) -> Floats:
        total = np.zeros(shape)
        for first in range(start, stop, RUN_ROWS):
            table = np.zeros(shape)
            add_rows(score, label, weight, first, min(first + RUN_ROWS, stop), size, table)
            total += table
        return total

    total, *others = run(add, cut(len(p), CHUNK_ROWS))
    for other in others:
        total += other
    return total


def _plain(array: NDArray[Any], *types: Any) -> NDArray[Any]:
    """The array itself if it is plain memory of one of the types, otherwise float64."""
    dtype = array.dtype if any(array.dtype == known for known in types) else np.float64
    return np.require(array, dtype, ("C", "ALIGNED"))
