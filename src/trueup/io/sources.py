"""The source of a table (a file, standard input or a stream) and its format."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueup.atomic_write import checked_path, is_directory
from trueup.errors import Argument, must_be, printable
from trueup.io.file_errors import listed, refusal

FORMATS = ("csv", "tsv", "parquet", "arrow", "npz", "json", "jsonl")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
ALIASES = {"feather": "arrow", "ipc": "arrow", "ndjson": "jsonl", "pq": "parquet"}
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
}
PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
GZIP = b"\x1f\x8b"
SNIFFED = 64
COPIED_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Source:
    """An uncompressed file to read: its path, its name in messages and its format."""

    path: Path
    shown: str
    format: str


def format_named(format: str | None) -> str | None:
    """Return the standard name of a format, or None; raise InputError if it is unknown."""
    if format is None:
        return None
    name = ALIASES.get(str(format).lower().lstrip("."), str(format).lower().lstrip("."))
    if name not in FORMATS:
        raise must_be("format", f"one of {', '.join(FORMATS)}", format)
    return name


def source_of(path: Any, format: str | None = None) -> Source:
    """Find the file that ``path`` names, or copy a stream to a temporary file."""
    asked = format_named(format)
    if path == "-":
        if sys.stdin is None:
            raise refusal("standard input", "is closed")
        return _spooled(sys.stdin.buffer, "standard input", asked)
    if hasattr(path, "read"):
        return _spooled(path, str(getattr(path, "name", "the stream")), asked)
    place = checked_path(path)
    shown = str(place)
    if place.is_dir():
        raise is_directory(place)
    if not place.exists():
        raise FileNotFoundError(printable(f"There is no file {shown}."))
    if not place.is_file():
        _refuse_device(place, shown)
        with open(place, "rb") as pipe:
            return _spooled(pipe, shown, asked)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    opening = _opening(place, shown)
    if opening.startswith(GZIP):
        with gzip.open(place, "rb") as stream:
            return _spooled(stream, shown, asked or SUFFIXES.get(suffix), packed=True)
    known = asked or SUFFIXES.get(suffix) or _refuse_suffix(shown, suffix, opening)
    _refuse_mismatch(shown, known, opening)
    return Source(place.resolve(), shown, known)


def _refuse_device(place: Path, shown: str) -> None:
    """Raise an error for a device such as /dev/zero, which may never end."""
    found = place.stat()
    if not (stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)):
        return
    with suppress(OSError):
        if os.path.samestat(found, os.fstat(0)):  # /dev/stdin
            return
    raise refusal(shown, "is a device, which may never end", hint="give the name of a file")


def _spooled(stream: Any, shown: str, asked: str | None, *, packed: bool = False) -> Source:
    """Copy a stream to a temporary file; ``packed`` tells whether it was decompressed by gzip."""
    directory = tempfile.mkdtemp(prefix="trueup-")
    path = Path(directory, "table")
    try:
        _copy(stream, path, shown)
        opening = _opening(path, shown)
        if opening.startswith(GZIP):
            if packed:  # each level could be as large again, and a file may unpack to itself
                raise refusal(shown, "is compressed twice", hint="decompress it once")
            with gzip.open(path, "rb") as unpacked:
                return _spooled(unpacked, shown, asked, packed=True)
        known = asked or sniffed(opening)
        _refuse_mismatch(shown, known, opening)
        source = Source(path, shown, known)
        weakref.finalize(source, shutil.rmtree, directory, ignore_errors=True)
        directory = ""
        return source
    finally:
        if directory:
            shutil.rmtree(directory, ignore_errors=True)


def _copy(stream: Any, path: Path, shown: str) -> None:
    """Copy a stream to a file; raise an error if it is truncated or damaged."""
    try:
        with open(path, "wb") as file:
            shutil.copyfileobj(stream, file, COPIED_AT_ONCE)
    except TypeError:
        hint = "open it in binary mode, 'rb'"
        raise must_be("path", "a stream of bytes, not of text", shown, hint=hint) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise refusal(shown, "is damaged: it cannot be decompressed") from None
    except OSError as problem:
        # A full disk has no name: say whose copy there is no room for.
        raise OSError(problem.errno, f"{problem.strerror} (in {path.parent})", shown) from problem


def _opening(path: Path, shown: str) -> bytes:
    with open(path, "rb") as file:
        opening = file.read(SNIFFED)
    if not opening:
        raise refusal(shown, "is empty")
    return opening


def sniffed(opening: bytes) -> str:
    """Return the format of a file that begins with these bytes; CSV if it is not recognized."""
    for magic, format in MAGIC.items():
        if opening.startswith(magic):
            return format
    text = opening.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    return "json" if text.startswith(b"[") else "csv"


def _refuse_suffix(shown: str, suffix: str, opening: bytes) -> str:
    if suffix in PICKLES:
        hint = "save the arrays with np.savez, or as CSV or Parquet"
        raise refusal(shown, "is a pickle, which can run code and is never loaded", hint=hint)
    what = f"unsupported extension {suffix!r}" if suffix else "no file extension"
    format_hint = ("pass ", Argument("format", sniffed(opening)), " if that is its format")
    raise refusal(shown, f"{what}; supported: {listed(list(SUFFIXES))}", hint=format_hint)


def _refuse_mismatch(shown: str, known: str, opening: bytes) -> None:
    looks = next((form for magic, form in MAGIC.items() if opening.startswith(magic)), None)
    if looks is not None and looks != known:
        told = f"is being read as {known} but looks like {looks}"
        raise refusal(shown, told, hint=("pass ", Argument("format", looks)))
