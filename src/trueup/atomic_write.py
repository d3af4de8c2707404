"""Atomic writing of files: they are written under a temporary name, then moved into place."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from trueup.errors import must_be, printable


def checked_path(path: object) -> Path:
    """Return the path of a file; raise InputError for anything else."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise must_be("path", "the name of a file", path)
    name = os.fspath(path)
    if not isinstance(name, str) or "\0" in name:
        raise must_be("path", "the name of a file", name)
    return Path(name)


def write_atomically(path: object, data: bytes) -> None:
    """Write a file in one step: readers find the old content or the new, never a part.

    Links are followed, and an existing file keeps its permissions. If writing fails, the old file
    is unchanged and no temporary file is left.
    """
    place = Path(os.path.realpath(writable_place(path)))
    try:
        _write_and_move(place, data)
    except OSError as problem:
        if problem.strerror is None:
            raise
        # What the system says names the temporary file, or none: a full disk has no name.
        raise OSError(problem.errno, problem.strerror, str(path)) from problem
    _settle(place.parent)


def writable_place(path: object) -> Path:
    """Return the path of a writable file, or raise an error that explains why it is not."""
    given = checked_path(path)
    place = Path(os.path.realpath(given))
    if place.is_dir():
        raise is_directory(given)
    if place.exists() and not place.is_file():
        raise must_be("path", "the name of a file, not of a device or pipe", str(given))
    if not place.parent.is_dir():
        told = f"There is no directory {given.parent} to write {given.name} in."
        raise FileNotFoundError(printable(told))
    if not os.access(place.parent, os.W_OK | os.X_OK):
        told = f"{given} cannot be written: its directory is read-only."
        raise PermissionError(printable(told))
    return given


def is_directory(path: Path) -> IsADirectoryError:
    """Build the error to raise where a file is expected and a directory is given."""
    return IsADirectoryError(printable(f"{path} is a directory: give the name of a file in it."))


def _write_and_move(place: Path, data: bytes) -> None:
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


def _settle(directory: Path) -> None:
    """Flush the directory, so that the new name survives a power failure, if supported."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
