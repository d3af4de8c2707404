"""The omnibus statistics of one column of scores, and of draws of its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats
from trueup.engines.blocks import row_blocks, steps
from trueup.engines.types import Sums
from trueup.inference.hypothesis_tests.binned_resamples import sums_of_drawn_labels
from trueup.inference.omnibus.statistics import NAMES, ROWS_AT_ONCE, OmnibusCells, strongest_run
from trueup.lens import Pairs
from trueup.tables import BinTable
from trueup.tables.score_cells import N_CELLS, CellMoments, cell_edges, cell_of, closed_edges


@dataclass(frozen=True, eq=False)
class Column:
    """Scores of one column in cells: the cell of each row, and the bounds of each cell."""

    cells: OmnibusCells
    index: NDArray[np.uint8]  # of each row
    edges: Floats  # of the cells, one more than there are cells
    inner: Floats  # edges between cells, each of which holds its upper edge and not its lower
    fine: CellMoments

    @classmethod
    def from_pairs(cls, pairs: Pairs) -> Column:
        """Put scores into cells."""
        fine_cell = cell_of(pairs.p)
        fine = CellMoments.from_rows(fine_cell, pairs.p, pairs.y, pairs.w)
        cells, group = OmnibusCells.from_moments(fine)
        number = np.zeros(N_CELLS, np.uint8)  # there are at most 45: a small type saves memory
        number[fine.cell] = group
        first = fine.cell[np.searchsorted(group, np.arange(len(cells.place)))]
        edges = cell_edges()[np.r_[first, fine.cell[-1] + 1]]
        return cls(cells, number[fine_cell], edges, closed_edges()[first[1:]], fine)

    def values(self, drawn: NDArray[Any]) -> Floats:
        """Return the statistics of the data, then of each row of sums of drawn labels."""
        blocks = [drawn[first:last] for first, last in steps(len(drawn), ROWS_AT_ONCE)]
        residuals = map(self.cells.residuals, [self.cells.label[None], *blocks])
        return np.concatenate([self.cells.statistics(each) for each in residuals])

    def table(self, pairs: Pairs) -> BinTable:
        """Return the cells as bins of the rows that define them."""
        n_cells = len(self.cells.place)
        count, moments = np.zeros(n_cells, np.int64), np.zeros((7, n_cells))
        for block in row_blocks(len(pairs), 1):
            p, y, here = pairs.p[block].astype(np.float64), pairs.y[block], self.index[block]
            w = np.ones(len(p)) if pairs.w is None else pairs.w[block]
            wp, wy = w * p, w * y
            count += np.bincount(here, minlength=n_cells)
            for total, terms in zip(moments, (w, w * w, wp, wp * p, wy, wy, wp * y), strict=True):
                total += np.bincount(here, terms, n_cells)
        return BinTable.from_sums(self.edges[1:-1], Sums(count, *moments))

    def strongest(self, part: int) -> dict[str, Any]:
        """Describe one of the statistics of the data: its name and, for a scan, its location."""
        found: dict[str, Any] = {"part": NAMES[part]}
        if NAMES[part] == "range of scores":
            cells, start = self.cells, self.cells.merged
            sums = (np.add.reduceat(each, start) for each in (cells.residual, cells.variance))
            first, last = strongest_run(*sums)
            ends = np.r_[self.edges[start], self.edges[-1]]
            found |= {"scores": [float(ends[first]), float(ends[last])]}
        return found


def values_of_column(column: Column, pairs: Pairs, keys: Bits) -> Floats:
    """Return the six statistics of the data, and of labels drawn with each key."""
    n_cells = len(column.cells.place)
    return column.values(sums_of_drawn_labels(pairs, column.index, n_cells, keys))


def sums_in_cells(column: Column, pairs: Pairs) -> Floats:
    """Return Σ y, or Σ w y, of each cell, for other labels with the scores of the column."""
    w = pairs.y if pairs.w is None else pairs.w * pairs.y
    return np.bincount(column.index, w, len(column.cells.place)).astype(np.float64)
