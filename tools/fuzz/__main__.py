"""Run the fuzzers in turn for some seconds; report what breaks, and keep the file that did it.

A case has a number, and its randomness depends on the seed and that number alone:
`python -m tools.fuzz --target read --seed 0 --case 17` runs one of them again.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

from tools.fuzz.outcomes import DefectError
from tools.fuzz.targets import TARGETS

MEMORY = 5 * 2**30
KEPT = Path("out/fuzz")


def limit_memory() -> None:
    """Let no more memory be taken than files of a few kilobytes can need."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def run_case(target: str, seed: int, number: int, keep: Path | None = None) -> str | None:
    """Run one case; return what is wrong, and keep its files in ``keep``."""
    rng = random.Random(f"{target} {seed} {number}")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        TARGETS[target](folder, rng)
    except DefectError as defect:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("[dr]a*.*"):
                shutil.copy(path, keep / f"{target}-{seed}-{number}-{path.name}")
        return str(defect)
    finally:
        shutil.rmtree(folder)
    return None


def fuzz(targets: list[str], seed: int, seconds: float, keep: Path | None) -> list[str]:
    """Run cases of all targets in turn until the time is over; return what went wrong."""
    ends, runs, defects = time.monotonic() + seconds, Counter[str](), list[str]()
    for number in count():
        for target in targets:
            found = run_case(target, seed, number, keep)
            runs[target] += 1
            if found is not None:
                line = f"--target {target} --seed {seed} --case {number}: {found}"
                defects.append(line)
                print(line, flush=True)
        if time.monotonic() > ends:
            break
    told = ", ".join(f"{target} {n:,}" for target, n in runs.items())
    print(f"{sum(runs.values()):,} files ({told}), {len(defects)} defects")
    return defects


def main(arguments: list[str]) -> int:
    """Run what the arguments say; return 1 if something broke."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=list(TARGETS), action="append")
    parser.add_argument("--case", type=int, help="run this case alone")
    given = parser.parse_args(arguments)
    targets = given.target or list(TARGETS)
    limit_memory()
    if given.case is None:
        return 1 if fuzz(targets, given.seed, given.seconds, KEPT) else 0
    found = [run_case(target, given.seed, given.case, KEPT) for target in targets]
    print(*[each or "nothing wrong" for each in found], sep="\n")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
