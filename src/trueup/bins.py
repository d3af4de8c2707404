"""Binnings: how scores, or points of a simplex, are grouped.

One-dimensional bins are right-closed intervals, and a score's bin is the number of inner edges
below it. It is found by comparing float64 numbers, without arithmetic. It depends on the score
alone, so neither the order of rows nor the engine can change it.
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
    """Base class of binnings: rules for grouping scores, points of a simplex, or both.

    `inner_edges` groups scores and `leaves` groups points. ``sees_scores`` and ``sees_labels``
    state what the groups depend on, in addition to the number of rows.

    Examples
    --------
    >>> isinstance(EqualWidth(15), Binning), isinstance(VarianceTree(), Binning)
    (True, True)
    """

    sees_scores: ClassVar[bool] = True
    sees_labels: ClassVar[bool] = True

    @property
    def fixed(self) -> bool:
        """Whether the groups are known before any data, so that tables of batches add up."""
        return not self.sees_scores

    def n_bins_for(self, n: int) -> int:
        """Return the number of bins requested for ``n`` rows.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        int
            Number of bins.
        """
        raise NotImplementedError

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the increasing inner edges between the bins of these scores.

        Parameters
        ----------
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        ndarray
            Inner edges.
        """
        raise must_be("binning", "a binning of scores, such as EqualWidth(15)", self)

    def bin_table(self, pairs: Pairs) -> BinTable:
        """Compute the table of bins of these scores.

        Parameters
        ----------
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        BinTable
            The table.
        """
        inner = self.inner_edges(pairs)
        sums = engine.bins.bin_sums(pairs.p, pairs.y, pairs.w, inner)
        return BinTable.from_sums(inner, sums, self.n_bins_for(len(pairs)))

    def table_of(self, pairs: Pairs) -> BinTable:
        """Return `bin_table` of these scores, computed once and shared.

        Parameters
        ----------
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        BinTable
            The table.
        """
        return pairs.table(self, lambda: self.bin_table(pairs))

    def leaves(self, cells: Cells) -> list[Leaf]:
        """Return the cells of the simplex that hold these points.

        Parameters
        ----------
        cells : Cells
            Points of a simplex with their outcomes.

        Returns
        -------
        list of Leaf
            The cells, each with its rows and corners.
        """
        raise must_be(
            "binning",
            "a binning of a simplex, VarianceTree() or SimplexGrid(B)",
            self,
            hint="the lens looks at whole distributions, which have no single score",
        )


@dataclass(frozen=True, repr=False)
class CountedBinning(Binning):
    """Base class of binnings of scores that have a number of bins; "auto" is ⌈n^(1/3)⌉."""

    n_bins: NumberOfBins = 15
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.n_bins, str) and self.n_bins == "auto":
            return
        if not is_whole(self.n_bins, 1):
            raise must_be("n_bins", 'a whole number of at least 1, or "auto"', self.n_bins)
        object.__setattr__(self, "n_bins", int(self.n_bins))

    def n_bins_for(self, n: int) -> int:
        """Return the number of bins requested for ``n`` rows."""
        return _cube_root(n) if self.n_bins == "auto" else int(self.n_bins)


@dataclass(frozen=True, repr=False)
class EqualWidth(CountedBinning):
    """Equal-width bins, with edges k/B.

    Use them to compare with published numbers. Bins that contain few scores are noisy.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of bins B; "auto" is ⌈n^(1/3)⌉ for n rows.

    Examples
    --------
    >>> import trueup as tu
    >>> tu.BinnedError(binning=EqualWidth(4)).table([0.1, 0.3, 0.9], [0, 1, 1]).edges.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    sees_scores: ClassVar[bool] = False

    @property
    def fixed(self) -> bool:
        """Whether the number of bins is fixed, as opposed to "auto"."""
        return self.n_bins != "auto"

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return k/B for k = 1 … B−1, each the float64 nearest to it."""
        return uniform_edges(self.n_bins_for(len(pairs)))


@dataclass(frozen=True, repr=False)
class EqualMass(CountedBinning):
    """Equal-mass bins: about the same number of rows (or total weight) in each.

    Cut i is placed at the boundary between two distinct scores that is nearest to rank i·n/B;
    halfway, the lower boundary is used. The edge is the smaller of the two scores, and equal cuts
    merge. Tied scores are never split. With many ties there are therefore fewer bins than
    requested, and the table records both numbers.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of bins B; "auto" is ⌈n^(1/3)⌉ for n rows.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(binning=EqualMass(2))
    >>> error.table([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]).edges.tolist()
    [0.0, 0.2, 1.0]
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
    """Bins between given edges in [0, 1].

    Use it to keep the bins of another study, or of an earlier table.

    Parameters
    ----------
    edges : sequence of float
        Increasing edges; 0 and 1 are added if they are missing.

    Examples
    --------
    >>> import trueup as tu
    >>> tu.BinnedError(binning=FixedEdges((0.5,))).table([0.1, 0.9], [0, 1]).edges.tolist()
    [0.0, 0.5, 1.0]
    """

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
        """Return the number of bins, which does not depend on ``n``."""
        return len(self._inner()) + 1

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the edges without 0 and 1."""
        return self._inner()

    def _inner(self) -> Floats:
        edges = np.asarray(self.edges, np.float64)
        return edges[(edges > 0) & (edges < 1)]


@dataclass(frozen=True, repr=False)
class VarianceTree(Binning):
    """Cells of a tree that is split at the mean of the most variable coordinate.

    A cell is split while it holds more than ``min_samples`` rows and its highest variance is
    positive (Vaicenavicius et al. 2019, App. B). Rows at or below the mean go left; among equal
    variances, the lowest coordinate is split. Use it for whole distributions (`Canonical`): it
    works on scores and on every simplex.

    Parameters
    ----------
    min_samples : int, default 1000
        Cells with more rows than this are split.
    min_leaf : int, default 1
        Splits that leave a side with fewer rows than this are not made.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(binning=VarianceTree(min_samples=2))
    >>> error.table([0.1, 0.3, 0.8], [0, 0, 1]).edges.round(6).tolist()
    [0.0, 0.4, 1.0]
    """

    min_samples: int = 1000
    min_leaf: int = 1
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("min_samples", "min_leaf"):
            check_whole(name, getattr(self, name), 1)

    def n_bins_for(self, n: int) -> int:
        """Return the approximate number of cells if each holds ``min_samples`` rows."""
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
    """Cells of equal size: equal-width intervals of each of the first m−1 coordinates.

    Use it for few classes: the number of cells grows as ``n_bins`` to the power m−1.

    Parameters
    ----------
    n_bins : int, default 10
        Number of intervals per coordinate.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(tu.lens.Canonical(), SimplexGrid(2))
    >>> round(error([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [0, 1]), 6)
    0.35
    """

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
    """The bins of an existing table, whatever the scores are.

    Use it to keep bins fixed on resamples. A bin that holds only zeros is kept too.

    Parameters
    ----------
    table : BinTable
        Table whose edges are kept.

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.ece.estimator(n_bins=2).table([0.1, 0.9], [0, 1])
    >>> KeptBins(table).n_bins_for(1000)
    2
    """

    table: BinTable

    def n_bins_for(self, n: int) -> int:
        """Return the number of bins requested for the table."""
        return self.table.n_bins_requested

    def inner_edges(self, pairs: Pairs) -> Floats:
        """Return the edges of the table."""
        return self.table.edges[1:-1]


def check_binning(binning: object, rule: str) -> None:
    """Raise InputError with ``rule`` unless the argument `binning` is a binning.

    Parameters
    ----------
    binning : object
        The argument.
    rule : str
        Rule for the message.

    Examples
    --------
    >>> check_binning(EqualWidth(15), "a binning")
    """
    if not isinstance(binning, Binning):
        raise must_be("binning", rule, binning)


def uniform_edges(n_bins: int) -> Floats:
    """Return the inner edges k/B of equal-width bins, each the float64 nearest to k/B."""
    return np.arange(1, n_bins) / n_bins


def ranked(p: NDArray[Any], w: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct scores and the cumulative weight up to each."""
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
