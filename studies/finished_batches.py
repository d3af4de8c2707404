"""Finished batches of a long study, kept in a file so that a stopped run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any


class FinishedBatches:
    """Finished batches in a file of JSON lines; the first says which code made it.

    What was found with other code is not used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[tuple[Any, ...], Any] = {}
        self._header = json.dumps({"made_by": _fingerprint()})
        lines = path.read_text().splitlines() if path.exists() else []
        if not lines or lines[0] != self._header:
            path.parent.mkdir(exist_ok=True)
            path.write_text(self._header + "\n")
            return
        for line in lines[1:]:
            try:
                record = json.loads(line)
            except ValueError:  # being written when the run was stopped
                continue
            self.found[tuple(record["key"])] = record["sums"]

    def add(self, key: tuple[Any, ...], sums: Any) -> None:
        """Write a batch before it counts; a line that was cut off before is ended first."""
        with self.path.open("a") as file:
            file.write("\n" + json.dumps({"key": key, "sums": sums}) + "\n")
        self.found[key] = sums


def _fingerprint() -> str:
    """Return a digest of all code of the package and of studies that has been loaded."""
    digest = hashlib.sha256()
    loaded = {
        getattr(module, "__file__", None)
        for name, module in sys.modules.items()
        if name == "__main__" or name.startswith(("trueup", "studies"))
    }
    for path in sorted(path for path in loaded if path):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()
