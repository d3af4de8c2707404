"""Which class is wrong? Errors, intervals and adjusted p-values of every class."""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats
from trueup.evaluation.findings import Settings, headline
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test, interval
from trueup.inference.multiple_tests.classes_and_bins import with_adjusted
from trueup.lens import ClassWise, forecasts_of
from trueup.seeds import seed_of
from trueup.tables import ResultTable

MOST_LABELS_DRAWN = 2e10
"""Rows × classes × resamples, above which classes are tested by their frequency."""
ROWS_OF_A_RESAMPLE = 2_000
"""A resample takes, beyond its labels, as long as so many of them."""
RESAMPLES_A_PART = 100
"""Holm multiplies the smallest p-value by the number of parts, so each needs as many more."""


def test_of_classes(forecasts: Forecasts, n_resamples: int) -> tuple[str, int]:
    """Return how classes are tested, and with how many resamples.

    ``"consistency"`` sees errors of any direction. ``"frequency"`` sees whether a class comes true
    as often as predicted on average; it needs no resamples, and is exact or conservative however
    rare the class.
    """
    if forecasts.soft or forecasts.clusters is not None:
        return "none", 0
    classes = forecasts.n_classes
    many = max(n_resamples, RESAMPLES_A_PART * classes - 1)
    if many > _most_resamples(forecasts.n * classes, classes):
        return "frequency", 0
    return "consistency", many


def resamples_of_groups(forecasts: Forecasts, n_groups: int, n_resamples: int) -> int:
    """Return how many resamples groups are tested with: as many more as there are of them."""
    wanted = RESAMPLES_A_PART * n_groups - 1
    return max(n_resamples, min(wanted, _most_resamples(forecasts.n, n_groups)))


def _most_resamples(labels: int, parts: int) -> int:
    """How often the labels of all parts can be drawn in bearable time."""
    return int(MOST_LABELS_DRAWN / (labels + float(ROWS_OF_A_RESAMPLE) * parts))


def class_findings(forecasts: Forecasts, asked: Settings) -> ResultTable:
    """Measure every class against the rest with `rmsce_debiased`, and test it.

    Columns: ``class``, ``share`` of rows, ``mean_score``, ``mean_label``, ``gap`` (label − score),
    ``error``, ``low``, ``high``, ``pvalue``, ``adjusted_pvalue``, ``pvalue_bh``.
    """
    method, many = test_of_classes(forecasts, asked.n_resamples)
    statistic = headline(asked.n_bins)
    chance = np.random.default_rng(seed_of(asked.seed))
    found = []
    for member in ClassWise().members(forecasts):
        pairs = member.pairs
        problem = forecasts_of(pairs, forecasts.tiny)
        ends = interval(statistic, problem, confidence_level=asked.confidence_level)
        pvalue = np.nan
        if method == "consistency":
            test = calibration_test(problem, statistic=statistic, n_resamples=many, rng=chance)
            pvalue = test.pvalue
        elif method == "frequency":
            pvalue = frequency_pvalue(pairs.p, pairs.y, pairs.w)
        means = pairs.means
        each = {"error": ends.estimate, "low": ends.low, "high": ends.high, "pvalue": pvalue}
        found.append(({"class": member.name, "share": means[1]}, means, each))
    table = ResultTable.from_parts(found)
    return table if method == "none" else with_adjusted(table)


def frequency_pvalue(p: Floats, y: Floats, w: Floats | None) -> float:
    """Bound from above the two-sided p-value of how often a class came true.

    The smaller of two bounds of a tail: Bennett's, from the variance of the sum (Boucheron, Lugosi
    & Massart 2013, theorem 2.9), and, where rows have no weights, that of a binomial with the mean
    score, which is more spread than a sum of outcomes with different probabilities (Hoeffding
    1956, theorem 5), from one outcome beyond the mean on; nearer, Markov's.
    """
    score = p.astype(np.float64)
    weight = np.ones(len(score)) if w is None else w / w.max()
    mean, ones = float(weight @ score), float(weight @ y)
    spread = float((weight * weight) @ (score * (1 - score)))
    tail = _bennett(abs(ones - mean), spread)
    if w is None:
        tail = min(tail, _binomial(round(ones), mean, len(score)))
    return min(1.0, max(2 * tail, float(np.finfo(np.float64).tiny)))


def _bennett(beyond: float, spread: float) -> float:
    """Bound P(S ≥ mean + beyond) for a sum of terms of at most 1 with a variance ``spread``."""
    if beyond <= 1e-9:
        return 1.0
    if spread <= 0:
        return 0.0
    far = beyond / spread
    return math.exp(-spread * ((1 + far) * math.log1p(far) - far))


def _binomial(ones: int, mean: float, n: int) -> float:
    from scipy.stats import binom

    if ones > mean:  # look at the other outcome: then every tail is a lower one
        ones, mean = n - ones, n - mean
    if ones > mean - 1:
        return min(1.0, (n - mean) / (n - ones)) if ones < n else 1.0
    return float(binom.cdf(ones, n, min(max(mean / n, 0.0), 1.0)))
