"""The files that a name stands for: one file, a list, a folder or a pattern (day-*.csv)."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trueup.atomic_write import checked_path
from trueup.errors import Argument, Verbatim, must_be
from trueup.forecasts.arrays import FRAMES, describe
from trueup.forecasts.group_names import in_order
from trueup.io.file_errors import listed, refusal
from trueup.io.sources import SUFFIXES, format_named

PATTERN = frozenset("*?[")
IGNORED = (".", "_")  # how names of files begin that are no data: .DS_Store, _SUCCESS


def is_path(value: object) -> bool:
    """Return whether a value is the name of a file."""
    return isinstance(value, str | os.PathLike)


def files_of(path: Any, format: str | None = None) -> list[Path] | None:
    """Return the files of a list, folder or pattern, each once; None if ``path`` is one file.

    Files of a folder or pattern are in the order of their names, 2 before 10; those of a list are
    in its order.
    """
    if is_path(path):
        return _of_one(path, format)
    if isinstance(path, Sequence) and not isinstance(path, bytes | bytearray):
        return _of_list(path, format)
    if hasattr(path, "read"):
        return None
    homes = {base.__module__.partition(".")[0] for base in type(path).__mro__}
    hint = "give the name of a file, a folder, or a list of files"
    if homes & FRAMES or hasattr(path, "__array__") or isinstance(path, dict):
        hint = "data in memory need no `read`; pass columns, such as evaluate(df['p'], df['y'])"
    raise must_be("path", "the name of a file or a binary stream", describe(path), hint=hint)


def short_names(files: Sequence[Path]) -> list[str]:
    """Return a distinct name for each file: without suffixes, and with folders if necessary.

    >>> short_names([Path("llm/a.csv"), Path("llm/b.csv")])
    ['a', 'b']
    >>> short_names([Path("x/a.csv"), Path("y/a.csv")])
    ['x/a', 'y/a']
    """
    parts = [Path(os.path.abspath(file)).parts for file in files]
    for with_suffix in (False, True):
        ends = [_end(each[-1], with_suffix) for each in parts]
        if len(set(ends)) == len(ends):
            return ends
        shared = len(Path(os.path.commonpath([os.path.join(*each[:-1]) for each in parts])).parts)
        paths = ["/".join([*each[shared:-1], end]) for each, end in zip(parts, ends, strict=True)]
        if len(set(paths)) == len(paths):
            return paths
    return [str(file) for file in files]


def _end(name: str, with_suffix: bool) -> str:
    if with_suffix:
        return name
    stem = name[:-3] if name.lower().endswith(".gz") else name
    root, dot, suffix = stem.rpartition(".")
    return root if dot and root and f".{suffix.lower()}" in SUFFIXES else stem


def _of_one(path: Any, format: str | None) -> list[Path] | None:
    place = checked_path(path)
    if path == "-" or place.is_file():
        return None
    if place.is_dir():
        return _of_folder(place, format)
    if PATTERN & set(str(place)) and not os.path.lexists(place):
        found = [Path(each) for each in glob.glob(str(place), recursive=True)]
        files = _sorted([each for each in found if each.is_file()])
        if not files:
            raise FileNotFoundError(f"There is no file like {place}.")
        return files
    return None


def _of_list(paths: Sequence[Any], format: str | None) -> list[Path] | None:
    if not paths:
        raise must_be("path", "contain at least one file", Verbatim("none"))
    odd = next((each for each in paths if not is_path(each)), None)
    if odd is not None:
        raise must_be("path", "the name of a file, or a list of names", odd)
    if len(paths) == 1:
        return _of_one(paths[0], format) or [Path(paths[0])]
    files: list[Path] = []
    for each in paths:
        if str(each) == "-":
            raise must_be("path", "files alone, without standard input", Verbatim("-"))
        files += _of_one(each, format) or [Path(each)]
    seen: set[str] = set()
    for file in files:
        real = os.path.realpath(file)
        if real in seen:
            raise refusal(str(file), "is given twice")
        seen.add(real)
    return files


def _of_folder(folder: Path, format: str | None) -> list[Path]:
    """Return all files of one known format in a folder and its subfolders."""
    by_format: dict[str, list[Path]] = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(IGNORED)]
        for name in names:
            suffixes = [suffix.lower() for suffix in Path(name).suffixes]
            if suffixes[-1:] == [".gz"]:
                suffixes.pop()
            known = SUFFIXES.get(suffixes[-1]) if suffixes else None
            if known is not None and not name.startswith(IGNORED):
                by_format.setdefault(known, []).append(Path(parent, name))
    asked = format_named(format)
    if asked is not None:
        by_format = {known: files for known, files in by_format.items() if known == asked}
    if not by_format:
        kind = "" if asked is None else f"{asked} "
        raise IsADirectoryError(f"{folder} is a directory without {kind}files of predictions.")
    if len(by_format) > 1:
        counts = listed([f"{known} ({len(files)})" for known, files in sorted(by_format.items())])
        most = max(by_format, key=lambda known: len(by_format[known]))
        hint = ("choose one with ", Argument("format", most), ", or name the files")
        raise refusal(str(folder), f"holds files of several formats: {counts}", hint=hint)
    return _sorted(next(iter(by_format.values())))


def _sorted(files: list[Path]) -> list[Path]:
    place = {str(file): file for file in files}
    return [place[name] for name in in_order(list(place))]
