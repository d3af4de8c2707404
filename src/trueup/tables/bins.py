"""Tables of bins: the sums in each bin that all binned errors and diagrams need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.types import Sums
from trueup.errors import Verbatim, must_be
from trueup.notebook import text_table
from trueup.readable import minus
from trueup.tables.base import Table


@dataclass(frozen=True, eq=False, repr=False)
class BinTable(Table):
    """Sufficient statistics of right-closed bins [e0, e1], (e1, e2], …, (e_{B−1}, e_B].

    Tables with the same edges add with ``+``: the sum over parts of the data is the table of the
    whole. Use one to plot a reliability diagram, or to compute an error in batches.

    Parameters
    ----------
    edges : ndarray
        B + 1 edges, from 0 to 1.
    n_bins_requested : int
        Number of bins requested; with many tied scores there are fewer equal-mass bins.
    sums : Sums
        count, Σw, Σw², Σwp, Σwp², Σwy, Σwy² and Σwpy of every bin, each of shape (B,).

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.ece.estimator(n_bins=2).table([0.1, 0.3, 0.9], [0, 1, 1])
    >>> table.count.tolist(), table.mean_label.tolist()
    ([2, 1], [0.5, 1.0])
    """

    edges: Floats
    n_bins_requested: int
    sums: Sums
    kind: ClassVar[str] = "bins"
    induced: ClassVar[str] = "pairs"
    hint: ClassVar[str] = 'select one class, such as table["name"]'

    @classmethod
    def from_sums(
        cls, inner_edges: Floats, sums: Sums, n_bins_requested: int | None = None
    ) -> BinTable:
        """Combine sums with the inner edges of their bins.

        Parameters
        ----------
        inner_edges : ndarray
            Inner edges.
        sums : Sums
            Sums by bin.
        n_bins_requested : int, optional
            Number of bins requested (default: the number of bins).

        Returns
        -------
        BinTable
            The table.
        """
        edges = np.concatenate([[0.0], inner_edges, [1.0]])
        return cls(edges, n_bins_requested or len(edges) - 1, sums)

    @property
    def n_bins(self) -> int:
        """Number of bins, empty ones included."""
        return len(self.edges) - 1

    @property
    def count(self) -> Ints:
        """Number of rows in each bin."""
        return self.sums.count

    @property
    def weight(self) -> Floats:
        """Σw of each bin, which is the number of rows if there are no weights."""
        return self.sums.weight

    @cached_property
    def share(self) -> Floats:
        """Fraction of the total weight in each bin."""
        return np.asarray(self.weight / self.weight.sum())

    @cached_property
    def mean_score(self) -> Floats:
        """Mean score f_b; NaN in an empty bin."""
        return _ratio(self.sums.score, self.weight)

    @cached_property
    def mean_label(self) -> Floats:
        """Mean label y_b; NaN in an empty bin."""
        return _ratio(self.sums.label, self.weight)

    @cached_property
    def gap(self) -> Floats:
        """y_b − f_b: negative if the model is overconfident; NaN in an empty bin."""
        return self.mean_label - self.mean_score

    @cached_property
    def concentration(self) -> Floats:
        """q_b = Σw²/(Σw)², which is 1/n_b without weights; NaN in an empty bin."""
        return _ratio(self.sums.weight2, self.weight * self.weight)

    @property
    def parts(self) -> list[tuple[float, BinTable]]:
        """The table with weight 1, in the form of `BinTables.parts`."""
        return [(1.0, self)]

    @property
    def sets_per_row(self) -> int:
        """Number of sets of bins that each row is in."""
        return 1

    def nonempty(self) -> BinTable:
        """Return the table without its empty bins; each of their ranges joins the next bin above.

        Returns
        -------
        BinTable
            The table.
        """
        if self.count.all():
            return self
        full = np.flatnonzero(self.count)
        edges = np.concatenate([self.edges[:1], self.edges[full[:-1] + 1], self.edges[-1:]])
        return BinTable(edges, self.n_bins_requested, Sums(*(moment[full] for moment in self.sums)))

    def without_singles(self) -> tuple[BinTable, int]:
        """Merge every single-row bin with its nearest neighbor.

        A single row does not allow a variance estimate, so debiasing and intervals merge such bins
        first. Starting at the lowest score, such a bin joins the neighboring non-empty bin with the
        nearest mean score, or the lower one in a tie. If there is no other bin, it stays.

        Returns
        -------
        table : BinTable
            The table.
        n_merged : int
            Number of bins that were merged.
        """
        table, merged = self.nonempty(), 0
        while table.n_bins > 1 and (singles := np.flatnonzero(table.count == 1)).size:
            b = int(singles[0])
            below = table.mean_score[b] - table.mean_score[b - 1] if b > 0 else np.inf
            above = (
                table.mean_score[b + 1] - table.mean_score[b] if b + 1 < table.n_bins else np.inf
            )
            nearer_below = below <= above * (1 + 1e-9) + 1e-14  # what rounding decides is a tie
            table = table._join(b - 1 if nearer_below else b)
            merged += 1
        return table, merged

    def _join(self, b: int) -> BinTable:
        """Merge bins b and b + 1."""
        edges = np.delete(self.edges, b + 1)
        starts = np.delete(np.arange(self.n_bins), b + 1)
        sums = Sums(*(np.add.reduceat(moment, starts) for moment in self.sums))
        return BinTable(edges, self.n_bins_requested, sums)

    def __add__(self, other: BinTable) -> BinTable:
        """Add the statistics of other rows, binned with the same edges."""
        if not isinstance(other, BinTable):
            return NotImplemented
        if not np.array_equal(self.edges, other.edges):
            raise must_be(
                "other", "a table over the same edges", Verbatim(f"{other.n_bins} other bins")
            )
        sums = Sums(*(a + b for a, b in zip(self.sums, other.sums, strict=True)))
        return BinTable(self.edges, self.n_bins_requested, sums)

    def __eq__(self, other: object) -> bool:
        """Tables are equal when every edge and every sum is."""
        if not isinstance(other, BinTable):
            return NotImplemented
        return (
            self.n_bins_requested == other.n_bins_requested
            and np.array_equal(self.edges, other.edges)
            and all(np.array_equal(a, b) for a, b in zip(self.sums, other.sums, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table by name."""
        return {
            "low": self.edges[:-1],
            "high": self.edges[1:],
            "count": self.count,
            "weight": self.weight,
            "share": self.share,
            "mean_score": self.mean_score,
            "mean_label": self.mean_label,
            "gap": self.gap,
        }

    def __repr__(self) -> str:
        """Print the table as a person would read it."""
        rows, made = int(self.count.sum()), f"{self.n_bins} bin{'s' * (self.n_bins != 1)}"
        requested = (
            "" if self.n_bins_requested == self.n_bins else f" ({self.n_bins_requested} requested)"
        )
        lines = [f"BinTable of {rows} row{'s' * (rows != 1)} in {made}{requested}:"]
        cells = []
        for b, count in enumerate(self.count):
            left = "[" if b == 0 else "("
            interval = f"{left}{self.edges[b]:.4f}, {self.edges[b + 1]:.4f}]"
            means = [f"{self.mean_score[b]:.4f}", f"{self.mean_label[b]:.4f}"]
            numbers = [*means, minus(f"{self.gap[b]:+.4f}")] if count else ["-"] * 3
            cells.append([interval, str(count), *numbers])
        names = ("bin", "rows", "mean score", "mean label", "gap")
        return "\n".join([*lines, *text_table(names, cells, [True] * len(names))])


def _ratio(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(top / bottom)
