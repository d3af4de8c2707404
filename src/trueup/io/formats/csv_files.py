"""Text tables (CSV and TSV): this module reads the header, DuckDB reads the rows."""

from __future__ import annotations

import csv
import io
import mmap
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.io.file_errors import refusal
from trueup.io.formats.duckdb_reader import Duck, Ducks, text
from trueup.io.number_columns import (
    MISSING,
    floats_in,
    from_texts,
    missing_text,
    number_in,
    whole,
)
from trueup.io.sources import Source
from trueup.io.table import Table

DELIMITERS = ",;\t|"
TYPES_FROM = 200  # rows by which a column is first taken for numbers or texts
CELLS_LOOKED_AT = 2**18  # of wide files, fewer rows
WIDEST_FIELD = 2**24
BYTES_BY_HAND = 6  # times the square of the columns: in smaller files Python is faster than DuckDB
FEWEST_BY_HAND = 1000  # columns
CELLS_AT_ONCE = 2**15  # a text of one takes about 60 bytes
FEWEST_ROWS = 16
BUFFER = 2**23  # a quarter of what DuckDB would hold of the file in each thread


class CsvTable(Table):
    """Columns of a CSV or TSV file with a header."""

    texts_are_numbers = True
    has_texts = True
    columns_at_once = 256  # more than elsewhere: each time is a pass over the whole file

    def __init__(self, source: Source, shared: Ducks | None = None) -> None:
        super().__init__(source)
        self._shared = shared
        self._refuse_utf16()
        self._delimiter = self._find_delimiter()
        self._ends_checked = False
        records = self._records()
        _, header = next(records, (0, []))
        self.names = self._checked_names(self._names(header))
        few = min(TYPES_FROM, max(2, CELLS_LOOKED_AT // len(self.names)))
        first = [record for _, record in islice(records, few)]
        if not first:
            raise refusal(self.shown, "has no rows below its header")
        self._not_for_duckdb = self._wide() or self._with_empty_lines()
        if self._wide():
            self.columns_at_once = len(self.names)
        # Only a first opinion: every value is looked at when the column is read.
        self._seem_numbers = {
            name: all(
                missing_text(record[at]) or number_in(record[at]) is not None
                for record in first
                if len(record) > at
            )
            for at, name in enumerate(self.names)
        }

    def _wide(self) -> bool:
        """Return whether the file is too wide for DuckDB, whose queries declare every column."""
        width, size = len(self.names), self.source.path.stat().st_size
        return width >= FEWEST_BY_HAND and size < BYTES_BY_HAND * width**2

    def _with_empty_lines(self) -> bool:
        """Return whether DuckDB would read empty lines as rows, as it does for a single column."""
        return len(self.names) == 1 and self._contains(b"\n\n", b"\n\r", b"\r\r")

    def line(self, row: int) -> int | None:
        """Return the number of the line that holds a row."""
        return next((line for line, _ in islice(self._records(), row + 1, None)), None)

    def numeric_among(self, names: Sequence[str]) -> set[str]:
        """Return the columns whose first rows hold numbers or percentages."""
        known = {name for name in names if self._seem_numbers.get(name)}
        rest = [name for name in names if name not in known]
        return known | super().numeric_among(rest) if rest else known

    def texts(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the cells of some columns as text, exactly as written."""
        records = (record for _, record in islice(self._records(), 1, None))
        cells = dict(zip(self.names, zip(*records, strict=True), strict=True))
        return {name: list(cells[name]) for name in names}

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        found = {} if self._not_for_duckdb else self._by_duckdb(names, limit)
        if not found or len(found[names[0]]) == 0:
            found = self._by_hand(names, limit)
        elif limit is None:
            self._refuse_one_more_field()
        if limit is None:
            self.n = len(found[names[0]])
        return {
            name: whole(column) if column.dtype.kind == "f" else from_texts(column)
            for name, column in found.items()
        }

    def _by_duckdb(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        """Return the columns as DuckDB reads them; no columns if DuckDB raises an error."""
        import duckdb

        try:
            duck = Duck(self.source.path, self._shared)
            found = dict(
                zip(names, self._read(duck, names, self._seem_numbers, limit), strict=True)
            )
            numbers = [name for name in names if self._seem_numbers[name]]
            gaps = [name for name in numbers if np.isnan(found[name]).any()]
            texts = self._with_texts(duck, gaps) if gaps else []
            if texts:
                read_again = self._read(duck, texts, dict.fromkeys(texts, False), limit)
                found |= zip(texts, read_again, strict=True)
        except duckdb.Error:
            return {}
        return found

    def _read(
        self, duck: Duck, names: Sequence[str], as_number: dict[str, bool], limit: int | None
    ) -> list[NDArray[Any]]:
        chosen = ", ".join(
            f"{f'TRY_CAST({field} AS DOUBLE)' if as_number[name] else field} AS c{k}"
            for k, (name, field) in enumerate(zip(names, self._fields(names), strict=True))
        )
        most = "" if limit is None else f" LIMIT {limit}"
        return duck.arrays(f"SELECT {chosen} {self._from()}{most}")

    def _with_texts(self, duck: Duck, names: Sequence[str]) -> list[str]:
        """Return the columns in which a value read as missing is a text that is not a number."""
        known = ", ".join(text(word) for word in sorted(MISSING))
        found = duck.arrays(
            "SELECT "
            + ", ".join(
                f"coalesce(bool_or(TRY_CAST({field} AS DOUBLE) IS NULL "
                f"AND lower(trim({field})) NOT IN ({known})), false) AS c{k}"
                for k, field in enumerate(self._fields(names))
            )
            + f" {self._from()}"
        )
        return [name for name, has_texts in zip(names, found, strict=True) if has_texts[0]]

    def _fields(self, names: Sequence[str]) -> list[str]:
        places = {name: place for place, name in enumerate(self.names)}
        return [f"f{places[name]}" for name in names]

    def _from(self) -> str:
        fields = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(self.names)))
        return (
            "FROM read_csv(?, auto_detect = false, header = true, compression = 'none', "
            f"delim = {text(self._delimiter)}, quote = '\"', escape = '\"', "
            f"buffer_size = {BUFFER}, hive_partitioning = false, columns = {{{fields}}})"
        )

    def _by_hand(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        """Read a file that DuckDB cannot, such as one with mixed line ends, or report its error."""
        numbers = [name for name in names if self._seem_numbers[name]]
        found = self._columns_by_hand(names, {*numbers}, limit)
        texts = [name for name in numbers if found[name].dtype == object]
        if texts:
            found |= self._columns_by_hand(texts, set(), limit)
        return found

    def _columns_by_hand(
        self, names: Sequence[str], numbers: set[str], limit: int | None
    ) -> dict[str, NDArray[Any]]:
        """Return columns as numbers or texts; a column of ``numbers`` with texts may lose rows."""
        places = {name: place for place, name in enumerate(self.names)}
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        numbers = set(numbers)
        for columns in self._blocks(limit):
            for name, part in parts.items():
                cells = np.array([cell or None for cell in columns[places[name]]], dtype=object)
                floats = floats_in(cells) if name in numbers else None
                if floats is None:
                    numbers.discard(name)
                part.append(cells if floats is None else floats)
        return {
            name: np.concatenate(part) if part else np.empty(0, object)
            for name, part in parts.items()
        }

    def _blocks(self, limit: int | None) -> Iterator[list[tuple[str, ...]]]:
        """Yield blocks of rows as columns; raise an error for a row of a different length."""
        last = None if limit is None else limit + 1  # after the header
        records = islice(self._records(strict=True), last)
        next(records, None)
        rows = max(FEWEST_ROWS, CELLS_AT_ONCE // len(self.names))
        while block := list(islice(records, rows)):
            for line, record in block:
                if len(record) != len(self.names):
                    raise self._ragged(len(record), line)
            yield list(zip(*(record for _, record in block), strict=True))

    def _refuse_one_more_field(self) -> None:
        """Raise an error for a line with an extra empty field, which DuckDB ignores."""
        if self._ends_checked:
            return
        self._ends_checked = True
        mark = self._delimiter.encode()
        # A search that costs little; few files have a line that ends so.
        if not self._contains(mark + b"\n", mark + b"\r", last=mark):
            return
        for line, record in self._records():
            if len(record) != len(self.names):
                raise self._ragged(len(record), line)

    def _contains(self, *marks: bytes, last: bytes | None = None) -> bool:
        """Return whether the file contains one of these byte strings, or ends with ``last``."""
        if self.source.path.stat().st_size == 0:  # as files in /proc say, which cannot be mapped
            return True
        with (
            open(self.source.path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            found = any(content.find(mark) >= 0 for mark in marks)
            return found or content[-1:] == last

    def _ragged(self, n_fields: int, line: int) -> Exception:
        hint = ""
        if n_fields > len(self.names) and self._delimiter == ",":
            hint = "write decimals with a point, and put texts with commas in quotation marks"
        fields = "1 field" if n_fields == 1 else f"{n_fields} fields"
        problem = f"line {line} has {fields}, but the header has {len(self.names)}"
        return refusal(self.shown, problem, hint=hint)

    def _names(self, header: list[str]) -> tuple[str, ...]:
        names = [name.strip() for name in header]
        if names and names[0].startswith("#"):  # as np.savetxt writes a header
            names[0] = names[0].lstrip("# ")
        if not any(names):
            raise refusal(self.shown, "has no header in its first line")
        numbers = [number_in(name) for name in names]
        whole_names = all(name.isdigit() for name in names) and len(set(names)) == len(names)
        if None not in numbers and not (whole_names and len(names) > 2):
            problem = f"has no header: its first line is {self._delimiter.join(header)[:60]!r}"
            hint = "put the names of the columns in the first line, such as p,y"
            raise refusal(self.shown, problem, hint=hint)
        return tuple(name or f"column_{at}" for at, name in enumerate(names))

    def _find_delimiter(self) -> str:
        if self.source.format == "tsv":
            return "\t"
        with self._opened() as file:
            try:
                header = next((line for line in file if line.strip()), "")
            except UnicodeDecodeError:
                raise self._not_utf8() from None
        outside_quotes = "".join(header.split('"')[::2])
        return max(DELIMITERS, key=outside_quotes.count)

    def _records(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield the non-empty records, each as its line number and its cells."""
        csv.field_size_limit(max(csv.field_size_limit(), WIDEST_FIELD))
        with self._opened() as file:
            reader = csv.reader(file, delimiter=self._delimiter, strict=strict)
            try:
                yield from ((reader.line_num, record) for record in reader if record)
            except UnicodeDecodeError:
                raise self._not_utf8() from None
            except csv.Error as error:
                told = f"cannot be read: {error} in line {reader.line_num}"
                raise refusal(self.shown, told) from None

    def _opened(self) -> io.TextIOWrapper:
        # utf-8-sig leaves out the mark that some programs write before the header.
        return open(self.source.path, encoding="utf-8-sig", newline="")

    def _refuse_utf16(self) -> None:
        with open(self.source.path, "rb") as file:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise self._not_utf8()

    def _not_utf8(self) -> Exception:
        return refusal(self.shown, "is not UTF-8 text", hint="save it again as UTF-8")
