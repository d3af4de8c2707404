"""Rejections of the omnibus test if the true rates of its cells were different."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import Chunk, steps
from trueup.inference.hypothesis_tests.null_distribution import Outcomes
from trueup.inference.omnibus.binomial_quantiles import Quantiles
from trueup.inference.omnibus.pooled_pvalues import DIGITS, OFF_GRID
from trueup.inference.omnibus.statistics import (
    MOST_CELLS,
    PART_WEIGHTS,
    ROWS_PER_CELL,
    SAME_WEIGHT,
    OmnibusCells,
)
from trueup.lens import Pairs
from trueup.tables.score_cells import N_CELLS, CellMoments, cell_of

NULL_DRAWS = 8000  # of calibrated labels, where the number of rows is that of the data
OTHER_NULL_DRAWS = 4000  # where it is another
DRAWS_AT_ONCE = 1000
DETECTIONS_AT_ONCE = 500  # so few that counting can stop early
MOST_DOUBLINGS = 40
NORMAL = 25.0  # variance of the labels of a cell from which their sum is taken as normal


@dataclass(frozen=True, eq=False)
class WeightedCells:
    """Moments of fine cells, with the variance-weighted mean weight of the rows of each."""

    moments: CellMoments
    unit: Floats

    @classmethod
    def from_pairs(cls, fine: CellMoments, pairs: Pairs) -> WeightedCells:
        """Compute the mean weights from third powers of the weights, which nothing else needs."""
        if pairs.w is None:
            return cls(fine, np.ones(len(fine.w)))
        p = pairs.p.astype(np.float64, copy=False)
        third = np.bincount(cell_of(p), pairs.w**3 * p * (1 - p), N_CELLS)[fine.cell]
        mean = fine.w / fine.count
        return cls(fine, np.divide(third, fine.variance, out=mean, where=fine.variance > 0))


@dataclass(frozen=True, eq=False)
class ScaledCells:
    """The cells of the test for a multiple of the rows of the data, and draws of their labels.

    A cell has the weight W, the mean score f, the variance V of its residual and the unit u, the
    variance-weighted mean weight of its rows. With N = V/(u² f(1 − f)) and a rate r, its residual
    is drawn as u (Binomial(N, r) − N r) + W(r − f). If r = f this has the variance of the residual,
    and also its skewness unless scores differ within the cell.
    """

    cells: OmnibusCells
    group: Ints  # the cell of each fine cell
    weight_of_fine: Floats
    weight: Floats
    unit: Floats
    size: Floats

    @classmethod
    def from_moments(cls, fine: WeightedCells, n_rows: float) -> ScaledCells:
        """Group the fine cells as the test does for a number of rows."""
        moments = fine.moments
        cells, group = OmnibusCells.from_moments(moments, n_rows)
        weight = np.asarray(np.bincount(group, moments.w), np.float64)
        count = np.asarray(np.bincount(group, moments.count), np.float64)
        variance = np.bincount(group, moments.variance)
        of_unit = np.bincount(group, moments.variance * fine.unit)
        unit = np.divide(of_unit, variance, out=weight / count, where=variance > 0)
        of_rate = unit**2 * cells.score * (1 - cells.score)
        size = np.divide(variance, of_rate, out=count, where=(variance > 0) & (of_rate > 0))
        return cls(cells, group, moments.w, weight, unit, size)

    def statistics(self, gap: Floats, times: float, quantiles: Quantiles) -> Floats:
        """Return the statistics of drawn labels, (draws, 6), of residuals divided by √times.

        ``gap`` is the rate of each fine cell minus its score. ``times`` is the number of rows as a
        multiple of that of the data, and ``quantiles`` holds the random numbers of each cell.
        """
        score = self.cells.score
        moved = np.bincount(self.group, self.weight_of_fine * gap) / self.weight
        rate = np.clip(score + moved, 0, 1)
        size = np.maximum(np.rint(self.size * times), 1.0)
        unit = self.unit * np.sqrt(self.size * times / size)  # the variance is not rounded
        left = self.weight * times - unit * size  # moves with the rate, but is not drawn
        left = np.where(np.abs(left) > SAME_WEIGHT * self.weight * times, left, 0.0)
        residual = quantiles.of_binomial(size, rate) - (size * score)[:, None]
        residual = unit[:, None] * residual + (left * (rate - score))[:, None]
        return self.cells.statistics(residual.T / math.sqrt(times))

    def is_normal(self, times: float) -> bool:
        """Whether sums of labels are nearly normal in every cell."""
        variance = np.rint(self.size * times) * self.cells.score * (1 - self.cells.score)
        return bool((variance >= NORMAL).all())


@dataclass(frozen=True, eq=False)
class NullPool:
    """Sorted statistics of calibrated labels, among which other statistics are ranked."""

    ordered: Floats
    scale: Floats
    n_resamples: int
    threshold: float

    @classmethod
    def from_values(cls, values: Floats, n_resamples: int, level: float) -> NullPool:
        """Rank statistics among each other, and compute the threshold of the test."""
        largest = np.max(np.abs(values), axis=0, where=np.isfinite(values), initial=0.0)
        scale = np.where(largest > 0, OFF_GRID * largest, 1.0)
        ordered = np.sort(np.round(values / scale, DIGITS), axis=0)
        found = cls(ordered, scale, n_resamples, math.inf)
        combined = np.sort(found.combined(values, itself=True))[::-1]
        allowed = math.floor(level * (1 + len(values)) + 1e-9) - 1
        threshold = float(combined[allowed]) if allowed >= 0 else math.inf
        return cls(ordered, scale, n_resamples, threshold)

    def combined(self, values: Floats, *, itself: bool = False) -> Floats:
        """Return Σ weight/p of each row, with the p-values that ``n_resamples`` draws would give.

        ``itself`` means that the values are those of the pool.
        """
        rows = np.round(values / self.scale, DIGITS)
        pool, found = len(self.ordered), np.zeros(len(values))
        for weight, column, row in zip(PART_WEIGHTS, self.ordered.T, rows.T, strict=True):
            as_large = pool - np.searchsorted(column, row, side="left")
            share = (as_large - itself) / (pool - itself)
            found += weight * (1 + self.n_resamples) / (1 + self.n_resamples * share)
        return found

    def rejected(self, values: Floats) -> Outcomes:
        """Return whether the test rejects each row."""
        return np.asarray(self.combined(values) > self.threshold * (1 + 1e-9))


@dataclass(frozen=True, eq=False)
class OmnibusDetections:
    """Rejections by the omnibus test for draws with changed rates, for any number of rows.

    Its p-values are ranks among calibrated labels of the same cells, combined as in the test.
    Those labels are drawn once for each multiple of the rows of the data by a power of two. For all
    numbers of rows at which sums are nearly normal they are drawn once, because the statistics have
    no unit.
    """

    cells: WeightedCells
    rows: float
    n_resamples: int
    alpha: float
    negligible: ClassVar[float] = 1e-9
    """A shift of a rate that may leave [0, 1]: scores of 1 would leave no room for any other."""
    _made: dict[int, tuple[ScaledCells, NullPool]] = field(default_factory=dict, repr=False)
    _drawn: dict[int, Quantiles] = field(default_factory=dict, repr=False)

    @cached_property
    def score(self) -> Floats:
        """Mean score of each fine cell."""
        return np.asarray(self.cells.moments.wp / self.cells.moments.w)

    @cached_property
    def share(self) -> Floats:
        """Fraction of the weight in each fine cell."""
        return np.asarray(self.cells.moments.w / self.cells.moments.w.sum())

    @cached_property
    def level(self) -> float:
        """The largest p-value at which the test rejects, given the number of resamples."""
        return math.floor(self.alpha * (1 + self.n_resamples) + 1e-9) / (1 + self.n_resamples)

    def detections(self, gap: Floats, rows: float, n_draws: int) -> Iterator[Outcomes]:
        """Return which draws are rejected if fine cells' rates are off by a gap, in parts."""
        if self.level == 0:
            yield np.zeros(n_draws, np.bool_)
            return
        times = rows / self.rows
        cells, pool = self._calibrated(times)
        drawn, n_cells = self._quantiles(n_draws), len(cells.size)
        for each in steps(n_draws, DETECTIONS_AT_ONCE):
            some = drawn.part(n_cells, slice(*each))
            yield pool.rejected(cells.statistics(gap, times, some))

    def _calibrated(self, times: float) -> tuple[ScaledCells, NullPool]:
        doublings = min(round(math.log2(times)), self._most_doublings)
        if doublings not in self._made:
            cells, times = self._cells(doublings), 2.0**doublings
            n_draws = OTHER_NULL_DRAWS if doublings else NULL_DRAWS
            chance = np.random.default_rng([1, abs(doublings), doublings < 0])
            quantiles = Quantiles.drawn((len(cells.size), n_draws), chance)
            still = np.zeros(len(self.score))
            parts = [quantiles.part(len(cells.size), slice(*some)) for some in in_parts(n_draws)]
            values = np.concatenate([cells.statistics(still, times, some) for some in parts])
            pool = NullPool.from_values(values, self.n_resamples, self.level)
            self._made[doublings] = cells, pool
        return self._made[doublings]

    def _quantiles(self, n_draws: int) -> Quantiles:
        """Return the same random numbers for every rate, so that errors are compared fairly."""
        if n_draws not in self._drawn:
            chance = np.random.default_rng(0)
            self._drawn[n_draws] = Quantiles.drawn((MOST_CELLS, n_draws), chance)
        return self._drawn[n_draws]

    @cached_property
    def _most_doublings(self) -> int:
        """Number of doublings of the rows beyond which only the unit of the sums changes."""
        if not (self.cells.moments.variance > 0).any():
            return 0
        doublings = 0
        while doublings < MOST_DOUBLINGS:
            full = self._n_rows(doublings) >= MOST_CELLS * ROWS_PER_CELL
            if full and self._cells(doublings).is_normal(2.0**doublings):
                break
            doublings += 1
        return doublings

    def _cells(self, doublings: int) -> ScaledCells:
        return ScaledCells.from_moments(self.cells, self._n_rows(doublings))

    def _n_rows(self, doublings: int) -> float:
        return float(self.cells.moments.count.sum()) * 2.0**doublings


def in_parts(n_draws: int) -> list[Chunk]:
    """Cut draws into parts, to save memory."""
    return steps(n_draws, DRAWS_AT_ONCE)
