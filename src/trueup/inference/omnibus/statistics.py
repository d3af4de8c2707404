"""Six statistics of the residuals of a few cells, each sensitive to another kind of error.

All are quadratic forms or maxima of R, the sum of w(y − p) of each cell, so one table of R, of the
data and of every draw, gives them all at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trueup._typing import Floats, Ints
from trueup.tables.score_cells import CellMoments

NAMES = ("mean", "slope", "running sum", "bins", "kernel", "range of scores")
"""The statistics, by the kind of error that each is most sensitive to."""

MOST_CELLS = 45
ROWS_PER_CELL = 8
MERGED = 3  # neighboring cells, where fewer are wanted
KERNEL_WIDTH = 0.1  # of the median distance between the mean scores of two cells
FLOOR = 0.002  # share of the whole variance that a range has at least, so that tiny ones do not win
SAME_WEIGHT = 1e-11  # two sums of the same weights, added in another order, differ by less
SAME_LOGIT = 1e-12


@dataclass(frozen=True, eq=False)
class OmnibusCells:
    """At most 45 cells of scores with about equally many rows each, made of whole fine cells.

    Attributes
    ----------
    place
        Number of each cell among those asked for; cells without rows are left out.
    score, logit
        Mean score, and the mean logit of the fine cells weighted by their variances.
    variance
        Σ w² p(1 − p) of each cell.
    label
        Σ w y of each cell, of the data.
    upper, offset
        Σ w of the rows with p ≥ ½, and Σ w p minus that: Σ w(y − p) is the small difference of
        labels and ``upper``, minus ``offset``, so scores near 1 keep their digits.
    """

    place: Ints
    score: Floats
    logit: Floats
    variance: Floats
    label: Floats
    upper: Floats
    offset: Floats

    @classmethod
    def from_moments(cls, fine: CellMoments) -> tuple[OmnibusCells, Ints]:
        """Group fine cells by their place in the order of rows; also return the cell of each."""
        n = int(fine.count.sum())
        n_groups = MERGED * int(np.clip(n // (MERGED * ROWS_PER_CELL), 1, MOST_CELLS // MERGED))
        middle = np.cumsum(fine.w) - fine.w / 2
        place = np.minimum((n_groups * middle / fine.w.sum()).astype(np.int64), n_groups - 1)
        first = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
        variance = np.add.reduceat(fine.variance, first)
        moved = np.where(fine.variance > 0, fine.logit, 0.0) * fine.variance
        logit = np.add.reduceat(moved, first) / np.where(variance > 0, variance, 1.0)
        cells = cls(
            place[first],
            np.add.reduceat(fine.wp, first) / np.add.reduceat(fine.w, first),
            logit,
            variance,
            np.add.reduceat(fine.wy, first),
            np.add.reduceat(np.where(fine.upper, fine.w, 0.0), first),
            np.add.reduceat(np.where(fine.upper, -fine.wq, fine.wq), first),
        )
        return cells, np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(place)]))

    def residuals(self, label: Floats) -> Floats:
        """Return Σ w(y − p) from Σ w y: by one rule for the data and for drawn labels.

        Equal labels must give equal residuals, or the data differ from draws by rounding alone.
        """
        beyond = label - self.upper
        beyond = np.where(np.abs(beyond) > SAME_WEIGHT * self.upper, beyond, 0.0)
        return np.asarray(beyond - self.offset)

    @cached_property
    def residual(self) -> Floats:
        """Σ w(y − p) of each cell, of the data."""
        return self.residuals(self.label)

    @cached_property
    def merged(self) -> Ints:
        """First cell of every three that are merged."""
        group = self.place // MERGED
        return np.flatnonzero(np.r_[True, group[1:] != group[:-1]])

    @cached_property
    def kernel(self) -> Floats:
        """Laplacian kernel of the mean scores."""
        distance = np.abs(self.score[:, None] - self.score[None, :])
        between = distance[np.triu_indices(len(distance), 1)]
        width = KERNEL_WIDTH * float(np.median(between)) if len(between) else 1.0
        return np.asarray(np.exp(-distance / (width if width > 0 else 1.0)))

    def statistics(self, residual: Floats) -> Floats:
        """Return the six statistics of each row of residuals, (rows, 6)."""
        r = np.ascontiguousarray(residual.T)  # cells first: sums over cells then add whole rows
        running = np.cumsum(r, axis=0)
        of_merged = np.add.reduceat(r, self.merged, axis=0)
        by_merged = np.add.reduceat(self.variance, self.merged)
        return np.column_stack(
            [
                running[-1] ** 2,
                self.cox_score(r),
                np.maximum(running.max(axis=0), 0) - np.minimum(running.min(axis=0), 0),
                _ratio(of_merged**2, by_merged).sum(axis=0),
                np.einsum("cr,cr->r", self.kernel @ r, r),
                scan(of_merged, by_merged),
            ]
        )

    def cox_score(self, r: Floats) -> Floats:
        """U' V⁻¹ U for U = Σ (R, R z), z the logit centered by variance."""
        whole = float(self.variance.sum())
        center = float(self.variance @ self.logit) / whole if whole > 0 else 0.0
        z = self.logit - center
        z = np.where((self.variance > 0) & (np.abs(z) > SAME_LOGIT * abs(center)), z, 0.0)
        both = np.stack([r.sum(axis=0), z @ r])
        spread = np.array([whole, float(self.variance @ z**2)])
        return np.asarray(_ratio(both**2, spread).sum(axis=0))


def scan(r: Floats, variance: Floats) -> Floats:
    """Return the largest |R|/√V over runs of neighboring cells, of each column of ``r``.

    The variance of a run is never tiny next to that of all cells.
    """
    return np.asarray(np.maximum.reduce([found.max(axis=0) for _, found in _runs(r, variance)]))


def strongest_run(r: Floats, variance: Floats) -> tuple[int, int]:
    """Return the first cell of the run that `scan` finds in one column, and the one after it."""
    runs = [(found.max(), found.argmax(), cells) for cells, found in _runs(r[:, None], variance)]
    _, first, cells = max(runs)
    return int(first), int(first) + cells


def _runs(r: Floats, variance: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield |R|/√V of all runs of 1, 2, … cells."""
    upto = np.concatenate([np.zeros((1, r.shape[1])), np.cumsum(r, axis=0)])
    so_far = np.concatenate([[0.0], np.cumsum(variance)])
    for cells in range(1, len(so_far)):
        spread = np.sqrt(so_far[cells:] - so_far[:-cells] + FLOOR * so_far[-1])
        yield cells, _ratio(np.abs(upto[cells:] - upto[:-cells]), spread)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Top / bottom, row by row; where nothing varies, 0 for a residual of 0, any other infinity."""
    below = bottom[:, None]
    with np.errstate(over="ignore"):  # by a variance of nearly nothing
        if (bottom > 0).all():
            return np.asarray(top / below)
        none = np.where(top != 0, np.inf, 0.0)
        return np.divide(top, below, out=none, where=np.broadcast_to(below > 0, top.shape))
