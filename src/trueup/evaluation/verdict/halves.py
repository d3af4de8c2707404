"""Means of the lower and the upper half of the scores, which may be wrong in opposite ways."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.forecasts import Forecasts
from trueup.lens import chosen_lens

NOISE = 2.24
"""A mean gap of fewer standard errors has no direction.

For a calibrated model, one of the two halves has a direction in 5% of datasets.
"""


class Part(NamedTuple):
    """Mean score and outcome of some rows, and the standard error of their difference."""

    mean_score: float
    mean_label: float
    se: float

    @property
    def sign(self) -> int:
        """+1 if outcomes occur more often than predicted, −1 if less, 0 if it may be noise."""
        gap = self.mean_label - self.mean_score
        return 0 if abs(gap) <= NOISE * self.se else int(math.copysign(1, gap))


class Halves(NamedTuple):
    """All rows, and those with scores up to and above the median; None if there are none."""

    median: float
    all: Part
    lower: Part | None
    upper: Part | None


def halves_of(forecasts: Forecasts) -> Halves:
    """Split rows (or their weight) at the median score, and average each half.

    Standard errors assume calibrated scores; rows of a cluster are treated as identical, which is
    conservative.
    """
    pairs = chosen_lens(None, forecasts).problem(forecasts)
    p, y, w = pairs.p.astype(np.float64, copy=False), pairs.y, pairs.w
    wider = 1.0
    if forecasts.clusters is not None:
        wider = math.sqrt(forecasts.n / len(np.unique(forecasts.clusters)))
    median = _median(p, pairs.w)
    low = p <= median

    def part(rows: NDArray[np.bool_] | None) -> Part:
        # Plain sums: products of vectors may round differently on other numbers of threads.
        whole = label = score = variance = 0.0
        for block in row_blocks(len(p), 1):
            inside = slice(None) if rows is None else rows[block]
            s, o = p[block][inside], y[block][inside]
            v = np.ones(len(s)) if w is None else w[block][inside]
            whole, label = whole + float(np.sum(v)), label + float(np.sum(v * o))
            score += float(np.sum(v * s))
            variance += float(np.sum(v * v * s * (1 - s)))
        return Part(score / whole, label / whole, math.sqrt(variance) / whole * wider)

    every = part(None)
    if low.all():
        return Halves(median, every, None, None)
    return Halves(median, every, part(low), part(~low))


def _median(p: Floats, w: Floats | None) -> float:
    """Return the smallest score that at least half of the weight does not exceed."""
    if w is None:
        middle = (len(p) - 1) // 2
        return float(np.partition(p, middle)[middle])
    order = np.argsort(p, kind="stable")
    upto = np.cumsum(w[order])
    return float(p[order[np.searchsorted(upto, upto[-1] / 2)]])
