"""Sums over pairs of rows, and the median gap of scores.

A scan over scores is cut into chunks: what a chunk adds is linear in what precedes it, so chunks
are scanned in parallel and combined in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import trueup.engines.kernels.pairs as compiled
from trueup._typing import Floats
from trueup.engines.blocks import cut
from trueup.engines.memory import plain
from trueup.engines.threads import run

CHUNK_SCORES = 1 << 16


def laplace_cross(value: Floats, residual: Floats, bandwidth: float) -> float:
    return _own_and_cross(value, residual, bandwidth)[1]


def laplace_total(value: Floats, residual: Floats, bandwidth: float) -> float:
    own, cross = _own_and_cross(value, residual, bandwidth)
    return own + 2 * cross


def median_gap(value: Floats) -> float:
    gap: float = compiled.median_gap(plain(value, np.float64))
    return gap


def pair_distances(a: Floats, b: Floats, total_variation: bool) -> Floats:
    if total_variation:
        distance = _pair_sums(a, b, "absolute")
        distance *= 0.5
        return distance
    squared = _pair_sums(a, b, "squared")
    return np.sqrt(squared, out=squared)


def pair_products(a: Floats, b: Floats) -> Floats:
    return _pair_sums(a, b, "product")


def _own_and_cross(value: Floats, residual: Floats, bandwidth: float) -> tuple[float, float]:
    value, residual = plain(value, np.float64), plain(residual, np.float64)

    def scan(start: int, stop: int) -> Any:
        return compiled.laplace_scan(value, residual, start, stop, bandwidth)

    squares = total = before = 0.0
    for own, cross, pull, state, decay in run(scan, cut(len(value), CHUNK_SCORES)):
        squares += own
        total += cross + before * pull
        before = state + before * decay
    return squares, total


def _pair_sums(a: Floats, b: Floats, term: str) -> Floats:
    out = np.empty((len(a), len(b)))
    packed = np.empty((compiled.PACKED_ROWS, a.shape[1]))
    compiled.sum_pairs(
        plain(a, np.float64), plain(b, np.float64), compiled.TERMS[term], packed, out
    )
    return out
