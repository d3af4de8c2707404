"""Residuals by distinct score, their running sums, and the sweep, from counts of rows.

Scores are distinct and in increasing order. ``count`` is the number of rows with each score, and
``positive`` the number of these with label 1.
"""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import steps
from trueup.engines.equal_mass import equal_mass_cuts, first_falling
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.sums import running_sums

PIECE = 1 << 14  # temporary arrays of this many scores stay in the cache


def count_residuals(value: Floats, count: Ints, positive: Ints, scratch: Scratch = FRESH) -> Floats:
    """Return Σ(p − y) over the rows of each score, without cancellation for scores near 1."""
    residual = scratch.empty("residual", len(value), np.float64)
    for start, stop in steps(len(value), PIECE):
        right, wrong = positive[start:stop], count[start:stop] - positive[start:stop]
        residual[start:stop] = wrong * value[start:stop] - right * (1 - value[start:stop])
    return residual


def extreme_sums(terms: Floats) -> tuple[float, float]:
    """Return the lowest and highest of the sums of the first 0, 1, 2, … terms."""
    sums = running_sums(terms)
    return float(sums.min()), float(sums.max())


def sweep_bins(count: Ints, positive: Ints, most: int) -> int:
    """Return the largest b up to ``most`` such that 1 … b equal-mass bins are all monotone."""
    return first_falling(np.cumsum(count), np.cumsum(positive), most) - 1


def swept_residuals(
    residual: Floats, count: Ints, positive: Ints, scratch: Scratch = FRESH
) -> tuple[Ints, Floats]:
    """Return rows and Σ residual of the sweep's bins: one per score if no mean label decreases."""
    cumulative = np.cumsum(count)
    n = int(cumulative[-1])
    chosen = sweep_bins(count, positive, n)
    if chosen == n:
        return count, residual
    starts = np.r_[0, equal_mass_cuts(cumulative, chosen) + 1]
    return np.add.reduceat(count, starts), np.add.reduceat(residual, starts)
