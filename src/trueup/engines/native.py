"""The compiled engine: kernels on chunks of the rows, one chunk a thread.

Chunks depend on the size of the data alone and their sums are added in order, so the result has
the same bits on any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines import reference
from trueup.engines.base import Floats, Ints, Read, RowScan, Sums
from trueup.engines.counting import absolute_area, count_residuals, extreme_sums
from trueup.engines.drawing import (
    add_classes,
    count_labels,
    draw_classes,
    draw_hits,
    draw_labels,
    draw_rows,
    regroup_rows,
)
from trueup.engines.kernel_blocks import block_sums
from trueup.engines.kernels import (
    laplace_cross,
    laplace_total,
    median_gap,
    pair_distances,
    pair_products,
)
from trueup.engines.laplacian import divided_sums
from trueup.engines.ordering import (
    equal_mass_edges,
    group_pairs,
    local_quadratics,
    pool_added,
    pool_rising,
)
from trueup.engines.sigmoids import sigmoid_sums
from trueup.engines.softmaxes import (
    scaled_probs,
    scaled_product,
    scaled_sums,
    temper,
    tempered_probs,
)
from trueup.engines.spreading import spread, spread_residual, spread_terms
from trueup.engines.sweeping import sweep_bins, swept_residuals
from trueup.engines.threads import cut, run
from trueup.native import bins, rows

__all__ = [
    "absolute_area",
    "add_classes",
    "all_pairs_good",
    "batch_bin_sums",
    "bin_sums",
    "block_sums",
    "class_bin_sums",
    "count_labels",
    "count_residuals",
    "divided_sums",
    "draw_classes",
    "draw_hits",
    "draw_labels",
    "draw_rows",
    "equal_mass_edges",
    "extreme_sums",
    "find_bins",
    "first_not_binary",
    "first_outside_unit",
    "group_pairs",
    "laplace_cross",
    "laplace_total",
    "local_quadratics",
    "median_gap",
    "pair_distances",
    "pair_products",
    "pool_added",
    "pool_rising",
    "regroup_rows",
    "scaled_columns",
    "scaled_probs",
    "scaled_product",
    "scaled_sums",
    "scan_rows",
    "sigmoid_sums",
    "spread",
    "spread_residual",
    "spread_terms",
    "sweep_bins",
    "swept_residuals",
    "temper",
    "tempered_probs",
]

CHECKED_ROWS = 120_000  # larger chunks than caches ask for: threads wait for each other less
SUMMED_ROWS = 120_000
FEW_FOUND = 2_000  # a plain search is over before a table is made
RUN_ROWS = 1 << 15  # a running sum is added to the totals after about so many rows
BLOCK_ENTRIES = 1 << 18
LOW_SHARE = 0.3  # more entries past the first bin than this: it is no short cut
TABLE_BYTES = 1 << 22  # for the tables of all chunks, unless two tables alone need more


def first_outside_unit(values: NDArray[Any]) -> int:
    """Index of the first value that is NaN or outside [0, 1]; -1 if there is none."""
    score = _scores(values)
    chunks = cut(len(score), CHECKED_ROWS)
    return _first(run(lambda start, stop: rows.first_outside_unit(score, start, stop), chunks))


def first_not_binary(labels: NDArray[Any]) -> int:
    """Index of the first label that is neither 0 nor 1; -1 if there is none."""
    label = _labels(labels)
    chunks = cut(len(label), CHECKED_ROWS)
    return _first(run(lambda start, stop: rows.first_not_binary(label, start, stop), chunks))


def all_pairs_good(p: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether all scores are in [0, 1] and all labels 0 or 1."""
    score, label = _scores(p), _labels(y)

    def bad(start: int, stop: int) -> bool:
        outside = rows.first_outside_unit(score, start, stop)
        return outside >= 0 or rows.first_not_binary(label, start, stop) >= 0

    return not any(run(bad, cut(len(score), CHECKED_ROWS)))


def scan_rows(read: Read, n: int, n_classes: int) -> RowScan:
    """Check, add up and find the largest entry of every row, in one read of the matrix."""
    total, top = np.empty(n), np.empty(n)
    top_class = np.empty(n, np.int32)
    step = max(1, BLOCK_ENTRIES // n_classes)

    def scan(start: int, stop: int) -> int:
        blocks = ((i, min(i + step, stop)) for i in range(start, stop, step))
        return _first([rows.scan(read(i, j), i, total, top, top_class) for i, j in blocks])

    return RowScan(_first(run(scan, cut(n, step))), total, top, top_class)


def find_bins(p: NDArray[Any], inner_edges: Floats) -> Ints:
    """Bin of every score: the number of inner edges below it."""
    if len(p) < FEW_FOUND:
        return reference.find_bins(p, inner_edges)
    score, lookup = _scores(p), _lookup(inner_edges)
    found = np.empty(len(score), np.int64)
    run(lambda start, stop: bins.find(score, start, stop, lookup, found), cut(len(p), SUMMED_ROWS))
    return found


def bin_sums(p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats) -> Sums:
    """Sufficient statistics per bin; a score's bin is the number of inner edges below it."""
    score, label = _scores(p), _labels(y)
    lookup = _lookup(inner_edges)
    chunks = cut(len(score), max(SUMMED_ROWS, _share(len(score), 64 * lookup.bins)))
    binary = w is None and label.dtype != np.float64

    def hard(start: int, stop: int) -> Floats | None:
        totals = np.zeros((2 * lookup.bins, 4))
        return totals if bins.add_hard(score, label, start, stop, lookup, totals) else None

    if binary:
        parts = [part for part in run(hard, chunks) if part is not None]
        if len(parts) == len(chunks):
            return _hard_sums(_added(parts))
    soft_label = _as(y, np.float64)
    weight = None if w is None else _as(w, np.float64)

    def soft(start: int, stop: int) -> Floats:
        totals = np.zeros((lookup.bins, 8))
        bins.add_soft(score, soft_label, weight, start, stop, lookup, totals)
        return totals

    count, *moments = _added(run(soft, chunks)).T.copy()
    return Sums(count.astype(np.int64), *moments)


def batch_bin_sums(p: NDArray[Any], y: NDArray[Any], inner_edges: Floats) -> Sums:
    """Bin sums of many data sets at once: row r of ``p`` and ``y`` is data set r."""
    score, label = _scores(p), _labels(y)
    lookup = _lookup(inner_edges)
    sets, n = score.shape
    sums = np.zeros((5, sets, lookup.bins))

    def hard(start: int, stop: int) -> bool:
        return bins.add_hard_sets(score, label, start, stop, lookup, sums)

    binary = label.dtype != np.float64
    if sets == 0 or (binary and all(run(hard, cut(sets, SUMMED_ROWS // max(1, n))))):
        return _sums(*sums)
    each = [bin_sums(p[r], y[r], None, inner_edges) for r in range(sets)]
    return Sums(*(np.stack(arrays) for arrays in zip(*each, strict=True)))


def class_bin_sums(
    read: Read, factor: Floats | None, labels: Ints, n_classes: int, inner_edges: Floats
) -> Sums:
    """One-vs-rest bin sums of every class, shape (K, B), in one read of the matrix."""
    label, lookup = _as(labels, np.int64), _lookup(inner_edges)
    scale = None if factor is None else _as(factor, np.float64)
    step = max(1, min(RUN_ROWS, BLOCK_ENTRIES // n_classes))
    table_bytes = 88 * n_classes * lookup.bins

    def add(start: int, stop: int) -> Floats:
        tables = bins.ClassTables(n_classes, lookup)
        totals = np.zeros((5, n_classes, lookup.bins))
        mostly_low, pending = n_classes > 3, 0
        for first in range(start, stop, step):
            block = read(first, min(first + step, stop))
            others = tables.add(block, scale, label, first, mostly_low)
            mostly_low = others < LOW_SHARE * block.size
            pending += len(block)
            if pending >= max(RUN_ROWS, 4 * lookup.bins):
                tables.flush(totals)
                pending = 0
        tables.flush(totals)
        return totals

    chunks = cut(len(label), max(step, _share(len(label), table_bytes)))
    return _sums(*_added(run(add, chunks)))


def scaled_columns(block: NDArray[Any], factor: Floats | None, out: Floats) -> None:
    """Write the columns of ``block``, its rows multiplied by ``factor``, to the rows of ``out``."""
    plain = block.dtype in (np.float32, np.float64) and block.flags.aligned
    plain = plain and block.strides[1] == block.itemsize
    rows.scaled_columns(block if plain else np.require(block, np.float64, ("C", "A")), factor, out)


def _hard_sums(totals: Floats) -> Sums:
    """Sums from {sum p, sum p^2, count, 0} at the places 2 * bin + label."""
    positive = totals[1::2].T
    score, score2, count, _ = totals[::2].T + positive
    return _sums(count, score, score2, positive[2], positive[0])


def _sums(count: Floats, score: Floats, score2: Floats, label: Floats, cross: Floats) -> Sums:
    """Sums without weights, of labels 0 and 1: every field an array of its own."""
    return Sums(
        count.astype(np.int64),
        count.copy(),
        count.copy(),
        score.copy(),
        score2.copy(),
        label.copy(),
        label.copy(),
        cross.copy(),
    )


def _added(parts: list[Floats]) -> Floats:
    """The sum of all parts, added one after the other."""
    total, *others = parts
    for part in others:
        total += part
    return total


def _first(found: list[int]) -> int:
    return next((place for place in found if place >= 0), -1)


def _share(n: int, table_bytes: int) -> int:
    """Rows a chunk must have for the tables of all chunks to fit in TABLE_BYTES."""
    most = max(2, TABLE_BYTES // table_bytes)
    return -(-n // (1 << most.bit_length() - 1))  # a power of two shares out evenly


def _lookup(inner_edges: Floats) -> bins.Lookup:
    return bins.Lookup(_as(inner_edges, np.float64))


def _scores(p: NDArray[Any]) -> NDArray[Any]:
    return _as(p, np.float32 if p.dtype == np.float32 else np.float64)


def _labels(y: NDArray[Any]) -> NDArray[Any]:
    """Labels as uint8, int32, int64 or float64; 0 and 1 stay, and nothing else becomes 0 or 1."""
    kind, size = y.dtype.kind, y.dtype.itemsize
    if kind not in "bui" or not y.dtype.isnative:
        return _as(y, np.float64)
    if size == 2:
        return _as(y, np.int32)
    same_size = {1: np.uint8, 4: np.int32, 8: np.int64}[size]
    return _as(y, y.dtype).view(same_size)


def _as(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The array itself if its rows are plain memory of that type, otherwise a copy that is."""
    if array.dtype == dtype and array.strides[-1] == array.itemsize and array.flags.aligned:
        return array
    return np.require(array, dtype, ("C", "ALIGNED"))
