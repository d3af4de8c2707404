"""Tables of text, CSV and TSV: the header is read here, the rows by DuckDB."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.io.file_errors import refusal
from trueup.io.formats.duckdb_reader import Duck, text
from trueup.io.number_columns import MISSING, from_texts, missing_text, number_in, whole
from trueup.io.sources import Source
from trueup.io.table import Table

DELIMITERS = ",;\t|"
TYPES_FROM = 200  # rows by which a column is first taken for numbers or texts
WIDEST_FIELD = 2**24
BUFFER = 2**23  # a quarter of what DuckDB would hold of the file in each thread


class CsvTable(Table):
    """Columns of a CSV or TSV file with a header."""

    texts_are_numbers = True
    columns_at_once = 256  # more than elsewhere: each time is a pass over the whole file

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._refuse_utf16()
        self._delimiter = self._find_delimiter()
        records = self._records()
        _, header = next(records, (0, []))
        self.names = self._names(header)
        first = [record for _, record in islice(records, TYPES_FROM)]
        if not first:
            raise refusal(self.shown, "has no rows below its header")
        # Only a first opinion: every value is looked at when the column is read.
        self._seem_numbers = {
            name: all(
                missing_text(record[at]) or number_in(record[at]) is not None
                for record in first
                if len(record) > at
            )
            for at, name in enumerate(self.names)
        }

    def line(self, row: int) -> int | None:
        """The line of the file that a row is in."""
        return next((line for line, _ in islice(self._records(), row + 1, None)), None)

    def texts(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the cells of some columns as they are written."""
        records = (record for _, record in islice(self._records(), 1, None))
        cells = dict(zip(self.names, zip(*records, strict=True), strict=True))
        return {name: list(cells[name]) for name in names}

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        import duckdb

        try:
            duck = Duck(self.source.path)
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
            found = self._by_hand(names, limit)
        if limit is None:
            self.n = len(found[names[0]])
        return {
            name: whole(column) if column.dtype.kind == "f" else from_texts(column)
            for name, column in found.items()
        }

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
        """Return columns with gaps in which a gap is no missing value but no number at all."""
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
        """Find what is wrong with the file, or read what DuckDB would not: mixed line ends."""
        places = {name: self.names.index(name) for name in names}
        values: dict[str, list[str | None]] = {name: [] for name in names}
        last = None if limit is None else limit + 1  # after the header
        for number, (line, record) in enumerate(islice(self._records(strict=True), last)):
            if len(record) != len(self.names):
                raise self._ragged(len(record), line)
            if number > 0:
                for name, at in places.items():
                    values[name].append(record[at] or None)
        return {name: np.array(column, dtype=object) for name, column in values.items()}

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
        """The lines that are not empty, cut into cells, each with its number in the file."""
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
