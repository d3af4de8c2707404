"""Functions that need the order of the scores.

Equal-mass cuts need a few ranks, not an order: scores are counted on a grid, and only the cells
that hold those ranks are sorted. For tied scores, pairs are spread over parts by the same grid and
each part is radix-sorted. Counts are whole numbers and ties are found by value, so threads cannot
change a result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.equal_mass as one_column
import trueup.engines.kernels.order as compiled
from trueup._typing import Bits, Floats, Ints
from trueup.engines.blocks import Chunk, cut
from trueup.engines.equal_mass import equal_mass_cuts
from trueup.engines.reference import order as reference
from trueup.engines.threads import run
from trueup.engines.types import ScoreCounts

FEW_ROWS = 1 << 12  # a plain sort is as fast
CHUNK_ROWS = 1 << 18
PART_ROWS = 1 << 14  # a part and its spare stay in the second-level cache
MOST_PARTS = 256
SAMPLE = 1 << 12
ATOM_IN_SAMPLE = 8


class Grid(NamedTuple):
    """Grid of cells ``(p - shift) * scale``; the cell number never decreases as p increases."""

    shift: float
    scale: float

    @classmethod
    def of(cls, p: NDArray[Any]) -> Grid:
        """Return a finer grid if sampled scores lie close together. It affects only the speed."""
        sample = p[:: max(1, len(p) // 64)].astype(np.float64)
        low, spread = float(sample.min()), float(np.ptp(sample))
        return cls(low, 1 / spread) if 1e-300 < spread < 1 / 64 else cls(0.0, 1.0)

    def tally(self, p: NDArray[Any], where: NDArray[np.uint16] | None = None) -> NDArray[np.int32]:
        """Return the number of scores in each cell; write the cell of each score to ``where``."""
        counts = np.zeros(compiled.N_CELLS, np.int32)
        compiled.count_cells(p, self.shift, self.scale, counts, where)
        return counts

    def locate(self, p: Floats) -> Ints:
        """Cell of each score."""
        cells = np.empty(len(p), np.int64)
        compiled.locate_cells(p, self.shift, self.scale, cells)
        return cells


def equal_mass_edges(p: NDArray[Any], n_bins: int) -> Floats:
    n = len(p)
    n_bins = min(n_bins, n)  # n bins already cut at every boundary
    if n < FEW_ROWS or n_bins > n // 16:
        return reference.equal_mass_edges(p, n_bins)
    if n_bins < 2:
        return np.empty(0)
    p = np.ascontiguousarray(p)
    grid, chunks = Grid.of(p), cut(n, CHUNK_ROWS)
    if len(chunks) == 1:
        edges = np.empty(n_bins - 1)
        made = one_column.equal_mass_edges(p, *grid, n_bins, edges)
        if made >= 0:
            return edges[:made]
    where = np.empty(n, np.uint16)
    counts = run(lambda i, j: grid.tally(p[i:j], where[i:j]), chunks)
    cell_ends: Ints = np.cumsum(sum(counts[1:], counts[0].astype(np.int64)), dtype=np.int64)
    needed = _needed_cells(cell_ends, n_bins)
    wanted = np.zeros(compiled.N_CELLS, np.uint8)
    wanted[needed.cell] = 1
    atom, slot = np.full(len(needed.cell) + 1, np.nan), None
    if needed.rows.sum() > n // 16:
        slot = np.zeros(compiled.N_CELLS, np.int32)
        slot[needed.cell] = np.arange(1, len(needed.cell) + 1)
        _find_atoms(p, grid, slot, atom)

    def gather(start: int, stop: int) -> Floats:
        found = np.empty(stop - start + 1)
        here = slice(start, stop)
        return found[: compiled.gather(p[here], where[here], wanted, slot, atom, found)]

    found = np.concatenate(run(gather, chunks))
    left_out = needed.rows - grid.tally(found)[needed.cell]
    value, ends = _ties_of_cells(found, atom[1:], left_out, needed, n)
    return value[equal_mass_cuts(ends, n_bins)]


class Needed(NamedTuple):
    """Cells whose scores are needed, in increasing order: index, last rank and rows."""

    cell: Ints
    end: Ints
    rows: Ints


def _needed_cells(cell_ends: Ints, n_bins: int) -> Needed:
    """Return the cells that hold the row at each cut's rank, and the nonempty cell before each.

    The boundaries nearest to rank t are the two ends of the group of tied rows that holds row ⌊t⌋.
    The edge is the score of that group or of the group before it.
    """
    rank = np.arange(1, n_bins) * cell_ends[-1] // n_bins
    holder = np.searchsorted(cell_ends, rank, side="right")
    start = np.where(holder > 0, cell_ends[holder - 1], 0)
    before = np.searchsorted(cell_ends, start[start > 0])
    cell = np.unique(np.concatenate([holder, before]))
    end = cell_ends[cell]
    return Needed(cell, end, end - np.where(cell > 0, cell_ends[cell - 1], 0))


def _find_atoms(p: NDArray[Any], grid: Grid, slot: NDArray[np.int32], atom: Floats) -> None:
    """Return the most frequent score of each needed cell, if a sample finds one."""
    sample = p[:: max(1, len(p) // SAMPLE)].astype(np.float64)
    value, times = np.unique(sample, return_counts=True)
    often = np.argsort(times, kind="stable")  # the most frequent is written last and stays
    often = often[times[often] >= ATOM_IN_SAMPLE]
    atom[slot[grid.locate(value[often])]] = value[often]
    atom[0] = np.nan


def _ties_of_cells(
    found: Floats, atom: Floats, left_out: Ints, needed: Needed, n: int
) -> tuple[Floats, Ints]:
    """Return values and cumulative counts of the distinct scores in the needed cells.

    All rows between two needed cells count as one score. Its value is NaN, because no cut needs it.
    """
    value, count, _ = tied_scores(found, np.zeros(len(found), np.uint8))
    if (has_atom := left_out > 0).any():
        where = np.searchsorted(value, atom[has_atom])
        value = np.insert(value, where, atom[has_atom] + 0.0)
        count = np.insert(count, where, left_out[has_atom])
    ends = np.cumsum(count)
    packed_end = np.cumsum(needed.rows)  # as if the needed cells were all there is
    ties_of_cell = np.diff(np.searchsorted(ends, packed_end), prepend=-1)
    ends += np.repeat(needed.end - packed_end, ties_of_cell)
    between = np.append(needed.end - needed.rows, n)
    where = np.searchsorted(ends, between)
    new = (between > 0) & (ends[np.minimum(where, len(ends) - 1)] != between)
    if new.any():
        value = np.insert(value, where[new], np.nan)
        ends = np.insert(ends, where[new], between[new])
    return value, ends


def tied_scores(p: NDArray[Any], y: NDArray[Any]) -> ScoreCounts:
    p, y = np.ascontiguousarray(p), np.ascontiguousarray(y, np.uint8)
    keys = np.empty(len(p), np.uint64)
    if len(p) <= PART_ROWS:
        compiled.write_keys(p, y, keys)
        parts = [(0, len(p))]
    else:
        parts = _spread(p, y, keys)

    def sort(start: int, stop: int) -> int:
        distinct: int = compiled.sort_keys(keys[start:stop], np.empty(stop - start, np.uint64))
        return distinct

    ends = np.cumsum(run(sort, parts))
    places = dict(zip(parts, zip(np.r_[0, ends], ends, strict=False), strict=True))
    size = int(ends[-1])
    ties = ScoreCounts(np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64))

    def fill(start: int, stop: int) -> None:
        here = slice(*places[start, stop])
        bits = ties.value.view(np.uint64)[here]
        compiled.fill_ties(keys[start:stop], bits, ties.count[here], ties.positive[here])

    run(fill, parts)
    return ties


def _spread(p: NDArray[Any], y: NDArray[Any], keys: Bits) -> list[Chunk]:
    """Write the keys in parts, with parts in increasing order of the score; return the parts."""
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
        compiled.scatter_keys(p[start:stop], y[start:stop], *grid, part_of_cell, here, keys)

    run(scatter, chunks)
    ends = np.cumsum(size.sum(axis=1)).tolist()
    return [(start, stop) for start, stop in zip([0, *ends], ends, strict=False) if stop > start]
