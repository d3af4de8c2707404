"""The native engine's side of sums over all pairs of rows.

A scan over scores is cut into chunks: what a chunk adds is linear in what stands before it, so
chunks are scanned at the same time and put together in order. Chunks depend on the number of
scores alone, so the result has the same bits on any number of threads.
"""

from __future__ import annotations

import numpy as np

from trueup.engines.base import Floats
from trueup.engines.threads import cut, run
from trueup.native import pairs

CHUNK_SCORES = 1 << 16


def laplace_cross(value: Floats, residual: Floats, bandwidth: float) -> float:
    """Σ r_i r_j exp(−(v_j − v_i)/bandwidth) over the pairs i < j of non-decreasing values."""
    return _own_and_cross(value, residual, bandwidth)[1]


def laplace_total(value: Floats, residual: Floats, bandwidth: float) -> float:
    """Σ r_i r_j exp(−|v_i − v_j|/bandwidth) over all i and j, of non-decreasing values."""
    own, cross = _own_and_cross(value, residual, bandwidth)
    return own + 2 * cross


def _own_and_cross(value: Floats, residual: Floats, bandwidth: float) -> tuple[float, float]:
    value, residual = _plain(value), _plain(residual)

    def scan(start: int, stop: int) -> tuple[float, float, float, float, float]:
        return pairs.laplace_scan(value, residual, start, stop, bandwidth)

    squares = total = before = 0.0
    for own, cross, pull, state, decay in run(scan, cut(len(value), CHUNK_SCORES)):
        squares += own
        total += cross + before * pull
        before = state + before * decay
    return squares, total


def median_gap(value: Floats) -> float:
    """Median of the positive differences of non-decreasing values; 0 if there is none."""
    return pairs.median_gap(_plain(value))


def pair_distances(a: Floats, b: Floats, total_variation: bool) -> Floats:
    """Distance of every row of ``a`` to every row of ``b``: ½ Σ|a − b|, or the Euclidean one."""
    if total_variation:
        distance = _pair_sums(a, b, "absolute")
        distance *= 0.5
        return distance
    squared = _pair_sums(a, b, "squared")
    return np.sqrt(squared, out=squared)


def pair_products(a: Floats, b: Floats) -> Floats:
    """Inner product of every row of ``a`` with every row of ``b``."""
    return _pair_sums(a, b, "product")


def _pair_sums(a: Floats, b: Floats, term: str) -> Floats:
    out = np.empty((len(a), len(b)))
    packed = np.empty((pairs.PACKED_ROWS, a.shape[1]))
    pairs.sum_pairs(_plain(a), _plain(b), pairs.TERMS[term], packed, out)
    return out


def _plain(array: Floats) -> Floats:
    return np.require(array, np.float64, ("C", "ALIGNED"))
