"""Tables in JSON: one record per line, a list of records, or one object of columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.io.file_errors import refusal
from trueup.io.number_columns import unnested
from trueup.io.sources import Source
from trueup.io.table import Table

NAMES_FROM = 1000  # lines in which the names of the columns are looked for
VALUES_AT_ONCE = 2**22  # in Python, each takes about 32 bytes


class JsonLinesTable(Table):
    """Fields of the records of a JSON lines file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        first = list(islice(self._records(), NAMES_FROM))
        if not first:
            raise refusal(self.shown, "holds no records")
        names = dict.fromkeys(name for _, record in first for name in record)
        if not names:
            raise refusal(self.shown, "has no columns")
        self.names = self._checked_names(names)
        lines = len(first) * self.source.path.stat().st_size / self._bytes_of(first)
        # Each time is a pass over the whole file: as few as memory allows.
        self.columns_at_once = max(self.columns_at_once, int(VALUES_AT_ONCE / max(1, lines)))

    @cached_property
    def n(self) -> int:
        """Number of records."""
        return sum(1 for _ in self._records())

    def _bytes_of(self, first: list[tuple[int, dict[str, Any]]]) -> int:
        """Return the size of the first records in bytes."""
        with open(self.source.path, "rb") as file:
            return sum(map(len, islice(file, first[-1][0])))

    def line(self, row: int) -> int | None:
        """Return the number of the line that holds a record."""
        return next((line for line, _ in islice(self._records(), row, None)), None)

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        values: dict[str, list[Any]] = {name: [] for name in names}
        appends = [(name, column.append) for name, column in values.items()]
        for _, record in islice(self._records(), limit):
            for name, append in appends:
                append(record.get(name))
        if limit is None:
            self.n = len(values[names[0]])
        return {name: unnested(self, name, natural(values.pop(name))) for name in names}

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(self.source.path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.isspace():
                    continue
                # What is named twice in one record is in all: the check would cost half the time.
                hook = _record if number <= NAMES_FROM else None
                try:
                    record = json.loads(line.decode("utf-8-sig"), object_pairs_hook=hook)
                except TwiceError as problem:
                    told = f"line {number} has the field {problem.args[0]!r} twice"
                    raise refusal(self.shown, told) from None
                except (ValueError, RecursionError) as problem:
                    start = line[:60].decode(errors="replace")
                    raise refusal(self.shown, f"line {number} must be JSON", start) from problem
                if not isinstance(record, dict):
                    told = f'line {number} must be a record such as {{"p": 0.5, "y": 1}}'
                    raise refusal(self.shown, told, record)
                yield number, record


class JsonTable(Table):
    """Columns of one JSON document: a list of records, or an object of lists."""

    def __init__(self, source: Source, document: Any) -> None:
        super().__init__(source)
        if isinstance(document, list):
            document = self._from_records(document)
        if not isinstance(document, dict):
            document = {}
        self._columns: dict[str, list[Any]] = document
        self.names = self._checked_names(document)
        lists = {name: len(x) for name, x in document.items() if isinstance(x, list)}
        if len(lists) < len(self.names) or not self.names:
            hint = 'such as {"p": [0.5], "y": [1]} or [{"p": 0.5, "y": 1}]'
            told = "must be a list of records or an object with a list for each column"
            raise refusal(self.shown, told, hint=hint)
        first = self.names[0]
        for name, length in lists.items():
            if length != lists[first]:
                raise self.differ(first, lists[first], name, length)
        self.n = lists[first]
        if self.n == 0:
            raise refusal(self.shown, "has no rows")

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        return {name: unnested(self, name, natural(self._columns[name][:limit])) for name in names}

    def _from_records(self, records: list[Any]) -> dict[str, list[Any]]:
        for row, record in enumerate(records):
            if not isinstance(record, dict):
                told = f'row {row} must be a record such as {{"p": 0.5, "y": 1}}'
                raise refusal(self.shown, told, record)
        if not records:
            raise refusal(self.shown, "has no rows")
        names = dict.fromkeys(name for record in records for name in record)
        return {name: [record.get(name) for record in records] for name in names}


def json_table(source: Source) -> Table:
    """Read a JSON document; a JSON lines file is read as such, whatever its suffix."""
    try:
        text = source.path.read_text("utf-8-sig")
        one_line = text.count("\n") <= 1
        document = json.loads(text, object_pairs_hook=_record)
    except TwiceError as problem:
        raise refusal(
            source.shown, f"has the field {problem.args[0]!r} twice in a record"
        ) from None
    except UnicodeDecodeError as problem:
        raise refusal(source.shown, "is not UTF-8 text", hint="save it again as UTF-8") from problem
    except json.JSONDecodeError as problem:
        if problem.msg.startswith("Extra data"):
            return JsonLinesTable(source)
        told = f"is not JSON: {problem.msg} in line {problem.lineno}"
        raise refusal(source.shown, told) from problem
    except (ValueError, RecursionError) as problem:
        raise refusal(source.shown, "is not JSON that can be read") from problem
    if isinstance(document, dict) and not any(isinstance(x, list) for x in document.values()):
        return JsonLinesTable(source) if one_line else JsonTable(source, document)
    return JsonTable(source, document)


class TwiceError(Exception):
    """Raised if a record has a field twice, because one value would be lost."""


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        times = Counter(name for name, _ in pairs)
        raise TwiceError(next(name for name, n in times.items() if n > 1))
    return record


def natural(values: list[Any]) -> NDArray[Any]:
    """Return a boolean or numeric array (NaN for null) if the values allow it, else objects."""
    kinds = {type(value) for value in values}
    missing = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {bool} and not missing:
        return np.array(values, bool)
    if kinds and kinds <= {int, float}:
        try:
            return np.array(values, np.int64 if kinds == {int} and not missing else np.float64)
        except OverflowError:
            pass
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects
