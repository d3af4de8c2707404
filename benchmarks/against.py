"""Two checkouts side by side: ``python -m benchmarks --against PATH`` measures PATH and this one.

PATH is another checkout with compiled kernels of its own. Each checkout runs in a process of its
own, with its own ``benchmarks/rows.py`` or, where it has none, with that of this checkout. Rows
are compared by name; a row that only one of the two has is listed and left out.

The two take turns, row by row and round by round, and every other round in the other order, so
that other work on the machine affects both. A turn is CPU time, user and system, of all threads
and of processes that a row starts. The ratio of a row is the *median* over rounds of new over
old time: the turns of a round follow each other, so slow changes of the machine cancel. The last
column is the ratio of the smallest times. It is no better: on a busy machine a checkout measured
against itself had ratios of smallest times up to 1.21, and medians up to 1.11.

A row with a ratio above `MOST_OF_A_ROW` is measured a second time, and counts if it is above that
again. The exit code is 1 if such a row remains, if a row fails in one of the two, or if the
geometric mean is above `MOST_ON_AVERAGE`. ``--rounds N`` and words in the names of rows make a
short trial.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parents[1]
ROUNDS = 7
ONE_BLAS_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "MKL", "OMP")}
"""Threads of BLAS that wait for work use CPU time, more than the work itself takes."""
TURN = 0.1
"""Seconds that a turn lasts at least: quick rows are called several times."""
MOST_OF_A_ROW = 1.10
MOST_ON_AVERAGE = 1.02


class Measured(NamedTuple):
    """Seconds of every round of a row, in the old and in the new checkout."""

    old: list[float]
    new: list[float]

    @property
    def ratio(self) -> float:
        """The median over rounds of new time over old time."""
        return median(new / old for old, new in zip(self.old, self.new, strict=True))

    @property
    def ratio_of_smallest(self) -> float:
        """The smallest new time over the smallest old one."""
        return min(self.new) / min(self.old)


class RowFailed(Exception):  # noqa: N818 - a row that fails does not end the run
    """A row raises an error in one of the checkouts."""


class Checkout:
    """A checkout in a process of its own."""

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        own = root / "benchmarks" / "rows.py"
        self.rows_file = own if own.is_file() else HERE / "benchmarks" / "rows.py"
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "benchmarks" / "worker.py"), str(self.rows_file)],
            env={**os.environ, **ONE_BLAS_THREAD, "PYTHONPATH": str(root / "src")},
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        about = self._read()
        if not Path(about["file"]).is_relative_to(root.resolve()):
            raise SystemExit(f"{root} would measure {about['file']}, which is not in it")
        self.rows: list[str] = about["rows"]
        self.engine: str = about["engine"]

    def seconds(self, row: str, times: int = 1) -> float:
        """Return the CPU time of one call of a row, which is called so often."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"row": row, "times": times}) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise RowFailed(f"{self.name}: {answer['error']}")
        return float(answer["seconds"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a process of {self.rows_file} ended; its error is above")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(old: Checkout, new: Checkout, row: str, rounds: int) -> Measured | str:
    """Return the times of a row, or why it has none."""
    found = Measured([], [])
    try:
        for checkout in (old, new):
            checkout.seconds(row)  # the first call prepares
        times = max(1, round(TURN / max(old.seconds(row), new.seconds(row), 1e-6)))
        for number in range(rounds):
            turns = [(found.old, old), (found.new, new)]
            for seconds, checkout in turns if number % 2 == 0 else turns[::-1]:
                seconds.append(checkout.seconds(row, times))
    except RowFailed as problem:
        return str(problem)
    return found


def line_of(row: str, found: Measured | str) -> str:
    """Return a line of the table."""
    if isinstance(found, str):
        return f"{row:<44} failed, {found}"
    mark = " !" if found.ratio > MOST_OF_A_ROW else ""
    return (
        f"{row:<44}{1e3 * median(found.old):>9.4g} ms{1e3 * median(found.new):>9.4g} ms"
        f"{found.ratio:>9.3f}{found.ratio_of_smallest:>13.3f}{mark}"
    )


def summary(
    found: dict[str, Measured | str], again: dict[str, Measured | str]
) -> tuple[list[str], bool]:
    """Return the lines below the table, and whether all limits are kept."""
    ratios = {row: each.ratio for row, each in found.items() if isinstance(each, Measured)}
    failed = [row for row, each in {**found, **again}.items() if isinstance(each, str)]
    slower = [
        f"{row} ({ratios[row]:.3f}, {each.ratio:.3f})"
        for row, each in again.items()
        if isinstance(each, Measured) and each.ratio > MOST_OF_A_ROW
    ]
    average = geometric_mean(ratios.values()) if ratios else math.inf
    lines = [
        f"geometric mean of {len(ratios)} rows: {average:.3f}, at most {MOST_ON_AVERAGE}",
        f"above {MOST_OF_A_ROW} in both runs: {', '.join(slower) or 'none'}",
    ]
    if failed:
        lines.append(f"failed: {', '.join(failed)}")
    return lines, average <= MOST_ON_AVERAGE and not slower and not failed


def run(path: Path, words: Sequence[str] = (), rounds: int = ROUNDS) -> int:
    """Measure this checkout against the one at ``path``; return the exit code."""
    if not (path / "src" / "trueup").is_dir():
        raise SystemExit(f"{path} is not a checkout: it has no src/trueup")
    old, new = Checkout("old", path.resolve()), Checkout("new", HERE)
    print(f"old {path.resolve()} ({old.engine}), new {HERE} ({new.engine}), {rounds} rounds")
    if old.engine != new.engine:
        raise SystemExit("the two checkouts run different engines: compile the kernels of both")
    for one, other in ((old, new), (new, old)):
        alone = [row for row in one.rows if row not in other.rows]
        if alone:
            print(f"only in the {one.name} checkout, and left out: {', '.join(alone)}")
    chosen = [row for row in new.rows if row in old.rows]
    chosen = [row for row in chosen if not words or any(word in row for word in words)]
    if not chosen:
        raise SystemExit(f"no row of both checkouts has a name with one of: {', '.join(words)}")
    print(f"\n{'row':<44}{'old':>12}{'new':>12}{'new/old':>9}{'of smallest':>13}")
    found: dict[str, Measured | str] = {}
    for row in chosen:
        found[row] = measure(old, new, row, rounds)
        print(line_of(row, found[row]), flush=True)
    again: dict[str, Measured | str] = {}
    for row, each in found.items():
        if isinstance(each, Measured) and each.ratio > MOST_OF_A_ROW:
            again[row] = measure(old, new, row, rounds)
            print(f"once more: {line_of(row, again[row])}", flush=True)
    old.close()
    new.close()
    lines, kept = summary(found, again)
    print("\n" + "\n".join(lines))
    return 0 if kept else 1
