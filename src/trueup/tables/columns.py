"""Named columns of numbers: small tables to print, to plot and to convert to data frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueup.codec import column_of
from trueup.errors import Verbatim, must_be
from trueup.notebook import text_table
from trueup.readable import cell
from trueup.tables.base import SCHEMA, Table, check_version

ROWS_SHOWN = 20
Part = tuple[Mapping[str, Any], tuple[float, float], Mapping[str, Any]]
"""A part of the data: its name and size, its mean score and label, and what was found in it."""


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable(Table):
    """Table of named, equal-length columns; ``table["error"]`` returns one.

    Unlike tables of bins, these do not add: they hold results, not the statistics behind them.

    Parameters
    ----------
    data : mapping of str to ndarray
        The columns by name.

    Examples
    --------
    >>> table = ResultTable({"class": np.array(["a", "b"]), "error": np.array([0.5, 0.25])})
    >>> table["error"].tolist(), len(table)
    ([0.5, 0.25], 2)
    """

    data: Mapping[str, NDArray[Any]]
    kind: ClassVar[str] = "columns"

    @classmethod
    def from_rows(
        cls, rows: Iterable[Mapping[str, Any] | Sequence[Any]], names: Sequence[str] = ()
    ) -> Self:
        """Make a table from rows; values of different types keep their types.

        Parameters
        ----------
        rows : iterable of mapping or sequence
            Values of each row by the name of their column, or in the order of ``names``.
        names : sequence of str, optional
            Names of the columns, if rows are sequences.

        Returns
        -------
        ResultTable
            The table.

        Examples
        --------
        >>> ResultTable.from_rows([("a", 0.5), (3, 0.25)], ["class", "error"])["class"]
        array(['a', 3], dtype=object)
        """
        named = [
            row if isinstance(row, Mapping) else dict(zip(names, row, strict=True)) for row in rows
        ]
        keys = names or (named[0] if named else ())
        return cls({name: column_of([row[name] for row in named]) for name in keys})

    @classmethod
    def from_parts(cls, parts: Iterable[Part]) -> Self:
        """Make a table from parts of the data, such as classes or groups, one row each.

        Parameters
        ----------
        parts : iterable of tuple
            For each part: its name and size, its mean score and label, and its results.

        Returns
        -------
        ResultTable
            The table.
        """
        return cls.from_rows(
            {**part, "mean_score": score, "mean_label": label, "gap": label - score, **found}
            for part, (score, label), found in parts
        )

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.data.items()}
        if len(set(lengths.values())) > 1:
            raise must_be("data", "columns of one length", Verbatim(f"the lengths {lengths}"))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self.data)

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of that name."""
        return name in self.data

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column by its name."""
        if not isinstance(name, str) or name not in self.data:
            raise must_be("name", f"one of {', '.join(map(repr, self.data))}", name)
        return self.data[name]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.data.values()), ()))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all columns by name."""
        return dict(self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that `from_dict` reads back, ready for JSON.

        JSON has no NaN, so NaN is written as None. The version of the format is stored with the
        columns.

        Returns
        -------
        dict
            The columns by name, as lists.

        Examples
        --------
        >>> ResultTable({"error": np.array([0.5, math.nan])}).to_dict()
        {'schema': 1, 'error': [0.5, None]}
        """
        if "schema" in self.data:
            raise must_be("data", "have columns that are not named 'schema'", Verbatim("one"))
        columns = {name: [_plain(v) for v in col.tolist()] for name, col in self.data.items()}
        return {"schema": SCHEMA, **columns}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        check_version(data)
        columns = {name: column for name, column in data.items() if name != "schema"}
        for name, column in columns.items():
            if not isinstance(column, list):
                raise must_be("data", f"have a list as its entry {name!r}", column)
        return cls({name: _read_back(column) for name, column in columns.items()})

    def __repr__(self) -> str:
        """Print the first rows as a person would read them."""
        cells = [[cell(v) for v in column[:ROWS_SHOWN]] for column in self.data.values()]
        rows, right = zip(*cells, strict=True), [True] * len(cells)
        lines = [f"{type(self).__name__} of {len(self)} row{'s' * (len(self) != 1)}:"]
        lines += text_table(self.data, rows, right, least=6)
        if len(self) > ROWS_SHOWN:
            lines.append(f"… and {len(self) - ROWS_SHOWN} more")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(ResultTable):
    """Table with one row per point of a curve, in increasing order of the score.

    Curves of several classes are stacked, with their ``class`` in a column.

    Parameters
    ----------
    data : mapping of str to ndarray
        The columns by name.

    Examples
    --------
    >>> import trueup as tu
    >>> curve = tu.smooth_ece.estimator().table([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    >>> list(curve.columns())
    ['score', 'density', 'mean_label', 'gap']
    """

    kind: ClassVar[str] = "curve"

    @classmethod
    def stacked(cls, names: Sequence[Any], curves: Sequence[Curve | None]) -> Curve | None:
        """Stack the curves of several classes; classes without a curve are dropped.

        Parameters
        ----------
        names : sequence
            Name of each class.
        curves : sequence of Curve or None
            Curve of each class.

        Returns
        -------
        Curve or None
            The stacked curve; None if no class has one.
        """
        present = [(n, c) for n, c in zip(names, curves, strict=True) if c is not None]
        if not present:
            return None
        label = np.array([name for name, _ in present])
        data = {"class": np.repeat(label, [len(curve) for _, curve in present])}
        for key in present[0][1].data:
            data[key] = np.concatenate([curve[key] for _, curve in present])
        return cls(data)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _read_back(column: list[Any]) -> NDArray[Any]:
    array = np.array(column)
    return array.astype(np.float64) if array.dtype == object and None in column else array
