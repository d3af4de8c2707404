"""Isotonic fits in one pass with a stack, for integers or floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.isotonic as compiled
from trueup._typing import Ints
from trueup.engines.blocks import cut
from trueup.engines.reference import isotonic as reference

MOST_POOLED = 2**31 - 1  # products of two totals then fit into 63 bits
POOLED_AT_ONCE = 1 << 16


def pool_rising(weight: NDArray[Any], label: NDArray[Any]) -> Ints:
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"
    if whole and weight.sum(dtype=np.float64) > MOST_POOLED:
        return reference.pool_rising(weight, label)
    dtype = np.int64 if whole else np.float64
    weight, label = (np.ascontiguousarray(array, dtype) for array in (weight, label))
    if not whole or len(weight) <= POOLED_AT_ONCE:
        return _pooled(weight, label)[0]
    # Blocks of blocks are the same where sums are whole; few are left, so little memory is taken.
    parts = []
    for start, stop in cut(len(weight), POOLED_AT_ONCE):
        first, *totals = _pooled(weight[start:stop], label[start:stop])
        parts.append((start + first, *totals))
    starts, weights, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.asarray(starts[_pooled(weights, labels)[0]])


def pool_added(weight: NDArray[Any], label: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"
    if whole and weight.sum(dtype=np.float64) >= MOST_POOLED:
        return reference.pool_added(weight, label)
    dtype = np.int64 if whole else np.float64
    mass, hits = (np.append(np.zeros(1, dtype), np.cumsum(x, dtype=dtype)) for x in (weight, label))
    following, stack = np.empty(len(mass), np.int64), np.empty(len(mass), np.int64)
    block_mass, block_hits = np.empty(len(weight), dtype), np.empty(len(weight), dtype)
    compiled.pool_added(mass, hits, following, stack, block_mass, block_hits)
    return block_mass, block_hits


def _pooled(weight: NDArray[Any], label: NDArray[Any]) -> tuple[Ints, NDArray[Any], NDArray[Any]]:
    """Return the first item, the weight and the label sum of every block."""
    found = np.empty(len(weight), np.int64), np.empty_like(weight), np.empty_like(weight)
    blocks = compiled.pool(weight, label, *found)
    start, weights, labels = (each[:blocks].copy() for each in found)  # the rest goes back
    return start, weights, labels
