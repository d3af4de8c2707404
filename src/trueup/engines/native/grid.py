"""Rows spread onto a grid, with one table per chunk, and areas of smooth curves on the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.grid as compiled
from trueup._typing import Floats
from trueup.engines.blocks import cut, steps
from trueup.engines.memory import FRESH, Scratch, plain
from trueup.engines.sums import added, folded
from trueup.engines.threads import run
from trueup.engines.types import Spread

CHUNK_ROWS = 120_000  # fewer rows than this are not worth a table of their own
RUN_ROWS = 1 << 18  # a running sum is added to the totals after this many rows: no drift


def spread(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Spread:
    total = _spread(compiled.add_rows, p, y, w, size, (size + 4, 3))
    return Spread(*folded(np.ascontiguousarray(total.T)))


def spread_residual(p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Floats:
    total = _spread(compiled.add_residuals, p, y, w, size, (size + 4,))
    return np.asarray(folded(total[None])[0])


def spread_terms(value: Floats, term: Floats, size: int, scratch: Scratch = FRESH) -> Floats:
    moments = scratch.empty("moments", 4 * (size + 7), np.float64).reshape(-1, 4)
    totals = np.empty((1, size + 4))
    compiled.add_terms(value, term, moments, totals[0])
    return np.asarray(folded(totals)[0])


def absolute_area(height: Floats) -> float:
    area: float = compiled.absolute_area(height)
    return area


def _spread(
    add_rows: Any,
    p: NDArray[Any],
    y: NDArray[Any],
    w: Floats | None,
    size: int,
    shape: tuple[int, ...],
) -> Floats:
    score = plain(p, np.float32, np.float64)
    y = y.view(np.uint8) if y.dtype == bool else y
    label = plain(y, np.uint8, np.int32, np.int64, np.float64)
    weight = None if w is None else plain(w, np.float64)

    def add(start: int, stop: int) -> Floats:
        total = np.zeros(shape)
        for first, last in steps(stop - start, RUN_ROWS):
            table = np.zeros(shape)
            add_rows(score, label, weight, start + first, start + last, size, table)
            total += table
        return total

    return added(run(add, cut(len(p), CHUNK_ROWS)))
