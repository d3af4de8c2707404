"""Named columns of a file, read on demand as NumPy arrays."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, InputError
from trueup.io.column_patterns import MOST_COMPARED, twice
from trueup.io.file_errors import bad_column, listed, refusal
from trueup.io.number_columns import as_numbers, holds_numbers
from trueup.io.sources import Source

SAMPLED = 10_000
MOST_COLUMNS = 100_000
GLANCED = 200


class Table(ABC):
    r"""Base class of opened files: named columns of equal length.

    Parameters
    ----------
    source : Source
        The opened source.

    Attributes
    ----------
    names : tuple of str
        Names of the columns in the order of the file.
    shown : str
        Name of the file in messages.
    has_texts : bool
        Whether `texts` can return cells as text, exactly as written.
    added : frozenset of str
        Columns that are not in any file; their role is never inferred.
    percentages : set of str
        Columns that were read as percentages; their values are fractions now.

    Examples
    --------
    >>> import io
    >>> from trueup.io import open_table
    >>> open_table(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n")).n
    2
    """

    names: tuple[str, ...]
    shown: str
    percentages: set[str]
    texts_are_numbers = False
    has_texts = False
    added: frozenset[str] = frozenset()
    columns_at_once = 64  # a matrix is filled in steps, so that it is never in memory twice
    _kept: NDArray[np.int64] | None = None  # numbers of the rows that are counted; all by default

    def __init__(self, source: Source) -> None:
        self.source = source  # kept: a temporary file lives as long as this
        self.shown = source.shown
        self.percentages = set()

    @cached_property
    def n(self) -> int:
        """Number of rows; the length of the longest column if lengths differ (NPZ only)."""
        return len(self._fetch(self.names[:1], None)[self.names[0]])

    @abstractmethod
    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        """Return existing columns as numbers, booleans or objects; 2-D if their rows are lists."""

    def _checked_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the columns; raise InputError if there are implausibly many."""
        found = tuple(names)
        if len(found) > MOST_COLUMNS:
            told = f"has {len(found):,} columns, but at most {MOST_COLUMNS:,} can be read"
            raise refusal(self.shown, told, hint="save a matrix in one array of an NPZ file")
        return found

    def column(self, name: str) -> NDArray[Any]:
        """Return one column: numbers, booleans, or texts as objects (None if missing).

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        ndarray
            The column.
        """
        return self.columns([name])[name]

    def columns(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return several columns, read together.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        dict of str to ndarray
            The columns by name.
        """
        self._check(names)
        return self._fetch(list(dict.fromkeys(names)), None)

    def sample(self, names: Sequence[str], limit: int = SAMPLED) -> dict[str, NDArray[Any]]:
        """Return the first rows of several columns, enough to infer what they hold.

        A column whose values cannot be predictions or labels is dropped.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        limit : int
            Number of rows.

        Returns
        -------
        dict of str to ndarray
            The first rows by name.
        """
        self._check(names)
        wanted = list(dict.fromkeys(names))
        try:
            return self._fetch(wanted, limit)
        except InputError:
            if len(wanted) == 1:
                return {}
        return {
            name: column for one in wanted for name, column in self.sample([one], limit).items()
        }

    def numeric_among(self, names: Sequence[str]) -> set[str]:
        """Return the columns whose first rows hold numbers, percentages, or lists of numbers.

        Parameters
        ----------
        names : sequence of str
            Names of the columns to examine.

        Returns
        -------
        set of str
            Names of the columns that hold numbers.
        """
        found = self.sample(names, GLANCED).items()
        return {name for name, column in found if holds_numbers(column)}

    def texts(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the cells of some columns as text, exactly as written, if ``has_texts`` is true.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        dict of str to list of str
            The cells of each column by its name.
        """
        raise NotImplementedError

    def matrix(self, names: Sequence[str]) -> NDArray[Any]:
        """Return a matrix (n, K) of the given columns, or the matrix with the given name.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        ndarray
            The matrix.
        """
        numbers = self.gather(names, ())[0]
        return numbers[:, None] if numbers.ndim == 1 else numbers

    def gather(
        self, matrix: Sequence[str], others: Sequence[str]
    ) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        """Return the columns of predictions and other columns in as few passes as possible.

        Parameters
        ----------
        matrix : sequence of str
            Columns of numbers; float32 stays float32.
        others : sequence of str
            Further columns.

        Returns
        -------
        matrix : ndarray
            Shape (n, K), or (n,) for one column.
        others : dict of str to ndarray
            The other columns by name.
        """
        self._check([*matrix, *others])
        wanted, found = list(dict.fromkeys(matrix)), dict[str, NDArray[Any]]()
        parts: NDArray[Any] | None = None
        for start in range(0, len(wanted), self.columns_at_once):
            names = wanted[start : start + self.columns_at_once]
            missing = {*names, *others} - set(found)
            found |= self._fetch([name for name in self.names if name in missing], None)
            # Taken out of `found`, so that a column is freed once it is in the matrix.
            here = {name: found[name] if name in others else found.pop(name) for name in names}
            if len(wanted) == 1:
                return as_numbers(self, wanted[0], here[wanted[0]]), found
            parts = self._fill(parts, here, wanted, start)
        assert parts is not None
        return parts, found

    def _fill(
        self,
        parts: NDArray[Any] | None,
        here: dict[str, NDArray[Any]],
        wanted: list[str],
        start: int,
    ) -> NDArray[Any]:
        """Write columns start, start + 1, … to the matrix, which the first call creates."""
        for at, name in enumerate(list(here), start):
            column = as_numbers(self, name, here.pop(name))
            if column.ndim != 1:
                rule = "is a matrix and cannot be one of several columns"
                hint = ("pass ", Argument("probs", name), " alone")
                raise bad_column(self, name, rule, hint=hint)
            short = column.dtype in (np.float16, np.float32)
            if parts is None:
                parts = np.empty((len(column), len(wanted)), np.float32 if short else np.float64)
            elif not short and parts.dtype == np.float32:
                parts = parts.astype(np.float64)
            if len(column) != len(parts):
                raise self.differ(wanted[0], len(parts), name, len(column))
            parts[:, at] = column
        assert parts is not None
        return parts

    def differ(self, one: str, n_one: int, other: str, n_other: int) -> Exception:
        """Return the error for columns of different lengths.

        Parameters
        ----------
        one : str
            Name of a column.
        n_one : int
            Its number of rows.
        other : str
            Name of another column.
        n_other : int
            Its number of rows.

        Returns
        -------
        Exception
            The error.
        """
        rule = f"has {n_other} rows, but column {one!r} has {n_one}"
        return bad_column(self, other, rule)

    def line(self, row: int) -> int | None:
        """Return the line of a text file that holds a row, counted from 1; None for other files.

        Parameters
        ----------
        row : int
            Number of the row, counted from 0.

        Returns
        -------
        int or None
            Number of the line.
        """
        return None

    def where(self, row: int) -> str:
        """Return the name of a row in messages, with its line if the file has lines.

        Parameters
        ----------
        row : int
            Number of the row, counted from 0.

        Returns
        -------
        str
            The name.
        """
        row = row if self._kept is None else int(self._kept[row])
        line = self.line(row)
        return f"row {row}" if line is None else f"row {row} (line {line})"

    def counting_only(self, rows: NDArray[np.int64]) -> Self:
        """Return a copy whose messages count only ``rows``, because the other rows were dropped.

        Parameters
        ----------
        rows : ndarray
            Numbers of the remaining rows.

        Returns
        -------
        Table
            The table.
        """
        table = copy(self)
        table._kept = rows
        return table

    @cached_property
    def _times(self) -> Counter[str]:
        """Number of columns with each name."""
        return Counter(self.names)

    def _check(self, names: Sequence[str]) -> None:
        for name in names:
            times = self._times[name]
            if times > 1:
                raise twice(name, self.names, self.shown)
            if times == 0:
                raise refusal(self.shown, f"has no column {name!r}", hint=_advice(name, self.names))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n

    def __repr__(self) -> str:
        """Return the type, the file and its columns as text."""
        return f"{type(self).__name__}({self.shown!r}, columns {listed(self.names)})"


def _advice(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names[:MOST_COMPARED], n=1)
    return f"is it {near[0]!r}?" if near else f"its columns are {listed(names)}"
