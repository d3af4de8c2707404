"""Errors, intervals and adjusted p-values of every class."""

from __future__ import annotations

import numpy as np

from trueup.evaluation.findings import headline
from trueup.evaluation.settings import Settings
from trueup.forecasts import Forecasts
from trueup.inference import interval
from trueup.inference.multiple_tests.classes_and_bins import class_pvalues, with_adjusted
from trueup.inference.multiple_tests.mean_gap import frequency_pvalue, gap_test
from trueup.lens import Binary, ClassWise, forecasts_of
from trueup.seeds import seed_of
from trueup.tables import ResultTable

MOST_LABELS_DRAWN = 2e10
"""Rows × classes × resamples, above which classes are tested by their frequency."""
ROWS_OF_A_RESAMPLE = 2_000
"""A resample takes, in addition to its labels, as long as this many labels."""
RESAMPLES_A_PART = 100
"""Holm multiplies the smallest p-value by the number of parts, so each needs as many more."""


def test_of_classes(forecasts: Forecasts, n_resamples: int) -> tuple[str, int]:
    """Return how classes are tested, and with how many resamples.

    ``"consistency"`` detects errors of any direction. ``"frequency"`` tests whether a class occurs
    as often as predicted on average; it needs no resamples, and is exact or conservative even for
    rare classes.
    """
    if forecasts.soft or forecasts.clusters is not None:
        return "none", 0
    classes = forecasts.n_classes
    many = max(n_resamples, RESAMPLES_A_PART * classes - 1)
    if many > _most_resamples(forecasts.n * classes, classes):
        return "frequency", 0
    return "consistency", many


def resamples_of_groups(forecasts: Forecasts, n_groups: int, n_resamples: int) -> int:
    """Return the number of resamples for tests of groups, which grows with the number of groups."""
    wanted = RESAMPLES_A_PART * n_groups - 1
    return max(n_resamples, min(wanted, _most_resamples(forecasts.n, n_groups)))


def _most_resamples(labels: int, parts: int) -> int:
    """Return the number of label draws for all parts that takes an acceptable time."""
    return int(MOST_LABELS_DRAWN / (labels + float(ROWS_OF_A_RESAMPLE) * parts))


def class_findings(forecasts: Forecasts, asked: Settings) -> ResultTable:
    """Measure every class against the rest with `rmsce_debiased`, and test it.

    Columns: ``class``, ``share`` of rows, ``mean_score``, ``mean_label``, ``gap`` (label − score)
    with ``gap_se`` and ``gap_pvalue`` if rows are independent, ``error``, ``low``, ``high``,
    ``pvalue``, ``adjusted_pvalue``, ``pvalue_bh``.
    """
    method, many = test_of_classes(forecasts, asked.n_resamples)
    statistic = headline(asked.n_bins)
    seed, tested = seed_of(asked.seed), method == "consistency"
    drawn = class_pvalues(statistic.through(Binary()), forecasts, many, seed) if tested else []
    found = []
    for k, member in enumerate(ClassWise().members(forecasts)):
        pairs = member.pairs
        problem = forecasts_of(pairs, forecasts.tiny)
        ends = interval(statistic, problem, confidence_level=asked.confidence_level)
        pvalue = drawn[k] if tested else np.nan
        if method == "frequency":
            pvalue = frequency_pvalue(pairs.p, pairs.y, pairs.w)
        means = pairs.means
        gap = {} if method == "none" else gap_test(pairs)
        each = {"error": ends.estimate, "low": ends.low, "high": ends.high, "pvalue": pvalue}
        found.append(({"class": member.name, "share": means[1]}, means, gap | each))
    table = ResultTable.from_parts(found)
    return table if method == "none" else with_adjusted(table)
