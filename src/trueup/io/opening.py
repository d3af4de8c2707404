"""`open_table`: the named columns of a file, whatever its format."""

from __future__ import annotations

import os
from typing import IO

from trueup.io.file_errors import names_its_file
from trueup.io.sources import source_of
from trueup.io.table import Table


@names_its_file
def open_table(path: str | os.PathLike[str] | IO[bytes], format: str | None = None) -> Table:
    """Open a file whose columns are then read by name.

    Parameters
    ----------
    path
        A file of CSV, TSV, JSON or JSON lines (.gz too), Parquet, Arrow, Feather or NPZ, told by
        its suffix; ``"-"`` for standard input, or a binary stream, told by the first bytes.
    format
        ``"csv"``, ``"tsv"``, ``"json"``, ``"jsonl"``, ``"parquet"``, ``"arrow"`` or ``"npz"``,
        where the suffix does not say it.

    Raises
    ------
    InputError, OSError
        With the file, what is wrong with it, and what to do.
    CapabilityError
        If pyarrow is not there to read an Arrow file.
    """
    source = source_of(path, format)
    if source.format in ("csv", "tsv"):
        from trueup.io.formats.csv_files import CsvTable

        return CsvTable(source)
    if source.format == "parquet":
        from trueup.io.formats.parquet_files import ParquetTable

        return ParquetTable(source)
    if source.format == "arrow":
        from trueup.io.formats.arrow_files import ArrowTable

        return ArrowTable(source)
    if source.format == "npz":
        from trueup.io.formats.npz_files import NpzTable

        return NpzTable(source)
    from trueup.io.formats.json_files import JsonLinesTable, json_table

    return JsonLinesTable(source) if source.format == "jsonl" else json_table(source)
