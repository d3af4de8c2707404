"""Bins of scores and their sums.

Everything is summed in float64 by blocks of 2^16 rows, whatever the input's type: a plain
running sum of 10^8 equal scores drifts, and in float32 it stops growing altogether.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints, Read
from trueup.engines.blocks import steps
from trueup.engines.types import MOMENTS, Sums

BLOCK_ROWS = 1 << 16
BLOCK_ENTRIES = 1 << 18


def find_bins(p: NDArray[Any], inner_edges: Floats) -> Ints:
    """Return the bin of every score: the number of inner edges below it."""
    found = np.searchsorted(inner_edges, p.astype(np.float64, copy=False), side="left")
    return found.astype(np.int64, copy=False)


def bin_sums(p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats) -> Sums:
    """Return sufficient statistics per bin; a score's bin is the number of inner edges below it."""
    n_bins = len(inner_edges) + 1
    count = np.zeros(n_bins, np.int64)
    moments = np.zeros((7, n_bins))
    for start, stop in steps(len(p), BLOCK_ROWS):
        score = p[start:stop].astype(np.float64)
        label = y[start:stop].astype(np.float64)
        weight = np.ones(stop - start) if w is None else w[start:stop]
        index = np.searchsorted(inner_edges, score, side="left")
        count += np.bincount(index, minlength=n_bins)
        terms = (
            weight,
            weight * weight,
            weight * score,
            weight * score * score,
            weight * label,
            weight * label * label,
            weight * score * label,
        )
        for moment, term in zip(moments, terms, strict=True):
            moment += np.bincount(index, term, minlength=n_bins)
    return Sums(count, *moments)


def batch_bin_sums(p: NDArray[Any], y: NDArray[Any], inner_edges: Floats) -> Sums:
    """Return bin sums of many datasets at once: row r of ``p`` and ``y`` is dataset r."""
    return _stack(
        [bin_sums(p[r], y[r], None, inner_edges) for r in range(len(p))], len(inner_edges)
    )


def class_bin_sums(
    read: Read, factor: Floats | None, labels: Ints, n_classes: int, inner_edges: Floats
) -> Sums:
    """Return one-vs-rest bin sums of every class, (K, B), in one pass over the matrix."""
    n, n_bins = len(labels), len(inner_edges) + 1
    totals = Sums(
        np.zeros((n_classes, n_bins), np.int64),
        *(np.zeros((n_classes, n_bins)) for _ in MOMENTS[1:]),
    )
    for start, stop in steps(n, max(1, BLOCK_ENTRIES // n_classes)):
        block = read(start, stop).astype(np.float64)
        if factor is not None:
            block *= factor[start:stop, None]
        here = _stack(
            [
                bin_sums(block[:, k], labels[start:stop] == k, None, inner_edges)
                for k in range(n_classes)
            ],
            len(inner_edges),
        )
        for total, part in zip(totals, here, strict=True):
            total += part
    return totals


def _stack(parts: list[Sums], n_edges: int) -> Sums:
    if not parts:
        empty = np.empty((0, n_edges + 1))
        return Sums(empty.astype(np.int64), *(empty for _ in MOMENTS[1:]))
    return Sums(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))
