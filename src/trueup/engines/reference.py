"""The reference engine: readable NumPy, and the oracle of every faster one.

Everything is summed in float64 by blocks of 2^16 rows, whatever the input's type: a plain
running sum of 10^8 equal scores drifts, and in float32 it stops growing altogether.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.added_row import pool_added as pool_added
from trueup.engines.base import MOMENTS, Floats, Groups, Ints, Read, RowScan, Sums
from trueup.engines.counted_reference import (
    count_residuals as count_residuals,
    extreme_sums as extreme_sums,
    sweep_bins as sweep_bins,
    swept_residuals as swept_residuals,
)
from trueup.engines.cuts import cuts_of_groups
from trueup.engines.draws import (
    add_classes as add_classes,
    count_labels as count_labels,
    draw_classes as draw_classes,
    draw_hits as draw_hits,
    draw_labels as draw_labels,
    draw_rows as draw_rows,
    regroup_rows as regroup_rows,
)
from trueup.engines.kernel_reference import (
    block_sums as block_sums,
    divided_sums as divided_sums,
)
from trueup.engines.local_fits import local_quadratics as local_quadratics
from trueup.engines.pair_reference import (
    laplace_cross as laplace_cross,
    laplace_total as laplace_total,
    median_gap as median_gap,
    pair_distances as pair_distances,
    pair_products as pair_products,
)
from trueup.engines.sigmoid_reference import sigmoid_sums as sigmoid_sums
from trueup.engines.smooth_reference import (
    absolute_area as absolute_area,
    spread as spread,
    spread_residual as spread_residual,
    spread_terms as spread_terms,
)
from trueup.engines.softmax_reference import (
    scaled_probs as scaled_probs,
    scaled_product as scaled_product,
    scaled_sums as scaled_sums,
    temper as temper,
    tempered_probs as tempered_probs,
)

BLOCK_ROWS = 1 << 16
BLOCK_ENTRIES = 1 << 18
LANES = 8


def first_outside_unit(values: NDArray[Any]) -> int:
    """Index of the first value that is NaN or outside [0, 1]; -1 if there is none."""
    for start, stop in _blocks(len(values), BLOCK_ROWS):
        block = values[start:stop]
        inside = (block >= 0) & (block <= 1)
        if not inside.all():
            return start + int(np.argmin(inside))
    return -1


def first_not_binary(labels: NDArray[Any]) -> int:
    """Index of the first label that is neither 0 nor 1; -1 if there is none."""
    for start, stop in _blocks(len(labels), BLOCK_ROWS):
        block = labels[start:stop]
        binary = (block == 0) | (block == 1)
        if not binary.all():
            return start + int(np.argmin(binary))
    return -1


def all_pairs_good(p: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether all scores are in [0, 1] and all labels 0 or 1."""
    return first_outside_unit(p) < 0 and first_not_binary(y) < 0


def scan_rows(read: Read, n: int, n_classes: int) -> RowScan:
    """Check, add up and find the largest entry of every row, in one read of the matrix."""
    total, top = np.empty(n), np.empty(n)
    top_class = np.empty(n, np.int32)
    first_bad = -1
    for start, stop in _blocks(n, max(1, BLOCK_ENTRIES // n_classes)):
        block = read(start, stop)
        good = ((block >= 0) & (block <= 1)).all(axis=1)
        if first_bad < 0 and not good.all():
            first_bad = start + int(np.argmin(good))
        total[start:stop] = _row_sums(block)
        best = block.argmax(axis=1)
        top_class[start:stop] = best
        top[start:stop] = block[np.arange(stop - start), best]
    return RowScan(first_bad, total, top, top_class)


def _row_sums(block: NDArray[Any]) -> Floats:
    """Sums of rows in eight lanes: one fixed order of addition, the same on every engine.

    Lane j adds the columns j, j + 8, j + 16, …; then lanes four, two and one apart are added.
    """
    rows, columns = block.shape
    lanes = np.zeros((rows, LANES))
    for first in range(0, columns, LANES):
        part = block[:, first : first + LANES]
        lanes[:, : part.shape[1]] += part
    lanes = lanes[:, :4] + lanes[:, 4:]
    lanes = lanes[:, :2] + lanes[:, 2:]
    sums: Floats = lanes[:, 0] + lanes[:, 1]
    return sums


def find_bins(p: NDArray[Any], inner_edges: Floats) -> Ints:
    """Bin of every score: the number of inner edges below it."""
    found = np.searchsorted(inner_edges, p.astype(np.float64, copy=False), side="left")
    return found.astype(np.int64, copy=False)


def bin_sums(p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats) -> Sums:
    """Sufficient statistics per bin; a score's bin is the number of inner edges below it."""
    n_bins = len(inner_edges) + 1
    count = np.zeros(n_bins, np.int64)
    moments = np.zeros((7, n_bins))
    for start, stop in _blocks(len(p), BLOCK_ROWS):
        score = p[start:stop].astype(np.float64)
        label = y[start:stop].astype(np.float64)
        weight = np.ones(stop - start) if w is None else w[start:stop]
        index = np.searchsorted(inner_edges, score, side="left")
        count += np.bincount(index, minlength=n_bins)
        terms = (
            weight,
            weight * weight,
            weight * score,
            weight * score * score,
            weight * label,
            weight * label * label,
            weight * score * label,
        )
        for moment, term in zip(moments, terms, strict=True):
            moment += np.bincount(index, term, minlength=n_bins)
    return Sums(count, *moments)


def batch_bin_sums(p: NDArray[Any], y: NDArray[Any], inner_edges: Floats) -> Sums:
    """Bin sums of many data sets at once: row r of ``p`` and ``y`` is data set r."""
    return _stack(
        [bin_sums(p[r], y[r], None, inner_edges) for r in range(len(p))], len(inner_edges)
    )


def class_bin_sums(
    read: Read, factor: Floats | None, labels: Ints, n_classes: int, inner_edges: Floats
) -> Sums:
    """One-vs-rest bin sums of every class, shape (K, B), in one read of the matrix."""
    n, n_bins = len(labels), len(inner_edges) + 1
    totals = Sums(
        np.zeros((n_classes, n_bins), np.int64),
        *(np.zeros((n_classes, n_bins)) for _ in MOMENTS[1:]),
    )
    for start, stop in _blocks(n, max(1, BLOCK_ENTRIES // n_classes)):
        block = read(start, stop).astype(np.float64)
        if factor is not None:
            block *= factor[start:stop, None]
        here = _stack(
            [
                bin_sums(block[:, k], labels[start:stop] == k, None, inner_edges)
                for k in range(n_classes)
            ],
            len(inner_edges),
        )
        for total, part in zip(totals, here, strict=True):
            total += part
    return totals


def scaled_columns(block: NDArray[Any], factor: Floats | None, out: Floats) -> None:
    """Write the columns of ``block``, its rows multiplied by ``factor``, to the rows of ``out``."""
    out[:] = block.T
    if factor is not None:
        out *= factor


def equal_mass_edges(p: NDArray[Any], n_bins: int) -> Floats:
    """Inner edges of (at most) ``n_bins`` bins with nearly the same number of rows each."""
    value, count = np.unique(p, return_counts=True)
    return value[cuts_of_groups(np.cumsum(count), n_bins)].astype(np.float64)


def group_pairs(p: NDArray[Any], y: NDArray[Any]) -> Groups:
    """Count rows and positive labels of every distinct score, in increasing order of the score."""
    order = np.argsort(p, kind="stable")
    score = p[order]
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    positive = np.add.reduceat(y[order].astype(np.int64), first)
    count = np.diff(np.r_[first, len(p)])
    return Groups(score[first].astype(np.float64), count, positive)


def pool_rising(weight: NDArray[Any], label: NDArray[Any]) -> Ints:
    """Starts of the blocks of the non-decreasing fit of label/weight; equal means are pooled.

    Pool adjacent violators: an item joins the blocks before it until means rise strictly. Means
    of whole numbers are compared exactly, in Python's integers, whatever their size.
    """
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"

    def rises(w: Any, y: Any, next_w: Any, next_y: Any) -> bool:
        return bool(y * next_w < next_y * w if whole else y / w < next_y / next_w)

    blocks: list[tuple[int, Any, Any]] = []
    for item in zip(range(len(weight)), weight.tolist(), label.tolist(), strict=True):
        start, w, y = item
        while blocks and not rises(*blocks[-1][1:], w, y):
            start, block_w, block_y = blocks.pop()
            w, y = block_w + w, block_y + y
        blocks.append((start, w, y))
    return np.array([start for start, _, _ in blocks], np.int64)


def _blocks(n: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + size, n)) for start in range(0, n, size))


def _stack(parts: list[Sums], n_edges: int) -> Sums:
    if not parts:
        empty = np.empty((0, n_edges + 1))
        return Sums(empty.astype(np.int64), *(empty for _ in MOMENTS[1:]))
    return Sums(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))
