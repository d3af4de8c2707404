"""`open_table`: access to the named columns of one or several files of any supported format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from trueup.io.file_errors import names_its_file
from trueup.io.several_files import files_of, is_path
from trueup.io.sources import Source, source_of
from trueup.io.table import Table

if TYPE_CHECKING:
    from trueup.io.formats.duckdb_reader import Ducks

Paths = str | os.PathLike[str] | IO[bytes] | Sequence[str | os.PathLike[str]]
BY_DUCKDB = ("csv", "tsv", "parquet")


@names_its_file
def open_table(path: Paths, format: str | None = None) -> Table:
    r"""Open a file, or several as one table, to read columns by name.

    Parameters
    ----------
    path : str, path-like, binary stream or sequence of paths
        A CSV, TSV, JSON or JSON lines file (.gz too), or a Parquet, Arrow, Feather or NPZ file,
        recognized by its suffix. ``"-"`` is standard input; it and streams are recognized by their
        first bytes. Several files are a list, a folder, or a pattern such as ``"day-*.csv"``; the
        column ``file`` holds the name of each row's file.
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
        If a file cannot be read; the message names the file, the problem and what to do.
    CapabilityError
        If an Arrow file needs pyarrow, which is not installed.

    Examples
    --------
    >>> import io
    >>> table = open_table(io.BytesIO(b"p,y\n0.9,1\n0.2,0\n"))
    >>> table.names, table.column("p").tolist()
    (('p', 'y'), [0.9, 0.2])
    """
    files = files_of(path, format)
    if files is None:
        one = path[0] if isinstance(path, list | tuple) else path
        return _table_of(source_of(one, format))
    if len(files) == 1:
        return _table_of(source_of(files[0], format))
    from trueup.io.files_table import FilesTable

    sources = [source_of(file, format) for file in files]
    by_duckdb = [source.path for source in sources if source.format in BY_DUCKDB]
    shared = None
    if by_duckdb:
        from trueup.io.formats.duckdb_reader import Ducks

        shared = Ducks(by_duckdb)
    tables = [_table_of(source, shared) for source in sources]
    return FilesTable(tables, files, _shown(path, files))


def _shown(path: object, files: Sequence[Path]) -> str:
    """Return the name that messages use for several files."""
    many = f"{len(files)} files"
    if isinstance(path, list | tuple) and len(path) == 1:
        path = path[0]
    return f"{path} ({many})" if is_path(path) else many


def _table_of(source: Source, shared: Ducks | None = None) -> Table:
    if source.format in ("csv", "tsv"):
        from trueup.io.formats.csv_files import CsvTable

        return CsvTable(source, shared)
    if source.format == "parquet":
        from trueup.io.formats.parquet_files import ParquetTable

        return ParquetTable(source, shared)
    if source.format == "arrow":
        from trueup.io.formats.arrow_files import ArrowTable

        return ArrowTable(source)
    if source.format == "npz":
        from trueup.io.formats.npz_files import NpzTable

        return NpzTable(source)
    from trueup.io.formats.json_files import JsonLinesTable, json_table

    return JsonLinesTable(source) if source.format == "jsonl" else json_table(source)
