"""Six statistics of the residuals of a few cells, each sensitive to a different kind of error.

All are quadratic forms or maxima of R, the sum of w(y − p) of each cell, so they are computed from
one table of R for the data and all draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import steps
from trueup.tables.score_cells import CellMoments

NAMES = ("mean", "slope", "running sum", "bins", "kernel", "range of scores")
"""The statistics, by the kind of error that each is most sensitive to."""

PART_WEIGHTS = np.array([1.5, 1.5, 0.5, 0.5, 1.5, 1.0])
"""How much the p-value of each counts: less if the others detect most of what it detects.

The test is valid for any weights. These were chosen on simulated datasets that are not used in
docs/omnibus.md.
"""

MOST_CELLS = 45
ROWS_PER_CELL = 8
MERGED = 3  # neighboring cells, where fewer are wanted
KERNEL_WIDTH = 0.05  # standard deviation of the Gaussian kernel, as a share of the rows
KERNEL_SIGNAL = 40.0  # Σ E[R]²/V of the errors that the kernel is made for
FLOOR = 0.002  # share of the whole variance that a range has at least, so that tiny ones do not win
ROWS_AT_ONCE = 128  # their products stay in a cache, and below what BLAS shares out to threads
SAME_WEIGHT = 1e-11  # two sums of the same weights, added in another order, differ by less
SAME_LOGIT = 1e-12
LEAST_VARIANCE = 1e-290  # of all cells, for the kernel: ratios to a smaller one would overflow


@dataclass(frozen=True, eq=False)
class OmnibusCells:
    """At most 45 cells of scores, made of whole fine cells, with about the same number of rows.

    Attributes
    ----------
    place
        Number of each cell among the requested cells; empty cells are dropped.
    score, logit
        Mean score, and the mean logit of the fine cells weighted by their variances.
    variance
        Σ w² p(1 − p) of each cell.
    label
        Σ w y of each cell, of the data.
    upper, offset
        Σ w of the rows with p ≥ ½, and Σ w p minus that: Σ w(y − p) is the small difference of
        labels and ``upper``, minus ``offset``, so scores near 1 keep their digits.
    n_places
        Number of cells asked for.
    """

    place: Ints
    score: Floats
    logit: Floats
    variance: Floats
    label: Floats
    upper: Floats
    offset: Floats
    n_places: int

    @classmethod
    def from_moments(
        cls, fine: CellMoments, n_rows: float | None = None
    ) -> tuple[OmnibusCells, Ints]:
        """Group fine cells by rank of their rows; also return the cell of each fine cell.

        The number of groups is that for ``n_rows`` rows (default: the rows of the fine cells).
        """
        n = int(fine.count.sum() if n_rows is None else n_rows)
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
            n_groups,
        )
        return cells, np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(place)]))

    def residuals(self, label: NDArray[Any]) -> Floats:
        """Return Σ w(y − p) from Σ w y, in the same way for the data and for drawn labels.

        Equal labels must give equal residuals, so that rounding does not distinguish data and
        draws. So a sum of weights that differs from that of the data, or from the largest
        possible one, only by rounding is taken to be equal to it.
        """
        beyond = np.subtract(label, self.upper, dtype=np.float64)
        if label.dtype.kind == "f":  # counts are exact
            same = SAME_WEIGHT * self.upper
            of_data = self.label - self.upper
            beyond = np.where(np.abs(beyond - of_data) <= same, of_data, beyond)
            beyond[np.abs(beyond) <= same] = 0.0
        beyond -= self.offset
        return np.asarray(beyond)

    @cached_property
    def residual(self) -> Floats:
        """Return Σ w(y − p) of each cell for the data."""
        return self.residuals(self.label)

    @cached_property
    def merged(self) -> Ints:
        """First cell of every three that are merged."""
        group = self.place // MERGED
        return np.flatnonzero(np.r_[True, group[1:] != group[:-1]])

    @cached_property
    def merged_variance(self) -> Floats:
        """Return Σ w² p(1 − p) of each merged cell."""
        return self._merge(self.variance)

    @cached_property
    def _merging(self) -> list[tuple[Ints, Ints]]:
        """Return which merged cells have a second cell and that cell, then the same for a third."""
        size = np.diff(np.r_[self.merged, len(self.place)])
        larger = [np.flatnonzero(size > k) for k in range(1, MERGED)]
        return [(some, self.merged[some] + k) for k, some in enumerate(larger, 1)]

    def _merge(self, r: Floats) -> Floats:
        """Return the sum over the cells of each merged cell, in the same order for any columns."""
        total = r[self.merged]
        for some, cell in self._merging:
            total[some] += r[cell]
        return total

    @cached_property
    def kernel(self) -> Floats:
        """Matrix of the quadratic form for errors of logits that form a smooth curve.

        If rows have no weights, E[R] is about V times these errors. If the errors are normal with
        covariance C, the log likelihood ratio to no errors is then ½ R' (C⁻¹ + V)⁻¹ R plus a
        constant. C is a Gaussian kernel of the places of the cells in the order of the rows.
        """
        whole = float(self.variance.sum())
        if whole == 0:
            return np.zeros((len(self.place), len(self.place)))
        whole = max(whole, LEAST_VARIANCE)
        distance = (self.place[:, None] - self.place) / (self.n_places * KERNEL_WIDTH)
        covariance = KERNEL_SIGNAL / whole * np.exp(-(distance**2) / 2)
        inverse = np.linalg.solve(np.eye(len(distance)) + covariance * self.variance, covariance)
        varies = self.variance > 0
        return np.asarray((inverse + inverse.T) / 2 * np.outer(varies, varies))

    @cached_property
    def intercept_and_slope(self) -> Floats:
        """Return the two directions of the Cox score: 1, and the logit minus its weighted mean."""
        whole = float(self.variance.sum())
        center = float(self.variance @ self.logit) / whole if whole > 0 else 0.0
        z = self.logit - center
        z[(self.variance == 0) | (np.abs(z) <= SAME_LOGIT * abs(center))] = 0.0
        return np.stack([np.ones(len(z)), z])

    @cached_property
    def _per_sd(self) -> tuple[Floats, Floats, Floats]:
        """Return 1/√V of both directions, of merged cells, and of the runs of merged cells."""
        of_both = self.intercept_and_slope**2 @ self.variance
        return per_sd(of_both), per_sd(self.merged_variance), run_weights(self.merged_variance)

    def cox_score(self, r: Floats) -> Floats:
        """Return U' V⁻¹ U of each column of ``r``, for U = Σ (R, R z), z the centered logit."""
        return _squares(self._cox_sums(r), self._per_sd[0])

    def _cox_sums(self, r: Floats) -> Floats:
        """Return Σ R and Σ R z of each column, which do not depend on the columns next to it.

        A product by BLAS adds in an order that depends on the number of columns. If terms cancel,
        the sum may be little more than rounding, which would distinguish data and equal draws.
        """
        return np.asarray(np.einsum("rc,kc->kr", r.T, self.intercept_and_slope))

    def statistics(self, residual: Floats) -> Floats:
        """Return the six statistics of each row of residuals, (rows, 6)."""
        found = np.empty((len(NAMES), len(residual)))
        of_both, of_merged, of_runs = self._per_sd
        running = _lower_triangle(len(self.place))
        for first, last in steps(len(residual), ROWS_AT_ONCE):
            r = residual[first:last].T  # cells first: sums over cells then add whole rows
            sums, merged = running @ r, self._merge(r)
            some = found[:, first:last]
            both = self._cox_sums(r)
            some[0] = both[0] ** 2
            some[1] = _squares(both, of_both)
            some[2] = np.maximum(sums.max(axis=0), 0) - np.minimum(sums.min(axis=0), 0)
            some[3] = _squares(merged, of_merged)
            some[4] = np.einsum("cr,cr->r", self.kernel @ r, r)
            some[5] = _largest(of_runs, merged)
        return found.T


def run_weights(variance: Floats) -> Floats:
    """Return 1/√V of every run inside it and 0 outside, (runs, cells): times R it gives R/√V.

    The variance of a run has a lower limit relative to that of all cells.
    """
    runs = _runs(len(variance))
    return runs * per_sd(runs @ variance + FLOOR * variance.sum())[:, None]


def scan(r: Floats, variance: Floats) -> Floats:
    """Return the largest |R|/√V over runs of neighboring cells, for each column of ``r``."""
    return _largest(run_weights(variance), r)


def _largest(runs: Floats, r: Floats) -> Floats:
    if not runs.any():  # nothing varies
        return np.where(r.any(axis=0), np.inf, 0.0)
    found = runs @ r
    return np.asarray(np.abs(found, out=found).max(axis=0))


def strongest_run(r: Floats, variance: Floats) -> tuple[int, int]:
    """Return the first cell of the run that `scan` finds in one column, and the one after it."""
    found = np.abs(run_weights(variance) @ r)
    inside = np.flatnonzero(_runs(len(r))[np.argmax(found)])
    return int(inside[0]), int(inside[-1]) + 1


@cache
def _lower_triangle(n: int) -> Floats:
    """Return the matrix for running sums; `np.cumsum` along the first axis takes longer."""
    return np.tri(n)


@cache
def _runs(n: int) -> Floats:
    """Return which of n cells are inside each run, as 0 and 1: runs of one cell, of two, …"""
    cells = np.arange(n)
    return np.array(
        [
            (cells >= first) & (cells < first + many)
            for many in range(1, n + 1)
            for first in range(n + 1 - many)
        ],
        np.float64,
    )


def per_sd(variance: Floats) -> Floats:
    """Return 1/√V, or 0 if V is 0."""
    sd = np.sqrt(variance)
    return np.divide(1, sd, out=np.zeros(len(sd)), where=sd > 0)


def _squares(r: Floats, scale: Floats) -> Floats:
    """Return Σ R²/V of each column; for V = 0, a term is 0 if the residual is 0, else infinity."""
    with np.errstate(over="ignore"):  # by a variance of nearly nothing
        standard = r * scale[:, None]
        total = np.einsum("cr,cr->r", standard, standard)
    if not scale.all():
        total[r[scale == 0].any(axis=0)] = np.inf
    return np.asarray(total)
