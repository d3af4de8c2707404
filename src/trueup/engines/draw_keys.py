"""Keys and limits of random draws, which make draws the same on every engine.

The random number of a row in a resample is a hash of the seed, the resample and the row, so no
draw depends on which thread or engine makes it. ``kernels/draws.h`` hashes in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.types import BinnedLimits

STEP = np.uint64(0x9E3779B97F4A7C15)


def keys_of(seed: int, n: int) -> Bits:
    """One key for each of ``n`` resamples of a seed."""
    resample = np.arange(1, n + 1, dtype=np.uint64)
    return mixed(mixed(np.array([seed], np.uint64)) + resample * STEP)


def mixed(z: Bits) -> Bits:
    """Hash 64 bits (the finalizer of SplitMix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def limits_of(p: NDArray[Any]) -> Bits:
    """Return ⌊p · 2^64⌋: a random 64-bit number is below it with probability p.

    For p = 1 it is 2^64 − 1, because 2^64 has no 64-bit form: one draw in 2^64 is wrong.
    """
    exact = p.astype(np.float64)
    inside = exact < 1
    limit = np.full(p.shape, np.iinfo(np.uint64).max, np.uint64)
    limit[inside] = np.ldexp(exact[inside], 64).astype(np.uint64)
    return limit


def class_limits(rows: Floats) -> Bits:
    """Return limits of cumulative sums, (n, K−1): class k lies between limits k − 1 and k.

    Sums are divided by the last one, so that a class of probability 0 is never drawn.
    """
    upto = np.cumsum(rows, axis=1)
    return limits_of(upto[:, :-1] / upto[:, -1:])


def binned_limits(p: NDArray[Any], index: NDArray[Any], n_bins: int) -> tuple[BinnedLimits, Ints]:
    """Return the limits of rows grouped by the bin ``index``, and the position of each row."""
    count = np.bincount(index, minlength=n_bins)
    start = np.concatenate([[0], np.cumsum((count + 1) // 2)])
    small = index.astype(np.uint16) if n_bins <= 1 << 16 else index  # NumPy sorts these faster
    order = np.argsort(small, kind="stable")
    place, done = np.empty(len(p), np.int64), 0
    for first, many in zip(2 * start[:-1], count, strict=True):
        place[order[done : done + many]] = np.arange(first, first + many)
        done += many
    del small, order
    limit = np.zeros(2 * start[-1], np.uint64)
    for block in row_blocks(len(p), 1):
        limit[place[block]] = limits_of(p[block])
    return BinnedLimits(limit, start), place
