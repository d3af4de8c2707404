"""Freeze what the library computes: ``python -m studies.frozen OUT`` writes it to a JSON file.

``python -m studies.frozen --compare A B`` lists what differs between two such files, and ends with
exit code 1 if anything does. Keys do not depend on names in the library, except those inside of
dictionaries that the library itself writes. ``--renames FILE`` maps regular expressions for old
parts of keys to new ones; ``studies/frozen/renames.json`` does so for the names of decision 014.

Run it before and after a change on one machine. Results do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy
import sklearn

from studies.frozen import evaluation, inference, measures, recalibration, simulation
from studies.frozen.compare import compare
from studies.frozen.record import Record
from trueup.engines import in_use

SECTIONS: dict[str, Callable[[Record], None]] = {
    "checks": measures.checks,
    "metrics": measures.metrics,
    "estimators": measures.estimators,
    "classes": measures.classes,
    "scores": measures.scores,
    "clinical": measures.clinical,
    "intervals": inference.intervals,
    "tests": inference.tests,
    "comparisons": inference.comparisons,
    "certificates": inference.certificates,
    "parts": inference.parts,
    "together": inference.together,
    "fits": recalibration.fits,
    "grouped": recalibration.grouped,
    "chosen": recalibration.chosen,
    "saved": recalibration.saved,
    "worlds": simulation.worlds,
    "studies": simulation.studies,
    "local": simulation.local_errors,
    "decided": simulation.decided,
    "evaluations": evaluation.evaluations,
    "figures": evaluation.figures,
    "files": evaluation.files,
}


def run(names: Sequence[str]) -> Record:
    """Record the sections of these names."""
    record = Record()
    versions = {each.__name__: each.__version__ for each in (np, scipy, sklearn)}
    record.keep("about", {"python": platform.python_version(), **versions, "engine": in_use()})
    for name in names:
        start, before = time.perf_counter(), len(record.entries)
        SECTIONS[name](record)
        seconds, many = time.perf_counter() - start, len(record.entries) - before
        print(f"{name:<16}{many:>7} entries {seconds:7.1f} s", file=sys.stderr)
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or compare, as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m studies.frozen", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="where to write the results")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="run these sections alone")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    parser.add_argument("--renames", type=Path, help="JSON file {regular expression: new part}")
    given = parser.parse_args(arguments)
    if (given.out is None) == (given.compare is None):
        parser.error("give either OUT or --compare A B")
    if given.compare is None:
        run(given.only or list(SECTIONS)).write(given.out)
        return 0
    before, after = (json.loads(path.read_text("utf-8")) for path in given.compare)
    renames = json.loads(given.renames.read_text("utf-8")) if given.renames else None
    report = compare(before, after, renames)
    print(report or f"all {len(before)} entries are bit-for-bit identical")
    return 1 if report else 0


if __name__ == "__main__":
    sys.exit(main())
