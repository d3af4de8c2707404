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


def pooled_pvalues(values: Floats) -> Floats:
    """Return the share of the pool, itself included, that is as large as each row, (rows, k)."""
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    scale = OFF_GRID * finite.max(axis=0)
    rounded = np.round(values / np.where(scale > 0, scale, 1.0), DIGITS)
    ordered = np.sort(rounded, axis=0)
    n = len(values)
    smaller = np.column_stack(
        [np.searchsorted(column, each) for column, each in zip(ordered.T, rounded.T, strict=True)]
    )
    return (n - smaller) / n


def harmonic(pvalues: Floats) -> Floats:
    """Return Σ 1/p of each row: the larger, the stronger the evidence of any of them."""
    return np.asarray(np.sum(1 / pvalues, axis=1))
