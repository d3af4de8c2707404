"""Cells of the simplex: the mean prediction and the outcome fractions of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.errors import must_be
from trueup.tables.base import Table


@dataclass(frozen=True, eq=False, repr=False)
class CellTable(Table):
    """Sufficient statistics of cells of the simplex; tables with the same cells add with ``+``.

    Parameters
    ----------
    low : ndarray
        Lower corners of the cells, shape (C, d): low < q ≤ high in every bounded coordinate. For
        triangles, low ≤ q ≤ high in all three.
    high : ndarray
        Upper corners of the cells, shape (C, d).
    count : ndarray
        Number of rows in each cell.
    weight : ndarray
        Σw of each cell.
    score : ndarray
        Σw·q of each cell, shape (C, m).
    label : ndarray
        Σw·[outcome = j] of each cell, shape (C, m).

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(2))
    >>> error.table([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], [0, 1]).mean_label.tolist()
    [[0.5, 0.5, 0.0]]
    """

    low: Floats
    high: Floats
    count: Ints
    weight: Floats
    score: Floats
    label: Floats
    kind: ClassVar[str] = "cells"
    induced: ClassVar[str] = "simplex"

    @cached_property
    def share(self) -> Floats:
        """Fraction of the total weight in each cell."""
        return np.asarray(self.weight / self.weight.sum())

    @cached_property
    def mean_score(self) -> Floats:
        """Mean prediction of each cell, shape (C, m)."""
        return self.score / self.weight[:, None]

    @cached_property
    def mean_label(self) -> Floats:
        """Fraction of each outcome in each cell, shape (C, m)."""
        return self.label / self.weight[:, None]

    @property
    def n_bins(self) -> int:
        """Number of (non-empty) cells."""
        return len(self.count)

    def __add__(self, other: CellTable) -> CellTable:
        """Add the statistics of other rows; cells that only one table has are kept."""
        if not isinstance(other, CellTable):
            return NotImplemented
        if self.low.shape[1:] != other.low.shape[1:] or self.score.shape[1] != other.score.shape[1]:
            raise must_be("other", "a table over cells of the same simplex", other)
        corners = np.concatenate(
            [np.hstack([self.low, self.high]), np.hstack([other.low, other.high])]
        )
        cells, index = np.unique(corners, axis=0, return_inverse=True)
        if _overlap(cells):
            raise must_be("other", "a table over the same cells", other)
        index = index.reshape(-1)

        def add(name: str) -> Any:
            parts = np.concatenate([getattr(self, name), getattr(other, name)])
            total = np.zeros((len(cells), *parts.shape[1:]), parts.dtype)
            np.add.at(total, index, parts)
            return total

        d = self.low.shape[1]
        return CellTable(
            cells[:, :d], cells[:, d:], add("count"), add("weight"), add("score"), add("label")
        )

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table by name."""
        columns: dict[str, Any] = {"count": self.count, "weight": self.weight, "share": self.share}
        for j in range(self.score.shape[1]):
            columns[f"mean_score_{j}"] = self.mean_score[:, j]
            columns[f"mean_label_{j}"] = self.mean_label[:, j]
        return columns

    def __repr__(self) -> str:
        """Describe the numbers of rows, cells and outcomes."""
        rows, outcomes = int(self.count.sum()), self.score.shape[1]
        return f"CellTable({rows} rows in {self.n_bins} cells of {outcomes} outcomes)"


def _overlap(cells: Floats) -> bool:
    """Return whether two different cells overlap, which means that their partitions differ."""
    d = cells.shape[1] // 2
    low, high = cells[:, :d], cells[:, d:]
    for i in range(len(cells) - 1):
        apart = (low[i + 1 :] >= high[i]) | (low[i] >= high[i + 1 :])
        if not apart.any(axis=1).all():
            return True
    return False
