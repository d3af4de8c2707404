"""Which class, which bin? Tests of every part of a model, adjusted for asking many questions."""

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
    """Test every class against the rest, by consistency resampling.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or one `Forecasts`. 1-D probabilities are one class, the positive.
    logits
        Whether the predictions are logits.
    statistic
        An estimator whose lens is not chosen, or `ClassWise`, or a named metric;
        by default that of `rmsce_debiased`.
    rng, n_resamples
        As for `calibration_test`.

    Returns
    -------
    ResultTable
        ``class``, ``mean_score``, ``mean_label``, ``gap`` (label − score), ``error``, ``pvalue``,
        and p-values adjusted for the number of classes, ``adjusted_pvalue`` and ``pvalue_bh``. A
        p-value is at least 1/(1 + n_resamples), and the smallest of Holm's among K classes at
        least K times that: ask for more resamples where there are many classes.
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

    Where labels of whole rows can be counted in the bins of all classes at once, they are drawn
    once for all classes.
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
    """Test every bin: do its labels add up to what its scores promise?

    Outcomes are drawn from the scores of each bin, which stay, and the sum of score − label is
    compared with theirs in absolute value; so every p-value is exact, in a bin of one row too.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or one `Forecasts`.
    logits
        Whether the predictions are logits.
    statistic
        A `BinnedError`, whose lens and binning are taken, or a metric that is one; by default 15
        bins of equal mass.
    rng, n_resamples
        As for `calibration_test`.

    Returns
    -------
    ResultTable
        One row for every bin that holds a score: ``low`` and ``high`` edge, ``count``,
        ``mean_score``, ``mean_label``, ``gap`` (label − score), ``pvalue``, and p-values adjusted
        for the number of bins, ``adjusted_pvalue`` and ``pvalue_bh``.
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
    """Put Holm's and Benjamini and Hochberg's p-values next to the column ``pvalue``."""
    adjusted = {"adjusted_pvalue": holm, "pvalue_bh": benjamini_hochberg}
    found = {name: adjust(table["pvalue"]) for name, adjust in adjusted.items()}
    return ResultTable(table.columns() | found)
