"""Files that are complete or absent: written under a temporary name, then moved into place."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from trueup.errors import must_be


def checked_path(path: object) -> Path:
    """Return what names a file, or refuse it."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise must_be("path", "the name of a file", path)
    name = os.fspath(path)
    if not isinstance(name, str) or "\0" in name:
        raise must_be("path", "the name of a file", name)
    return Path(name)


def write_atomically(path: object, data: bytes) -> None:
    """Write a file in one step: readers find the old content or the new, never a part.

    A link is followed; an existing file keeps its permissions. When writing fails, what was there
    before is untouched and nothing else is left.
    """
    place = Path(os.path.realpath(checked_path(path)))
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a directory: give the name of a file in it.")
    if place.exists() and not place.is_file():
        raise must_be("path", "the name of a file, not of a device or pipe", str(place))
    if not place.parent.is_dir():
        raise FileNotFoundError(f"There is no directory {place.parent} to write {place.name} in.")
    beside = place.with_name(f".trueup-{secrets.token_hex(8)}")
    # Opened by hand, so that the permissions are those of any new file, not of a temporary one.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(beside, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if place.exists():
                os.chmod(beside, place.stat().st_mode & 0o7777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    _settle(place.parent)


def _settle(directory: Path) -> None:
    """Have the new name survive a power cut, on systems that can be asked to."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
