"""One checkout that takes its turns: calls rows when asked to, and returns their CPU time.

Started by `benchmarks.against` with the sources of the checkout on the path and the file of its
rows as the only argument. Reads one JSON request per line, writes one JSON answer per line.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cpu_seconds() -> float:
    """Return user and system time of all threads of this process, and of processes it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def load(path: Path) -> Any:
    """Import the file of rows."""
    spec = importlib.util.spec_from_file_location("rows_of_a_checkout", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(rows: dict[str, Callable[[], object]], request: dict[str, Any]) -> dict[str, float]:
    """Call a row as often as asked for, and return the CPU time of one call."""
    call, times = rows[request["row"]], request["times"]
    gc.collect()
    start = cpu_seconds()
    for _ in range(times):
        call()
    return {"seconds": (cpu_seconds() - start) / times}


def main() -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what rows print must not mix with answers
    import trueup
    from trueup.engines import in_use, set_threads

    module = load(Path(sys.argv[1]))
    set_threads(module.THREADS)
    rows = module.rows()
    about = {"rows": list(rows), "engine": in_use(), "file": trueup.__file__}
    print(json.dumps(about), file=out, flush=True)
    for line in sys.stdin:
        found: dict[str, Any]
        try:
            found = answer(rows, json.loads(line))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
