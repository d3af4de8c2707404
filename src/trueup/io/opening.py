"""`open_table`: the named columns of a file, whatever its format."""

from __future__ import annotations

import os
from typing import IO

from trueup.io.sources import source_of
from trueup.io.table import Table


def open_table(path: str | os.PathLike[str] | IO[bytes], format: str | None = None) -> Table:
    r"""Open a file, to read its columns by name.

    Parameters
    ----------
    path : str, path-like or binary stream
        A CSV, TSV, JSON or JSON lines file (.gz too), or a Parquet, Arrow, Feather or NPZ file,
        recognized by its suffix. ``"-"`` is standard input; it and streams are recognized by their
        first bytes.
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"json"``, ``"jsonl"``, ``"parquet"``, ``"arrow"`` or ``"npz"``
        (default: inferred from the suffix).

    Returns
    -------
    Table
        The opened file.

    Raises
    ------
    InputError, OSError
        With the file, the problem and what to do.
    CapabilityError
        If an Arrow file needs pyarrow, which is not installed.

    Examples
    --------
    >>> import io
    >>> table = open_table(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n"))
    >>> table.names, table.column("p").tolist()
    (('p', 'y'), [0.9, 0.2])
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
