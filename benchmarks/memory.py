"""Peak extra memory of every named metric on a matrix, and what importing costs."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np

import trueup as tu
from trueup import metrics

OF_TWO_CLASSES = {"ici", "e50", "e90"}  # these refuse a matrix of more columns
QUADRATIC = {"skce"}  # of all classes at once; its time, not its memory, is the limit


def report_memory(rows: int = 200_000, classes: int = 100) -> None:
    """Print each metric's peak extra memory as a share of the matrix it reads."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(classes), rows)
    labels = rng.integers(0, classes, rows)
    print(f"\nPeak extra memory on {rows:,} x {classes}, as a share of the matrix")
    print(f"{'metric':<26}{'float16':>9}{'float32':>9}{'float64':>9}")
    for name in sorted(set(metrics.__all__) - OF_TWO_CLASSES - QUADRATIC):
        shares = []
        for kind in (np.float16, np.float32, np.float64):
            matrix = probs.astype(kind)
            options = {"normalize": True} if kind is np.float16 else {}
            tracemalloc.start()
            getattr(tu, name)(tu.Forecasts.from_arrays(matrix, labels, **options))
            shares.append(tracemalloc.get_traced_memory()[1] / matrix.nbytes)
            tracemalloc.stop()
        print(f"{name:<26}" + "".join(f"{share:>8.0%} " for share in shares))


def report_import() -> None:
    """Print how much longer `import trueup` takes than `import numpy`."""
    plain = _best("import numpy")
    every_name = "import numpy, trueup; [getattr(trueup, n) for n in trueup.__all__]"
    print("\nImport time above numpy")
    print(f"  import trueup                {1e3 * (_best('import numpy, trueup') - plain):6.1f} ms")
    print(f"  import trueup, every name    {1e3 * (_best(every_name) - plain):6.1f} ms")


def _best(statement: str, times: int = 7) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(times)
    )
    return min(float(run.stdout) for run in runs)
