"""`evaluate`: the full report on one set of predictions, in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.checks import check_flag
from trueup.errors import Verbatim, conflict, must_be
from trueup.evaluation.class_findings import test_of_classes
from trueup.evaluation.deciding_test import untestable
from trueup.evaluation.findings import ALL_CLASSES, headline
from trueup.evaluation.fingerprint import fingerprint_of, versions
from trueup.evaluation.on_demand import TABLES, OnDemand, not_independent
from trueup.evaluation.overview import notes_of
from trueup.evaluation.reproduce import SHOWN, call_of
from trueup.evaluation.result import Evaluation
from trueup.evaluation.sections import Finding, Frequency
from trueup.evaluation.settings import Settings
from trueup.evaluation.verdict.answers import answers_of, verdict_of, verdict_of_models
from trueup.evaluation.verdict.evidence import Evidence
from trueup.evaluation.verdict.frequencies import frequency_of_scores
from trueup.evaluation.verdict.locations import standing_out
from trueup.forecasts import Forecasts
from trueup.inference import compare_many, consistency_band
from trueup.inference.comparison import checked_model, enough_resamples, same_samples
from trueup.lens.induced import forget
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


@hinted
@with_progress("evaluate")
def evaluate(
    probs: object = None,
    labels: object = None,
    *,
    models: Mapping[str, object] | None = None,
    logits: bool = False,
    normalize: bool = False,
    weights: object = None,
    groups: object = None,
    features: object = None,
    clusters: object = None,
    classes: Any = None,
    metrics: object = None,
    n_bins: int = 15,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    recalibrate: bool = True,
    advice: bool = True,
    rng: Seed = 0,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate the calibration of predicted probabilities.

    One call gives a verdict in words, metrics with intervals, tests, tables for figures, and a
    recommendation. Use it first; use `interval`, `calibration_test` or `compare` for single
    results. Cost: a few seconds for 100,000 rows with ten classes or a million rows with two.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    models : dict of str to array_like, optional
        Probabilities of several models by name, instead of ``probs``. Each model is evaluated, and
        all pairs are compared on the same rows. The verdict is that of the first model.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    normalize : bool, default False
        Whether to divide rows by their sum.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    groups : array_like, optional
        Group of each row, or several columns, which define joint groups such as "gpt-4o / boolq".
        Each group is evaluated separately, in the order of the names.
    features : array_like, optional
        Features of each row, for local errors.
    clusters : array_like, optional
        Cluster of each row, such as a patient or a document. Rows of a cluster are never assumed to
        be independent.
    classes : sequence, optional
        Names of the classes in the order of the columns.
    metrics : sequence, optional
        Names, metrics or estimators to compute in addition to `rmsce_debiased`. The default is the
        usual errors; errors without bins are included up to 50,000 rows.
    n_bins : int, default 15
        Number of bins of errors and diagrams.
    confidence_level : float, default 0.95
        Confidence level of intervals and of the verdict.
    n_resamples : int, default 999
        Number of resamples of tests and bootstraps.
    recalibrate : bool, default True
        Whether to try recalibrators.
    advice : bool, default True
        Whether to simulate which estimator is the most accurate for these data.
    rng : int, Generator or None, default 0
        Random seed; the same data and seed give the same numbers.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    Evaluation
        The result: ``print`` it, ``.plot()`` it, write it with ``.to_json(path)``.

    Notes
    -----
    The status rests on the omnibus test alone (`calibration_test`), except that an observed outcome
    with predicted probability 0 needs no test. If the omnibus test does not reject, the p-values of
    the other tests are Holm-adjusted. If one of these tests rejects, the verdict says that the
    tests disagree. The error in the verdict is the debiased root mean square over equal-mass bins.

    Some parts use a random sample of large data. The omnibus test draws at most two billion labels.
    Recalibrators are compared on 100,000 random rows (with more classes, on 200,000 probabilities
    and at least 5,000 rows). The simulated model of ``advice`` is fitted to 50,000 rows, and local
    errors are computed for 20,000 rows.

    Examples
    --------
    >>> import trueup as tu
    >>> from trueup.simulate import Beta, Power, World
    >>> data = World(Beta(2.0, 1.0), Power(2.0)).sample(2000, rng=0)
    >>> result = tu.evaluate(data, recalibrate=False, advice=False)
    >>> print(result.answers["calibrated"])
    The probabilities are miscalibrated (p ≤ 0.001, 2,000 rows).
    """
    asked = Settings.checked(n_bins, confidence_level, n_resamples, rng)
    check_flag("recalibrate", recalibrate)
    check_flag("advice", advice)
    beside = {
        "logits": logits,
        "normalize": normalize,
        "weights": weights,
        "groups": groups,
        "features": features,
        "clusters": clusters,
        "classes": classes,
    }
    settings = {
        **asked._asdict(),
        "recalibrate": bool(recalibrate),
        "advice": bool(advice),
        **{name: True for name, given in (("logits", logits), ("normalize", normalize)) if given},
    }
    if models is not None:
        return _of_models(models, probs, labels, beside, metrics, asked, settings)
    forecasts = Forecasts.from_arrays(probs, labels, **beside)
    return _of_one(forecasts, metrics, asked, settings)


def _of_models(
    models: Mapping[str, object],
    probs: object,
    labels: object,
    beside: dict[str, Any],
    metrics: object,
    asked: Settings,
    settings: dict[str, Any],
) -> Evaluation:
    hint = 'call it as evaluate(labels=labels, models={"name": probs, "other": more})'
    if not isinstance(models, Mapping) or not models:
        raise must_be("models", "probabilities by name", models, hint=hint)
    if probs is not None and labels is None:
        probs, labels = None, probs  # evaluate(labels, models=...)
    if probs is not None:
        raise conflict("probs", "models", hint=hint)
    names = [str(name) for name in models]
    if len(set(names)) < len(names):
        raise must_be("models", "have different names", Verbatim(", ".join(names)))
    given = zip(names, models.values(), strict=True)
    checked = {name: checked_model(name, probs, labels, **beside) for name, probs in given}
    same_samples(checked)
    found = {}
    with stages(len(checked)):
        for name, forecasts in checked.items():
            with stage(f"model {name}"):
                found[name] = _of_one(forecasts, metrics, asked, settings)
    first = next(iter(found.values()))
    if len(found) == 1:
        return replace(first, models=found, reproduce=_of_each(found))
    options = asked.of_intervals
    options["n_resamples"] = max(
        options["n_resamples"], enough_resamples(len(checked), asked.confidence_level)
    )
    comparison = compare_many(checked, estimator=headline(asked.n_bins), **options)
    verdict = verdict_of_models({k: each.verdict for k, each in found.items()}, comparison)
    return replace(
        first, verdict=verdict, models=found, comparison=comparison, reproduce=_of_each(found)
    )


def _of_each(found: dict[str, Evaluation]) -> str:
    """Return the call that evaluates all models, with the fingerprint of each."""
    call = next(iter(found.values())).reproduce
    start, rest = "trueup.evaluate(probs, labels", call.partition("; data ")[0]
    given = ", ".join(f"{name!r}: ..." for name in found)
    models = f"trueup.evaluate(labels=labels, models={{{given}}}"
    prints = ", ".join(f"{name} {each.fingerprint[:SHOWN]}" for name, each in found.items())
    return f"{models}{rest.removeprefix(start)}; data {prints}"


def _of_one(
    forecasts: Forecasts, metrics: object, asked: Settings, settings: dict[str, Any]
) -> Evaluation:
    parts = OnDemand(forecasts, asked, metrics=metrics)
    optional = {"recalibration": settings["recalibrate"], "advice": settings["advice"]}
    left_out = [name for name, wanted in optional.items() if not wanted]
    with parts.told(left_out):
        return _all_parts(parts, forecasts, asked, settings)


def _all_parts(
    parts: OnDemand, forecasts: Forecasts, asked: Settings, settings: dict[str, Any]
) -> Evaluation:
    level = asked.confidence_level
    estimates: tuple[Finding, ...] = parts.get("estimates")  # draws labels of the test as well
    overview, test = parts.get("overview"), parts.get("omnibus")
    settings = {**settings, "metrics": [each.metric for each in estimates]}
    made = {name: parts.get(name) for name in TABLES}
    tables = {name: table for name, table in made.items() if table is not None}
    every = next((each for each in estimates if each.metric == ALL_CLASSES), None)
    if every is not None and math.isnan(every.value):  # an internal error: see its row
        every = None
    if test is not None:
        settings = {**settings, "resamples_of_test": test.notes.get("n_resamples", 0)}
    if forecasts.is_matrix:
        method, resamples = test_of_classes(forecasts, asked.n_resamples)
        settings = {**settings, "test_of_classes": method, "resamples_of_classes": resamples}
    for_groups, by_group = parts.get("resamples_of_groups"), parts.get("groups")
    if for_groups is not None:
        settings = {**settings, "resamples_of_groups": for_groups}
    detectable_error = parts.get("detectable_error")
    tests, dependent = parts.get("further_tests"), not_independent(forecasts)
    table, of_groups = parts.get("reliability_mass"), parts.get("frequencies_of_groups") or ()
    evidence = Evidence(
        overview=overview,
        test=test,
        not_tested=untestable(forecasts, asked),
        test_of_rest=parts.get("omnibus_of_possible") if overview.n_zero_prob_outcomes else None,
        headline=estimates[0],
        all_classes=every,
        halves=parts.get("halves"),
        table=table,
        band=None
        if dependent
        else consistency_band(table, confidence_level=level, simultaneous=True),
        classes=tables.get("classes"),
        groups=by_group,
        clinical=parts.get("clinical"),
        detectable_error=detectable_error,
        recalibration=None,
        alpha=1 - level,
        groups_left_out=dependent if forecasts.groups is not None else "",
        resamples_of_groups=for_groups or 0,
        by_frequency=settings.get("test_of_classes") == "frequency",
        others=_others(estimates, tests),
    )
    of_scores = None if forecasts.soft else _frequency_of_scores(forecasts, evidence)
    scores, local = parts.get("scores"), parts.get("local")
    advice = parts.get("advice") if settings["advice"] else None
    forget(forecasts)  # recalibrators need the memory
    recalibrated = parts.get("recalibration") if settings["recalibrate"] else None
    evidence = evidence._replace(recalibration=recalibrated)
    answers = answers_of(evidence, of_scores.text if of_scores else "")
    fingerprint, of = fingerprint_of(forecasts), versions()
    return Evaluation(
        verdict=verdict_of(answers),
        status=evidence.status,
        pvalue=None if test is None else test.pvalue,
        answers=answers,
        overview=overview,
        test=test,
        estimates=estimates,
        tests=tests,
        adjusted_pvalues=evidence.adjusted,
        tables=tables,
        scores=scores,
        clinical=evidence.clinical,
        frequencies=(*((of_scores,) if of_scores else ()), *of_groups),
        groups=by_group,
        local=local,
        recalibration=recalibrated,
        detectable_error=evidence.detectable_error,
        estimator_advice=advice,
        settings=settings,
        versions=of,
        fingerprint=fingerprint,
        reproduce=call_of(forecasts, settings, estimates, of, fingerprint),
        internal_errors=parts.internal_errors | _internal_errors(estimates, tests),
        notes=notes_of(forecasts),
    )


def _frequency_of_scores(forecasts: Forecasts, evidence: Evidence) -> Frequency:
    """Return natural frequencies for the worst scores, or around the median if no test rejects."""
    table = evidence.table
    worst = standing_out(table, evidence.band) if evidence.miscalibrated else None
    if worst is None:  # the largest of many deviations would look worse than it is
        worst = int(np.searchsorted(np.cumsum(table.count), table.count.sum() / 2))
    low, high = float(table.edges[worst]), float(table.edges[worst + 1])
    low = low if worst else -math.inf  # the first bin holds its lower edge
    return frequency_of_scores(forecasts, low, high, 1 - evidence.alpha)


def _internal_errors(
    estimates: tuple[Finding, ...], tests: dict[str, CalibrationTestResult]
) -> dict[str, str]:
    """Return the bugs to report, by the name of the metric or test that failed."""
    notes = {each.metric: each.notes for each in estimates}
    notes |= {name: each.notes for name, each in tests.items()}
    return {
        name: each["internal_error"] for name, each in notes.items() if "internal_error" in each
    }


def _others(
    estimates: tuple[Finding, ...], tests: dict[str, CalibrationTestResult]
) -> dict[str, float]:
    """Return the p-values of all tests except the one that decides, by metric or method."""
    found = {each.metric: each.test.pvalue for each in estimates if each.test is not None}
    found |= {name: each.pvalue for name, each in tests.items()}
    return {name: pvalue for name, pvalue in found.items() if not math.isnan(pvalue)}
