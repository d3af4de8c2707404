"""Binnings of a simplex: the variance tree, the grid and triangles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.bins.base import Binning
from trueup.bins.scores import uniform_edges
from trueup.checks import check_whole
from trueup.engines.blocks import row_blocks
from trueup.errors import must_be
from trueup.lens import Cells, Pairs
from trueup.variance_tree import Leaf, Rule, grow

__all__ = ["SimplexGrid", "SimplexTriangles", "VarianceTree"]

GROUPED = "group the classes in three with the lens Partition"
ON_EDGE = 1e-12  # sums in another order move a probability by less
NOT_THREE = {
    2: "two outcomes have a single score; use the lens Binary() and EqualWidth",
    4: "regular tetrahedra of one size do not fill the simplex of four outcomes",
}


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
    """Grid cells: equal-width intervals of each of the first m−1 coordinates.

    Use it for few classes: the number of cells grows as ``n_bins`` to the power m−1. The cells
    depend on which class is last; those of `SimplexTriangles` do not.

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
        return _nonempty(cells, edges, lambda points: np.searchsorted(inner, points[:, :-1]))


@dataclass(frozen=True, repr=False)
class SimplexTriangles(Binning):
    """Equal triangles on the simplex of three outcomes, whatever the order of the classes.

    Use it instead of `SimplexGrid` if the value must not depend on which class is last. Each side
    of the simplex is cut into ``per_side`` parts, which makes ``per_side``² equilateral triangles
    with sides of length 1/``per_side``.

    Parameters
    ----------
    per_side : int, default 10
        Number of triangles along a side of the simplex.

    Notes
    -----
    The triangle of a row is known from the bin of each probability among ``per_side`` equal-width
    bins, which are right-closed. Probabilities within 1e-12 of an edge lie on it, because rounding
    can depend on the order of the classes. A row on a corner inside the simplex goes to the
    triangle whose largest coordinate is one bin below that corner. If two coordinates share the
    largest value, both are one bin below. If all three are equal, at the center of the simplex, any
    choice would depend on the order of the classes, so these rows have a cell of their own. The
    center is a corner only if ``per_side`` is a multiple of 3.

    Other numbers of outcomes raise an error. In four dimensions, tetrahedra with sides of length
    1/n leave octahedra of four times their volume between them, so the cells would not be equal.

    References
    ----------
    Vaicenavicius et al. 2019, "Evaluating model calibration in classification", App. B.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(tu.lens.Canonical(), SimplexTriangles(2))
    >>> round(error([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [0, 1]), 6)
    0.35
    """

    per_side: int = 10
    sees_scores: ClassVar[bool] = False
    sees_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole("per_side", self.per_side, 1)

    def n_bins_for(self, n: int) -> int:
        """Return the number of triangles."""
        return self.per_side**2

    def leaves(self, cells: Cells) -> list[Leaf]:
        """Return the non-empty triangles, in lexicographic order of their lower corners."""
        if cells.m != 3:
            rule = f"a binning of {cells.m} outcomes, such as SimplexGrid({self.per_side})"
            raise must_be("binning", rule, self, hint=NOT_THREE.get(cells.m, GROUPED))
        inner = uniform_edges(self.per_side)
        edges = np.concatenate([[0.0], inner, [1.0]])
        above = inner + ON_EDGE
        return _nonempty(
            cells,
            edges,
            lambda points: _triangles(np.searchsorted(above, points), self.per_side),
        )


def _triangles(bins: Ints, per_side: int) -> Ints:
    """Return the bins of the three coordinates of each row's triangle.

    They sum to ``per_side`` − 1 in a triangle that points up and to ``per_side`` − 2 in one that
    points down. At a corner inside the simplex all three coordinates are in the bin below, and no
    triangle has these bins.
    """
    at_corner = bins.sum(axis=1) == per_side - 3
    corner = bins[at_corner] + 1
    bins[at_corner] = corner - (corner == corner.max(axis=1, keepdims=True))
    return bins


def _nonempty(cells: Cells, edges: Floats, bins_of: Callable[[Floats], Ints]) -> list[Leaf]:
    """Return the cells of a grid that hold rows; a cell is one bin of each coordinate."""
    small = np.uint8 if len(edges) <= 257 else np.uint32
    blocks = (cells.rows(cells.kept[b]) for b in row_blocks(len(cells.kept), cells.m))
    codes = np.concatenate([bins_of(points).astype(small) for points in blocks])
    distinct, index = np.unique(codes, axis=0, return_inverse=True)
    order = np.argsort(index.reshape(-1), kind="stable")
    ends = np.searchsorted(index.reshape(-1)[order], np.arange(1, len(distinct)))
    rows = np.split(cells.kept[order], ends)
    return [
        Leaf(w, edges[c], edges[c + 1]) for w, c in zip(rows, distinct.astype(int), strict=True)
    ]
