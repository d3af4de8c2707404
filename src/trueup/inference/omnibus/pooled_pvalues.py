"""P-values of several statistics from the same draws, and their combined p-value.

The data and the draws form one pool, and all its rows are treated in the same way. If the model is
calibrated, the data are one more draw. So each p-value, and the combined one, is exact for any
number of rows.
"""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.inference.omnibus.statistics import PART_WEIGHTS

DIGITS = 9  # of the largest finite value: what differs by less is a tie, and ties count as large
OFF_GRID = np.pi / 3
"""Ratios such as (13/32)² end halfway between two roundings, where noise would part equal values;
ratios of whole numbers to an irrational one do not."""
AT_ONCE = 128  # statistics, to save memory
FAR_BEYOND = 10


def pooled_pvalues(values: Floats) -> Floats:
    """Return the fraction of the pool that is at least as large as each row, (rows, k)."""
    share = np.empty(values.shape)
    for first in range(0, values.shape[1], AT_ONCE):
        some = slice(first, first + AT_ONCE)
        share[:, some] = _shares(np.ascontiguousarray(values[:, some].T)).T
    return share


def _shares(values: Floats) -> Floats:
    """Return the fraction of each row's values that are at least as large as each of them."""
    largest = np.max(np.abs(values), axis=1, where=np.isfinite(values), initial=0.0)
    scale = np.where(largest > 0, OFF_GRID * largest, 1.0)
    rounded = np.round(values / scale[:, None], DIGITS)
    order = np.argsort(rounded, axis=1)
    ordered = np.take_along_axis(rounded, order, axis=1)
    n = values.shape[1]
    smaller = np.zeros(values.shape, np.int64)  # in order: the first place of equal values
    np.multiply(ordered[:, 1:] != ordered[:, :-1], np.arange(1, n), out=smaller[:, 1:])
    np.maximum.accumulate(smaller, axis=1, out=smaller)
    share = np.empty(values.shape)
    np.put_along_axis(share, order, (n - smaller) / n, axis=1)
    return share


def harmonic(pvalues: Floats) -> Floats:
    """Return Σ weight/p of each row: the larger, the stronger the evidence of any of them.

    The columns are the statistics in their order, once or for one class after the other.
    """
    each = pvalues.reshape(len(pvalues), -1, len(PART_WEIGHTS))
    return np.asarray(np.sum(PART_WEIGHTS / each, axis=(1, 2)))


def pvalues_of_each(values: Floats, drawn: Floats) -> Floats:
    """Return the combined p-value of each row of ``values``, in a pool of it and ``drawn`` alone.

    Every row is a separate test. The ranks among the draws are computed once for all rows.
    """
    pool = 1 + len(drawn)
    largest = np.max(np.abs(drawn), axis=0, where=np.isfinite(drawn), initial=0.0)
    # A value far beyond all draws also decides how they are rounded.
    beyond = (np.isfinite(values) & (np.abs(values) > FAR_BEYOND * largest)).any(axis=1)
    scale = np.where(largest > 0, OFF_GRID * largest, 1.0)
    draws, rows = np.round(drawn / scale, DIGITS), np.round(values / scale, DIGITS)
    ordered = np.sort(draws, axis=0)

    def as_large(column: int, than: Floats) -> Floats:
        smaller = np.searchsorted(ordered[:, column], than[:, column], side="left")
        return np.asarray(len(drawn) - smaller, np.float64)

    columns = range(values.shape[1])
    of_draws = np.column_stack([as_large(k, draws) for k in columns])
    of_rows = 1 + np.column_stack([as_large(k, rows) for k in columns])
    found = np.empty(len(values))
    for i, row in enumerate(rows):
        if beyond[i]:
            alone = pooled_pvalues(np.concatenate([values[i : i + 1], drawn]))
            found[i] = pooled_pvalues(harmonic(alone)[:, None])[0, 0]
            continue
        combined = np.empty(pool)
        combined[:1] = harmonic(of_rows[i : i + 1] / pool)
        combined[1:] = harmonic((of_draws + (row >= draws)) / pool)
        combined = np.round(combined / (OFF_GRID * combined.max()), DIGITS)
        found[i] = np.count_nonzero(combined >= combined[0]) / pool
    return found
