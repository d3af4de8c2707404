"""Tables in Parquet files, from which DuckDB reads only the requested columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from trueup.io.file_errors import refusal, told_by
from trueup.io.formats.duckdb_reader import Duck, Ducks, name as quoted
from trueup.io.number_columns import unnested
from trueup.io.sources import Source
from trueup.io.table import Table

FROM = "FROM read_parquet(?, hive_partitioning = false)"


class ParquetTable(Table):
    """Columns of a Parquet file; float32 stays float32."""

    def __init__(self, source: Source, shared: Ducks | None = None) -> None:
        super().__init__(source)
        import duckdb

        self._duck = Duck(source.path, shared)
        try:
            columns = self._duck.described(f"SELECT * {FROM}")
            names = self._names_in_file()
            self.n = int(self._duck.arrays(f"SELECT count(*) AS c0 {FROM}")[0][0])
        except duckdb.Error as problem:
            raise self._unreadable(problem) from problem
        # DuckDB calls a column p_1 where the file has both p and P; SQL must, messages must not.
        self.names = self._checked_names(names)
        self._columns = dict(zip(names, columns, strict=True))
        if self.n == 0:
            raise refusal(self.shown, "has no rows")

    def _fetch(self, names: Sequence[str], limit: int | None) -> dict[str, NDArray[Any]]:
        import duckdb

        chosen = ", ".join(f"{self._sql(name)} AS c{k}" for k, name in enumerate(names))
        most = "" if limit is None else f" LIMIT {limit}"
        try:
            arrays = self._duck.arrays(f"SELECT {chosen} {FROM}{most}")
        except duckdb.Error as problem:
            raise self._unreadable(problem) from problem
        return {
            name: unnested(self, name, array) for name, array in zip(names, arrays, strict=True)
        }

    def _sql(self, name: str) -> str:
        # Decimal and very long numbers as the floats they are used as; names of kinds as texts.
        column, kind = self._columns[name]
        if kind.startswith(("DECIMAL", "HUGEINT", "UHUGEINT")) and not kind.endswith("]"):
            return f"{quoted(column)}::DOUBLE"
        return f"{quoted(column)}::VARCHAR" if kind.startswith("ENUM") else quoted(column)

    def _names_in_file(self) -> list[str]:
        query = "SELECT name AS c0, coalesce(num_children, 0) AS c1 FROM parquet_schema(?)"
        names, children = self._duck.arrays(query)
        found: list[str] = []
        at = 1  # behind the root; columns that hold others come before these
        while at < len(names):
            found.append(str(names[at]))
            inside = int(children[at])
            while inside > 0:
                at += 1
                inside += int(children[at]) - 1
            at += 1
        return found

    def _unreadable(self, problem: Exception) -> Exception:
        told = told_by(problem).replace(self._duck.path, self.shown)
        return refusal(self.shown, f"cannot be read as Parquet ({told})")
