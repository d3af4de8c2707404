"""The bootstrap: rows drawn again, with their weights, by cluster where there are clusters.

Resample r of a seed has its own stream of random numbers, so that the answer depends on the seed
alone, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.engines.threads import Chunk, run
from trueup.forecasts import Forecasts
from trueup.inference.binned_intervals import Ends

__all__ = ["METHODS", "Bootstrap"]

METHODS = ("percentile", "basic", "bca")
JACKKNIFE_GROUPS = 200
Statistic = Callable[[Forecasts], float]


class Units:
    """What is drawn again: single rows, or clusters of rows that depend on each other."""

    def __init__(self, forecasts: Forecasts) -> None:
        self.count = forecasts.n
        self._order: Ints | None = None
        if forecasts.clusters is not None:
            _, number = np.unique(forecasts.clusters, return_inverse=True)
            number = number.reshape(-1)
            self._order = np.argsort(number, kind="stable")
            self._size = np.bincount(number)
            self._start = np.cumsum(self._size) - self._size
            self.count = len(self._size)

    def rows(self, units: Ints) -> Ints:
        """Rows of some units, in the order of the units."""
        if self._order is None:
            return units
        size = self._size[units]
        first = np.repeat(self._start[units] - np.cumsum(size) + size, size)
        return np.asarray(self._order[first + np.arange(size.sum())])


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic of data with its values on resamples of the data."""

    statistic: Statistic
    forecasts: Forecasts
    estimate: float
    values: Floats
    units: Units
    seed: int

    @classmethod
    def of(
        cls, statistic: Statistic, forecasts: Forecasts, n_resamples: int, seed: int
    ) -> Bootstrap:
        """Draw ``n_resamples`` times as many units as there are, and take the statistic of each."""
        units = Units(forecasts)

        def on(first: int, last: int) -> list[float]:
            return [
                statistic(forecasts.take(units.rows(drawn)))
                for drawn in _draws(seed, first, last, units.count)
            ]

        values = np.array([value for part in run(on, _eights(n_resamples)) for value in part])
        return cls(statistic, forecasts, statistic(forecasts), values, units, seed)

    def ends(self, method: str, level: float) -> Ends:
        """Return the interval; a statistic that is never negative has none below 0."""
        miss = (1 - level) / 2
        if method == "widest":
            low, high = self._widest(miss)
        elif method == "basic":
            low, high = 2 * self.estimate - self._quantiles([1 - miss, miss])
        elif method == "bca":
            low, high = self._quantiles(self._corrected([miss, 1 - miss]))
        else:
            low, high = self._quantiles([miss, 1 - miss])
        if min(self.estimate, float(self.values.min())) >= 0:
            low, high = max(0.0, low), max(0.0, high)
        return Ends(float(low), float(high))

    def _widest(self, miss: float) -> tuple[float, float]:
        """Ends for errors, whose bias changes with the error, of which each method gets one side.

        Errors that are norms exceed the truth by no more than noise alone shows, and that is what
        calibrated labels show: below, the estimate less its quantile, or the basic end if lower.
        With clusters there is no noise to draw. Above, the percentile end, or the basic one.
        """
        first, last = self._quantiles([miss, 1 - miss])
        low, high = 2 * self.estimate - last, max(last, 2 * self.estimate - first)
        if self.forecasts.clusters is None:
            chance = np.quantile(self._null_values(), 1 - miss, method="weibull")
            low = min(low, self.estimate - chance)
        return float(low), float(high)

    def _null_values(self) -> Floats:
        """Values on as many sets of labels drawn from the predictions."""

        def on(first: int, last: int) -> list[float]:
            drawn = (self._drawn_labels(r) for r in range(first, last))
            return [self.statistic(replace(self.forecasts, labels=labels)) for labels in drawn]

        parts = run(on, _eights(len(self.values)))
        return np.array([value for part in parts for value in part])

    def _drawn_labels(self, r: int) -> Ints:
        chance = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(r, 1)))
        if not self.forecasts.is_matrix:
            return (chance.random(self.forecasts.n) < self.forecasts.scores).astype(np.int64)
        labels = np.empty(self.forecasts.n, np.int64)
        for where in self.forecasts.blocks():
            upto = np.cumsum(self.forecasts.rows(where), axis=1)[:, :-1]
            labels[where] = np.sum(chance.random((len(upto), 1)) >= upto, axis=1)
        return labels

    def _quantiles(self, probabilities: list[float]) -> Floats:
        return np.quantile(self.values, probabilities, method="weibull")

    def _corrected(self, probabilities: list[float]) -> list[float]:
        """Probabilities corrected for bias and acceleration (Efron 1987)."""
        from scipy.special import ndtr, ndtri

        n = len(self.values)
        below = np.sum(self.values < self.estimate) + 0.5 * np.sum(self.values == self.estimate)
        bias = float(ndtri(np.clip(below / n, 0.5 / n, 1 - 0.5 / n)))
        acceleration = self._acceleration()
        z = bias + ndtri(probabilities)
        return list(ndtr(bias + z / (1 - acceleration * z)))

    def _acceleration(self) -> float:
        """Skewness of the jackknife, over groups of units where there are many."""
        count = self.units.count
        groups = min(count, JACKKNIFE_GROUPS)
        if groups < 2:
            return 0.0
        every = np.arange(count)

        def without(first: int, last: int) -> list[float]:
            return [
                self.statistic(self.forecasts.take(self.units.rows(every[every % groups != g])))
                for g in range(first, last)
            ]

        parts = run(without, _eights(groups))
        values = np.array([value for part in parts for value in part])
        away = values.mean() - values
        spread = float(np.sum(away**2))
        return 0.0 if spread == 0 else float(np.sum(away**3)) / (6 * spread**1.5)


def _eights(count: int) -> list[Chunk]:
    return [(start, min(start + 8, count)) for start in range(0, count, 8)]


def _draws(seed: int, first: int, last: int, count: int) -> Iterator[Ints]:
    for r in range(first, last):
        chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,)))
        yield chance.integers(count, size=count)
