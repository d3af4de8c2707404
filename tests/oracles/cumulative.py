"""Cumulative differences in score order: KS (Gupta et al. 2020) and Kuiper.

Rows of the same score are added at once, since they have no order.
"""

from __future__ import annotations

import math

from .arithmetic import Floats, float_weights, same_shape


def cumulative_differences(p: Floats, y: Floats, weights: Floats | None = None) -> list[float]:
    """Sum of w (p - y) / sum of all w over scores up to each distinct score; tied rows at once."""
    same_shape(p, y)
    w = float_weights(weights, len(p))
    sums = []
    for end in sorted({float(v) for v in p}):
        rows = [i for i in range(len(p)) if float(p[i]) <= end]
        sums.append(math.fsum(w[i] * (float(p[i]) - float(y[i])) for i in rows) / math.fsum(w))
    return sums


def ks_error(p: Floats, y: Floats, weights: Floats | None = None) -> float:
    """The largest absolute partial sum."""
    return max(abs(v) for v in cumulative_differences(p, y, weights))


def kuiper(p: Floats, y: Floats, weights: Floats | None = None) -> float:
    """The largest partial sum minus the smallest, the empty sum 0 among them."""
    sums = [0.0, *cumulative_differences(p, y, weights)]
    return max(sums) - min(sums)
