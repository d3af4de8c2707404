"""One bin table per class, with the weight of each class in the average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup.errors import must_be
from trueup.notebook import text_table
from trueup.tables.base import Table
from trueup.tables.bins import BinTable
from trueup.tables.columns import Curve


@dataclass(frozen=True, repr=False)
class BinTables(Table):
    """Bin tables of several induced problems, such as one per class; they add class by class.

    Parameters
    ----------
    names : tuple
        Name of each member: the class.
    shares : tuple of float
        Weight of each member in the average; the weights sum to 1.
    tables : tuple of BinTable or None
        Table of each member; None for a member without rows.
    divides_rows : bool, default False
        Whether each row is in the table of one member only, as with predicted classes. The weight
        of a member is then its fraction of the rows (or of the weight).

    Examples
    --------
    >>> import trueup as tu
    >>> tables = tu.sce.estimator(n_bins=2).table([[0.6, 0.4], [0.3, 0.7]], [0, 1])
    >>> tables.names, tables[1].mean_score.tolist()
    ((0, 1), [0.4, 0.7])
    """

    names: tuple[Any, ...]
    shares: tuple[float, ...]
    tables: tuple[BinTable | None, ...]
    divides_rows: bool = False
    kind: ClassVar[str] = "family"
    induced: ClassVar[str] = "family"

    @property
    def parts(self) -> list[tuple[float, BinTable]]:
        """Every table that counts in the average, with its weight."""
        members = zip(self.shares, self.tables, strict=True)
        return [(share, table) for share, table in members if table is not None and share > 0]

    @property
    def sets_per_row(self) -> int:
        """Number of sets of bins that each row is in."""
        return 1 if self.divides_rows else len(self.parts)

    def without_singles(self) -> tuple[BinTables, int]:
        """Merge every single-row bin with its nearest neighbor.

        Returns
        -------
        tables : BinTables
            The tables.
        n_merged : int
            Number of bins that were merged.
        """
        found = [(None, 0) if part is None else part.without_singles() for part in self.tables]
        tables = tuple(part for part, _ in found)
        merged = sum(many for _, many in found)
        return BinTables(self.names, self.shares, tables, self.divides_rows), merged

    def __add__(self, other: BinTables) -> BinTables:
        """Add the statistics of other rows, member by member."""
        if not isinstance(other, BinTables):
            return NotImplemented
        if self.divides_rows and other.divides_rows:
            return self._add_divided_rows(other)
        if self.names != other.names or self.shares != other.shares:
            raise must_be("other", "a family with the same members and shares", other)
        pairs = zip(self.tables, other.tables, strict=True)
        return BinTables(self.names, self.shares, tuple(_added(a, b) for a, b in pairs))

    def _add_divided_rows(self, other: BinTables) -> BinTables:
        """Add families, either of which may lack a member, and compute the weights again."""
        tables: dict[Any, BinTable | None] = dict(zip(self.names, self.tables, strict=True))
        for name, table in zip(other.names, other.tables, strict=True):
            tables[name] = _added(tables.get(name), table)
        names = tuple(sorted(tables))
        weights = [0.0 if (t := tables[name]) is None else float(t.weight.sum()) for name in names]
        shares = tuple(weight / sum(weights) for weight in weights)
        return BinTables(names, shares, tuple(tables[name] for name in names), True)

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.names)

    def __getitem__(self, name: Any) -> BinTable | None:
        """Return the table of a member by its name."""
        if name not in self.names:
            raise must_be("name", f"one of {', '.join(map(repr, self.names[:10]))}", name)
        return self.tables[self.names.index(name)]

    def columns(self) -> dict[str, Any]:
        """Return the columns of all members by name."""
        full = [(n, t) for n, t in zip(self.names, self.tables, strict=True) if t is not None]
        columns: dict[str, Any] = {"class": [name for name, t in full for _ in range(t.n_bins)]}
        for key in full[0][1].columns() if full else ():
            columns[key] = np.concatenate([t.columns()[key] for _, t in full])
        return columns

    def __repr__(self) -> str:
        """Print one line per member."""
        cells = []
        for name, share, table in zip(self.names, self.shares, self.tables, strict=True):
            rows, made = (0, 0) if table is None else (int(table.count.sum()), table.n_bins)
            cells.append([str(name), f"{share:.4f}", str(rows), str(made)])
        lines = text_table(("class", "share", "rows", "bins"), cells, [True] * 4)
        return "\n".join([f"BinTables of {len(self)} classes:", *lines])


def stacked(
    names: Sequence[Any],
    shares: Sequence[float],
    tables: Sequence[Table | None],
    divides_rows: bool,
) -> BinTables | Curve | None:
    """Put the tables of several classes into one; None where no class has one.

    ``divides_rows`` says that each row is in the table of one class alone.
    """
    if any(isinstance(table, Curve) for table in tables):
        return Curve.stacked(names, [t if isinstance(t, Curve) else None for t in tables])
    bins = tuple(table if isinstance(table, BinTable) else None for table in tables)
    if not any(table is not None for table in bins):
        return None
    return BinTables(tuple(names), tuple(shares), bins, divides_rows)


def _added(a: BinTable | None, b: BinTable | None) -> BinTable | None:
    if a is None or b is None:
        return a if b is None else b
    return a + b
