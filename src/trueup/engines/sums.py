"""Sums in a fixed order of addition, the same on every engine and any number of threads."""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats


def added(parts: list[Floats]) -> Floats:
    """Return the sum of the parts of all chunks, which are added to the first part in order."""
    total, *others = parts
    for part in others:
        total += part
    return total


def running_sums(terms: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, … terms.

    They are computed in blocks of √n terms: a plain running sum would drift √n times as far.
    """
    n = len(terms)
    width = max(1, math.isqrt(n))
    whole = n - n % width
    sums = np.zeros(n + 1)
    rows, last = sums[1 : whole + 1].reshape(-1, width), sums[whole + 1 :]
    np.cumsum(terms[:whole].reshape(-1, width), axis=1, out=rows)
    np.cumsum(terms[whole:], out=last)
    before = np.cumsum(rows[:, -1])
    rows[1:] += before[:-1, None]
    last += before[-1:].sum()
    return sums


def folded(totals: Floats) -> Floats:
    """Return sums at grid points 0 … size from those at −1 … size + 2, reflected at both ends.

    Nothing reaches size + 2, because the largest score, 1, lies at the point size.
    """
    inside = totals[:, 1:-2].copy()
    inside[:, 1] += totals[:, 0]
    inside[:, -2] += totals[:, -2]
    return inside
