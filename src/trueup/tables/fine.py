"""A fine table on a dyadic grid: one mergeable summary for bins that depend on the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import check_whole
from trueup.codec import check_entries
from trueup.engines.equal_mass import equal_mass_cuts
from trueup.engines.select import engine
from trueup.engines.types import MOMENTS, Sums
from trueup.errors import must_be
from trueup.notebook import FieldsShown
from trueup.tables.base import SCHEMA, check_version
from trueup.tables.bins import BinTable

OCTAVES = 40
PER_OCTAVE = 128
HALF = OCTAVES * PER_OCTAVE
N_CELLS = 2 * HALF


def cell_of(p: NDArray[Any]) -> Ints:
    """Return the cell number of each score, using only scaling by powers of two, floor and 1 − p.

    Let q = min(p, 1 − p), which is exact in floating point. Octave o holds 2^−(o+1) ≤ q < 2^−o for
    o = 1 … 39, and the last one holds all q < 2^−40. An octave has 128 cells of equal width, so
    cells shrink toward 0 and 1, where the scores of networks concentrate. Every engine, SQL
    included, computes the same cell.
    """
    score = np.asarray(p, np.float64)
    upper = score >= 0.5
    q = np.where(upper, 1 - score, score)
    _, exponent = np.frexp(q)  # q = m · 2^exponent with 1/2 ≤ m < 1
    octave = np.where(q == 0, OCTAVES, np.clip(-exponent, 1, OCTAVES))
    place = np.floor(np.ldexp(q, np.minimum(octave, OCTAVES - 1) + 8)).astype(np.int64)
    first = np.where(octave == OCTAVES, 0, (OCTAVES - 1 - octave) * PER_OCTAVE)
    index = np.minimum(first + place, HALF - 1)  # q = 1/2 joins the cell just below it
    return np.asarray(np.where(upper, N_CELLS - 1 - index, index))


@cache
def fine_edges() -> Floats:
    """Return inner edges of the cells: a score's cell is the number of edges below it.

    Cells below 1/2 are closed on the left, so their edge is the next smaller float. The cells above
    1/2 are their mirror images and are closed on the right.
    """
    steps = np.arange(PER_OCTAVE)
    octaves = [np.ldexp(steps + PER_OCTAVE, -(o + 8)) for o in range(OCTAVES - 1, 0, -1)]
    starts = np.concatenate([np.ldexp(steps, -(OCTAVES + 7)), *octaves])
    below = np.nextafter(np.append(starts[1:], 0.5), -1)
    edges = np.concatenate([below, 1 - starts[:0:-1]])
    edges.setflags(write=False)
    return edges


class Rebinned(NamedTuple):
    """A table of bins made from cells, and a bound on the change of its L1 error."""

    table: BinTable
    bound: float


@dataclass(frozen=True, eq=False, repr=False)
class FineBinTable(FieldsShown):
    """Statistics of 10,240 dyadic cells of [0, 1]; fine tables always add with ``+``.

    Use it for streams and for data on several machines. Equal-mass bins, and others that depend on
    the data, are computed from it without the data. A cell spans at most 1/128 of min(p, 1 − p),
    above 2^−40. Bins made of whole cells differ from the exact ones only in the rows of the cells
    that a cut falls into. If these cells hold a fraction m of the weight, an L1 error differs from
    its exact value by at most 2m. (Without those rows the two errors are equal, and dropping the
    rows changes either by at most m.) Both methods return 2m.

    Parameters
    ----------
    sums : Sums
        Sums by cell.

    Examples
    --------
    >>> table = FineBinTable.from_arrays(np.array([0.1, 0.2, 0.3, 0.9]), np.array([0, 0, 1, 1]))
    >>> table.equal_mass(2).table.count.tolist()
    [2, 2]
    """

    sums: Sums

    @classmethod
    def from_arrays(cls, p: NDArray[Any], y: NDArray[Any], w: Floats | None = None) -> FineBinTable:
        """Count validated scores and labels into cells.

        Parameters
        ----------
        p : ndarray
            Scores.
        y : ndarray
            Labels.
        w : ndarray, optional
            Weights.

        Returns
        -------
        FineBinTable
            The table.
        """
        return cls(engine.bins.bin_sums(p, y, w, fine_edges()))

    def equal_mass(self, n_bins: int) -> Rebinned:
        """Compute equal-mass bins from whole cells.

        Parameters
        ----------
        n_bins : int
            Number of bins.

        Returns
        -------
        Rebinned
            ``table``, and ``bound`` on the difference of an L1 error from its exact value.
        """
        check_whole("n_bins", n_bins, 1)
        full = np.flatnonzero(self.sums.count)
        cumulative = np.cumsum(self.sums.weight[full])
        cuts = equal_mass_cuts(cumulative, n_bins)
        targets = np.arange(1, n_bins) * (cumulative[-1] / n_bins)
        holders = np.unique(np.minimum(np.searchsorted(cumulative, targets), len(full) - 1))
        index = np.searchsorted(cuts, np.arange(len(full)), side="left")
        table = self._merge(full, index, fine_edges()[full[cuts]], n_bins)
        return Rebinned(table, self._bound(full[holders]))

    def rebin(self, inner_edges: Floats) -> Rebinned:
        """Compute bins with given edges from whole cells.

        Parameters
        ----------
        inner_edges : ndarray
            Inner edges. A cell that an edge cuts goes where its mean score goes.

        Returns
        -------
        Rebinned
            ``table``, and ``bound`` on the difference of an L1 error from its exact value.
        """
        inner = np.asarray(inner_edges, np.float64)
        if inner.ndim != 1 or np.any(np.diff(inner, prepend=0, append=1) <= 0):
            raise must_be("inner_edges", "increasing numbers between 0 and 1", inner_edges)
        full = np.flatnonzero(self.sums.count)
        cells = cell_of(inner)
        passed = np.searchsorted(cells, full, side="left")
        split = np.flatnonzero(np.isin(full, cells))  # a cell that an edge cuts goes by its mean
        mean = self.sums.score[full[split]] / self.sums.weight[full[split]]
        within = np.searchsorted(inner, mean, side="left")
        last = np.searchsorted(cells, full[split], side="right")
        passed[split] = np.clip(within, passed[split], last)
        table = self._merge(full, passed, inner, len(inner) + 1)
        return Rebinned(table, self._bound(np.unique(cells)))

    def _bound(self, cells: Ints) -> float:
        return min(1.0, 2 * float(self.sums.weight[cells].sum() / self.sums.weight.sum()))

    def _merge(
        self, full: Ints, index: Ints, inner_edges: Floats, n_bins_requested: int
    ) -> BinTable:
        """Add up the non-empty cells ``full`` by the bin ``index`` that each belongs to."""
        n_bins = len(inner_edges) + 1
        count = np.zeros(n_bins, np.int64)
        np.add.at(count, index, self.sums.count[full])
        _, *moments = self.sums
        others = [np.bincount(index, moment[full], n_bins).astype(float) for moment in moments]
        return BinTable.from_sums(inner_edges, Sums(count, *others), n_bins_requested)

    def __add__(self, other: FineBinTable) -> FineBinTable:
        """Add the statistics of other rows."""
        if not isinstance(other, FineBinTable):
            return NotImplemented
        return FineBinTable(Sums(*(a + b for a, b in zip(self.sums, other.sums, strict=True))))

    def to_dict(self) -> dict[str, Any]:
        """Return the non-empty cells as plain Python values that `from_dict` reads back.

        Returns
        -------
        dict
            The cells.
        """
        full = np.flatnonzero(self.sums.count)
        sums = {name: m[full].tolist() for name, m in zip(MOMENTS, self.sums, strict=True)}
        return {"schema": SCHEMA, "cells": N_CELLS, "index": full.tolist(), "sums": sums}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FineBinTable:
        """Read what `to_dict` wrote.

        Parameters
        ----------
        data : dict
            Output of `to_dict`.

        Returns
        -------
        FineBinTable
            The table.
        """
        check_version(data)
        check_entries(data, ["cells", "index", "sums"])
        if data["cells"] != N_CELLS:
            raise must_be("data", f"a table of {N_CELLS} cells", data["cells"])
        sums = Sums(np.zeros(N_CELLS, np.int64), *(np.zeros(N_CELLS) for _ in MOMENTS[1:]))
        for name, moment in zip(MOMENTS, sums, strict=True):
            moment[data["index"]] = data["sums"][name]
        return cls(sums)

    def __repr__(self) -> str:
        """Describe the numbers of rows and non-empty cells."""
        full = int(np.count_nonzero(self.sums.count))
        return f"FineBinTable({int(self.sums.count.sum())} rows in {full} of {N_CELLS} cells)"
