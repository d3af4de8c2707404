"""Kernel sums over sets of points: all pairs of query and point, a block of queries at a time.

The kernel is e^{−steep·distance}, with the L1 distance or, if Gaussian, the squared Euclidean
distance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import steps
from trueup.engines.threads import run
from trueup.engines.types import KernelSet, KernelTotals

BLOCK_ENTRIES = 1 << 20


def block_sums(
    sets: Sequence[KernelSet], steep: float, gaussian: bool, relative: bool
) -> list[KernelTotals]:
    """Return Σ_j e^{−steep·distance} v_j over the points j, at every query.

    ``relative`` subtracts the smallest distance at each query, which is returned too.
    """
    return [_block_sums(one, steep, gaussian, relative) for one in sets]


def divided_sums(sets: Sequence[KernelSet], steep: float) -> list[Floats]:
    """Return sums of e^{−steep·L1 distance} for one to four coordinates."""
    return [total.sums for total in block_sums(sets, steep, gaussian=False, relative=False)]


def _block_sums(one: KernelSet, steep: float, gaussian: bool, relative: bool) -> KernelTotals:
    points, values, queries = one.points, one.values, one.at
    sums = np.zeros((len(queries), values.shape[1]))
    nearest = np.full(len(queries), np.inf) if relative else None

    def some(start: int, stop: int) -> None:
        away = np.zeros((stop - start, len(points)))
        for k in range(points.shape[1]):
            step = np.subtract.outer(queries[start:stop, k], points[:, k])
            away += step * step if gaussian else np.abs(step)
        if nearest is not None:
            nearest[start:stop] = away.min(axis=1)
            away -= nearest[start:stop, None]
        with np.errstate(over="ignore", under="ignore"):  # a tiny bandwidth: exp(−inf) is 0
            sums[start:stop] = np.exp(away * -steep) @ values

    if len(points):
        rows = max(1, BLOCK_ENTRIES // len(points))
        run(some, steps(len(queries), rows))
    return KernelTotals(sums, nearest)
