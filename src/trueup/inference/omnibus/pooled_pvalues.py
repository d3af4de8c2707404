"""P-values of several statistics from the same draws, and one of them together.

The data and the draws form one pool, and every row of it is treated alike. If the model is
calibrated the data are one more draw, so each p-value is exact for any number of rows, and so is
the combined one.
"""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats

DIGITS = 9  # values that agree in these digits are ties, and ties count as large


def pooled_pvalues(values: Floats) -> Floats:
    """Return the share of the pool, itself included, that is as large as each row, (rows, k)."""
    columns = np.ascontiguousarray(values.T)
    scale = np.max(np.abs(columns), axis=1, where=np.isfinite(columns), initial=0.0)
    rounded = np.round(columns / np.where(scale > 0, scale, 1.0)[:, None], DIGITS)
    order = np.argsort(rounded, axis=1)
    ordered = np.take_along_axis(rounded, order, axis=1)
    n = ordered.shape[1]
    smaller = np.zeros(ordered.shape, np.int64)  # in order: the first place of equal values
    np.multiply(ordered[:, 1:] != ordered[:, :-1], np.arange(1, n), out=smaller[:, 1:])
    np.maximum.accumulate(smaller, axis=1, out=smaller)
    share = np.empty(ordered.shape)
    np.put_along_axis(share, order, (n - smaller) / n, axis=1)
    return share.T


def harmonic(pvalues: Floats) -> Floats:
    """Return Σ 1/p of each row: the larger, the stronger the evidence of any of them."""
    return np.asarray(np.sum(1 / pvalues, axis=1))
