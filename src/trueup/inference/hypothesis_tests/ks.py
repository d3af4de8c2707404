"""Tests without bins: the running sum of score − label compared with that of drawn labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.estimators import CumulativeError
from trueup.forecasts import Forecasts
from trueup.inference.asymptotic.brownian_motion import tail_of_distance, tail_of_range
from trueup.inference.asymptotic.skewed_sums import heavier_tails
from trueup.inference.hypothesis_tests.null_distribution import (
    APPROXIMATE,
    TINY,
    NullPairs,
    Outcomes,
    certain_pvalue,
    check_lens_of_test,
    check_test,
    check_variance,
    null_of,
    resampled_pvalue,
    resampling_notes,
)
from trueup.inference.hypothesis_tests.sorted_resamples import SortedPairs, null_powers
from trueup.lens import Pairs
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, seed_of


def ks(
    forecasts: Forecasts,
    *,
    statistic: object,
    n_resamples: int,
    rng: Seed,
    tail: str = "resampling",
) -> CalibrationTestResult:
    r"""Test the largest running sum of score − label (Kolmogorov and Smirnov), without bins.

    Outcomes are drawn from the fixed scores, so the p-value is exact for any number of rows.
    ``statistic`` may be a lens, or a `CumulativeError`, also in its Kuiper form.

    With ``tail="asymptotic"`` the p-value is an approximation for many rows, from the largest
    distance of Brownian motion from 0 or, for the Kuiper form, its range. The variance is
    :math:`\sum_i w_i^2 p_i (1 - p_i)`, which must be at least 25 times the square of the largest
    weight. A factor corrects it for the skewness of rare outcomes. ``n_resamples`` and ``rng`` are
    not used. Compared with a million draws at 200 and 1,000 rows, approximate p-values from 0.1 to
    0.0001 are 1.04 to 1.31 times the true ones, which is slightly conservative (docs/tails.md).

    References
    ----------
    Gupta et al. 2020, "Calibration of neural networks using splines"; Arrieta-Ibarra et al. 2022,
    "Metrics of calibration for probabilistic predictions"; Feller 1951, "The asymptotic
    distribution of the range of sums of independent random variables".
    """
    check_test(forecasts, n_resamples)
    estimator = CumulativeError().or_given(statistic)
    lens = check_lens_of_test(estimator.lens_for(forecasts), simplex=False)
    pairs = lens.problem(forecasts)
    if tail == "asymptotic":
        return _asymptotic(estimator, pairs, null_of(lens), n_resamples)
    if pairs.w is None:
        powers, total = _powers(estimator, pairs, rng, n_resamples), 1.0
    else:
        powers, total = _weighted_sums(estimator, pairs, rng, n_resamples), float(pairs.w.sum())
    pvalue, notes = resampled_pvalue(powers[0], powers[1:]), resampling_notes(powers[1:])
    value = estimator.measure_pairs(pairs).pth_power
    drawn = powers[1:] / total
    return CalibrationTestResult(value, pvalue, estimator.statistic, null_of(lens), notes, drawn)


def _asymptotic(
    estimator: CumulativeError, pairs: Pairs, null: str, n_resamples: int
) -> CalibrationTestResult:
    rows, value = NullPairs.as_given(pairs), estimator.measure_pairs(pairs).pth_power
    if rows.certain:
        pvalue, notes = certain_pvalue(rows.possible, n_resamples), {"reference": "certain"}
        return CalibrationTestResult(value, pvalue, estimator.statistic, null, notes)
    variance = check_variance(rows.variance, rows.w)
    total = len(pairs) if rows.w is None else float(rows.w.sum())
    pvalue = approximate_tail(estimator.statistic, rows, value * total / math.sqrt(variance))
    return CalibrationTestResult(value, pvalue, estimator.statistic, null, dict(APPROXIMATE))


def approximate_tail(statistic: str, rows: NullPairs, x: float) -> float:
    """Return the tail of Brownian motion at x, corrected for the skewness of residuals.

    Most paths with a large maximum are large at their end, where the sum contains all residuals.
    """
    tail = tail_of_range if statistic == "kuiper" else tail_of_distance
    heavier = heavier_tails(rows.p, rows.weighted(np.ones(len(rows.p))), x)
    return max(TINY, min(1.0, tail(x) * heavier))


def _powers(estimator: CumulativeError, pairs: Pairs, rng: Seed, n_resamples: int) -> Floats:
    """Return the power of the data, then those of drawn outcomes, counted by score."""
    return null_powers([estimator], SortedPairs.of(pairs), seed_of(rng), n_resamples)[0]


def _weighted_sums(estimator: CumulativeError, pairs: Pairs, rng: Seed, n_resamples: int) -> Floats:
    """Return the same for rows with weights, row by row, before division by their sum."""
    rows = NullPairs.in_order(pairs)
    end = np.flatnonzero(np.r_[rows.p[1:] != rows.p[:-1], True])  # ties are one step
    kuiper = estimator.statistic == "kuiper"

    def largest(y: Outcomes) -> Any:
        sums = rows.residuals(y)
        np.cumsum(sums, axis=-1, out=sums)
        if len(end) < len(rows.p):
            sums = sums[..., end]
        highest, lowest = sums.max(axis=-1), sums.min(axis=-1)
        if kuiper:  # the empty sum is one of them
            return np.maximum(highest, 0) - np.minimum(lowest, 0)
        return np.maximum(highest, -lowest)

    return np.concatenate([[largest(rows.y)], rows.drawn(largest, rng, n_resamples)])
