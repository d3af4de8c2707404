"""The rows of several files as one table, with the name of its file in a column of each row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.io.file_errors import bad_column, listed, refusal
from trueup.io.several_files import short_names
from trueup.io.table import SAMPLED, Table

FILE = "file"
MOST_SAMPLED = 8
"""Maximum number of files whose first rows are read to infer columns."""


class FilesTable(Table):
    """Concatenated rows of several files.

    Attributes
    ----------
    tables
        The open table of each file.
    file_column
        Name of the column that holds the name of each row's file.
    """

    def __init__(self, tables: Sequence[Table], files: Sequence[Path], shown: str) -> None:
        self.tables, self.shown = list(tables), shown
        self.files, self.percentages = short_names(files), set()
        first = self.tables[0]
        taken = {name for table in self.tables for name in table.names}
        self.file_column = next(
            name for name in (FILE, "file_name", "_file", "__file__", shown) if name not in taken
        )
        self.names = (*first.names, self.file_column)
        self.added = frozenset({self.file_column})
        self.texts_are_numbers = all(table.texts_are_numbers for table in self.tables)
        self.has_texts = all(table.has_texts for table in self.tables)
        self._ends: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """Number of rows of all files."""
        return sum(table.n for table in self.tables)

    def check_same_columns(self) -> None:
        """Raise InputError unless all files have the same columns, in any order."""
        first = self.tables[0]
        for table in self.tables[1:]:
            for one, other in ((first, table), (table, first)):
                missing = [name for name in one.names if name not in other.names]
                if missing:
                    told = f"has no column {missing[0]!r}, which {one.shown} has"
                    hint = "name the columns to use, or read files with the same columns"
                    raise refusal(other.shown, told, hint=hint)

    def sample(self, names: Sequence[str], limit: int = SAMPLED) -> dict[str, NDArray[Any]]:
        """Return the first rows of several of the files."""
        step = -(-len(self.tables) // MOST_SAMPLED)
        tables = self.tables[::step]
        each = -(-limit // len(tables))
        parts = [table.sample(self._of_parts(names, table), each) for table in tables]
        shared = [name for name in parts[0] if all(name in part for part in parts)]
        return {name: _stacked([part[name] for part in parts]) for name in shared}

    def gather(
        self, matrix: Sequence[str], others: Sequence[str]
    ) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        """Return columns of numbers and other columns of all files, reading each file once."""
        self._check([*matrix, *others])
        beside = [name for name in others if name != self.file_column]
        if self.file_column in matrix:
            raise bad_column(self, self.file_column, "must hold numbers; it holds names of files")
        numbers: list[NDArray[Any]] = []
        parts: list[dict[str, NDArray[Any]]] = []
        kinds: dict[str, tuple[str, str]] = {}
        first = self.tables[0]
        for table in self.tables:
            self._of_parts([*matrix, *beside], table)
            values, found = table.gather(matrix, beside)
            self._note_percentages(table, [*matrix, *beside])
            for name, column in found.items():
                if len(column) != len(values):
                    raise table.differ(matrix[0], len(values), name, len(column))
                self._refuse_other_kind(name, table, column, kinds)
            if numbers and values.shape[1:] != numbers[0].shape[1:]:
                told = f"holds {_width(values)}, but in {first.shown} it holds {_width(numbers[0])}"
                raise bad_column(table, matrix[0], told)
            numbers.append(values)
            parts.append(found)
        lengths = [len(values) for values in numbers]
        self._ends = np.cumsum(lengths)
        gathered = {name: _stacked([part.pop(name) for part in parts]) for name in beside}
        if self.file_column in others:
            gathered[self.file_column] = self._names_of_rows(lengths)
        return np.concatenate(numbers), {name: gathered[name] for name in others}

    def _note_percentages(self, table: Table, names: Sequence[str]) -> None:
        """Record which columns hold percentages; raise InputError if only some files have them."""
        first = self.tables[0]
        for name in names:
            if (name in table.percentages) != (name in first.percentages):
                one, other = (table, first) if name in table.percentages else (first, table)
                raise bad_column(one, name, f"holds percentages, but not in {other.shown}")
        self.percentages |= table.percentages

    def texts(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the cells of some columns, exactly as written; all files must be text files."""
        found: dict[str, list[str]] = {name: [] for name in names}
        for file, table in zip(self.files, self.tables, strict=True):
            wanted = self._of_parts(names, table)
            cells = table.texts(wanted)
            for name in wanted:
                found[name] += cells[name]
            if self.file_column in found:
                found[self.file_column] += [file] * table.n
        return found

    def where(self, row: int) -> str:
        """Return the name of a row in messages, with its file."""
        row = row if self._kept is None else int(self._kept[row])
        ends = np.cumsum([table.n for table in self.tables]) if self._ends is None else self._ends
        at = int(np.searchsorted(ends, row, side="right"))
        start = int(ends[at - 1]) if at else 0
        return f"{self.tables[at].where(row - start)} of {self.tables[at].shown}"

    def numeric_among(self, names: Sequence[str]) -> set[str]:
        """Return the columns whose first rows contain numbers in all files that are checked."""
        found = {name for name in names if name != self.file_column}
        for table in self.tables[:MOST_SAMPLED]:
            found = table.numeric_among([name for name in found if name in table.names])
        return found

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        parts = [table._fetch(self._of_parts(names, table), limit) for table in self.tables]
        lengths = [
            len(next(iter(part.values()))) if part else table.n
            for part, table in zip(parts, self.tables, strict=True)
        ]
        found = {
            name: _stacked([part[name] for part in parts])
            for name in names
            if name != self.file_column
        }
        if self.file_column in names:
            found[self.file_column] = self._names_of_rows(lengths)
        return found

    def _names_of_rows(self, lengths: Sequence[int]) -> NDArray[Any]:
        return np.repeat(np.array(self.files, object), lengths)

    def _of_parts(self, names: Sequence[str], table: Table) -> list[str]:
        """Return the columns to read from one file; raise InputError if the file lacks one."""
        wanted = [name for name in names if name != self.file_column]
        missing = [name for name in wanted if name not in table.names]
        if missing:
            told = f"has no column {missing[0]!r}, which {self.tables[0].shown} has"
            raise refusal(table.shown, told, hint=f"its columns are {listed(table.names)}")
        return wanted

    def _refuse_other_kind(
        self, name: str, table: Table, column: NDArray[Any], kinds: dict[str, tuple[str, str]]
    ) -> None:
        """Raise InputError if a column holds texts in one file and numbers in another."""
        kind = _kind(column)
        there, shown = kinds.setdefault(name, (kind, table.shown)) if kind else ("", "")
        if kind != there:
            raise bad_column(table, name, f"holds {kind}, but in {shown} it holds {there}")


def _kind(column: NDArray[Any]) -> str:
    """Return a description of what a column holds, or "" if its values do not show it."""
    if column.dtype.kind == "f" and bool(np.isnan(column).all()):
        return ""
    if column.dtype == object:
        first = next((item for item in column if item is not None), None)
        if first is None or isinstance(first, bool):
            return ""
    if column.ndim > 1:
        return _width(column)
    return "numbers" if column.dtype.kind in "iufb" else "texts"


def _width(values: NDArray[Any]) -> str:
    return "one number per row" if values.ndim == 1 else f"{values.shape[1]} numbers per row"


def _stacked(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate the parts of a column; a part without values fits parts of any kind."""
    if any(part.dtype == object for part in parts):
        parts = [
            part if part.dtype == object or _kind(part) else np.full(len(part), None, object)
            for part in parts
        ]
    return np.concatenate(parts)
