"""Many datasets on several processes, and the size of an error that is found in most of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

LEVEL = 0.05
TARGET = 0.9  # power of the best single statistic, for which the size of an error is chosen
TUNED_ON = 300
STEPS = 7  # halvings of the range of sizes
FIRST_TUNED = 10**6  # number of the first dataset for that; those of power start at 0
AT_ONCE = 50

PValues = Callable[..., np.ndarray]
"""Called with a configuration and (first, last) numbers of datasets: an array per dataset."""


def many(
    pool: ProcessPoolExecutor,
    pvalues: PValues,
    sets: int,
    *configuration: Any,
    first: int = 0,
) -> np.ndarray:
    """Return which p-values of many datasets are at most the level."""
    last = first + sets
    parts = [(start, min(start + AT_ONCE, last)) for start in range(first, last, AT_ONCE)]
    found = pool.map(partial(pvalues, *configuration), parts)
    return np.concatenate(list(found)) <= LEVEL


def tuned(
    pool: ProcessPoolExecutor,
    pvalues: PValues,
    most: float,
    best_single: Callable[[np.ndarray], float],
    *configuration: Any,
    sets: int = TUNED_ON,
) -> float:
    """Return the size of an error, up to ``most``, that the best single finds as often as asked."""
    low, high = 0.0, most
    for _ in range(STEPS):
        middle = (low + high) / 2
        rejected = many(pool, pvalues, sets, *configuration, middle, first=FIRST_TUNED)
        low, high = (middle, high) if best_single(rejected) < TARGET else (low, middle)
    return (low + high) / 2


def error_of_ratio(one: np.ndarray, other: np.ndarray) -> float:
    """Return the standard error of the ratio of two means over the same datasets."""
    ratio = one.mean() / other.mean()
    return float(np.std(one - ratio * other) / other.mean() / np.sqrt(len(one)))
