"""Local errors, validation included: seconds, growth, and the same sums over all pairs."""

from __future__ import annotations

from functools import partial

import numpy as np

import trueup as tu
from benchmarks.timing import Task, medians
from trueup.engines.select import engine
from trueup.engines.types import KernelSet
from trueup.local import kernel_sums_by_bin

BANDWIDTH = 0.2
INNER_EDGES = np.arange(1, 15) / 15
PAIRED = (50_000, 3)  # rows and features of the comparison with all pairs
SECONDS = {(50_000, 3): 0.5, (10**6, 2): 6, (10**6, 3): 30, (20_000, 50): 10}
MOST_GROWTH = {2: 16, 3: 20}
MOST_AWAY = 1e-10
QUERIES = 500


def tasks() -> list[Task]:
    """Seconds by rows and features, and the sums alone against all pairs."""
    found = []
    for (n, d), seconds in SECONDS.items():
        p, y, x = _sample(n, d)
        found.append(
            Task(
                f"local error, {n:,} x {d}",
                lambda p=p, y=y, x=x: tu.lce(p, y, x),
                "np.sort of the columns",
                lambda x=x: np.sort(x, axis=0),
                rounds=3 if n < 10**6 else 1,
                seconds_at_most=seconds,
            )
        )
    points, values, bins = _problem(*_sample(*PAIRED))
    found.append(
        Task(
            "local sums, {:,} x {}".format(*PAIRED),
            lambda: _sums(points, values, bins),
            "all pairs",
            lambda: _over_all_pairs(points, values, bins),
            1 / 50,
            rounds=3,
            times=3,
        )
    )
    return found


def report_growth() -> None:
    """Print how far sums are from those over all pairs, and how time grows with rows."""
    points, values, bins = _problem(*_sample(*PAIRED))
    found = _sums(points, values, bins)
    size = _sums(points, np.abs(values), bins)
    away = (np.abs(found - _over_all_pairs(points, values, bins)) / size).max()
    print(
        "\nLocal sums, {:,} x {}: ".format(*PAIRED)
        + f"{away:.1e} off those over all pairs, as a share of absolute terms, at most {MOST_AWAY} "
        + ("!" if away > MOST_AWAY else "")
    )
    print(f"  {_times_numpy(points, values, bins):.0f}x as fast as NumPy over all pairs")
    print("Local errors from 10^5 to 10^6 rows:")
    for d, most in MOST_GROWTH.items():
        calls = [partial(tu.lce, *_sample(n, d)) for n in (10**5, 10**6)]
        small, large = medians(calls, rounds=5)
        print(
            f"  {d} features: {small:.3f} s to {large:.3f} s, {large / small:.1f}x, "
            f"at most {most}x {'!' if large / small > most else ''}"
        )


def _times_numpy(points: np.ndarray, values: np.ndarray, bins: np.ndarray) -> float:
    """How often our sums are found in the time of NumPy's brute force, judged by some queries."""
    most = np.bincount(bins).argmax()
    rows = np.flatnonzero(bins == most)
    some = rows[:: len(rows) // QUERIES]
    scale = BANDWIDTH * points.shape[1]

    def numpy_sums() -> None:
        for at in np.array_split(some, 20):
            away = np.abs(points[at][:, None, :] - points[rows][None, :, :]).sum(axis=2)
            np.exp(-away / scale) @ values[rows]

    ours, others = medians([lambda: _sums(points, values, bins), numpy_sums], rounds=3)
    return others * len(rows) / len(some) / ours


def _sample(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences of a modern network, 90% of them in the highest bin, and features."""
    rng = np.random.default_rng(0)
    p = rng.beta(2.8, 0.05, n)
    return p, rng.random(n) < p, rng.standard_normal((n, d))


def _problem(p: np.ndarray, y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Points, {1, residual} and bins, as a local error makes them."""
    return x / x.std(axis=0), np.c_[np.ones(len(p)), p - y], np.searchsorted(INNER_EDGES, p)


def _sums(points: np.ndarray, values: np.ndarray, bins: np.ndarray) -> np.ndarray:
    return kernel_sums_by_bin(points, values, bins, scale=BANDWIDTH * points.shape[1]).sums


def _over_all_pairs(points: np.ndarray, values: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """The same by our own brute force, on all threads."""
    rows = [np.flatnonzero(bins == b) for b in np.unique(bins)]
    sets = [KernelSet(points[row], values[row]) for row in rows]
    steep = 1 / (BANDWIDTH * points.shape[1])
    sums = np.empty(values.shape)
    found = engine.kernel_sums.block_sums(sets, steep, gaussian=False, relative=False)
    for row, one in zip(rows, found, strict=True):
        sums[row] = one.sums
    return sums
