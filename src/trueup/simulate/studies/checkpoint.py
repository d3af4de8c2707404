"""A file of finished batches, from which an interrupted study continues.

The format is JSON lines: a header with the settings, then one record per batch, each with a
checksum of the header and itself. Each record is on the disk before the next batch starts. An
incomplete last line is ignored. Any other damage, or other settings, raises an error.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trueup.checks import check_schema
from trueup.errors import Verbatim, must_be
from trueup.simulate.studies.batch_scoring import Numbers

SCHEMA = 2
ANOTHER = "give another path, or delete it to start again"


class BatchKey(NamedTuple):
    """Key of a batch in a study: the world's name, the rows of a dataset, the batch's number."""

    world: str
    n: int
    batch: int


class Checkpoint:
    """Finished batches of one study, read at the start and appended when they finish."""

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.finished: dict[BatchKey, Numbers] = {}
        self._lock = threading.Lock()
        self._settings = dict(settings)
        self._header = _line({"schema": SCHEMA, "settings": self._settings}, sort_keys=True)
        self._open(self._read())

    def add(self, key: BatchKey, numbers: Numbers) -> None:
        """Write a finished batch, and wait until it is on the disk."""
        record: dict[str, Any] = {**key._asdict(), "numbers": _packed(numbers)}
        record["checksum"] = self._checksum(record)
        with self._lock:
            self._write(_line(record))
            self.finished[key] = numbers

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _read(self) -> int:
        """Read all complete lines and return where they end; raise an error for another study."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise must_be("path", "a file that can be read", self._got(f": {reason}")) from None
        if len(content) < len(self._header) and self._header.startswith(content):
            return 0  # stopped while the header was being written
        end = content.rfind(b"\n") + 1
        header, *records = content[:end].split(b"\n")[:-1] or [content]
        self._check_header(header + b"\n")
        for number, line in enumerate(records, start=2):
            key, numbers = self._parsed(line, number)
            self.finished[key] = numbers
        return end

    def _open(self, end: int) -> None:
        """Open the file to continue at ``end``; write the header first if the file is empty."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(self.path, flags, 0o644)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise must_be("path", "a file that can be written", self._got(f": {reason}")) from None
        os.ftruncate(self._file, end)
        if end == 0:
            self._write(self._header)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as problem:  # a full disk has no name
            raise OSError(problem.errno, problem.strerror, str(self.path)) from problem

    def _check_header(self, line: bytes) -> None:
        if line == self._header:
            return
        found = _loaded(line)
        settings, schema = found.get("settings"), found.get("schema")
        something_else = self._got(", which is another file")
        if not isinstance(settings, dict) or type(schema) is not int:
            raise must_be("path", "the checkpoint of a study", something_else)
        check_schema("path", schema, SCHEMA, ANOTHER)
        if set(settings) != set(self._settings):
            raise must_be("path", "the checkpoint of a study", something_else)
        different = [name for name, value in self._settings.items() if settings[name] != value]
        names = " and ".join(f"`{name}`" for name in different)
        got = self._got(f", written with different {names or 'settings'}")
        raise must_be("path", "a checkpoint of this study", got, hint=ANOTHER)

    def _parsed(self, line: bytes, number: int) -> tuple[BatchKey, Numbers]:
        record = _loaded(line)
        checksum = record.pop("checksum", None)
        if checksum != self._checksum(record):
            got = self._got(f", damaged in line {number}")
            raise must_be("path", "an undamaged checkpoint", got, hint="delete it to start again")
        key = BatchKey(record["world"], record["n"], record["batch"])
        return key, _unpacked(record["numbers"])

    def _checksum(self, record: Mapping[str, Any]) -> str:
        return hashlib.sha256(self._header + _line(record)).hexdigest()

    def _got(self, what: str) -> Verbatim:
        return Verbatim(f"{str(self.path)!r}{what}")


def _line(value: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":")).encode() + b"\n"


def _loaded(line: bytes) -> dict[str, Any]:
    """Return the object in a line, or an empty one if there is none."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _packed(numbers: Numbers) -> dict[str, str]:
    """Encode arrays as text without loss."""
    return {
        name: base64.b64encode(column.astype("<f8").tobytes()).decode()
        for name, column in numbers.items()
    }


def _unpacked(packed: Mapping[str, str]) -> Numbers:
    return {
        name: np.frombuffer(base64.b64decode(text), "<f8").astype(np.float64)
        for name, text in packed.items()
    }
