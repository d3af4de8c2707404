"""Errors without bins and decompositions, with validation, compared with a peer in one run."""

from __future__ import annotations

import time

import numpy as np

import trueup as tu
from benchmarks.timing import Task
from trueup.engines.select import engine

N_SCORES = 10**6
N_PAIRS = 4_000
SECONDS_FOR_A_MILLION = 0.5
MOST_GROWTH = 12


def tasks() -> list[Task]:
    """All rows of the table."""
    rng = np.random.default_rng(0)
    return [*_kernels(rng), *_smooth(rng), *_sorted(rng)]


def _kernels(rng: np.random.Generator) -> list[Task]:
    import probcal.metrics as probcal

    p, y = _scores(rng, N_PAIRS)
    return [
        Task(
            "skce, 4,000 scores",
            lambda: tu.skce(p, y),
            "probcal",
            lambda: probcal.skce(y, p),
            1 / 500,
            rounds=5,
            times=20,
        ),
        Task(
            "mmce, 4,000 scores",
            lambda: tu.mmce(p, y),
            "n x n in NumPy",
            lambda: _naive_mmce(p, y),
            1 / 100,
            rounds=5,
            times=20,
        ),
    ]


def _smooth(rng: np.random.Generator) -> list[Task]:
    import probcal.metrics as probcal

    p, y = _scores(rng, N_SCORES)
    piled = np.where(rng.random(N_SCORES) < 0.5, 1.0, p)
    right = (rng.random(N_SCORES) < 0.9 * piled).astype(np.int64)
    return [
        Task(
            f"smooth_ece, 10^6 scores{kind}",
            lambda p=scores, y=labels: tu.smooth_ece(p, y),
            "probcal",
            lambda p=scores, y=labels: probcal.smooth_ece(y, p),
            1 / 3,
            rounds=9,
        )
        for kind, scores, labels in (("", p, y), (", half of them 1.0", piled, right))
    ]


def _sorted(rng: np.random.Generator) -> list[Task]:
    p, y = _scores(rng, N_SCORES)

    def sort() -> object:
        return engine.order.tied_scores(p, y)

    return [
        Task(f"{name}, 10^6 scores", lambda call=call: call(p, y), "its sort", sort, limit)
        for name, call, limit in (
            ("Brier().decompose", tu.Brier().decompose, 2),
            ("LogLoss().decompose", tu.LogLoss().decompose, 2),
            ("ks_error", tu.ks_error, 4),
        )
    ]


def report_growth() -> None:
    """Print seconds of a million scores, and how they grow from a tenth of it."""
    rng = np.random.default_rng(1)
    print("\nOne-dimensional kernel errors, exact, from 10^5 to 10^6 scores:")
    for name, call in (("skce", tu.skce), ("mmce", tu.mmce)):
        small, large = (_seconds(call, *_scores(rng, n)) for n in (N_SCORES // 10, N_SCORES))
        missed = large > SECONDS_FOR_A_MILLION or large / small > MOST_GROWTH
        print(
            f"  {name}: {large:.3f} s, at most {SECONDS_FOR_A_MILLION} s; {large / small:.1f}x, "
            f"at most {MOST_GROWTH}x {'!' if missed else ''}"
        )


def _seconds(call: object, p: np.ndarray, y: np.ndarray) -> float:
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        call(p, y)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def _scores(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(np.int64)


def _naive_mmce(p: np.ndarray, y: np.ndarray) -> float:
    residual = p - y
    kernel = np.exp(-np.abs(p[:, None] - p) / 0.4)
    return float(np.sqrt(residual @ kernel @ residual)) / len(p)
