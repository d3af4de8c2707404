"""Tests of every class and every bin, adjusted for their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.bins import EqualMass
from trueup.calls.hints import hinted
from trueup.engines.draw_keys import keys_of
from trueup.errors import must_be
from trueup.estimators import BinnedError
from trueup.estimators.base import Estimator, Metric, estimator_of
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse, powers_of_each_class
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.hypothesis_tests.null_distribution import (
    NullPairs,
    check_lens_of_test,
    check_test,
    resampled_pvalue,
)
from trueup.inference.multiple_tests.adjusted_pvalues import benjamini_hochberg, holm
from trueup.lens import Binary, ClassWise, forecasts_of
from trueup.metrics import rmsce_debiased
from trueup.seeds import Seed, seed_of
from trueup.tables import ResultTable

BIN_TESTS = BinnedError(binning=EqualMass(15))


@hinted
def class_tests(
    probs: object,
    labels: object = None,
    *,
    statistic: Metric | None = None,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    n_resamples: int = 999,
) -> ResultTable:
    """Test every class against the rest by consistency resampling.

    Use it to find miscalibrated classes. Read the adjusted p-values: with many classes some small
    p-values are sampling noise.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data. 1-D
        probabilities are one class, the positive one.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    statistic : Estimator or named metric, optional
        An estimator without a lens, or with `ClassWise` (default `rmsce_debiased`).
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    n_resamples : int, default 999
        Number of resamples of the tests; the smallest possible p-value is 1/(1 + n_resamples).

    Returns
    -------
    ResultTable
        One row per class: ``class``, ``mean_score``, ``mean_label``, ``gap`` (label − score),
        ``error``, ``pvalue``, and p-values adjusted for the number of classes, ``adjusted_pvalue``
        (Holm) and ``pvalue_bh``. With K classes, the smallest adjusted p-value is at least K/(1 +
        n_resamples): with many classes, use more resamples.

    Examples
    --------
    >>> probs = np.tile([[0.6, 0.3, 0.1]], (60, 1))
    >>> table = class_tests(probs, [0] * 36 + [2] * 24, n_resamples=199)
    >>> table["gap"].round(2).tolist(), (table["adjusted_pvalue"] < 0.05).tolist()
    ([-0.0, -0.3, 0.3], [False, True, True])
    """
    chosen = estimator_of("statistic", rmsce_debiased if statistic is None else statistic)
    if not (chosen.takes_lens and chosen.own_lens in (None, ClassWise())):
        raise must_be("statistic", "an estimator whose lens is None or ClassWise()", chosen)
    binary = chosen.through(Binary())
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    check_test(forecasts, n_resamples)
    pvalues = class_pvalues(binary, forecasts, n_resamples, seed_of(rng))
    found = []
    for member, pvalue in zip(ClassWise().members(forecasts), pvalues, strict=True):
        problem = forecasts_of(member.pairs, forecasts.tiny)
        each = {"error": binary.measure_forecasts(problem).value, "pvalue": pvalue}
        found.append(({"class": member.name}, member.pairs.means, each))
    return with_adjusted(ResultTable.from_parts(found))


def class_pvalues(
    binary: Estimator, forecasts: Forecasts, n_resamples: int, seed: int
) -> list[float]:
    """Test every class against the rest with a statistic of one column.

    If labels of whole rows can be counted in the bins of all classes at once, they are drawn once
    for all classes.
    """
    of_all = binary.through(ClassWise())
    if forecasts.is_matrix and can_fuse(of_all, forecasts):
        powers = powers_of_each_class(of_all, forecasts, keys_of(seed, n_resamples))
        return [resampled_pvalue(each[0], each[1:]) for each in powers.T]
    chance = np.random.default_rng(seed)
    asked: dict[str, Any] = {"statistic": binary, "n_resamples": n_resamples, "rng": chance}
    return [
        calibration_test(forecasts_of(member.pairs, forecasts.tiny), **asked).pvalue
        for member in ClassWise().members(forecasts)
    ]


@hinted
def bin_tests(
    probs: object,
    labels: object = None,
    *,
    statistic: Metric | None = None,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    n_resamples: int = 999,
) -> ResultTable:
    """Test every bin: compare the sum of its labels with the sum of its scores.

    Use it to locate errors. Outcomes are drawn from the scores of each bin, which stay fixed, and
    the absolute sum of score − label is compared with the sums of the draws. Every p-value is
    therefore exact, even in a bin with one row.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    statistic : Estimator or named metric, optional
        A `BinnedError`, whose lens and binning are used (default: 15 equal-mass bins).
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    n_resamples : int, default 999
        Number of resamples of the tests; the smallest possible p-value is 1/(1 + n_resamples).

    Returns
    -------
    ResultTable
        One row per non-empty bin: ``low`` and ``high`` edge, ``count``, ``mean_score``,
        ``mean_label``, ``gap`` (label − score), ``pvalue``, and p-values adjusted for the number of
        bins, ``adjusted_pvalue`` (Holm) and ``pvalue_bh``.

    Examples
    --------
    >>> from trueup import ece
    >>> probs, labels = [0.2] * 50 + [0.7] * 50, [0, 0, 0, 0, 1] * 10 + [0, 1] * 25
    >>> table = bin_tests(probs, labels, statistic=ece)
    >>> table["gap"].round(2).tolist(), (table["pvalue"] < 0.05).tolist()
    ([0.0, -0.2], [False, True])
    """
    given = None if statistic is None else estimator_of("statistic", statistic)
    rule = "a BinnedError, a metric that is one, or None"
    binned = BIN_TESTS.or_given(given, name="statistic", rule=rule)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    check_test(forecasts, n_resamples)
    lens = check_lens_of_test(binned.lens_for(forecasts), simplex=False)
    table = binned.measure_forecasts(forecasts).table.nonempty()
    rows = NullPairs.in_order(lens.problem(forecasts))
    start = rows.bin_starts(table.edges[1:-1])
    observed = np.abs(rows.bin_residuals(start, rows.y))
    drawn = rows.drawn(lambda y: np.abs(rows.bin_residuals(start, y)), rng, n_resamples)
    found = table.columns()
    del found["weight"], found["share"]
    pvalues = [resampled_pvalue(one, many) for one, many in zip(observed, drawn.T, strict=True)]
    return with_adjusted(ResultTable(found | {"pvalue": np.array(pvalues)}))


def with_adjusted(table: ResultTable) -> ResultTable:
    """Add the p-values of Holm and of Benjamini and Hochberg to the column ``pvalue``."""
    adjusted = {"adjusted_pvalue": holm, "pvalue_bh": benjamini_hochberg}
    found = {name: adjust(table["pvalue"]) for name, adjust in adjusted.items()}
    return ResultTable(table.columns() | found)
