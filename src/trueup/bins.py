"""Binnings: how scores, or points of a simplex, are grouped.

One-dimensional bins are right-closed intervals, and a score's bin is the number of inner edges
below it: a comparison of float64 numbers, never arithmetic. It depends on the score alone, so
neither the order of rows nor the engine can change it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import check_whole, is_whole
from trueup.engines.blocks import row_blocks
from trueup.engines.equal_mass import equal_mass_cuts, whole_weights
from trueup.engines.select import engine
from trueup.errors import must_be
from trueup.lens import Cells, Pairs
from trueup.specification import Specification
from trueup.tables import BinTable
from trueup.variance_tree import Leaf, Rule, grow

__all__ = [
    "Binning",
    "EqualMass",
    "EqualWidth",
    "FixedEdges",
    "KeptBins",
    "SimplexGrid",
    "VarianceTree",
    "check_binning",
]

NumberOfBins = int | str


class Binning(Specification):
    """A rule that groups scores (`inner_edges`), points of a simplex (`leaves`), or both.

    ``sees_scores`` and ``sees_labels`` say what its groups depend on, besides the number of rows.
    """

    sees_scores: ClassVar[bool] = True
    sees_labels: ClassVar[bool] = True

    @property
    def fixed(self) -> bool:
        """Whether the groups are known before any data, so that tables of batches add up."""
        return not self.sees_scores

    def n_bins_for(self, n: int) -> int:
        """Return how many bins are asked for with ``n`` rows."""
        raise NotImplementedError

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the increasing inner edges between the bins of these scores."""
        raise must_be("binning", "a binning of scores, such as EqualWidth(15)", self)

    def bin_table(self, pairs: Pairs) -> BinTable:
        """Return what fell into each bin of these scores."""
        inner = self.inner_edges(pairs)
        sums = engine.bins.bin_sums(pairs.p, pairs.y, pairs.w, inner)
        return BinTable.from_sums(inner, sums, self.n_bins_for(len(pairs)))

    def table_of(self, pairs: Pairs) -> BinTable:
        """Return the same table, which all who bin these scores alike share."""
        return pairs.table(self, lambda: self.bin_table(pairs))

    def leaves(self, cells: Cells) -> list[Leaf]:
        """Return the cells of the simplex that hold these points."""
        raise must_be(
            "binning",
            "a binning of a simplex, VarianceTree() or SimplexGrid(B)",
            self,
            hint="the lens looks at whole distributions, which have no single score",
        )


@dataclass(frozen=True, repr=False)
class CountedBinning(Binning):
    """A binning of scores that is told how many bins to make; "auto" is ⌈n^(1/3)⌉."""

    n_bins: NumberOfBins = 15
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.n_bins, str) and self.n_bins == "auto":
            return
        if not is_whole(self.n_bins, 1):
            raise must_be("n_bins", 'a whole number of at least 1, or "auto"', self.n_bins)
        object.__setattr__(self, "n_bins", int(self.n_bins))

    def n_bins_for(self, n: int) -> int:
        """Return how many bins are asked for with ``n`` rows."""
        return _cube_root(n) if self.n_bins == "auto" else int(self.n_bins)


@dataclass(frozen=True, repr=False)
class EqualWidth(CountedBinning):
    """``n_bins`` bins of the same width: edges k/B. "auto" is ⌈n^(1/3)⌉."""

    sees_scores: ClassVar[bool] = False

    @property
    def fixed(self) -> bool:
        """Whether the number of bins is given."""
        return self.n_bins != "auto"

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return k/B for k = 1 … B−1, each the float64 nearest to it."""
        return uniform_edges(self.n_bins_for(len(pairs)))


@dataclass(frozen=True, repr=False)
class EqualMass(CountedBinning):
    """``n_bins`` bins that hold nearly the same number of rows (or weight).

    Cut i goes to the boundary between two distinct scores nearest to rank i·n/B, half-way to
    the lower one; the edge is the smaller of the two scores; coincident cuts merge. Tied scores
    are never split, so with many ties there are fewer bins than asked, and the table says so.
    """

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the smaller score at each cut."""
        n_bins = self.n_bins_for(len(pairs))
        if pairs.w is None:
            return engine.order.equal_mass_edges(pairs.p, n_bins)
        value, cumulative = ranked(pairs.p, pairs.w)
        return value[equal_mass_cuts(cumulative, n_bins)].astype(np.float64)


@dataclass(frozen=True, repr=False)
class FixedEdges(Binning):
    """Bins between given edges in [0, 1]; 0 and 1 are added where they are missing."""

    edges: Sequence[float]
    sees_scores: ClassVar[bool] = False
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        rule = "increasing numbers between 0 and 1"
        try:
            edges = np.asarray(self.edges, np.float64)
        except (TypeError, ValueError):
            raise must_be("edges", rule, self.edges) from None
        inside = edges.ndim == 1 and np.all((edges >= 0) & (edges <= 1))
        if not inside or np.any(np.diff(edges) <= 0):
            raise must_be("edges", rule, self.edges)
        object.__setattr__(self, "edges", tuple(edges.tolist()))  # ours, and hashable

    def n_bins_for(self, n: int) -> int:
        """Return the number of bins, whatever ``n``."""
        return len(self._inner()) + 1

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the edges without 0 and 1."""
        return self._inner()

    def _inner(self) -> Floats:
        edges = np.asarray(self.edges, np.float64)
        return edges[(edges > 0) & (edges < 1)]


@dataclass(frozen=True, repr=False)
class VarianceTree(Binning):
    """Cells split at the mean of their most variable coordinate (Vaicenavicius App. B).

    A cell is split while it holds more than ``min_samples`` rows and its highest variance is
    positive; rows at or below the mean go left; among equal variances the lowest coordinate is
    split. A split that leaves a side with fewer than ``min_leaf`` rows is not made. Works on
    scores and on every simplex.
    """

    min_samples: int = 1000
    min_leaf: int = 1
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("min_samples", "min_leaf"):
            check_whole(name, getattr(self, name), 1)

    def n_bins_for(self, n: int) -> int:
        """Return about how many cells are asked for: enough that each holds ``min_samples``."""
        return max(1, math.ceil(n / self.min_samples))

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the means at which scores were split."""
        scores = pairs.p.astype(np.float64)[:, None]
        rule = Rule(self.min_samples, self.min_leaf)
        leaves = grow(lambda which: scores[which], np.arange(len(pairs)), 1, pairs.w, rule)
        return np.sort([leaf.high[0] for leaf in leaves if leaf.high[0] < 1])

    def leaves(self, cells: Cells) -> list[Leaf]:
        """Return the leaves of the tree grown on these points."""
        return grow(cells.rows, cells.kept, cells.m, cells.w, Rule(self.min_samples, self.min_leaf))


@dataclass(frozen=True, repr=False)
class SimplexGrid(Binning):
    """Cells of equal size: ``n_bins`` intervals of each of the first m−1 coordinates."""

    n_bins: int = 10
    sees_scores: ClassVar[bool] = False
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole("n_bins", self.n_bins, 1)

    def n_bins_for(self, n: int) -> int:
        """Return the number of intervals of a coordinate."""
        return self.n_bins

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the edges of one coordinate, which is all that scores have."""
        return uniform_edges(self.n_bins)

    def leaves(self, cells: Cells) -> list[Leaf]:
        """Return the non-empty cells of the grid, in lexicographic order."""
        inner = uniform_edges(self.n_bins)
        edges = np.concatenate([[0.0], inner, [1.0]])
        small = np.uint8 if self.n_bins <= 256 else np.uint32
        blocks = (cells.rows(cells.kept[b]) for b in row_blocks(len(cells.kept), cells.m))
        codes = np.concatenate(
            [np.searchsorted(inner, points[:, :-1]).astype(small) for points in blocks]
        )
        distinct, index = np.unique(codes, axis=0, return_inverse=True)
        order = np.argsort(index.reshape(-1), kind="stable")
        ends = np.searchsorted(index.reshape(-1)[order], np.arange(1, len(distinct)))
        rows = np.split(cells.kept[order], ends)
        return [
            Leaf(w, edges[c], edges[c + 1]) for w, c in zip(rows, distinct.astype(int), strict=True)
        ]


@dataclass(frozen=True, eq=False, repr=False)
class KeptBins(Binning):
    """The bins of a table that is there, whatever scores come: a bin of zeros alone too."""

    table: BinTable

    def n_bins_for(self, n: int) -> int:
        """Return the number of bins that the table was asked for."""
        return self.table.n_bins_requested

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the edges of the table."""
        return self.table.edges[1:-1]


def check_binning(binning: object, rule: str) -> None:
    """Raise InputError with ``rule`` unless the argument `binning` is a binning."""
    if not isinstance(binning, Binning):
        raise must_be("binning", rule, binning)


def uniform_edges(n_bins: int) -> Floats:
    """Inner edges k/B of bins of the same width, each the float64 nearest to it."""
    return np.arange(1, n_bins) / n_bins


def ranked(p: NDArray[Any], w: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Distinct scores and the cumulative weight up to each, whatever the order of the rows."""
    order = np.lexsort((w, p))
    score = p[order]
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    return score[first], np.cumsum(np.add.reduceat(whole_weights(w)[order], first))


def _cube_root(n: int) -> int:
    """⌈n^(1/3)⌉, exactly: a float root alone can be off by one."""
    root: int = round(float(n) ** (1 / 3))
    while root**3 < n:
        root += 1
    while (root - 1) ** 3 >= n:
        root -= 1
    return root
