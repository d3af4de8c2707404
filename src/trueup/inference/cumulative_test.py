"""Tests without bins: the running sum of score − label against that of drawn labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.estimators import CumulativeError
from trueup.forecasts import Forecasts
from trueup.inference.null_labels import (
    NullPairs,
    Outcomes,
    check_lens_of_test,
    check_test,
    null_of,
    resampled_pvalue,
    resampling_notes,
)
from trueup.inference.seeds import Seed
from trueup.results import HypothesisResult


def ks(
    forecasts: Forecasts,
    *,
    rng: Seed = None,
    n_resamples: int = 999,
    statistic: object = None,
) -> HypothesisResult:
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
    pairs = lens.pairs(forecasts)
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

    drawn = rows.drawn(largest, rng, n_resamples)
    pvalue = resampled_pvalue(float(largest(rows.y)), drawn)
    value = estimator.measure_pairs(pairs).power
    notes = resampling_notes(drawn)
    return HypothesisResult(value, pvalue, estimator.statistic, null_of(lens), notes)
