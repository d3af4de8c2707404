"""The smallest error that a test detects, from the cells and draws of its p-value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.engines.draw_keys import keys_of
from trueup.errors import must_be
from trueup.estimators.base import Metric, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_inside
from trueup.inference.hypothesis_tests.binned_detections import BinnedDetections, effective_sizes
from trueup.inference.hypothesis_tests.consistency_resampling import resampled_powers
from trueup.inference.hypothesis_tests.null_distribution import Outcomes, check_test
from trueup.inference.omnibus.columns import Column, values_of_column
from trueup.inference.omnibus.detections import OmnibusDetections, WeightedCells
from trueup.inference.omnibus.pooled_pvalues import harmonic, pooled_pvalues
from trueup.lens import Binary, TopLabel, binary_problem
from trueup.metrics import rmsce_debiased
from trueup.notebook import FieldsShown
from trueup.seeds import Seed, seed_of
from trueup.tables import BinTable

DRAWS = 2000
HALVINGS = 16
TEMPERATURES = (2.0, 0.5)
"""The shapes of error looked for: overconfident and underconfident by this much."""
MOST_ROWS = 1e12
STEP = math.log(16)


@dataclass(frozen=True, eq=False)
class Sensitivity(FieldsShown):
    r"""Miscalibration that a test detects, as a root mean squared (L2) error.

    A temperature T miscalibrates the model: at mean score f the true rate becomes
    :math:`f + t (\sigma(\mathrm{logit}(f) / T) - f)`, overconfident for T = 2 and underconfident
    for T = ½. Each strength t gives a root mean squared error e. If all scores are ½, which no
    temperature changes, rates are moved up and down by t·f(1 − f). Labels are drawn with these
    rates, and e is detected if the test rejects them.

    The omnibus test ranks its six statistics among calibrated labels, drawn for the same cells
    and number of rows. The consistency test of a debiased squared error over bins has one
    threshold, which changes as 1/n for other numbers of rows n.

    Attributes
    ----------
    null
        The statistic for calibrated labels, one per resample. For the omnibus test it is the sum Σ
        1/p over its parts.
    observed
        The statistic of the data.
    alpha
        Significance level of the test.
    table
        The bins, or the cells of the omnibus test.
    cells
        Sums over fine cells of scores, from which the omnibus test makes its own; None for a
        consistency test.
    """

    null: Floats
    observed: float
    alpha: float
    table: BinTable
    cells: WeightedCells | None = None

    @cached_property
    def threshold(self) -> float:
        """Threshold of the test; infinity if it cannot reject with so few resamples."""
        allowed = math.floor(self.alpha * (1 + len(self.null)) + 1e-9) - 1
        return float(np.sort(self.null)[::-1][allowed]) if allowed >= 0 else math.inf

    @property
    def rows(self) -> float:
        """Number of rows, or the effective number with weights."""
        return float(np.sum(effective_sizes(self.table)))

    def smallest_error(self, power: float = 0.8) -> float | None:
        """Return the smallest error detected with probability ``power``, or None.

        The result is for the shape that is harder to detect, unless its error cannot be large
        enough: scores near 1 leave no room for underconfidence.
        """
        check_inside("power", power)
        smallest = None
        for temperature in reversed(TEMPERATURES):  # the harder shape is mostly the last
            if smallest is not None:
                strength = smallest / max(self._error(temperature, 1.0), 1e-300)
                within = strength <= self._reach(temperature)
                if within and self._finds(temperature, strength, self.rows, power):
                    continue  # the smallest error of this shape is smaller
            found = self._smallest(temperature, power)
            smallest = max((e for e in (smallest, found) if e is not None), default=None)
        return smallest

    def rows_for(self, error: float, power: float = 0.8) -> float | None:
        """Return about how many rows detect an error with probability ``power``.

        None if these scores cannot have so large an error, or if no number of rows is sufficient.
        """
        if not 0 < error <= 1:
            raise must_be("error", "above 0 and at most 1", error)
        check_inside("power", power)
        needed = None
        for temperature in reversed(TEMPERATURES):  # the harder shape is mostly the last
            strength = error / max(self._error(temperature, 1.0), 1e-300)
            if self._reach(temperature) < strength:
                continue
            if needed is None or not self._finds(temperature, strength, needed, power):
                more = self._first_enough(temperature, strength, needed or 1.0, power)
                needed = needed if more is None else more
        return needed

    def _smallest(self, temperature: float, power: float) -> float | None:
        reach = self._reach(temperature)
        if not self._finds(temperature, reach, self.rows, power):
            return None
        low, high = 0.0, reach
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = self._finds(temperature, middle, self.rows, power)
            low, high = (low, middle) if enough else (middle, high)
        return self._error(temperature, high)

    def _first_enough(
        self, temperature: float, strength: float, too_few: float, power: float
    ) -> float | None:
        """Return the smallest number of rows, to within 2%, that gives the required power."""
        low, high = math.log(too_few), math.log(max(self.rows, too_few))
        while not self._finds(temperature, strength, math.exp(high), power):
            if high >= math.log(MOST_ROWS):
                return None
            low, high = high, min(high + STEP, math.log(MOST_ROWS))
        while high - STEP > low:
            if not self._finds(temperature, strength, math.exp(high - STEP), power):
                low = high - STEP
                break
            high -= STEP
        while high - low > 0.02:
            middle = (low + high) / 2
            enough = self._finds(temperature, strength, math.exp(middle), power)
            low, high = (low, middle) if enough else (middle, high)
        return math.exp(high)

    def _reach(self, temperature: float) -> float:
        """Return the strength at which a rate first reaches 0 or 1."""
        score, shift = self._draws.score, _shift(self._draws.score, temperature)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(shift > 0, (1 - score) / shift, score / -shift)
        return float(
            np.min(room, initial=math.inf, where=~(np.abs(shift) <= self._draws.negligible))
        )

    def _error(self, temperature: float, strength: float) -> float:
        gap = strength * _shift(self._draws.score, temperature)
        return math.sqrt(float(np.sum(self._draws.share * gap * gap)))

    def _finds(self, temperature: float, strength: float, rows: float, power: float) -> bool:
        """Whether this number of rows detects an error with probability ``power``.

        Counting stops as soon as the remaining draws cannot change the result.
        """
        count, left = 0, DRAWS
        for found in self._detections(temperature, strength, rows):
            count, left = count + int(np.count_nonzero(found)), left - len(found)
            if count / DRAWS >= power or (count + left) / DRAWS < power:
                break
        return count / DRAWS >= power

    def _detections(self, temperature: float, strength: float, rows: float) -> Iterator[Outcomes]:
        """Return which draws of labels the test rejects, computed in parts."""
        if not math.isfinite(strength):
            return
        gap = strength * _shift(np.clip(self._draws.score, 0, 1), temperature)
        yield from self._draws.detections(gap, rows, DRAWS)

    @cached_property
    def _draws(self) -> BinnedDetections | OmnibusDetections:
        if self.cells is None:
            return BinnedDetections(self.table, self.threshold)
        return OmnibusDetections(self.cells, self.rows, len(self.null), self.alpha)


def sensitivity(
    probs: object,
    labels: object = None,
    *,
    statistic: Metric | None = None,
    alpha: float = 0.05,
    n_resamples: int = 999,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
) -> Sensitivity:
    """Find the smallest miscalibration that a test of these predictions would detect.

    "No evidence of miscalibration" means little on its own: with few rows a large error can go
    undetected. This function computes how large. `trueup.power` also simulates new scores, from a
    model fitted to the data; it takes longer and supports more kinds of errors.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or a single `Forecasts`; clusters and soft labels are not supported.
    logits
        Whether the predictions are logits.
    statistic
        By default the omnibus test of a single column, or of only the top labels of a matrix. (The
        omnibus test of a whole matrix also detects errors of classes that are not predicted.) A
        debiased L2 `BinnedError` with one outcome per row selects its consistency test.
    alpha
        Significance level of the test.
    n_resamples, rng
        As for `calibration_test`.

    Notes
    -----
    Time hardly depends on the number of rows, apart from one test of the data:
    `Sensitivity.smallest_error` takes a few tenths of a second. docs/power.md compares its
    results with tests of drawn datasets.

    References
    ----------
    Roelofs et al. 2022, §5.4, for the power of tests of calibration; Guo et al. 2017 for
    miscalibration by a temperature.

    Examples
    --------
    >>> p = np.random.default_rng(0).random(1000)
    >>> y = np.random.default_rng(1).random(1000) < p
    >>> result = sensitivity(p, y, rng=0)
    >>> 0.03 < result.smallest_error(power=0.8) < 0.08
    True
    >>> 5_000 < result.rows_for(0.015) < 20_000
    True
    """
    chosen = None if statistic is None else _checked(statistic)
    check_inside("alpha", alpha)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    lens = _lens_of(chosen, forecasts)
    check_test(forecasts, n_resamples)
    if chosen is None:
        return _of_omnibus(lens, forecasts, alpha, n_resamples, rng)
    # The outcome alone, as the test itself draws it: resamples are the same, and no matrix is read.
    problem = binary_problem(lens, forecasts)
    induced = chosen.through(Binary())
    powers = resampled_powers(induced, problem, seed_of(rng), n_resamples)
    table, _ = induced.table(problem).without_singles()
    return Sensitivity(powers[1:], float(powers[0]), alpha, table)


def _checked(statistic: object) -> Any:
    usual, chosen = rmsce_debiased.estimator(), known_estimator(statistic, "statistic")
    if chosen is None or not usual.is_like(chosen, "lens", "binning"):
        raise must_be("statistic", "a debiased BinnedError with norm=2", statistic)
    return chosen


def _lens_of(chosen: Any, forecasts: Forecasts) -> Any:
    if chosen is None:
        return TopLabel() if forecasts.is_matrix else Binary()
    lens = chosen.lens_for(forecasts)
    if not lens.one_outcome:
        raise must_be("statistic", "use one outcome per row", chosen)
    return lens


def _of_omnibus(
    lens: Any, forecasts: Forecasts, alpha: float, n_resamples: int, rng: Seed
) -> Sensitivity:
    pairs = lens.problem(forecasts)
    column = Column.from_pairs(pairs)
    values = values_of_column(column, pairs, keys_of(seed_of(rng), n_resamples))
    combined = harmonic(pooled_pvalues(values))
    cells = WeightedCells.from_pairs(column.fine, pairs)
    return Sensitivity(combined[1:], float(combined[0]), alpha, column.table(pairs), cells)


def _shift(score: Floats, temperature: float) -> Floats:
    """Return the change of scores by a temperature: σ(logit(f) / T) − f; if 0, ±f(1 − f)."""
    from scipy.special import expit, logit

    inside = np.clip(score, 1e-12, 1 - 1e-12)
    shift = np.asarray(expit(logit(inside) / temperature) - inside)
    if shift.any():
        return shift
    return np.asarray(score * (1 - score) * (1 if temperature < 1 else -1))
