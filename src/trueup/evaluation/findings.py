"""Estimates with intervals and tests: the choice of metrics, lenses and tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from trueup.calls.progress import stages
from trueup.errors import InputError, internal_error, must_be
from trueup.estimators import BinnedError, Brier, Estimator, LogLoss
from trueup.estimators.base import Metric, known_estimator
from trueup.estimators.decomposition import TERMS
from trueup.evaluation.deciding_test import draw_with_omnibus, untestable
from trueup.evaluation.sections import Finding, Score
from trueup.evaluation.settings import Settings
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test, estimate_many, interval
from trueup.metrics import rmsce_debiased
from trueup.metrics.declare import NAMED
from trueup.results import CalibrationTestResult, Interval

HEADLINE = "rmsce_debiased"
"""The error that the verdict states: nearly unbiased."""

OF_ONE_SCORE = ("rmsce_debiased", "ece_debiased", "ece", "ece_sweep", "mce")
WITHOUT_BINS = ("ks_error", "smooth_ece")
ALL_CLASSES = "marginal_error_debiased"
"""The error of the probabilities of every class, which the verdict states as well."""
OF_ALL_CLASSES = (ALL_CLASSES, "sce")

MOST_ROWS_SORTED = 50_000
"""Metrics without bins sort every resample: they are skipped above this many rows by default."""
MOST_CELLS_TESTED = 5_000_000
"""Rows times classes up to which all classes are resampled together."""
FURTHER_TESTS = ("cox", "spiegelhalter", "hosmer-lemeshow", "ks", "tcal", "skce")
MOST_ROWS_OF_TESTS = {"tcal": 20_000, "ks": 100_000, "skce": 2_000}
MOST_PAIRS_OF_SKCE = 12_000_000
"""Pairs of rows times classes, for each of which `skce` compares every resample."""


def headline(n_bins: int) -> BinnedError:
    """Return the estimator of the error that the verdict states."""
    return rmsce_debiased.estimator(n_bins=n_bins)


def findings(forecasts: Forecasts, metrics: object, asked: Settings) -> tuple[Finding, ...]:
    """Measure every metric, the headline first."""
    return _measured(_chosen(forecasts, metrics, asked.n_bins), forecasts, asked)


def headline_finding(forecasts: Forecasts, asked: Settings) -> Finding:
    """Measure only the headline, the first of `findings`."""
    return _measured({HEADLINE: headline(asked.n_bins)}, forecasts, asked)[0]


def _measured(
    chosen: Mapping[str, Estimator], forecasts: Forecasts, asked: Settings
) -> tuple[Finding, ...]:
    plain = forecasts.clusters is None and not forecasts.soft
    if not plain:
        return tuple(_one(name, each, forecasts, asked) for name, each in chosen.items())
    together = {name: each for name, each in chosen.items() if not _too_costly(each, forecasts)}
    notes: dict[str, str] = {}
    try:
        draw_with_omnibus(together.values(), forecasts, asked)
        found = estimate_many(list(together.values()), forecasts, **asked.of_intervals)
    except InputError:
        raise
    except Exception as error:  # computed one by one, so that one metric alone is without result
        notes = {"internal_error": internal_error("the joint resampling of all metrics", error)}
        together, found = {}, []
    ready = {
        name: Finding(name, each.lens_for(forecasts).label, repr(each), part.interval, part.test)
        for (name, each), part in zip(together.items(), found, strict=True)
    }
    alone = {
        name: _one(name, each, forecasts, asked)
        for name, each in chosen.items()
        if name not in ready
    }
    alone = {name: replace(each, notes=notes | each.notes) for name, each in alone.items()}
    return tuple((ready | alone)[name] for name in chosen)


def proper_scores(forecasts: Forecasts, asked: Settings) -> tuple[Score, ...]:
    """Compute the Brier score and the log loss with their intervals and decompositions."""
    found = []
    for name, score in (("brier", Brier()), ("log_loss", LogLoss())):
        ends = interval(score, forecasts, confidence_level=asked.confidence_level)
        classes, parts = forecasts.n_classes, None
        if not forecasts.soft and (classes == 2 or score.sums_over_classes):
            parts = score.decompose(forecasts)
            if classes > 2:  # terms of classes were averaged, but the Brier score is their sum
                parts = replace(parts, **{name: classes * getattr(parts, name) for name in TERMS})
        found.append(Score(name, ends, parts))
    return tuple(found)


def further_tests(forecasts: Forecasts, asked: Settings) -> dict[str, CalibrationTestResult]:
    """Return other tests by name, if rows are independent and not too many."""
    if forecasts.clusters is not None or forecasts.soft:
        return {}
    methods = [method for method in FURTHER_TESTS if _affordable(method, forecasts)]
    found = {}
    with stages(len(methods)):
        for method in methods:
            try:
                found[method] = calibration_test(forecasts, method=method, **asked.of_tests)
            except InputError:  # no such test for these data: too few rows, weights
                continue
            except Exception as error:
                notes = {"internal_error": internal_error(f"the test {method!r}", error)}
                found[method] = CalibrationTestResult(math.nan, math.nan, method, "", notes)
    return found


def _affordable(method: str, forecasts: Forecasts) -> bool:
    """Return whether a test is fast enough for the number of rows."""
    if forecasts.n > MOST_ROWS_OF_TESTS.get(method, forecasts.n):
        return False
    return method != "skce" or forecasts.n**2 * forecasts.n_classes <= MOST_PAIRS_OF_SKCE


def usual_metrics(forecasts: Forecasts) -> list[str]:
    """Return the names of the metrics that are measured by default."""
    names = list(OF_ONE_SCORE)
    if forecasts.n <= MOST_ROWS_SORTED:
        names += WITHOUT_BINS
    if forecasts.is_matrix:
        names += OF_ALL_CLASSES
    return names


def _chosen(forecasts: Forecasts, metrics: object, n_bins: int) -> dict[str, Estimator]:
    if metrics is None:
        return {name: named(name, n_bins) for name in usual_metrics(forecasts)}
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Sequence | Mapping):
        hint = 'such as ["ece", "smooth_ece"] or {"mine": tu.BinnedError(norm=1)}'
        raise must_be("metrics", "a list of metrics, or a dictionary by name", metrics, hint=hint)
    if isinstance(metrics, Mapping):
        given = {str(name): _estimator(each, n_bins) for name, each in metrics.items()}
    else:
        given = {_name_of(each): _estimator(each, n_bins) for each in metrics}
    first = headline(n_bins)
    if given.setdefault(HEADLINE, first) != first:
        rule = f"must not redefine {HEADLINE!r}, which the verdict uses"
        raise InputError("metrics", rule, hint="choose another name")
    if forecasts.is_matrix and not any(name == ALL_CLASSES for name in given):
        given[ALL_CLASSES] = named(ALL_CLASSES, n_bins)
    return {HEADLINE: first, **given}


def _name_of(metric: Any) -> str:
    if isinstance(metric, str):
        return metric
    return str(getattr(metric, "__name__", repr(metric)))


def _estimator(metric: Metric | str, n_bins: int) -> Estimator:
    if isinstance(metric, str):
        return named(metric, n_bins)
    if metric in NAMED.values():
        return named(metric.__name__, n_bins)
    known = known_estimator(metric, "metrics")
    if known is None:
        raise must_be("metrics", "contain metrics or estimators", metric)
    return known


def named(name: str, n_bins: int) -> Estimator:
    """Return the estimator of a named metric, with this number of bins if it has that option."""
    if name not in NAMED:
        raise must_be("metrics", f"among {', '.join(sorted(NAMED))}", name)
    compose = NAMED[name].estimator
    found: Estimator = (
        compose(n_bins=n_bins) if "n_bins" in signature(compose).parameters else compose()
    )
    return found


def _too_costly(estimator: Estimator, forecasts: Forecasts) -> str:
    """Return why a resampling test would take too long, or an empty string."""
    lens = estimator.lens_for(forecasts)
    if lens.induces == "family":
        many = forecasts.n * forecasts.n_classes > MOST_CELLS_TESTED
        return "too many rows and classes to resample" if many else ""
    if forecasts.n > estimator.most_rows_resampled:
        return "too many rows to repeat the bin sweep on every resample"
    return ""


def _one(name: str, estimator: Estimator, forecasts: Forecasts, asked: Settings) -> Finding:
    words = estimator.lens_for(forecasts).label
    try:
        ends = interval(estimator, forecasts, **asked.of_intervals)
    except InputError:
        raise
    except Exception as error:
        if name == HEADLINE:  # there is no verdict without it
            raise
        notes = {"internal_error": internal_error(name, error)}
        ends = Interval(math.nan, math.nan, math.nan, asked.confidence_level, "none", "")
        return Finding(name, words, repr(estimator), ends, None, notes)
    test, notes = _test(name, estimator, forecasts, asked)
    return Finding(name, words, repr(estimator), ends, test, notes)


def _test(
    name: str, estimator: Estimator, forecasts: Forecasts, asked: Settings
) -> tuple[CalibrationTestResult | None, dict[str, str]]:
    """Return the test, or notes that explain why there is none."""
    reason = _too_costly(estimator, forecasts)
    reason = untestable(forecasts, asked) or reason
    if reason:
        return None, {"no_test": reason}
    method = "consistency"
    if forecasts.clusters is not None:
        method = "cluster-signs"
        # What is subtracted takes rows for independent; without it the test needs no such rows.
        estimator = estimator.plug_in()
    try:
        found = calibration_test(forecasts, statistic=estimator, method=method, **asked.of_tests)
    except InputError as error:
        return None, {"no_test": str(error)}
    except Exception as error:
        reason = internal_error(f"the test of {name}", error)
        return None, {"no_test": reason, "internal_error": reason}
    return found, {}
