"""Speed compared with other libraries, or with another checkout of this one.

``python -m benchmarks`` prints all rows with other libraries, ``python -m benchmarks sweep``
those with a word in their names. ``python -m benchmarks --against PATH [--rounds N] [WORD …]``
measures this checkout against the one at PATH: see `benchmarks.against`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import against

THREADS = 2  # the limits in the table are for two


def with_others(word: str) -> None:
    """Print the rows with a word in their names, with other libraries in the same run."""
    from benchmarks import (
        bin_free,
        evaluation,
        inference,
        local,
        recalibration,
        simulation,
        spine,
    )
    from benchmarks.memory import report_import, report_memory
    from benchmarks.timing import report
    from trueup.engines import in_use, set_threads

    set_threads(THREADS)
    print(f"engine {in_use()}, {THREADS} threads, medians of interleaved runs\n")
    groups = (spine, bin_free, simulation, inference, recalibration, local, evaluation)
    tasks = [task for group in groups for task in group.tasks()]
    report([task for task in tasks if word in task.name])
    if word in "skce mmce":
        bin_free.report_growth()
    if word in "local":
        local.report_growth()
    if word in "study":
        simulation.report_study()
    if word in "evaluate":
        evaluation.report_costs()
    if not word:
        report_memory()
        report_import()


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="rows with one of these words")
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout")
    parser.add_argument("--rounds", type=int, default=against.ROUNDS, help="turns of each row")
    given = parser.parse_args()
    if given.against is not None:
        return against.run(given.against, given.words, given.rounds)
    with_others(" ".join(given.words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
