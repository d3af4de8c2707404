"""P-values of several statistics from the same draws, and one of them together.

The data and the draws form one pool, and every row of it is treated alike. If the model is
calibrated the data are one more draw, so each p-value is exact for any number of rows, and so is
the combined one.
"""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats

DIGITS = 9  # values whose first nine digits agree are ties, and ties count as large
OFF_GRID = np.pi / 3
"""Ratios such as (13/32)² end halfway between two roundings, where noise would part equal values;
ratios of whole numbers to an irrational one do not."""
AT_ONCE = 128  # statistics, to save memory


def pooled_pvalues(values: Floats) -> Floats:
    """Return the share of the pool, itself included, that is as large as each row, (rows, k)."""
    share = np.empty(values.shape)
    for first in range(0, values.shape[1], AT_ONCE):
        some = slice(first, first + AT_ONCE)
        share[:, some] = _shares(np.ascontiguousarray(values[:, some].T)).T
    return share


def _shares(values: Floats) -> Floats:
    """Return the share of each row's values that are as large as each of them."""
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
    """Return Σ 1/p of each row: the larger, the stronger the evidence of any of them."""
    return np.asarray(np.sum(1 / pvalues, axis=1))
