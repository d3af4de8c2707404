"""Tests and intervals: all resamples in one kernel, compared with a loop over NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np

import trueup as tu
from benchmarks.timing import Task
from trueup.inference import calibration_test, estimate_many

ROWS, RESAMPLES, BINS = 100_000, 999, 15
CLASSES, ROWS_OF_CLASSES = 10, 10_000
CLASS_WISE = tu.BinnedError(tu.lens.ClassWise(), tu.EqualMass(BINS), 2, debias=True)
TEN = [tu.ece, tu.mce, tu.rmsce, tu.ece_debiased, tu.rmsce_debiased]
TEN += [tu.ece_sweep, tu.rmsce_sweep, tu.smooth_ece, tu.ks_error, tu.mmce]
OMNIBUS_LIMITS = {1_000: 3.3, 10_000: 2, ROWS: 1.5}  # times as long as the default test
CANONICAL = tu.BinnedError(tu.lens.Canonical(), tu.bins.VarianceTree(200))


def tasks() -> list[Task]:
    """Default test of 10^5 binary rows, and tests of ten classes, with 999 resamples."""
    rng = np.random.default_rng(0)
    p = rng.random(ROWS)
    y = rng.random(ROWS) < p
    w = rng.random(ROWS)
    g = rng.dirichlet(np.ones(CLASSES), ROWS_OF_CLASSES)
    labels = _drawn(g, rng)
    return [
        Task(
            "consistency test, 1e5 binary, 999 resamples",
            lambda: calibration_test(p, y, method="consistency", n_resamples=RESAMPLES, rng=0),
            "NumPy loop",
            lambda: _numpy_test(p, y),
            1 / 20,
            rounds=5,
        ),
        Task(
            "the same with weights",
            lambda: calibration_test(
                p, y, method="consistency", n_resamples=RESAMPLES, weights=w, rng=0
            ),
            "NumPy loop",
            lambda: _numpy_test(p, y, w),
            1 / 2,
            rounds=3,
        ),
        Task(
            "class-wise test, 1e4 x 10, 999 resamples",
            lambda: calibration_test(g, labels, statistic=CLASS_WISE, rng=0),
            "NumPy loop",
            lambda: _numpy_class_test(g, labels),
            1 / 5,
            rounds=3,
        ),
        *(
            Task(
                f"omnibus test, {n:,} binary, 999 draws",
                partial(calibration_test, p[:n], y[:n], method="omnibus", n_resamples=RESAMPLES),
                "consistency test",
                partial(
                    calibration_test, p[:n], y[:n], method="consistency", n_resamples=RESAMPLES
                ),
                limit,
            )
            for n, limit in OMNIBUS_LIMITS.items()
        ),
        *(
            Task(
                f"omnibus test, {n:,} x 10, 999 draws",
                partial(calibration_test, g[:n], labels[:n], method="omnibus"),
                "class-wise test",
                partial(calibration_test, g[:n], labels[:n], statistic=CLASS_WISE),
                3,
                rounds=5,
            )
            for n in (1_000, ROWS_OF_CLASSES)
        ),
        Task(
            "canonical test, 1e4 x 10, 999 resamples",
            lambda: calibration_test(g, labels, statistic=CANONICAL, rng=0),
            "NumPy draws alone",
            lambda: [_drawn(g, rng) for _ in range(RESAMPLES)],
            1 / 2,
            rounds=3,
        ),
        Task(
            "ten metrics, intervals and p-values, 1e5",
            lambda: estimate_many(TEN, p, y, n_resamples=RESAMPLES, rng=0),
            "NumPy draws rows alone",
            lambda: [_rows_drawn(p, y, rng) for _ in range(RESAMPLES)],
            rounds=3,
            seconds_at_most=3,
        ),
    ]


def _rows_drawn(p: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    rows = rng.integers(len(p), size=len(p))
    return p[rows], y[rows]


def _numpy_test(p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> float:
    """What one would write: bins once, then labels drawn and counted, resample by resample."""
    rng = np.random.default_rng(0)
    weight = np.ones(len(p)) if w is None else w
    edges = np.quantile(p, np.arange(1, BINS) / BINS)
    index = np.searchsorted(edges, p)
    total = np.bincount(index, weight, BINS)
    score = np.bincount(index, weight * p, BINS)
    q = np.bincount(index, weight**2, BINS) / total**2

    def power(labels: np.ndarray) -> float:
        if w is None:
            hits = np.bincount(index[labels], minlength=BINS) / total
        else:
            hits = np.bincount(index[labels], w[labels], BINS) / total
        noise = hits * (1 - hits) * q / (1 - q)
        return float(np.sum(total * ((score / total - hits) ** 2 - noise)))

    found = power(y)
    larger = sum(power(rng.random(len(p)) < p) >= found for _ in range(RESAMPLES))
    return (1 + larger) / (1 + RESAMPLES)


def _numpy_class_test(g: np.ndarray, labels: np.ndarray) -> float:
    """One label a row from the whole distribution, then counts of every class and bin."""
    rng = np.random.default_rng(0)
    k = g.shape[1]
    place = np.empty(g.shape, np.int64)
    for c in range(k):
        edges = np.quantile(g[:, c], np.arange(1, BINS) / BINS)
        place[:, c] = c * BINS + np.searchsorted(edges, g[:, c])
    count = np.bincount(place.ravel(), minlength=k * BINS)
    score = np.bincount(place.ravel(), g.ravel(), minlength=k * BINS) / count
    upto, rows = np.cumsum(g, axis=1)[:, :-1], np.arange(len(g))

    def power(drawn: np.ndarray) -> float:
        hits = np.bincount(place[rows, drawn], minlength=k * BINS) / count
        return float(np.sum(count * ((score - hits) ** 2 - hits * (1 - hits) / (count - 1))))

    found = power(labels)
    draws = ((rng.random((len(g), 1)) >= upto).sum(axis=1) for _ in range(RESAMPLES))
    return (1 + sum(power(drawn) >= found for drawn in draws)) / (1 + RESAMPLES)


def _drawn(g: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    upto = np.cumsum(g, axis=1)[:, :-1]
    return (rng.random((len(g), 1)) >= upto).sum(axis=1)
