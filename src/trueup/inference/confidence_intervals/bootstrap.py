"""The bootstrap: rows are resampled with their weights, or whole clusters if there are clusters.

Resample r of a seed has its own stream of random numbers, so the result depends on the seed alone,
not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import steps
from trueup.engines.threads import run
from trueup.errors import InputError
from trueup.estimators.base import Ends, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.cluster_tests.cluster_signs import signed
from trueup.inference.hypothesis_tests.sorted_resamples import (
    Resample,
    powers_of,
    sorted_problem,
    values_of,
)

METHODS = ("percentile", "basic", "bca")
JACKKNIFE_GROUPS = 200
AT_ONCE = 8  # resamples a thread takes at a time
Statistic = Callable[[Forecasts], Any]


class Units:
    """The units of resampling: single rows, or clusters of rows that depend on each other."""

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
        """Return the rows of some units, in the order of the units."""
        if self._order is None:
            return units
        size = self._size[units]
        first = np.repeat(self._start[units] - np.cumsum(size) + size, size)
        return np.asarray(self._order[first + np.arange(size.sum())])


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Value of a statistic for the data, and its values on resamples.

    ``null_values`` returns values under sampling noise alone: for as many sets of labels drawn from
    the predictions and, with clusters, of residuals whose clusters change sign.
    """

    statistic: Statistic
    forecasts: Forecasts
    estimate: float
    values: Floats
    null_values: Callable[[], Floats]
    units: Units

    @classmethod
    def of(
        cls, statistic: Statistic, forecasts: Forecasts, n_resamples: int, seed: int
    ) -> Bootstrap:
        """Resample all units ``n_resamples`` times, and compute the statistic of each resample."""
        units, estimate = Units(forecasts), float(statistic(forecasts))
        known = known_estimator(statistic)
        ready = None if known is None else sorted_problem(known, forecasts)
        if known is not None and ready is not None:

            def on(draw: Resample) -> Floats:
                return values_of(known, powers_of([known], draw, seed, n_resamples)[0])

            drawn, labelled = ready.with_drawn_rows, ready.with_drawn_labels
            return cls(known, forecasts, estimate, on(drawn), lambda: on(labelled), units)

        def rows(r: int) -> float:
            return float(statistic(forecasts.take(units.rows(_drawn_units(seed, r, units.count)))))

        def labels(r: int) -> float:
            return float(statistic(forecasts.with_labels(_drawn_labels(forecasts, seed, r))))

        rule = "could not be computed on some resamples"
        try:
            values = _of_each(rows, n_resamples)
        except InputError as error:  # the rows themselves have one
            hint = "a small region or class may be empty in a resample"
            raise InputError("estimator", rule, hint=hint) from error
        if not np.isfinite(values).all():
            raise InputError("estimator", f"{rule}: it returned NaN or infinity")
        noise = partial(_of_each, labels, n_resamples)
        if forecasts.clusters is not None:
            noise = partial(_of_clusters, noise, statistic, forecasts, seed, n_resamples)
        return cls(statistic, forecasts, estimate, values, noise, units)

    def ends(self, method: str, level: float) -> Ends:
        """Return the interval; its lower end is at least 0 if the statistic is never negative."""
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
        """Return ends for errors, whose bias changes with the error, by one method for each end.

        Errors that are norms exceed the true value by at most as much as for calibrated labels. The
        lower end is the estimate minus the quantile for calibrated labels, or the basic end if that
        is lower. The upper end is the percentile end, or the basic end if that is higher.
        """
        first, last = self._quantiles([miss, 1 - miss])
        low, high = 2 * self.estimate - last, max(last, 2 * self.estimate - first)
        chance = np.quantile(self.null_values(), 1 - miss, method="weibull")
        return float(min(low, self.estimate - chance)), float(high)

    def _quantiles(self, probabilities: list[float]) -> Floats:
        return np.quantile(self.values, probabilities, method="weibull")

    def _corrected(self, probabilities: list[float]) -> list[float]:
        """Return probabilities corrected for bias and acceleration (Efron 1987)."""
        from scipy.special import ndtr, ndtri

        n = len(self.values)
        below = np.sum(self.values < self.estimate) + 0.5 * np.sum(self.values == self.estimate)
        bias = float(ndtri(np.clip(below / n, 0.5 / n, 1 - 0.5 / n)))
        acceleration = self._acceleration()
        z = bias + ndtri(probabilities)
        return list(ndtr(bias + z / (1 - acceleration * z)))

    def _acceleration(self) -> float:
        """Return the skewness of the jackknife, over groups of units if there are many."""
        count = self.units.count
        groups = min(count, JACKKNIFE_GROUPS)
        if groups < 2:
            return 0.0
        every = np.arange(count)

        def without(group: int) -> float:
            rows = self.units.rows(every[every % groups != group])
            return float(self.statistic(self.forecasts.take(rows)))

        values = _of_each(without, groups)
        away = values.mean() - values
        spread = float(np.sum(away**2))
        return 0.0 if spread == 0 else float(np.sum(away**3)) / (6 * spread**1.5)


def _of_clusters(
    on_labels: Callable[[], Floats],
    statistic: Statistic,
    forecasts: Forecasts,
    seed: int,
    n_resamples: int,
) -> Floats:
    """Return values under noise from drawn labels or, if larger, from cluster sign changes.

    Drawn labels ignore the dependence of rows; sign changes use only the errors in the data.
    """
    alone, known = np.sort(on_labels()), known_estimator(statistic)
    if known is None or not known.of_residuals or forecasts.soft:
        return alone
    turned = signed(known, forecasts, seed, n_resamples, lambda found: found.value)[1:]
    return np.asarray(np.maximum(alone, np.sort(turned)))


def _of_each(value: Callable[[int], float], count: int) -> Floats:
    """Return the values of the resamples 0 … count−1, computed by threads."""

    def some(first: int, last: int) -> list[float]:
        return [value(r) for r in range(first, last)]

    parts = run(some, steps(count, AT_ONCE), tell=True)
    return np.array([found for part in parts for found in part])


def _drawn_units(seed: int, r: int, count: int) -> Ints:
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,)))
    return chance.integers(count, size=count)


def _drawn_labels(forecasts: Forecasts, seed: int, r: int) -> Ints:
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r, 1)))
    if not forecasts.is_matrix:
        return (chance.random(forecasts.n) < forecasts.scores).astype(np.int64)
    labels = np.empty(forecasts.n, np.int64)
    for where in forecasts.blocks():
        upto = np.cumsum(forecasts.rows(where), axis=1)[:, :-1]
        labels[where] = np.sum(chance.random((len(upto), 1)) >= upto, axis=1)
    return labels
