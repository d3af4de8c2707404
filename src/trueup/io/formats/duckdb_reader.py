"""A sandboxed DuckDB: it reads the given files, writes nothing and uses no network."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueup.io.number_columns import unmasked

if TYPE_CHECKING:
    import duckdb

# DuckDB takes these in a file name for a pattern, and its escapes differ between versions.
PATTERN = frozenset("*?[]{}\\")


class Ducks:
    """One connection restricted to the given files; one connection per file would be slower."""

    def __init__(self, files: Sequence[Path]) -> None:
        import duckdb

        self.paths = {file: _plain_name(self, file) for file in files}
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "python_enable_replacements": "false",
            },
        )
        allowed = ", ".join(map(text, self.paths.values()))
        self.connection.execute(f"SET allowed_paths = [{allowed}]")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET enable_progress_bar = false")
        self.connection.execute("SET lock_configuration = true")


class Duck:
    """A connection that reads one file.

    ``path`` is the text to pass as a query parameter in place of the file's name.
    """

    def __init__(self, file: Path, shared: Ducks | None = None) -> None:
        self._shared = Ducks([file]) if shared is None else shared  # links live as long as this
        self.path = self._shared.paths[file]
        self.connection = self._shared.connection

    def arrays(self, query: str) -> list[NDArray[Any]]:
        """Return the columns of the result of a query, in which ``?`` stands for the file.

        The query must name its columns c0, c1, …, so that names in the file cannot clash.
        """
        with interruptible():
            answer = self.connection.execute(query, [self.path]).fetchnumpy()
        return [unmasked(np.ma.asanyarray(answer[f"c{k}"])) for k in range(len(answer))]

    def described(self, query: str) -> list[tuple[str, str]]:
        """Return the names and types of the columns of a query, without its rows."""
        with interruptible():
            rows = self.connection.execute(f"DESCRIBE {query}", [self.path]).fetchall()
        return [(str(row[0]), str(row[1])) for row in rows]


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt, as Python does, instead of DuckDB's error for an interrupt."""
    try:
        yield
    except RuntimeError as problem:
        if "interrupted" not in str(problem).lower():
            raise
        raise KeyboardInterrupt from problem


def text(value: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """Return the name of a column as a quoted SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def _plain_name(owner: object, file: Path) -> str:
    """Return the file's path, or a link to the file if DuckDB would read the path as a pattern."""
    path = os.path.abspath(file)
    if not PATTERN & set(path.replace(os.sep, "/")):
        return path
    directory = tempfile.mkdtemp(prefix="trueup-")
    weakref.finalize(owner, shutil.rmtree, directory, ignore_errors=True)
    link = os.path.join(directory, "table")
    try:
        os.symlink(path, link)
    except OSError:  # not every user of every system may make links
        shutil.copyfile(path, link)
    return link
