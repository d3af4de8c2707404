"""Checks of scores and labels, and one pass over the rows of a matrix of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Read
from trueup.engines.blocks import steps
from trueup.engines.types import RowScan

BLOCK_ROWS = 1 << 16
BLOCK_ENTRIES = 1 << 18
LANES = 8


def first_outside_unit(values: NDArray[Any]) -> int:
    """Return the index of the first value that is NaN or outside [0, 1]; -1 if there is none."""
    for start, stop in steps(len(values), BLOCK_ROWS):
        block = values[start:stop]
        inside = (block >= 0) & (block <= 1)
        if not inside.all():
            return start + int(np.argmin(inside))
    return -1


def first_not_binary(labels: NDArray[Any]) -> int:
    """Return the index of the first label that is neither 0 nor 1; -1 if there is none."""
    for start, stop in steps(len(labels), BLOCK_ROWS):
        block = labels[start:stop]
        binary = (block == 0) | (block == 1)
        if not binary.all():
            return start + int(np.argmin(binary))
    return -1


def all_pairs_good(p: NDArray[Any], y: NDArray[Any]) -> bool:
    """Return whether all scores are in [0, 1] and all labels are 0 or 1."""
    return first_outside_unit(p) < 0 and first_not_binary(y) < 0


def scan_rows(read: Read, n: int, n_classes: int) -> RowScan:
    """Check, add up and find the largest entry of every row, in one pass over the matrix."""
    total, top = np.empty(n), np.empty(n)
    top_class = np.empty(n, np.int32)
    first_bad = -1
    for start, stop in steps(n, max(1, BLOCK_ENTRIES // n_classes)):
        block = read(start, stop)
        good = ((block >= 0) & (block <= 1)).all(axis=1)
        if first_bad < 0 and not good.all():
            first_bad = start + int(np.argmin(good))
        total[start:stop] = _row_sums(block)
        best = block.argmax(axis=1)
        top_class[start:stop] = best
        top[start:stop] = block[np.arange(stop - start), best]
    return RowScan(first_bad, total, top, top_class)


def _row_sums(block: NDArray[Any]) -> Floats:
    """Return sums of rows in eight lanes, in an order of addition shared by all engines.

    Lane j adds the columns j, j + 8, j + 16, …; then the lanes are added in pairs that are four,
    two and one apart.
    """
    rows, columns = block.shape
    lanes = np.zeros((rows, LANES))
    for first in range(0, columns, LANES):
        part = block[:, first : first + LANES]
        lanes[:, : part.shape[1]] += part
    lanes = lanes[:, :4] + lanes[:, 4:]
    lanes = lanes[:, :2] + lanes[:, 2:]
    sums: Floats = lanes[:, 0] + lanes[:, 1]
    return sums


def scaled_columns(block: NDArray[Any], factor: Floats | None, out: Floats) -> None:
    """Write the columns of ``block``, rows multiplied by ``factor``, to the rows of ``out``."""
    out[:] = block.T
    if factor is not None:
        out *= factor
