"""`evaluate`: every question of one set of predictions, in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trueup.checks import check_flag
from trueup.errors import Verbatim, conflict, must_be
from trueup.evaluation.class_findings import test_of_classes
from trueup.evaluation.evidence import Evidence
from trueup.evaluation.findings import ALL_CLASSES, HEADLINE, Settings, further_tests, headline
from trueup.evaluation.fingerprint import fingerprint_of, versions
from trueup.evaluation.on_demand import TABLES, OnDemand, not_independent
from trueup.evaluation.recommendations import advised_estimator, detectable
from trueup.evaluation.result import Evaluation
from trueup.evaluation.sections import Finding
from trueup.evaluation.verdict import answers_of, verdict_of, verdict_of_models
from trueup.forecasts import Forecasts
from trueup.inference import compare_many, consistency_band
from trueup.inference.comparison import checked_model, same_samples
from trueup.lens.induced import forget
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed


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
) -> Evaluation:
    """Answer every question about some predictions: are they true, how sure are we, what to do?

    Parameters
    ----------
    probs, labels
        As everywhere; or one `Forecasts` in place of both and of what follows.
    models
        Several models' probabilities by name, in place of ``probs``: each is evaluated, and every
        two are compared on the same rows. The verdict is that of the first.
    logits, normalize
        Whether probabilities are given as logits, and whether to divide rows by their sum.
    weights, groups, features, clusters, classes
        As for `Forecasts.from_arrays`. Groups are measured one by one; features give local errors;
        rows of a cluster (patients, documents) are never taken for independent.
    metrics
        Names, metrics or estimators to measure, besides the headline `rmsce_debiased`; by default
        the usual errors, of which those without bins only up to 50,000 rows.
    n_bins
        Bins of errors and diagrams.
    confidence_level, n_resamples
        Of intervals and tests.
    recalibrate, advice
        Whether to try recalibrators, and to simulate which estimator to trust.
    rng
        Seed of everything random; by default 0, so that the same data give the same numbers.

    Returns
    -------
    Evaluation
        ``print`` it, ``.plot()`` it, write it with ``.to_json(path)``.

    Notes
    -----
    The verdict rests on the debiased root mean squared error over bins of equal size, its interval
    and its consistency test (for several classes together with that of `marginal_error_debiased`,
    both adjusted by Holm); other metrics are shown beside it, and their p-values are not adjusted
    for one another. Very many rows are handled by parts: recalibrators are tried on a
    random 100,000 rows (200,000 numbers, at least 5,000 rows, for more classes), the world of
    ``advice`` is fitted to 50,000, local errors are those of 20,000.

    Cost: some seconds for 100,000 rows of ten classes or a million of two.

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
    found = {
        name: _of_one(forecasts, metrics, asked, settings) for name, forecasts in checked.items()
    }
    first = next(iter(found.values()))
    if len(found) == 1:
        return replace(first, models=found)
    comparison = compare_many(checked, estimator=headline(asked.n_bins), **asked.of_intervals)
    verdict = verdict_of_models({k: each.verdict for k, each in found.items()}, comparison)
    return replace(first, verdict=verdict, models=found, comparison=comparison)


def _of_one(
    forecasts: Forecasts, metrics: object, asked: Settings, settings: dict[str, Any]
) -> Evaluation:
    parts, level = OnDemand(forecasts, asked, metrics=metrics), asked.confidence_level
    estimates: tuple[Finding, ...] = parts.get("estimates")
    settings = {**settings, "metrics": [each.metric for each in estimates]}
    made = {name: parts.get(name) for name in TABLES}
    tables = {name: table for name, table in made.items() if table is not None}
    every = next((each for each in estimates if each.metric == ALL_CLASSES), None)
    if every is not None and math.isnan(every.value):  # an internal error: see its row
        every = None
    if forecasts.is_matrix:
        method, resamples = test_of_classes(forecasts, asked.n_resamples)
        settings = {**settings, "test_of_classes": method, "resamples_of_classes": resamples}
    for_groups, by_group = parts.get("resamples_of_groups"), parts.get("groups")
    if for_groups is not None:
        settings = {**settings, "resamples_of_groups": for_groups}
    deciding = 1 if every is None or every.test is None else 2  # adjusted for each other
    seen = parts.get("sensitivity")
    found = detectable(replace(seen, alpha=(1 - level) / deciding), forecasts.n) if seen else None
    tests, overview = further_tests(forecasts, asked), parts.get("overview")
    table, dependent = parts.get("reliability_mass"), not_independent(forecasts)
    scores, local = parts.get("scores"), parts.get("local")
    advice = advised_estimator(forecasts, asked) if settings["advice"] else None
    forget(forecasts)  # recalibrators need the memory
    recalibrated = parts.get("recalibration") if settings["recalibrate"] else None
    evidence = Evidence(
        overview,
        estimates[0],
        every,
        table,
        None if dependent else consistency_band(table, confidence_level=level, simultaneous=True),
        tables.get("classes"),
        by_group,
        found,
        recalibrated,
        1 - level,
        dependent if forecasts.groups is not None else "",
        for_groups or 0,
        settings.get("test_of_classes") == "frequency",
        _others(estimates, tests),
    )
    answers = answers_of(evidence)
    return Evaluation(
        verdict=verdict_of(answers),
        miscalibrated=evidence.miscalibrated,
        pvalue=evidence.deciding_pvalue,
        answers=answers,
        overview=overview,
        estimates=estimates,
        tests=tests,
        tables=tables,
        scores=scores,
        groups=by_group,
        local=local,
        recalibration=recalibrated,
        detectable_error=found,
        estimator_advice=advice,
        settings=settings,
        versions=versions(),
        fingerprint=fingerprint_of(forecasts),
        internal_errors=parts.internal_errors | _internal_errors(estimates, tests),
    )


def _internal_errors(
    estimates: tuple[Finding, ...], tests: dict[str, CalibrationTestResult]
) -> dict[str, str]:
    """What to report of bugs, by the name of the metric or test that they stood in the way of."""
    notes = {each.metric: each.notes for each in estimates}
    notes |= {name: each.notes for name, each in tests.items()}
    return {
        name: each["internal_error"] for name, each in notes.items() if "internal_error" in each
    }


def _others(
    estimates: tuple[Finding, ...], tests: dict[str, CalibrationTestResult]
) -> dict[str, float]:
    """P-values of all tests that do not decide."""
    found = {
        each.metric: each.test.pvalue
        for each in estimates
        if each.test is not None and each.metric not in (HEADLINE, ALL_CLASSES)
    }
    found |= {f"{name} test": each.pvalue for name, each in tests.items()}
    return {name: pvalue for name, pvalue in found.items() if not math.isnan(pvalue)}
