"""The compiled engine: kernels on chunks of the rows, one chunk a thread.

Chunks depend on the size of the data alone and their sums are added in order, so the result has
the same bits on any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats, Ints, Read, RowScan, Sums
from trueup.engines.ordering import equal_mass_edges, group_pairs, sweep_bins
from trueup.engines.threads import Chunk, cut, run
from trueup.native import bins, rows

__all__ = [
    "batch_bin_sums",
    "bin_sums",
    "class_bin_sums",
    "equal_mass_edges",
    "first_not_binary",
    "first_outside_unit",
    "group_pairs",
    "scan_rows",
    "sweep_bins",
]

CHECKED_ROWS = 1 << 17
SUMMED_ROWS = 1 << 15
BLOCK_ENTRIES = 1 << 18
TABLE_BYTES = 1 << 22  # of all chunks together, as long as two chunks fit
RUN_ROWS = 1 << 15  # rows a running sum may take before it is added to the totals

_SCORES = {"f": np.float32, "d": np.float64}
_LABELS = {
    **dict.fromkeys("?bB", np.uint8),
    **dict.fromkeys("iI", np.int32),
    **dict.fromkeys("lLqQ", np.int64),
}


def first_outside_unit(values: NDArray[Any]) -> int:
    """Index of the first value that is NaN or outside [0, 1]; -1 if there is none."""
    plain = _scores(values)
    return _first(
        run(lambda i, j: rows.first_outside_unit(plain, i, j), cut(len(plain), CHECKED_ROWS))
    )


def first_not_binary(labels: NDArray[Any]) -> int:
    """Index of the first label that is neither 0 nor 1; -1 if there is none."""
    plain = _labels(labels)
    return _first(
        run(lambda i, j: rows.first_not_binary(plain, i, j), cut(len(plain), CHECKED_ROWS))
    )


def scan_rows(read: Read, n: int, n_classes: int) -> RowScan:
    """Check, add up and find the largest entry of every row, in one read of the matrix."""
    total, top = np.empty(n), np.empty(n)
    top_class = np.empty(n, np.int32)
    step = max(1, BLOCK_ENTRIES // n_classes)

    def look(start: int, stop: int) -> int:
        return _first(
            [rows.scan(read(i, min(i + step, stop)), i, total, top, top_class)
            for i in range(start, stop, step)]
        )

    return RowScan(_first(run(look, cut(n, step))), total, top, top_class)


def bin_sums(p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats) -> Sums:
    """Sufficient statistics per bin; a score's bin is the number of inner edges below it."""
    score, label, look = _scores(p), _labels(y), bins.Lookup(np.ascontiguousarray(inner_edges))
    n = len(score)
    if w is None and label.dtype != np.float64:
        chunks = _few(n, SUMMED_ROWS, look.bins * 64)
        parts = np.zeros((len(chunks), 2 * look.bins, 4))
        where = {start: part for (start, _), part in zip(chunks, parts, strict=True)}
        if all(run(lambda i, j: bins.add_hard(score, label, i, j, look, where[i]), chunks)):
            return _hard_sums(parts.sum(axis=0))
    label, weight = _floats(label), None if w is None else _floats(w)
    chunks = _few(n, SUMMED_ROWS, look.bins * 64)
    parts = np.zeros((len(chunks), look.bins, 8))
    where = {start: part for (start, _), part in zip(chunks, parts, strict=True)}
    run(lambda i, j: bins.add_soft(score, label, weight, i, j, look, where[i]), chunks)
    return _soft_sums(parts.sum(axis=0))
