"""Counted rows of each score in readable NumPy: a part of the reference engine.

Scores stand in increasing order; ``count`` rows have each of them, ``positive`` with a label of 1.
"""

from __future__ import annotations

import math

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.engines.cuts import cuts_of_groups, first_falling
from trueup.engines.rooms import FRESH, Room

PIECE = 1 << 14  # temporary arrays of so many scores stay in the cache


def count_residuals(value: Floats, count: Ints, positive: Ints, room: Room = FRESH) -> Floats:
    """Σ(p − y) over the rows of each score; no sum cancels for scores near 1."""
    residual = room.empty("residual", len(value), np.float64)
    for start in range(0, len(value), PIECE):
        here = slice(start, start + PIECE)
        right, wrong = positive[here], count[here] - positive[here]
        residual[here] = wrong * value[here] - right * (1 - value[here])
    return residual


def extreme_sums(terms: Floats) -> tuple[float, float]:
    """The lowest and the highest of the sums of the first 0, 1, 2, … terms."""
    sums = running_sums(terms)
    return float(sums.min()), float(sums.max())


def running_sums(terms: Floats) -> Floats:
    """Sums of the first 0, 1, 2, … terms, by rows of √n: plain ones would drift √n times more."""
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


def sweep_bins(count: Ints, positive: Ints, most: int) -> int:
    """Largest b up to ``most`` such that 1 … b equal-mass bins have non-falling mean labels."""
    return first_falling(np.cumsum(count), np.cumsum(positive), most) - 1


def swept_residuals(
    residual: Floats, count: Ints, positive: Ints, room: Room = FRESH
) -> tuple[Ints, Floats]:
    """Rows and Σ residual of the bins of the sweep; one bin a score where no mean label falls."""
    cumulative = np.cumsum(count)
    n = int(cumulative[-1])
    chosen = sweep_bins(count, positive, n)
    if chosen == n:
        return count, residual
    starts = np.r_[0, cuts_of_groups(cumulative, chosen) + 1]
    return np.add.reduceat(count, starts), np.add.reduceat(residual, starts)
