"""Binnings of scores: equal width, equal mass and given edges.

A score's bin is the number of inner edges below it. It is found by comparing float64 numbers,
without arithmetic. It depends on the score alone, so neither the order of rows nor the engine can
change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.bins.base import Binning
from trueup.checks import is_whole
from trueup.engines.equal_mass import equal_mass_cuts, whole_weights
from trueup.engines.select import engine
from trueup.errors import must_be
from trueup.lens import Pairs
from trueup.tables import BinTable

__all__ = ["EqualMass", "EqualWidth", "FixedEdges", "KeptBins"]

NumberOfBins = int | str


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
