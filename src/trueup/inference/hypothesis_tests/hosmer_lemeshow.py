"""The Hosmer–Lemeshow test: sums of labels compared with sums of scores, bin by bin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import chdtrc

from trueup._typing import Floats
from trueup.bins import EqualMass
from trueup.estimators import BinnedError
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.null_distribution import (
    TINY,
    NullPairs,
    certain_pvalue,
    check_lens_of_test,
    check_test,
    null_of,
    resampled_pvalue,
    resampling_notes,
)
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed

FEWEST = 5.0  # the variance of the outcomes of a bin, for the chi-square distribution
DEFAULT = BinnedError(binning=EqualMass(10))


def hosmer_lemeshow(
    forecasts: Forecasts, *, statistic: object, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    r"""Compare observed with expected outcomes in ten equal-mass bins.

    :math:`\sum_b (\sum_{i \in b} w_i(p_i - y_i))^2 / \sum_{i \in b} w_i^2 p_i(1 - p_i)`. The
    variance of a bin is computed from its scores. It is not :math:`n_b f_b(1 - f_b)`, which is
    larger if scores differ inside the bin. The model was not fitted to these data, so the statistic
    has a chi-square distribution with as many degrees of freedom as there are bins, not two fewer.
    With weights, or if the number of outcomes in a bin has a variance below 5 and is therefore far
    from normal (``notes`` give the number of such bins), outcomes are drawn from the scores
    instead.

    ``statistic`` may be a lens, or a `BinnedError`, whose lens and binning are used.

    References
    ----------
    Hosmer & Lemeshow 1980, "Goodness of fit tests for the multiple logistic regression model".
    """
    check_test(forecasts, n_resamples)
    chosen = DEFAULT.or_given(statistic)
    lens = check_lens_of_test(chosen.lens_for(forecasts), simplex=False)
    pairs = lens.problem(forecasts)
    rows = NullPairs.in_order(pairs)
    start = rows.bin_starts(chosen.binning.table_of(pairs).edges[1:-1])
    variance = np.add.reduceat(rows.variance, start)
    residual = rows.bin_residuals(start, rows.y)
    certain = variance == 0
    agree = not residual[certain].any()
    found = float(_chi_square(residual, variance)) if agree else math.inf
    small = int(np.count_nonzero(variance < FEWEST))
    notes: dict[str, Any] = {"df": len(start), "bins_of_small_variance": small}
    drawn = None
    if certain.all() or not agree:
        notes["reference"] = "certain"
        pvalue = certain_pvalue(agree, n_resamples)
    elif small == 0 and rows.w is None:
        notes["reference"] = "chi-square"
        pvalue = max(TINY, float(chdtrc(len(start), found)))
    else:
        drawn = rows.drawn(
            lambda y: _chi_square(rows.bin_residuals(start, y), variance), rng, n_resamples
        )
        notes |= resampling_notes(drawn)
        pvalue = resampled_pvalue(found, drawn)
    return CalibrationTestResult(found, pvalue, "hosmer-lemeshow", null_of(lens), notes, drawn)


def _chi_square(residual: Floats, variance: Floats) -> Any:
    known = variance > 0
    return np.sum(residual[..., known] ** 2 / variance[known], axis=-1)
