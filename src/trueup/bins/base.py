"""The contract of binnings: rules for grouping scores, or points of a simplex."""

from __future__ import annotations

from typing import ClassVar

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.errors import must_be
from trueup.lens import Cells, Pairs
from trueup.specification import Specification
from trueup.tables import BinTable
from trueup.variance_tree import Leaf

__all__ = ["Binning", "check_binning"]


class Binning(Specification):
    """Base class of binnings: rules for grouping scores, points of a simplex, or both.

    `inner_edges` groups scores and `leaves` groups points. ``sees_scores`` and ``sees_labels``
    state what the groups depend on, in addition to the number of rows.

    Examples
    --------
    >>> import trueup as tu
    >>> isinstance(tu.EqualWidth(15), Binning), isinstance(tu.bins.VarianceTree(), Binning)
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
            "a binning of a simplex, such as VarianceTree() or SimplexGrid(B)",
            self,
            hint="the lens uses whole distributions, which have no single score",
        )


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
    >>> import trueup as tu
    >>> check_binning(tu.EqualWidth(15), "a binning")
    """
    if not isinstance(binning, Binning):
        raise must_be("binning", rule, binning)
