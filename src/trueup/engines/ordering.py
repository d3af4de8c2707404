"""The native engine's side of everything that needs scores in order.

Equal-mass cuts need a few ranks, not an order: count on a grid, then sort only the cells that
hold those ranks. Pairs are spread over parts by the same grid and each part is radix-sorted.
Counts are whole numbers and groups are found by value, so threads cannot change a result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup.engines import reference
from trueup.engines.base import Floats, Groups, Ints
from trueup.engines.cuts import cuts_of_groups
from trueup.engines.local_fits import FLAT
from trueup.engines.threads import cut, run
from trueup.native import isotonic, loess, mass, order

FEW_ROWS = 1 << 12  # a plain sort is as fast
CHUNK_ROWS = 1 << 18
PART_ROWS = 1 << 14  # a part and its spare stay in the second-level cache
MOST_PARTS = 256
FITTED_ENTRIES = 1 << 16
MOST_POOLED = 2**31 - 1  # products of two totals then fit into 63 bits
POOLED_AT_ONCE = 1 << 16
SAMPLE = 1 << 12
ATOM_IN_SAMPLE = 8


class Grid(NamedTuple):
    """Cells are those of ``(p - shift) * scale``, which never falls as p grows."""

    shift: float
    scale: float

    @classmethod
    def of(cls, p: NDArray[Any]) -> Grid:
        """Zoom in where a glance finds all scores close together. Speed alone depends on it."""
        glance = p[:: max(1, len(p) // 64)].astype(np.float64)
        low, spread = float(glance.min()), float(np.ptp(glance))
        return cls(low, 1 / spread) if 1e-300 < spread < 1 / 64 else cls(0.0, 1.0)

    def tally(self, p: NDArray[Any], where: NDArray[np.uint16] | None = None) -> NDArray[np.int32]:
        """Number of scores in each cell; the cell of each score is written to ``where``."""
        counts = np.zeros(order.N_CELLS, np.int32)
        order.count_cells(p, self.shift, self.scale, counts, where)
        return counts

    def locate(self, p: Floats) -> Ints:
        """Cell of each score."""
        cells = np.empty(len(p), np.int64)
        order.locate_cells(p, self.shift, self.scale, cells)
        return cells


def equal_mass_edges(p: NDArray[Any], n_bins: int) -> Floats:
    """Inner edges of (at most) ``n_bins`` bins with nearly the same number of rows each."""
    n = len(p)
    n_bins = min(n_bins, n)  # n bins already cut at every boundary
    if n < FEW_ROWS or n_bins > n // 16:
        return reference.equal_mass_edges(p, n_bins) + 0.0
    if n_bins < 2:
        return np.empty(0)
    p = np.ascontiguousarray(p)
    grid, chunks = Grid.of(p), cut(n, CHUNK_ROWS)
    if len(chunks) == 1:
        edges = np.empty(n_bins - 1)
        made = mass.equal_mass_edges(p, *grid, n_bins, edges)
        if made >= 0:
            return edges[:made]
    where = np.empty(n, np.uint16)
    counts = run(lambda i, j: grid.tally(p[i:j], where[i:j]), chunks)
    cell_ends: Ints = np.cumsum(sum(counts[1:], counts[0].astype(np.int64)), dtype=np.int64)
    needed = _needed_cells(cell_ends, n_bins)
    wanted = np.zeros(order.N_CELLS, np.uint8)
    wanted[needed.cell] = 1
    atom, slot = np.full(len(needed.cell) + 1, np.nan), None
    if needed.rows.sum() > n // 16:
        slot = np.zeros(order.N_CELLS, np.int32)
        slot[needed.cell] = np.arange(1, len(needed.cell) + 1)
        _find_atoms(p, grid, slot, atom)

    def gather(start: int, stop: int) -> Floats:
        found = np.empty(stop - start + 1)
        here = slice(start, stop)
        return found[: order.gather(p[here], where[here], wanted, slot, atom, found)]

    found = np.concatenate(run(gather, chunks))
    left_out = needed.rows - grid.tally(found)[needed.cell]
    value, ends = _groups_of_cells(found, atom[1:], left_out, needed, n)
    return value[cuts_of_groups(ends, n_bins)]


class Needed(NamedTuple):
    """Cells whose tie groups must be known, in increasing order: index, last rank, rows."""

    cell: Ints
    end: Ints
    rows: Ints


def _needed_cells(cell_ends: Ints, n_bins: int) -> Needed:
    """Cells that hold the row at each cut's rank, and the filled cell before each.

    The boundaries nearest to rank t are the two ends of the tie group that holds row ⌊t⌋. The
    edge is the score of that group or of the one before it.
    """
    rank = np.arange(1, n_bins) * cell_ends[-1] // n_bins
    holder = np.searchsorted(cell_ends, rank, side="right")
    start = np.where(holder > 0, cell_ends[holder - 1], 0)
    before = np.searchsorted(cell_ends, start[start > 0])
    cell = np.unique(np.concatenate([holder, before]))
    end = cell_ends[cell]
    return Needed(cell, end, end - np.where(cell > 0, cell_ends[cell - 1], 0))


def _find_atoms(p: NDArray[Any], grid: Grid, slot: NDArray[np.int32], atom: Floats) -> None:
    """Name the most frequent score of each needed cell, where a sample shows one."""
    sample = p[:: max(1, len(p) // SAMPLE)].astype(np.float64)
    value, times = np.unique(sample, return_counts=True)
    often = np.argsort(times, kind="stable")  # the most frequent is written last and stays
    often = often[times[often] >= ATOM_IN_SAMPLE]
    atom[slot[grid.locate(value[often])]] = value[often]
    atom[0] = np.nan


def _groups_of_cells(
    found: Floats, atom: Floats, left_out: Ints, needed: Needed, n: int
) -> tuple[Floats, Ints]:
    """Tie groups of the needed cells, with all rows between them as if one group.

    Returns values and cumulative counts. The value of rows between is NaN: no cut asks for it.
    """
    groups = group_pairs(found, np.zeros(len(found), np.uint8))
    value, count = groups.value, groups.count
    if (has_atom := left_out > 0).any():
        where = np.searchsorted(value, atom[has_atom])
        value = np.insert(value, where, atom[has_atom] + 0.0)
        count = np.insert(count, where, left_out[has_atom])
    ends = np.cumsum(count)
    packed_end = np.cumsum(needed.rows)  # as if the needed cells were all there is
    groups_of_cell = np.diff(np.searchsorted(ends, packed_end), prepend=-1)
    ends += np.repeat(needed.end - packed_end, groups_of_cell)
    between = np.append(needed.end - needed.rows, n)
    where = np.searchsorted(ends, between)
    new = (between > 0) & (ends[np.minimum(where, len(ends) - 1)] != between)
    if new.any():
        value = np.insert(value, where[new], np.nan)
        ends = np.insert(ends, where[new], between[new])
    return value, ends


def group_pairs(p: NDArray[Any], y: NDArray[Any]) -> Groups:
    """Count rows and positive labels of every distinct score, in increasing order of the score."""
    p, y = np.ascontiguousarray(p), np.ascontiguousarray(y, np.uint8)
    keys = np.empty(len(p), np.uint64)
    if len(p) <= PART_ROWS:
        order.write_keys(p, y, keys)
        parts = [(0, len(p))]
    else:
        parts = _spread(p, y, keys)

    def sort(start: int, stop: int) -> int:
        distinct: int = order.sort_keys(keys[start:stop], np.empty(stop - start, np.uint64))
        return distinct

    group_ends = np.cumsum(run(sort, parts))
    group_range = dict(zip(parts, zip(np.r_[0, group_ends], group_ends, strict=False), strict=True))
    size = int(group_ends[-1])
    groups = Groups(np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64))

    def fill(start: int, stop: int) -> None:
        here = slice(*group_range[start, stop])
        bits = groups.value.view(np.uint64)[here]
        order.fill_groups(keys[start:stop], bits, groups.count[here], groups.positive[here])

    run(fill, parts)
    return groups


def _spread(p: NDArray[Any], y: NDArray[Any], keys: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Write the keys part by part, parts in increasing order of the score; return the parts."""
    n, grid, chunks = len(p), Grid.of(p), cut(len(p), CHUNK_ROWS // 2)
    counts = np.stack(run(lambda i, j: grid.tally(p[i:j]), chunks))
    per_cell = counts.sum(axis=0, dtype=np.int64)
    before = np.cumsum(per_cell) - per_cell
    wanted = before * min(MOST_PARTS, -(-n // PART_ROWS)) // n
    _, first, part = np.unique(wanted, return_index=True, return_inverse=True)
    size = np.add.reduceat(counts, first, axis=1, dtype=np.int64).T
    place = (np.cumsum(size) - size.ravel()).reshape(size.shape).T
    place_of = {chunk: np.ascontiguousarray(row) for chunk, row in zip(chunks, place, strict=True)}
    part_of_cell = part.astype(np.uint16)

    def scatter(start: int, stop: int) -> None:
        here = place_of[start, stop]
        order.scatter_keys(p[start:stop], y[start:stop], *grid, part_of_cell, here, keys)

    run(scatter, chunks)
    ends = np.cumsum(size.sum(axis=1)).tolist()
    return [(start, stop) for start, stop in zip([0, *ends], ends, strict=False) if stop > start]


def pool_rising(weight: NDArray[Any], label: NDArray[Any]) -> Ints:
    """Starts of the blocks of the non-decreasing fit of label/weight; equal means are pooled."""
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"
    if whole and weight.sum(dtype=np.float64) > MOST_POOLED:
        return reference.pool_rising(weight, label)
    dtype = np.int64 if whole else np.float64
    weight, label = (np.ascontiguousarray(array, dtype) for array in (weight, label))
    if not whole or len(weight) <= POOLED_AT_ONCE:
        return _pooled(weight, label)[0]
    # Blocks of blocks are the same where sums are whole; few are left, so little memory is taken.
    parts = []
    for start, stop in cut(len(weight), POOLED_AT_ONCE):
        first, *totals = _pooled(weight[start:stop], label[start:stop])
        parts.append((start + first, *totals))
    starts, weights, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.asarray(starts[_pooled(weights, labels)[0]])


def _pooled(weight: NDArray[Any], label: NDArray[Any]) -> tuple[Ints, NDArray[Any], NDArray[Any]]:
    """First item, weight and label of every block."""
    found = np.empty(len(weight), np.int64), np.empty_like(weight), np.empty_like(weight)
    blocks = isotonic.pool(weight, label, *found)
    start, weights, labels = (each[:blocks].copy() for each in found)  # the rest goes back
    return start, weights, labels


def pool_added(weight: NDArray[Any], label: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weight and label of the block of every item, once a positive row of weight 1 joined it."""
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"
    if whole and weight.sum(dtype=np.float64) >= MOST_POOLED:
        return reference.pool_added(weight, label)
    dtype = np.int64 if whole else np.float64
    mass, hits = (np.append(np.zeros(1, dtype), np.cumsum(x, dtype=dtype)) for x in (weight, label))
    following, stack = np.empty(len(mass), np.int64), np.empty(len(mass), np.int64)
    block_mass, block_hits = np.empty(len(weight), dtype), np.empty(len(weight), dtype)
    isotonic.pool_added(mass, hits, following, stack, block_mass, block_hits)
    return block_mass, block_hits


def local_quadratics(
    value: Floats, weight: Floats, label: Floats, at: Floats, width: Floats
) -> Floats:
    """Fit a parabola around every place of ``at`` and return its height there."""
    value, weight, label = (np.ascontiguousarray(x, np.float64) for x in (value, weight, label))
    at, width = (np.ascontiguousarray(x, np.float64) for x in (at, width))
    fit = np.empty(len(at))

    def some(start: int, stop: int) -> None:
        loess.fit_quadratics(value, weight, label, at, width, FLAT, start, stop, fit)

    run(some, cut(len(at), FITTED_ENTRIES // len(value)))
    return fit
