"""Tests without bins: the running sum of score − label against that of drawn labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.estimators import CumulativeError
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.null_distribution import (
    NullPairs,
    Outcomes,
    check_lens_of_test,
    check_test,
    null_of,
    resampled_pvalue,
    resampling_notes,
)
from trueup.inference.hypothesis_tests.sorted_resamples import SortedPairs, null_powers
from trueup.lens import Pairs
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, seed_of


def ks(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    """Test the largest running sum of score − label (Kolmogorov and Smirnov), without bins.

    Outcomes are drawn from the scores, which stay, so the p-value is exact whatever the number
    of rows. ``statistic`` may be a lens, or a `CumulativeError`, also the Kuiper form.

    References
    ----------
    Gupta et al. 2020, "Calibration of neural networks using splines"; Arrieta-Ibarra et al. 2022,
    "Metrics of calibration for probabilistic predictions".
    """
    check_test(forecasts, n_resamples)
    estimator = CumulativeError().or_given(statistic)
    lens = check_lens_of_test(estimator.lens_for(forecasts), simplex=False)
    pairs = lens.problem(forecasts)
    powers = (_weighted_powers if pairs.w is not None else _powers)(
        estimator, pairs, rng, n_resamples
    )
    pvalue, notes = resampled_pvalue(powers[0], powers[1:]), resampling_notes(powers[1:])
    value = estimator.measure_pairs(pairs).pth_power
    return CalibrationTestResult(value, pvalue, estimator.statistic, null_of(lens), notes)


def _powers(estimator: CumulativeError, pairs: Pairs, rng: Seed, n_resamples: int) -> Floats:
    """Return the power of the data, then those of drawn outcomes, counted by score."""
    return null_powers([estimator], SortedPairs.of(pairs), seed_of(rng), n_resamples)[0]


def _weighted_powers(
    estimator: CumulativeError, pairs: Pairs, rng: Seed, n_resamples: int
) -> Floats:
    """Return the same for rows with weights, row by row."""
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
