"""P-values of several datasets that share their scores, from one set of drawn labels.

Each p-value follows the same rule, with as many draws, as a test of its dataset alone. The draws
are shared, so a study of power computes them once per set of scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.draw_keys import keys_of
from trueup.errors import InputError
from trueup.estimators.base import Estimator
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse, drawn_and_given_powers
from trueup.inference.hypothesis_tests.consistency_resampling import (
    all_certain,
    induced_problem,
    resampled_powers,
)
from trueup.inference.hypothesis_tests.null_distribution import certain_pvalue, resampled_pvalue
from trueup.inference.omnibus.columns import Column, sums_in_cells, values_of_column
from trueup.inference.omnibus.pooled_pvalues import pvalues_of_each
from trueup.lens import Binary

TINY = float(np.finfo(np.float64).tiny)
Labels = NDArray[np.uint8]


def shared_pvalues(
    statistic: Estimator | None, scores: Floats, labels: Sequence[Labels], seed: int, n_draws: int
) -> Floats:
    """Return the p-value for every array of labels; without a statistic, of the omnibus test.

    A statistic selects its consistency test.
    """
    data = [Forecasts.from_pairs(scores, y, None, TINY) for y in labels]
    if statistic is None:
        return _omnibus(data, seed, n_draws)
    return _consistency(statistic, data, seed, n_draws)


def _omnibus(data: Sequence[Forecasts], seed: int, n_draws: int) -> Floats:
    scores = data[0].scores
    certain = (scores == 0) | (scores == 1)
    possible = np.array([(each.labels[certain] == scores[certain]).all() for each in data])
    without_draws = np.where(possible, 1.0, 1 / (1 + n_draws))
    if certain.all():
        return without_draws
    pairs = Binary().problem(data[0])
    column = Column.from_pairs(pairs)
    drawn = values_of_column(column, pairs, keys_of(seed, n_draws))[1:]
    given = np.array([sums_in_cells(column, Binary().problem(each)) for each in data])
    return np.where(possible, pvalues_of_each(column.values(given)[1:], drawn), without_draws)


def _consistency(
    statistic: Estimator, data: Sequence[Forecasts], seed: int, n_draws: int
) -> Floats:
    induced, _ = induced_problem(statistic, data[0])
    problems = [induced_problem(statistic, each)[1] for each in data]
    agree = [all_certain(problem) for problem in problems]
    if agree[0] is not None:
        return np.array([certain_pvalue(bool(each), n_draws) for each in agree])
    if can_fuse(induced, problems[0]):
        given, drawn = drawn_and_given_powers(induced, problems, keys_of(seed, n_draws))
    else:
        powers = resampled_powers(induced, problems[0], seed, n_draws)
        others = [induced.measure_forecasts(each).pth_power for each in problems[1:]]
        given, drawn = np.array([powers[0], *others]), powers[1:]
    if not (np.isfinite(given).all() and np.isfinite(drawn).all()):
        raise InputError("statistic", "returned NaN or infinity on a resample")
    return np.array([resampled_pvalue(each, drawn) for each in given.tolist()])
