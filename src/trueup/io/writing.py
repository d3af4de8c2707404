"""`write_table`: write columns to a file, completely or not at all."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.atomic_write import checked_path, write_atomically
from trueup.errors import Argument, Verbatim, must_be, printable
from trueup.io.file_errors import told_by
from trueup.io.formats.arrow_files import pyarrow_for
from trueup.io.formats.duckdb_reader import interruptible, name as quoted, text
from trueup.io.sources import SUFFIXES, format_named

ROWS_AT_ONCE = 65_536
FULL = (errno.ENOSPC, errno.EFBIG)  # DuckDB tells the system's words, not its number
ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)

ResultTable = dict[str, NDArray[Any]]


def write_table(path: object, columns: Mapping[str, Any], format: str | None = None) -> None:
    """Write columns of equal length to a file, in one step.

    The file is written completely or not at all.

    Parameters
    ----------
    path : str or path-like
        The file: .csv, .tsv, .jsonl (.gz too), .json, .parquet, .feather, .arrow or .npz; or
        ``"-"`` for CSV on standard output.
    columns : mapping of str to array_like
        Columns by name. A matrix (n, K) called p becomes p_0 … p_{K−1}, but stays one matrix in
        .npz.
    format : str, optional
        Format of the file (default: inferred from the suffix).

    Raises
    ------
    InputError, OSError
        If columns differ in length, or the file cannot be written.
    CapabilityError
        If an Arrow file needs pyarrow, which is not installed.

    Examples
    --------
    >>> write_table("-", {"p": np.array([0.9, 0.2]), "y": np.array([1, 0])})
    p,y
    0.9,1
    0.2,0
    """
    asked = format_named(format)
    if path == "-":
        content = _content(asked or "csv", _checked(columns, asked or "csv"), "standard output")
        _to_standard_output(content, asked or "csv")
        return
    place = checked_path(path)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    gzipped = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2] if gzipped and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    known = asked or SUFFIXES.get(suffix)
    if known is None:
        rule = f"a file name such as {', '.join(f'*{known}' for known in SUFFIXES)}"
        raise must_be("path", rule, str(place), hint=("name the format with ", Argument("format")))
    content = _content(known, _checked(columns, known), str(place))
    write_atomically(place, gzip.compress(content, mtime=0) if gzipped else content)


def _checked(columns: Mapping[str, Any], format: str) -> ResultTable:
    """Return columns as arrays of equal length; split matrices unless the format is NPZ."""
    flat: ResultTable = {}
    for name, given in columns.items():
        array = np.asarray(given)
        if array.ndim not in (1, 2) or array.dtype.names is not None:
            raise must_be(f"columns[{name!r}]", "a column or a matrix", array)
        if format == "npz" and array.dtype == object:
            array = _without_objects(name, array)
        if array.ndim == 1 or format == "npz":
            parts = {str(name): array}
        else:
            parts = {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
        for part, values in parts.items():
            if part in flat:
                raise must_be("columns", "have different names", part)
            flat[part] = values
    if not flat:
        raise must_be("columns", "at least one", dict(columns))
    lengths = {name: len(array) for name, array in flat.items()}
    if len(set(lengths.values())) > 1:
        raise must_be("columns", "have one length", lengths)
    return flat


def _without_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an object array of texts as a text array, because objects would be pickled."""
    if not all(isinstance(item, str) for item in array.flat):
        rule = "numbers or texts without missing values in an .npz file"
        raise must_be(f"columns[{name!r}]", rule, array)
    return array.astype(str)


def _content(format: str, columns: ResultTable, shown: str) -> bytes:
    writers: dict[str, Callable[[], bytes]] = {
        "csv": lambda: _csv(columns, ","),
        "tsv": lambda: _csv(columns, "\t"),
        "jsonl": lambda: _json_lines(columns),
        "json": lambda: _json(columns),
        "npz": lambda: _npz(columns),
        "parquet": lambda: _parquet(columns, shown),
        "arrow": lambda: _arrow(columns, shown),
    }
    return writers[format]()


def _csv(columns: ResultTable, delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for rows in _rows(columns):
        writer.writerows(rows)
    return file.getvalue().encode()


def _json_lines(columns: ResultTable) -> bytes:
    names = list(columns)
    lines = (_dumped(dict(zip(names, row, strict=True))) for rows in _rows(columns) for row in rows)
    return "".join(lines).encode()


def _json(columns: ResultTable) -> bytes:
    return _dumped({name: _values(array) for name, array in columns.items()}).encode()


def _dumped(document: dict[str, Any]) -> str:
    try:
        return ENCODER.encode(document) + "\n"
    except (TypeError, ValueError) as problem:
        rule = "finite numbers, texts or missing values, to be written as JSON"
        raise must_be("columns", rule, Verbatim(str(problem))) from None


def _npz(columns: ResultTable) -> bytes:
    import zipfile

    file = io.BytesIO()
    # Not np.savez, which cannot save an array called "file".
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    return file.getvalue()


def _parquet(columns: ResultTable, shown: str) -> bytes:
    import duckdb

    given = {f"c{k}": _for_duck(array) for k, array in enumerate(columns.values())}
    chosen = ", ".join(f"c{k} AS {quoted(name)}" for k, name in enumerate(columns))
    with tempfile.TemporaryDirectory(prefix="trueup-") as directory:
        file = Path(directory, "table.parquet")
        try:
            with duckdb.connect(":memory:") as connection, interruptible():
                connection.register("given", given)
                connection.execute(
                    f"COPY (SELECT {chosen} FROM given) TO {text(str(file))} (FORMAT parquet)"
                )
        except duckdb.Error as problem:
            full = next((code for code in FULL if os.strerror(code) in str(problem)), None)
            if full is not None:
                raise OSError(full, f"{os.strerror(full)} (in {directory})", shown) from problem
            told = told_by(problem).replace(str(file), f"a temporary file in {directory}")
            raise OSError(f"{shown} cannot be written as Parquet ({told}).") from problem
        return file.read_bytes()


def _for_duck(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return np.ascontiguousarray(array)


def _arrow(columns: ResultTable, shown: str) -> bytes:
    pyarrow = pyarrow_for(shown)
    table = pyarrow.table({name: pyarrow.array(array) for name, array in columns.items()})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _rows(columns: ResultTable) -> Iterator[list[tuple[Any, ...]]]:
    """Yield blocks of rows of plain Python values, with None for missing ones."""
    n = len(next(iter(columns.values())))
    for start in range(0, n, ROWS_AT_ONCE):
        parts = [_values(array[start : start + ROWS_AT_ONCE]) for array in columns.values()]
        yield list(zip(*parts, strict=True))


def _values(array: NDArray[Any]) -> list[Any]:
    if array.dtype.kind == "f" and array.dtype != np.float64:
        # In its own precision: 0.1 as float32 is 0.1, not 0.10000000149011612.
        array = array.astype(str).astype(np.float64)
    if array.dtype.kind in "iub" or (array.dtype.kind == "f" and not np.isnan(array).any()):
        return list(array.tolist())
    return [None if item != item else item for item in array.tolist()]


def _to_standard_output(content: bytes, format: str) -> None:
    if sys.stdout is None:
        raise OSError("Standard output is closed.")
    binary = getattr(sys.stdout, "buffer", None)
    if binary is not None:
        sys.stdout.flush()
        if sys.stdout.isatty():  # people look at it: texts of the file must not steer the terminal
            content = printable(content.decode(errors="replace"), keep="\n\t").encode()
        binary.write(content)
        binary.flush()
    elif format in ("csv", "tsv", "json", "jsonl"):
        sys.stdout.write(content.decode())
    else:
        raise must_be("format", "one of csv, tsv, json, jsonl on standard output", format)
