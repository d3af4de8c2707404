"""Which error would a test have found? From the bins and resamples that gave its p-value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import steps
from trueup.errors import must_be
from trueup.estimators.base import Metric, known_estimator
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_inside
from trueup.inference.hypothesis_tests.consistency_resampling import resampled_powers
from trueup.inference.hypothesis_tests.null_distribution import Outcomes, check_test
from trueup.lens import Binary, binary_problem
from trueup.metrics import rmsce_debiased
from trueup.notebook import FieldsShown
from trueup.seeds import Seed, seed_of
from trueup.tables import BinTable

DRAWS = 2000
DRAWS_AT_ONCE = 100  # a multiple of 4, in which BLAS takes rows: values are those of one draw
HALVINGS = 16
TEMPERATURES = (2.0, 0.5)
"""Over- and under-confident by so much are the shapes of error looked for."""
MOST_ROWS = 1e12


@dataclass(frozen=True, eq=False)
class Sensitivity(FieldsShown):
    r"""How far a consistency test can see, as of a debiased squared error S over bins.

    A model is made wrong by a temperature: of bins with mean score f the true rates become
    :math:`f + t (\sigma(\mathrm{logit}(f) / T) - f)`, over-confident for T = 2 and under-confident
    for T = ½, which for a strength t is a root mean squared error e. Scores of ½ alone, which no
    temperature moves, are moved by f(1 − f) up and down. Labels of every bin are drawn with these
    rates, and e is found where S is above the threshold of the test. For other
    numbers of rows the threshold changes as 1/n.

    Attributes
    ----------
    null
        The statistic of calibrated models: one for each resample.
    observed
        That of the data.
    alpha
        Level of the test.
    table
        The bins.
    """

    null: Floats
    observed: float
    alpha: float
    table: BinTable

    @cached_property
    def threshold(self) -> float:
        """What S must exceed for the test to reject; infinity where so few resamples never do."""
        allowed = math.floor(self.alpha * (1 + len(self.null)) + 1e-9) - 1
        return float(np.sort(self.null)[::-1][allowed]) if allowed >= 0 else math.inf

    @property
    def rows(self) -> float:
        """Rows in all bins, the effective number with weights."""
        return float(np.sum(_sizes(self.table)))

    def smallest_error(self, power: float = 0.8) -> float | None:
        """Return the smallest error found with probability ``power``; None if none is.

        Of the two shapes the one that is harder to find decides, unless it cannot be large enough
        to be found: scores near 1 leave no room for under-confidence.
        """
        check_inside("power", power)
        errors = [self._smallest(temperature, power) for temperature in TEMPERATURES]
        return max((error for error in errors if error is not None), default=None)

    def rows_for(self, error: float, power: float = 0.8) -> float | None:
        """Return about how many rows find an error with probability ``power``.

        None where no shape has so large an error with these scores, or no number of rows does.
        """
        if not 0 < error <= 1:
            raise must_be("error", "above 0 and at most 1", error)
        check_inside("power", power)
        rows = []
        for temperature in TEMPERATURES:
            strength = error / max(self._error(temperature, 1.0), 1e-300)
            if self._reach(temperature) < strength:
                continue
            rows.append(self._first_enough(temperature, strength, power))
        known = [many for many in rows if many is not None]
        return max(known, default=None)

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

    def _first_enough(self, temperature: float, strength: float, power: float) -> float | None:
        """Return the smallest number of rows, to within 1%, that detects often enough."""
        low, high = 0.0, math.log(MOST_ROWS)
        if not self._finds(temperature, strength, MOST_ROWS, power):
            return None
        while high - low > 0.01:
            middle = (low + high) / 2
            enough = self._finds(temperature, strength, math.exp(middle), power)
            low, high = (low, middle) if enough else (middle, high)
        return math.exp(high)

    def _reach(self, temperature: float) -> float:
        """Return the strength at which a rate first leaves 0 … 1."""
        score, shift = self.table.mean_score, _shift(self.table.mean_score, temperature)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(shift > 0, (1 - score) / shift, score / -shift)
        return float(np.min(room, initial=math.inf, where=shift != 0))

    def _error(self, temperature: float, strength: float) -> float:
        gap = strength * _shift(self.table.mean_score, temperature)
        return math.sqrt(float(np.sum(self.table.share * gap * gap)))

    def _finds(self, temperature: float, strength: float, rows: float, power: float) -> bool:
        """Whether this number of rows finds an error with probability ``power``.

        Counting stops as soon as the remaining draws cannot change the answer.
        """
        count, left = 0, DRAWS
        for found in self._detections(temperature, strength, rows):
            count, left = count + int(np.count_nonzero(found)), left - len(found)
            if count / DRAWS >= power or (count + left) / DRAWS < power:
                break
        return count / DRAWS >= power

    def _detections(self, temperature: float, strength: float, rows: float) -> Iterator[Outcomes]:
        """Which draws of labels find an error, some of them at a time."""
        if not math.isfinite(strength):
            return
        score = np.clip(self.table.mean_score, 0, 1)
        rate = np.clip(score + strength * _shift(score, temperature), 0, 1)
        sizes, all_rows = _sizes(self.table), self.rows
        size = np.maximum(np.floor(sizes * rows / all_rows + 1e-9), 1)
        whole, chance = size.astype(np.int64), np.random.default_rng(0)
        for first, last in steps(DRAWS, DRAWS_AT_ONCE):
            mean = chance.binomial(whole, rate, (last - first, len(size))) / size
            noise = mean * (1 - mean) / np.maximum(size - 1, 1)
            value = ((score - mean) ** 2 - noise) @ self.table.share
            yield value > self.threshold * all_rows / rows


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
    """Measure how far the consistency test of these predictions can see.

    "No evidence of miscalibration" means little by itself: with few rows a large error stays
    hidden. This says which. `trueup.power` answers the same with data sets drawn from a world
    fitted to the data, at many times the cost.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or one `Forecasts`, without clusters and soft labels.
    logits
        Whether the predictions are logits.
    statistic
        A debiased `BinnedError` of norm 2 that looks at one outcome a row; by default the
        composition of `rmsce_debiased`.
    alpha
        Level of the test.
    n_resamples, rng
        As for `calibration_test`.

    Examples
    --------
    >>> p = np.random.default_rng(0).random(1000)
    >>> y = np.random.default_rng(1).random(1000) < p
    >>> result = sensitivity(p, y, rng=0)
    >>> 0.03 < result.smallest_error(power=0.8) < 0.08
    True
    >>> 8_000 < result.rows_for(0.015) < 40_000
    True
    """
    usual = rmsce_debiased.estimator()
    chosen = usual if statistic is None else known_estimator(statistic, "statistic")
    if chosen is None or not usual.is_like(chosen, "lens", "binning"):
        raise must_be("statistic", "a debiased BinnedError of norm 2", statistic)
    check_inside("alpha", alpha)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    lens = chosen.lens_for(forecasts)
    if not lens.one_outcome:
        raise must_be("statistic", "use one outcome per row", chosen)
    check_test(forecasts, n_resamples)
    # The outcome alone, as the test itself draws it: resamples are the same, and no matrix is read.
    problem = binary_problem(lens, forecasts)
    induced = chosen.through(Binary())
    powers = resampled_powers(induced, problem, seed_of(rng), n_resamples)
    table, _ = induced.table(problem).without_singles()
    return Sensitivity(powers[1:], float(powers[0]), alpha, table)


def _sizes(table: BinTable) -> Floats:
    return np.maximum(1 / table.concentration, 1.0)


def _shift(score: Floats, temperature: float) -> Floats:
    """How far a temperature moves scores: σ(logit(f) / T) − f; if none, ±f(1 − f)."""
    from scipy.special import expit, logit

    inside = np.clip(score, 1e-12, 1 - 1e-12)
    shift = np.asarray(expit(logit(inside) / temperature) - inside)
    if shift.any():
        return shift
    return np.asarray(score * (1 - score) * (1 if temperature < 1 else -1))
