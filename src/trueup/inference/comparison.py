"""Comparison of two or more models by paired tests and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.errors import Argument, Verbatim, called, must_be
from trueup.estimators.base import Estimator, Metric, estimator_of
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_level, check_resamples
from trueup.inference.confidence_intervals.interval import interval
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.hypothesis_tests.null_distribution import refuse_soft_labels
from trueup.inference.multiple_tests.adjusted_pvalues import holm
from trueup.inference.paired_differences import Difference, Resampled, difference_of
from trueup.metrics import rmsce_debiased
from trueup.results import CalibrationTestResult, Comparison, Interval
from trueup.seeds import Seed, seed_of
from trueup.tables import ResultTable

RESAMPLES = 999
SPARE = 2  # times the resamples with which a difference could just be shown
TARGET = "the difference between the population errors, using the bins of this dataset"


@hinted
@with_progress("compare")
def compare(
    probs_a: object,
    probs_b: object,
    labels: object = None,
    *,
    estimator: Metric | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    progress: Progress = None,
) -> Comparison:
    """Compare the calibration errors of two models on the same rows (Vaicenavicius et al. §4.3).

    Use it for two models, or for one model before and after recalibration. Two separate estimates
    do not show whether the models differ. Estimates that are not debiased also differ because their
    biases differ, especially between models with different scores.

    Parameters
    ----------
    probs_a : array_like or Forecasts
        Predictions of the first model, or a `Forecasts`.
    probs_b : array_like or Forecasts
        Predictions of the second model on the same rows, or a `Forecasts`. Rows in ``clusters`` are
        resampled together.
    labels : array_like, optional
        Observed labels of both models. Omit them if both models are `Forecasts`.
    estimator : Estimator or named metric, optional
        Error to compare (default `rmsce_debiased`).
    confidence_level : float, default 0.95
        Confidence level of the interval for the difference and of the interval of each model.
    n_resamples : int, default 999
        Number of resamples of the bootstrap and of the tests; at least 39 for a 95% level. The
        smallest possible p-value of the difference is 2/(1 + n_resamples).
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    Comparison
        Difference with interval and p-value, and the interval and test of each model.

    Notes
    -----
    Rows are resampled with replacement, the same for both models, into the bins of the data. The
    interval uses the percentiles of the difference of *powers* (squares, for L2), which may be
    negative. It is centered at the estimate, because resamples of a debiased square are centered at
    the plug-in. It is converted to a difference of errors, because a root near 0 has no valid
    bootstrap. If d and s are the difference and the sum of the powers, the result is :math:`((s +
    d)/2)^{1/p} - ((s - d)/2)^{1/p}`, where s is moved by half a standard deviation in the
    conservative direction.

    Measured at 95%, it covers 93% or more in most simulations, and nearly 100% if both errors are
    near 0. It covers 87% if 1% of rows have a large error and 200 rows may contain none of
    them. In one case, percentiles of the difference of the roots cover 53%, and this interval
    covers 94%.

    Rows in ``clusters`` are resampled by cluster, which also estimates by how much the debiased
    squares of dependent rows are too large. The test of each model is then one-sided, from the same
    resamples, and conservative.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000)
    >>> labels = rng.random(2000) < truth
    >>> result = compare(truth**2, truth, labels, n_resamples=199, rng=0)
    >>> result.difference > 0.1, result.interval.low > 0, result.pvalue
    (True, True, 0.01)
    """
    measure, level, draws = _checked(estimator, confidence_level, n_resamples)
    seed = seed_of(rng)
    first, second = same_samples({"probs_a": probs_a, "probs_b": probs_b}, labels, weights, logits)
    refuse_soft_labels(first)
    if first.clusters is not None and not measure.debiased:
        raise must_be("estimator", "a debiased BinnedError if rows are in clusters", measure)
    with stages(6):
        with stage("rows drawn for the first model"):
            one = Resampled.of(first, measure, draws, seed)
        with stage("rows drawn for the second model"):
            two = Resampled.of(second, measure, draws, seed)
        found = difference_of(one, two, level)
        own, tests = [], []
        for forecasts, model in ((first, one), (second, two)):
            with stage("interval of each model"):
                own.append(
                    interval(
                        measure, forecasts, confidence_level=level, n_resamples=draws, rng=seed
                    )
                )
            with stage("test of each model"):
                tests.append(_own_test(measure, forecasts, model, seed))
    notes = {"n_resamples": draws, "estimator": repr(measure)}
    paired = Interval(found.low, found.high, found.value, level, "percentile", TARGET, notes)
    sentence = _sentence(measure, found, level, tests, draws)
    clipped = [each.notes.get("clipped", 0) for each in own]
    if any(clipped):
        notes["clipped"] = clipped
        sentence += (
            f" Probabilities of 0 of the observed class are clipped: {clipped[0]:,} rows of the "
            f"first model, {clipped[1]:,} of the second."
        )
    return Comparison(
        found.value, paired, found.pvalue, own[0], own[1], tests[0], tests[1], sentence
    )


@hinted
@with_progress("compare")
def compare_many(
    models: Mapping[str, object],
    labels: object = None,
    *,
    estimator: Metric | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    progress: Progress = None,
) -> ResultTable:
    """Compare several models pairwise, and rank them as far as the data allow.

    Use it to choose between models: models that cannot be distinguished from the best share rank 1.

    Parameters
    ----------
    models : dict of str to array_like
        Predictions on the same rows, or a `Forecasts` each, by model name.
    labels : array_like, optional
        Observed labels of all models. Omit them if the models are `Forecasts`.
    estimator : Estimator or named metric, optional
        Error to compare (default `rmsce_debiased`).
    confidence_level : float, default 0.95
        Confidence level of each interval separately, and of the ranks.
    n_resamples : int, optional
        Number of bootstrap resamples; at least 39 for a 95% level. The smallest possible adjusted
        p-value of m pairs is 2m/(1 + n_resamples). The default is 999, or as many more as the
        ranks of many models need.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    ResultTable
        One row per pair: ``first``, ``second``, ``first_error``, ``second_error``, ``difference``
        (first minus second), ``low``, ``high``, ``pvalue``, ``adjusted_pvalue`` (Holm),
        ``first_rank`` and ``second_rank``. The rank of a model is 1 plus the number of models that
        are better by a difference whose adjusted p-value is at most 1 − confidence_level.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000)
    >>> labels = rng.random(2000) < truth
    >>> models = {"raw": truth**2, "good": truth, "also good": truth + 0.001 * (1 - truth)}
    >>> result = compare_many(models, labels, n_resamples=199, rng=0)
    >>> result["first_rank"].tolist(), result["second_rank"].tolist()
    ([3, 3, 1], [1, 1, 1])
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        hint = 'call it as compare_many({"name": probs, "other": more}, labels)'
        raise must_be("models", "two models or more, by name", models, hint=hint)
    several = RESAMPLES if n_resamples is None else n_resamples
    measure, level, draws = _checked(estimator, confidence_level, several)
    if n_resamples is None:
        draws = max(draws, enough_resamples(len(models), level))
    seed = seed_of(rng)
    forecasts = same_samples(models, labels, weights, logits)
    found = {}
    with stages(len(models)):
        for name, f in zip(models, forecasts, strict=True):
            with stage(f"model {name}"):
                found[name] = Resampled.of(f, measure, draws, seed)
    pairs = list(combinations(found, 2))
    differences = [difference_of(found[a], found[b], level) for a, b in pairs]
    adjusted = holm([d.pvalue for d in differences])
    rank = dict.fromkeys(found, 1)
    for (a, b), difference, pvalue in zip(pairs, differences, adjusted, strict=True):
        if pvalue <= 1 - level and difference.value != 0:
            rank[a if difference.value > 0 else b] += 1
    return ResultTable(
        {
            "first": np.array([a for a, _ in pairs]),
            "second": np.array([b for _, b in pairs]),
            "first_error": np.array([found[a].value for a, _ in pairs]),
            "second_error": np.array([found[b].value for _, b in pairs]),
            "difference": np.array([d.value for d in differences]),
            "low": np.array([d.low for d in differences]),
            "high": np.array([d.high for d in differences]),
            "pvalue": np.array([d.pvalue for d in differences]),
            "adjusted_pvalue": adjusted,
            "first_rank": np.array([rank[a] for a, _ in pairs]),
            "second_rank": np.array([rank[b] for _, b in pairs]),
        }
    )


def enough_resamples(n_models: int, confidence_level: float) -> int:
    """Return with how many resamples the difference of any two of these models can be shown.

    The smallest adjusted p-value is then half the significance level.

    >>> enough_resamples(2, 0.95), enough_resamples(10, 0.95)
    (79, 3599)
    """
    pairs = n_models * (n_models - 1) // 2
    return math.ceil(SPARE * 2 * pairs / (1 - confidence_level) - 1e-6) - 1


def _own_test(
    estimator: Estimator, forecasts: Forecasts, model: Resampled, seed: int
) -> CalibrationTestResult:
    n_resamples = len(model.noise)
    if forecasts.clusters is None:
        return calibration_test(forecasts, statistic=estimator, n_resamples=n_resamples, rng=seed)
    pvalue = (1 + int(np.sum(model.noise >= model.pth_power))) / (1 + n_resamples)
    pvalue = max(pvalue, model.least_pvalue)
    null = "the error in the bins of these data is 0; clusters are independent"
    notes = {"estimator": repr(estimator), "n_resamples": n_resamples, "conservative": True}
    return CalibrationTestResult(
        model.pth_power, pvalue, "cluster bootstrap", null, notes, model.noise
    )


def _sentence(
    estimator: Estimator,
    found: Difference,
    level: float,
    tests: list[CalibrationTestResult],
    n_resamples: float = math.inf,
) -> str:
    """Return which model is better, with a warning if estimates and tests disagree."""
    alpha = 1 - level
    name = estimator.score_name
    clear = not found.low <= 0 <= found.high
    # "Lower by" is a positive number, so the interval next to it is turned to the same sign.
    better, sign = ("first", -1) if clear and found.high < 0 else ("second", 1)
    ends = sorted((sign * found.low, sign * found.high))
    percent = f"{100 * level:g}%"
    evidence = f"{percent} interval {ends[0]:.4f} to {ends[1]:.4f}"
    evidence += f", {_in_words(found.pvalue, 2 / (1 + n_resamples))}"
    if clear:
        how = f"has the lower {name}," if name else "is better calibrated: its error is lower"
        start = f"The {better} model {how} by {sign * found.value:.4f} ({evidence})."
    else:
        kind = name or "calibration"
        start = f"No difference in {kind} was detected: {found.value:+.4f} ({evidence})."
    if name:  # calibration is only a part of it: tests of calibration need not agree
        return start
    rejected = [test.pvalue <= alpha for test in tests]
    verdicts = [
        f"{'is miscalibrated' if no else 'shows no evidence of miscalibration'} "
        f"({_in_words(test.pvalue, 1 / (1 + test.notes.get('n_resamples', math.inf)))})"
        for no, test in zip(rejected, tests, strict=True)
    ]
    own = f"Tested separately, the first model {verdicts[0]}; the second {verdicts[1]}."
    sentences = [start, own]
    if rejected[0] != rejected[1]:
        worse, other = ("first", "second") if rejected[0] else ("second", "first")
        if (found.value < 0) == rejected[0] and found.value != 0:
            sentences.append(
                "Warning: the estimates and the tests disagree. "
                f"Only the {worse} model is shown to be miscalibrated, yet its estimated error is "
                f"smaller. The {other} may be just as miscalibrated but harder to test. "
                "Do not rank the models by these two numbers."
            )
        elif not clear:
            sentences.append(
                f"Warning: only the {worse} model is shown to be miscalibrated, but this does not "
                "show that the two models differ."
            )
    return " ".join(sentences)


def _checked(estimator: object, level: object, n_resamples: object) -> tuple[Estimator, float, int]:
    measure = estimator_of("estimator", rmsce_debiased if estimator is None else estimator)
    known = check_level(level)
    return measure, known, check_resamples(n_resamples, known)


def same_samples(
    models: Mapping[str, object],
    labels: object = None,
    weights: object = None,
    logits: bool = False,
) -> list[Forecasts]:
    """Check that all models are evaluated on the same samples."""
    given = {
        name: checked_model(name, probs, labels, weights=weights, logits=logits)
        for name, probs in models.items()
    }
    name, first = next(iter(given.items()))
    rule = ("predictions for the same samples as ", Argument(name))
    for other, forecasts in given.items():
        if _shape(forecasts) != _shape(first):
            shape = (f"{_shape(first)}, as ", Argument(name), " is")
            raise must_be(other, shape, Verbatim(_shape(forecasts)))
        for what in ("labels", "weights", "clusters"):
            ours, theirs = getattr(first, what), getattr(forecasts, what)
            both = ours is not None and theirs is not None
            if (ours is None) != (theirs is None) or (both and not np.array_equal(ours, theirs)):
                got, hint = _other(what, first, forecasts)
                raise must_be(other, rule, Verbatim(got), hint=hint)
    return list(given.values())


def _other(what: str, first: Forecasts, second: Forecasts) -> tuple[str, str]:
    """Return what differs, and what to do."""
    hint = "all models must have the same rows in the same order"
    if first.n != second.n:
        return f"{second.n:,} rows instead of {first.n:,}", hint
    if what == "labels" and not first.is_matrix:
        hint += "; models cannot be compared if labels say whether each one's own answer is right"
    return f"other {what}", hint


def checked_model(name: str, probs: object, labels: object, **sample_data: Any) -> Forecasts:
    """Return one model's predictions; error messages about them mention its name."""
    with called({"probs": name}):
        return Forecasts.from_arrays(probs, labels, **sample_data)


def _shape(forecasts: Forecasts) -> str:
    return f"a matrix of {forecasts.n_classes} classes" if forecasts.is_matrix else "1-D"


def _in_words(pvalue: float, least: float) -> str:
    """Return the text of a p-value, which shows whether it is the smallest possible one.

    >>> _in_words(0.002, 0.002), _in_words(0.0123, 0.002)
    ('p ≤ 0.002', 'p = 0.0123')
    """
    sign = "≤" if pvalue <= least * (1 + 1e-9) else "="
    return f"p {sign} {pvalue:.3g}"
