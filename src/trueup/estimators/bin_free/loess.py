"""Loess: mean labels along the score by local quadratic fits, as in R's ``loess(y ~ p)``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.estimators.ties import TiedScores

DIRECT = 2048  # distinct scores up to which the curve is fitted at every one
BY_RANK = 129  # of more, this many are taken evenly by rank
BY_SCORE = 65  # and this many evenly along the score
CLOSE = 1e-4  # a line further than this from the curve in its middle is broken in two
ROUNDING = 1e-12  # of a sum of weights


class Loess(NamedTuple):
    """A fitted curve: distinct scores and the height of the curve at each."""

    score: Floats
    height: Floats  # at these scores
    everywhere: Floats  # at every distinct score, interpolated

    @classmethod
    def of(cls, groups: TiedScores, span: float) -> Loess:
        r"""Fit a parabola around each score and take its height there.

        The window around x reaches to its q-th nearest row, q = ⌊span · n⌋; a row at distance d
        of a window of width h has weight :math:`w(1 - (d/h)^3)^3`. Heights are not limited to
        [0, 1].

        * If the window has no width, because x alone holds the fraction ``span`` of the rows, the
          height is their mean label. If a window has too few distinct scores for a parabola, a line
          or a mean is fitted.
        * Rows are counted in the largest unit that divides the weights of all scores. Without
          weights, and if at least one score is unique, this is R's rule. Neither repeating all rows
          nor scaling all weights changes the curve. If weights have no common unit of at least a
          tenth of the smallest weight, the window holds the fraction ``span`` of the weight.
        * With more than 2048 distinct scores, the curve is interpolated linearly between fits at
          some of them. These are spaced evenly by rank and along the score at first. Then fits are
          added half-way between neighbors if the line is more than 0.0001 off there, until about
          2048 are fitted. Compared with fits at every score, in 300 datasets of 12 shapes with
          2,500 to 50,000 rows, the mean difference was below 0.000005, and the largest 0.0004
          (0.003 next to a score that holds most rows).
        """
        value, sums = groups.value, groups.sums
        height = np.full(len(value), np.nan)

        windows = Windows.of(groups, span)
        curve = engine.loess.fit_of(value, sums.weight, sums.label)

        def fit(at: Ints) -> Floats:
            # A width of 0 becomes the smallest there is: only the score itself is inside.
            return curve(value[at], np.maximum(windows.widths(at), np.finfo(np.float64).tiny))

        at = first_places(value)
        height[at] = fit(at)
        low, high = at[:-1], at[1:]
        while np.any(inside := high - low > 1) and np.sum(~np.isnan(height)) < DIRECT:
            low, high = low[inside], high[inside]
            first, second = _probes(value, low, high)
            new = np.union1d(first, second)
            height[new] = fit(new)
            far = np.zeros(len(low), bool)
            for at in (first, second):
                far |= np.abs(height[at] - _line(value, height, low, high, at)) > CLOSE
            ends = np.stack([low, first, second, high])[:, far]
            low, high = ends[:-1].ravel(), ends[1:].ravel()
        at = np.flatnonzero(~np.isnan(height))
        return cls(value[at], height[at], _between(value, height, at))


def first_places(value: Floats) -> Ints:
    """Return the scores at which to fit the curve first; both ends are always included."""
    last = len(value) - 1
    if last < DIRECT:
        return np.arange(last + 1)
    by_rank = np.arange(BY_RANK) * last // (BY_RANK - 1)
    marks = np.linspace(value[0], value[-1], BY_SCORE)
    by_score = np.minimum(np.searchsorted(value, marks), last)
    return np.union1d(by_rank, by_score)


def _probes(value: Floats, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return scores half-way between neighbors, by rank and along the score, sorted."""
    by_rank = (low + high) // 2
    by_score = np.searchsorted(value, (value[low] + value[high]) / 2)
    by_score = np.clip(by_score, low + 1, high - 1)
    return np.minimum(by_rank, by_score), np.maximum(by_rank, by_score)


class Windows(NamedTuple):
    """Windows that hold a fraction of the rows; each reaches to the q-th nearest row.

    The first group f and the last group l of a window move together: l is the first group such that
    f … l have q rows. As f increases, x − value[f] decreases and value[l] − x does not; the width
    is where the two cross.
    """

    value: Floats
    end: Floats  # value[l] of every f; infinite where fewer than q rows are left

    @classmethod
    def of(cls, groups: TiedScores, span: float) -> Windows:
        """Find the window that begins at each group."""
        counts = in_largest_unit(groups.rank)
        upto = np.cumsum(counts)
        if counts.dtype == np.int64:
            wanted = max(1, int(span * int(upto[-1]) + 1e-5))  # as in R
        else:
            wanted = span * upto[-1] * (1 - ROUNDING)
        last = np.searchsorted(upto, upto - counts + wanted)
        return cls(groups.value, np.append(groups.value, np.inf)[last])

    def widths(self, at: Ints) -> Floats:
        """Return the distance from each place to its q-th nearest row."""
        x = self.value[at]
        crossing = np.searchsorted(self.value + self.end, 2 * x)  # one off where rounding decides
        firsts = np.clip(crossing + np.array([[-1], [0], [1]]), 0, at)
        distances = np.maximum(x - self.value[firsts], self.end[firsts] - x)
        return np.asarray(distances.min(axis=0))


def widths(groups: TiedScores, at: Ints, span: float) -> Floats:
    """Return the distance from each score to its q-th nearest row."""
    return Windows.of(groups, span).widths(at)


def in_largest_unit(rank: NDArray[Any]) -> NDArray[Any]:
    """Divide whole numbers of rows or weights by their greatest common divisor; keep others."""
    return rank // np.gcd.reduce(rank) if rank.dtype == np.int64 else rank


def _between(value: Floats, height: Floats, at: Ints) -> Floats:
    """Return heights at all values by linear interpolation between the fitted ones."""
    if len(at) == len(value):
        return height
    here = np.arange(len(value))
    i = np.minimum(np.searchsorted(at, here, side="right"), len(at) - 1)
    return _line(value, height, at[i - 1], at[i], here)


def _line(value: Floats, height: Floats, low: Ints, high: Ints, at: Ints) -> Floats:
    part = (value[at] - value[low]) / (value[high] - value[low])  # a slope might be infinite
    return np.asarray((1 - part) * height[low] + part * height[high])
