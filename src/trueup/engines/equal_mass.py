"""Cuts of equal-mass bins, and the smallest number of bins whose mean labels decrease.

Scores are distinct and in increasing order; ``cumulative`` is the number of rows (or the weight)
up to and including each of them. A boundary lies between two scores, so tied rows stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints


def equal_mass_cuts(cumulative: NDArray[Any], n_bins: int) -> Ints:
    """Return the scores after which to cut: for i = 1 … B−1 the boundary nearest to rank i·n/B.

    Ranks are compared as B·boundary against i·n, in integers for counts, so that nothing is
    rounded. If two boundaries are equally near, the lower is used; equal cuts are merged.
    """
    boundary = cumulative[:-1]
    if len(boundary) == 0 or n_bins < 2:
        return np.empty(0, np.int64)
    target = np.arange(1, n_bins) * cumulative[-1]
    if boundary.dtype.kind in "iu":  # the same question without a product for every boundary
        upper = np.searchsorted(boundary, -(-target // n_bins))
    else:
        upper = np.searchsorted(boundary * n_bins, target)
    upper = np.minimum(upper, len(boundary) - 1)
    lower = np.maximum(upper - 1, 0)
    take_lower = target - boundary[lower] * n_bins <= np.abs(boundary[upper] * n_bins - target)
    return np.unique(np.where(take_lower, lower, upper))


def first_falling(
    cumulative: NDArray[Any], positive: NDArray[Any], most: int, rounding: float = 0
) -> int:
    """Return the smallest number of bins whose mean labels decrease somewhere, else most + 1.

    The published algorithm, with prefix sums: b = 2, 3, …, most until a mean label decreases. If no
    mean decreases from one score to the next, none can decrease between bins of neighboring scores.
    """
    if not falls(np.arange(len(cumulative) - 1), cumulative, positive, rounding):
        return most + 1
    for b in range(2, most + 1):
        if falls(equal_mass_cuts(cumulative, b), cumulative, positive, rounding):
            return b
    return most + 1


def falls(
    cuts: Ints, cumulative: NDArray[Any], positive: NDArray[Any], rounding: float = 0
) -> bool:
    """Whether the mean label decreases from one bin to the next.

    Means are compared by cross-multiplication, which is exact for whole numbers. Differences of
    running float sums are rounded: a decrease within ``rounding`` of the total weight is ignored.
    """
    ends = np.append(cuts, len(cumulative) - 1)
    size = np.diff(cumulative[ends], prepend=0)
    hits = np.diff(positive[ends], prepend=0)
    fall = hits[:-1] * size[1:] - hits[1:] * size[:-1]
    return bool(np.any(fall > rounding * cumulative[-1] * (size[1:] + size[:-1])))


def whole_weights(w: Floats) -> NDArray[Any]:
    """Return weights as whole numbers if they are small multiples of a common unit.

    Other weights are returned unchanged. Whole weights make ranks and comparisons exact: weights
    that are all 1/3, or all 2, give the same result as no weights, and a weight of 3 gives the same
    as three rows. The unit is the smallest weight divided by a whole number from 1 to 10.
    """
    for parts in range(1, 11):
        ratio = w / w.min() * parts
        whole = np.rint(ratio)
        if np.all(np.abs(ratio - whole) <= 1e-12 * whole) and whole.sum() < 2**31:
            counts = whole.astype(np.int64)
            return np.asarray(counts // np.gcd.reduce(counts))
    return w
