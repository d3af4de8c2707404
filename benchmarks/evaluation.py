"""`evaluate` in seconds and memory, files and the command line."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

import trueup as tu
from benchmarks.timing import Task

ROWS, CLASSES = 100_000, 10
BINARY_ROWS = 1_000_000


def tasks() -> list[Task]:
    """Return tasks that compare the time of an evaluation with that of one call of `ece`."""
    probs, labels = matrix()
    p, y = binary()
    return [
        Task(
            "evaluate, 1e5 x 10",
            lambda: tu.evaluate(probs, labels),
            "one ece",
            lambda: tu.ece(probs, labels),
            rounds=2,
            seconds_at_most=10,
        ),
        Task(
            "evaluate, 1e6 binary",
            lambda: tu.evaluate(p, y),
            "one ece",
            lambda: tu.ece(p, y),
            rounds=2,
            seconds_at_most=15,
        ),
    ]


def report_costs() -> None:
    """Print peak memory of `evaluate`, the start of the command line, and a CSV read."""
    print("\nPeak extra memory of evaluate, in sizes of its input (asked: 3)")
    for name, (probs, labels) in {"1e5 x 10": matrix(), "1e6 binary": binary()}.items():
        tu.evaluate(probs[:1000], labels[:1000])  # so that imports do not count
        tracemalloc.start()
        tu.evaluate(probs, labels)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  {name:<12} {peak / (probs.nbytes + labels.nbytes):5.2f}")
    print("\nStart of the command line (asked: 250 ms)")
    for option in ("--version", "--help"):
        print(f"  trueup {option:<10} {1e3 * _best_start(option):6.0f} ms")
    p, y = binary()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.csv"
        np.savetxt(file, np.column_stack([p, y]), "%.6f,%d", header="p,y", comments="")
        start = time.perf_counter()
        tu.read(file)
        print(f"\nA CSV of a million rows is read in {time.perf_counter() - start:.2f} s")


def matrix() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    logits = 1.5 * rng.normal(size=(ROWS, CLASSES))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (rng.random((ROWS, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, CLASSES - 1)
    odds = np.exp(1.4 * logits)
    return odds / odds.sum(axis=1, keepdims=True), labels


def binary() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.beta(3, 1, BINARY_ROWS)
    return p, (rng.random(BINARY_ROWS) < p**1.2).astype(np.int64)


def _best_start(option: str, times: int = 7) -> float:
    runs = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "trueup", option], capture_output=True, check=True)
        runs.append(time.perf_counter() - start)
    return min(runs)
