"""Confidence intervals: the choice of the method for an estimator, and the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trueup.calls.hints import hinted, no_metric
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.checks import check_choice
from trueup.errors import Argument, InputError, must_be
from trueup.estimators.base import Ends, Estimator, known_estimator, remarks_of
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_level, check_resamples
from trueup.inference.confidence_intervals.bin_noise import Bins
from trueup.inference.confidence_intervals.binned_errors import binned_ends
from trueup.inference.confidence_intervals.bootstrap import METHODS, Bootstrap, Units
from trueup.inference.confidence_intervals.proper_scores import mean_ends
from trueup.inference.confidence_intervals.simplex_errors import cell_ends
from trueup.results import Estimate, Interval
from trueup.seeds import Seed, check_seed, seed_of

TARGETS = ("conditional", "population")
LOWER_BOUND = "a lower bound on the true calibration error"
OF_THESE_SCORES = f"{LOWER_BOUND} for these scores"


@hinted
@with_progress("interval")
def interval(
    estimator: Any,
    probs: object,
    labels: object = None,
    *,
    confidence_level: float = 0.95,
    method: str = "auto",
    target: str = "conditional",
    n_resamples: int = 999,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    progress: Progress = None,
) -> Interval:
    """Estimate a metric with a confidence interval.

    Use it whenever you report a metric. The interval states the quantity that it targets
    (``target``). Bins hide errors that cancel within them, so the target of a binned error is at
    most the true calibration error of the same scores. The lower end is also a lower bound on that
    error; the upper end is not an upper bound on it. docs/coverage.md has the measured coverage of
    the analytic intervals of five named errors.

    Parameters
    ----------
    estimator : Estimator, named metric or callable
        An estimator such as ``BinnedError(norm=2)``, a named metric such as ``ece``, a
        `functools.partial` of one, or any function of a `Forecasts` that returns a number.
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data. Its
        ``clusters`` are resampled whole by the bootstrap, and counted as one unit each by the
        interval of a proper score.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    confidence_level : float, default 0.95
        Fraction of datasets in which the interval should cover its target.
    method : str, default "auto"
        ``"analytic"`` needs no resampling: it uses the bins of a `BinnedError` or `SweepError`, and
        the normal interval of a mean for `Brier` and `LogLoss`. ``"percentile"``, ``"basic"`` and
        ``"bca"`` are bootstraps. ``"auto"`` is analytic if possible. Otherwise it is
        ``"percentile"`` for a function, and ``"widest"`` for an error: the upper end is the larger
        of the percentile and the basic end. The lower end is the smaller of the basic end and of
        the estimate minus its quantile on calibrated labels.
    target : {"conditional", "population"}, default "conditional"
        Target of an analytic interval over bins. ``"conditional"`` is the error of these scores in
        these bins, with random labels. ``"population"`` is the error of new rows in these bins,
        with random scores too. Every other interval targets the population value.
    n_resamples : int, default 999
        Number of bootstrap resamples; at least 39 for a 95% level.
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
    Interval
        Estimate, ends, method and target.

    Notes
    -----
    The conditional target says less about the model on new scores, and much less if a region with
    large errors is rare: use the population target then. Plug-in errors are biased upward and may
    lie above the interval of their target; ``notes`` say so.

    Equal-mass bins and the bins of a tree or sweep are treated as fixed. Before an L2 interval, or
    an interval for a debiased error, single-row bins are merged with the nearest bin. With
    class-wise lenses the dependence of classes at most doubles the variance, so it is doubled here.
    The bootstrap of a binned error computes the bins again for each resample.

    Plug-in errors are biased upward, most for calibrated models, and resampling adds the bias
    again. For a calibrated model, ``"percentile"`` and ``"bca"`` almost never cover the true value
    0, and ``"basic"`` covers it too rarely. They are provided for comparison. A single row, or a
    single cluster, says nothing about variability: the interval is then the whole range of the
    target, and ``notes`` say so.

    References
    ----------
    Kumar, Liang & Ma 2019, "Verified uncertainty calibration"; Wilson 1927; Efron 1987, "Better
    bootstrap confidence intervals".

    Examples
    --------
    >>> from trueup import rmsce_debiased
    >>> result = interval(rmsce_debiased, [0.2] * 50 + [0.8] * 50, [0] * 50 + [1] * 25 + [0] * 25)
    >>> round(result.low, 3), round(result.estimate, 3), round(result.high, 3)
    (0.144, 0.25, 0.346)
    >>> print(result.target.split(";")[0])
    the binned error (Σ s_b |f_b − E[y_b]|²)^(1/2) for these scores and these bins
    """
    level = check_level(confidence_level)
    check_choice("method", method, "auto", "analytic", *METHODS)
    check_choice("target", target, *TARGETS)
    check_resamples(n_resamples)
    check_seed(rng)
    known = known_estimator(estimator)
    if known is None and (not callable(estimator) or isinstance(estimator, type)):
        rule = "an estimator, such as BinnedError(), a metric, such as ece, or a function"
        raise no_metric("estimator", rule, estimator)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    reason = (known or Estimator()).no_analytic_reason(forecasts, target)
    if method == "analytic" and reason:
        told = (Argument("method", method), f" is not available {reason}")
        raise InputError("method", told, hint=("use ", Argument("method", "auto")))
    if method in METHODS or reason:
        default = "percentile" if known is None else "widest"
        chosen = method if method in METHODS else default
        n_resamples = check_resamples(n_resamples, level)
        drawn = _by_bootstrap(known or estimator, forecasts, level, chosen, n_resamples, rng)
        return _noted(drawn, clipped_rows(known, forecasts) | remarks_of(forecasts))
    assert known is not None
    found = known.measure_forecasts(forecasts)
    if known.analytic == "table":
        of_bins = _from_table(known, forecasts, found, level, target)
        return _noted(of_bins, remarks_of(forecasts))
    ends, words = mean_ends(known, forecasts, level), f"the expected {known!r} of new rows"
    notes = {name: count for name, count in found.notes.items() if count}
    notes |= _alone(forecasts) | remarks_of(forecasts)
    return Interval(*ends, found.value, level, "analytic", words, notes)


def _noted(found: Interval, notes: dict[str, Any]) -> Interval:
    return replace(found, notes=found.notes | notes) if notes else found


def clipped_rows(estimator: Estimator | None, forecasts: Forecasts) -> dict[str, int]:
    """Return a note of how many rows of a log loss are clipped, if any."""
    if estimator is None or not estimator.score_name:
        return {}
    count = estimator.measure_forecasts(forecasts).notes.get("clipped", 0)
    return {"clipped": count} if count else {}


def _from_table(
    estimator: Any, forecasts: Forecasts, found: Estimate, level: float, target: str
) -> Interval:
    table, norm, notes = found.table, estimator.norm, dict(found.notes)
    if table.induced == "simplex":
        ends = cell_ends(table, str(estimator.distance), norm, level)
        words = _words(norm, target, "" if estimator.distance == "tv" else "‖·‖²")
    else:
        independent = estimator.lens_for(forecasts).independent
        if independent and target == "conditional" and (norm == 2 or estimator.debiased):
            table, merged = table.without_singles()
            notes |= {"n_merged_bins": merged} if merged else {}
        words = _words(norm, target)
        if notes.get("n_merged_bins"):
            words = words.replace("these bins", "these bins (single-row bins merged)")
        ends = Ends(0.0, 0.0)  # no class has a row in the region, and each adds 0
        if table.parts:
            population = target == "population"
            bins = Bins.of(table, independent=independent, population=population)
            ends = binned_ends(bins, norm, level)
    words = words.replace("these bins", estimator.bins_in_words)
    if not ends.low <= found.value <= ends.high:
        side = "above" if found.value > ends.high else "below"
        notes["estimate_outside"] = f"the estimate is biased and lies {side} the interval"
    return Interval(*ends, found.value, level, "analytic", words, notes)


def _words(norm: float, target: str, distance: str = "") -> str:
    gap = "‖f_b − E[y_b]‖²" if distance else "|f_b − E[y_b]|"
    if math.isinf(norm):
        formula = f"max_b {gap}"
    elif norm == 1:
        formula = f"Σ s_b {gap}"
    else:
        power = "²" if norm == 2 else f"^{norm:g}"
        formula = f"(Σ s_b {gap}{power})^(1/{norm:g})"
    if target == "population":
        return f"the binned error {formula} for new rows in these bins; {LOWER_BOUND}"
    return f"the binned error {formula} for these scores and these bins; {OF_THESE_SCORES}"


def _by_bootstrap(
    statistic: Callable[[Forecasts], Any],
    forecasts: Forecasts,
    level: float,
    method: str,
    n_resamples: int,
    rng: Seed,
) -> Interval:
    estimate, alone = _number(statistic, forecasts), _alone(forecasts)
    if alone:
        ends = possible_values(statistic, forecasts)
        return Interval(*ends, estimate, level, method, _of_new_rows(statistic), alone)
    with stages(2):
        with stage("rows drawn again"):
            drawn = Bootstrap.of(statistic, forecasts, n_resamples, seed_of(rng))
        with stage("labels drawn from the predictions" if method == "widest" else "ends"):
            return resampled_interval(drawn, level, method)


def resampled_interval(drawn: Bootstrap, level: float, method: str) -> Interval:
    """Return the interval from the values of a statistic on resamples."""
    lowest, highest = possible_values(drawn.statistic, drawn.forecasts)
    ends = drawn.ends(method, level)
    notes: dict[str, Any] = {"n_resamples": len(drawn.values)}
    if drawn.forecasts.clusters is not None:
        notes["clusters"] = drawn.units.count
    low, high = max(lowest, ends.low), min(highest, ends.high)
    return Interval(low, high, drawn.estimate, level, method, _of_new_rows(drawn.statistic), notes)


def possible_values(statistic: Callable[[Forecasts], Any], forecasts: Forecasts) -> Ends:
    """Return the lowest and the highest value; no bounds for a user-defined function."""
    return (known_estimator(statistic) or Estimator()).bounds(forecasts)


def _of_new_rows(statistic: Callable[[Forecasts], Any]) -> str:
    name = repr(statistic) if not hasattr(statistic, "__name__") else statistic.__name__
    return f"the population value of {name} (its limit as the number of rows grows)"


def _alone(forecasts: Forecasts) -> dict[str, Any]:
    """Return a note if there is only one unit."""
    if Units(forecasts).count > 1:
        return {}
    unit = "row" if forecasts.clusters is None else "cluster"
    return {"single_unit": f"a single {unit} says nothing about variability"}


def _number(statistic: Callable[[Forecasts], Any], forecasts: Forecasts) -> float:
    """Return the value of a function, which may be user-defined."""
    try:
        found = statistic(forecasts)
    except TypeError as error:
        if known_estimator(statistic) is not None:
            raise  # a bug of ours
        rule = f"must accept one Forecasts; the call failed with: {error}"
        hint = "wrap a function of two arrays: lambda f: metric(f.scores, f.labels)"
        raise InputError("estimator", rule, hint=hint) from error
    try:
        return float(found)
    except (TypeError, ValueError):
        raise must_be("estimator", "a function that returns a number", found) from None
