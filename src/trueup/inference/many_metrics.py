"""Many metrics of the same data, which share their resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueup._typing import Floats
from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.checks import is_whole
from trueup.engines.draw_keys import keys_of
from trueup.errors import must_be
from trueup.estimators.base import Estimator, Metric, estimator_of
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_level, check_resamples
from trueup.inference.confidence_intervals.bootstrap import Bootstrap, Units
from trueup.inference.confidence_intervals.interval import interval, resampled_interval
from trueup.inference.hypothesis_tests.binned_resamples import can_fuse, powers_of_classes
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.hypothesis_tests.consistency_resampling import all_certain, conclude
from trueup.inference.hypothesis_tests.sorted_resamples import (
    SortedPairs,
    null_powers,
    powers_of,
    sorted_problem,
    values_of,
)
from trueup.lens import Lens
from trueup.notebook import FieldsShown
from trueup.results import CalibrationTestResult, Interval
from trueup.seeds import Seed, seed_of


@dataclass(frozen=True)
class MetricInference(FieldsShown):
    """One metric with its interval and its test of calibration.

    Parameters
    ----------
    estimator : Estimator
        The metric.
    interval : Interval
        Its estimate with a confidence interval.
    test : CalibrationTestResult
        Its test.

    Examples
    --------
    >>> from trueup import ece
    >>> result = estimate_many([ece], [0.2] * 50 + [0.7] * 50, [0, 1] * 50)[0]
    >>> result.estimator, result.test.pvalue < 0.05
    (BinnedError(lens=None, binning=EqualWidth(n_bins=15), norm=1), True)
    """

    estimator: Estimator
    interval: Interval
    test: CalibrationTestResult

    def _line(self) -> str:
        return f"{self.estimator!r}: {self.interval}, {self.test}"


@hinted
@with_progress("estimate_many")
def estimate_many(
    estimators: Sequence[Metric],
    probs: object,
    labels: object = None,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    progress: Progress = None,
) -> list[MetricInference]:
    """Compute the interval and the test of several metrics in one call.

    For an integer ``rng`` the results are bit-for-bit identical to those of `interval` and
    `calibration_test`. For metrics without bins and with one outcome per row it is much faster:
    every resample is drawn and sorted once for all metrics, and labels drawn from the predictions
    are used for both the interval and the test.

    Parameters
    ----------
    estimators : sequence of Estimator or named metric
        The metrics.
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` without clusters and soft
        labels.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    confidence_level : float, default 0.95
        Confidence level.
    n_resamples : int, default 999
        Number of resamples of the bootstrap and of the tests; at least 39 for a 95% level.
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
    list of MetricInference
        One result per metric.

    Examples
    --------
    >>> from trueup import ece, ks_error
    >>> result = estimate_many([ece, ks_error], [0.2] * 50 + [0.7] * 50, [0, 1] * 50, rng=0)
    >>> [round(each.interval.estimate, 3) for each in result]
    [0.25, 0.15]
    """
    level, many = check_level(confidence_level), check_resamples(n_resamples)
    if not isinstance(estimators, Sequence):
        raise must_be("estimators", "a list of metrics", estimators)
    known = [estimator_of("estimators", each) for each in estimators]
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
    seed = int(rng) if is_whole(rng, 0) else seed_of(rng)  # type: ignore[arg-type]
    of_scores, of_classes = _sorted_together(known, forecasts), _classes_together(known, forecasts)
    groups = [members for _, members in of_scores] + of_classes
    alone = len(known) - sum(map(len, groups))
    with stages(len(known), len(groups) + alone):
        found: dict[int, MetricInference] = {}
        for problem, members in of_scores:
            with stage(f"{len(members)} metrics together", len(members)):
                shared = [each for _, each in members]
                results = _of_sorted(shared, problem, forecasts, level, many, seed_of(seed))
            found |= {i: result for (i, _), result in zip(members, results, strict=True)}
        for members in of_classes:
            with stage(f"{len(members)} metrics of all classes", len(members)):
                keys = keys_of(seed_of(seed), many)
                powers = powers_of_classes([each for _, each in members], forecasts, keys)
            for (i, each), power in zip(members, powers, strict=True):
                ends = interval(each, forecasts, confidence_level=level)
                found[i] = MetricInference(each, ends, conclude(each, forecasts, power))
        for i, each in enumerate(known):
            if i not in found:
                with stage(type(each).__name__):
                    found[i] = _alone(each, forecasts, level, many, seed)
    return [found[i] for i in range(len(known))]


def _alone(
    estimator: Estimator, forecasts: Forecasts, level: float, many: int, seed: int
) -> MetricInference:
    with stages(2):
        with stage("interval"):
            ends = interval(
                estimator, forecasts, confidence_level=level, n_resamples=many, rng=seed
            )
        with stage("test"):
            test = calibration_test(forecasts, statistic=estimator, n_resamples=many, rng=seed)
    return MetricInference(estimator, ends, test)


def _classes_together(known: list[Estimator], forecasts: Forecasts) -> list[Members]:
    """Return class errors whose labels can be drawn together, with their list positions."""
    if forecasts.weights is not None or not forecasts.is_matrix or forecasts.soft:
        return []  # weighted sums depend on the order of their terms
    if forecasts.clusters is not None or all_certain(forecasts) is not None:
        return []
    by_lens: dict[Lens, Members] = {}
    for i, each in enumerate(known):
        lens = each.lens_for(forecasts)
        fused = lens.induces == "family" and can_fuse(each, forecasts)
        if fused and not each.no_analytic_reason(forecasts, "conditional"):
            by_lens.setdefault(lens, []).append((i, each))
    return [members for members in by_lens.values() if len(members) > 1]


Members = list[tuple[int, Estimator]]


def _sorted_together(
    known: list[Estimator], forecasts: Forecasts
) -> list[tuple[SortedPairs, Members]]:
    """Return estimators that use the same sorted problem, with their list positions."""
    by_lens: dict[Lens, tuple[SortedPairs, Members]] = {}
    if forecasts.n < 2:
        return []
    for i, each in enumerate(known):
        if not each.takes_ties:
            continue
        lens = each.lens_for(forecasts)
        if lens not in by_lens:
            problem = sorted_problem(each, forecasts)
            if problem is None or all_certain(forecasts) is not None:
                continue
            by_lens[lens] = (problem, [])
        by_lens[lens][1].append((i, each))
    return list(by_lens.values())


def _of_sorted(
    statistics: list[Estimator],
    problem: SortedPairs,
    forecasts: Forecasts,
    level: float,
    many: int,
    seed: int,
) -> list[MetricInference]:
    with stage("labels drawn from the predictions"):
        on_labels = null_powers(statistics, problem, seed, many)
    resampled = [each for each in statistics if each.no_analytic_reason(forecasts, "conditional")]
    with stage("rows drawn again"):
        powers = powers_of(resampled, problem.with_drawn_rows, seed, many)
    on_rows = dict(zip(resampled, powers, strict=True))
    found = []
    for each, powers in zip(statistics, on_labels, strict=True):
        if each in on_rows:
            ends = _resampled(each, forecasts, on_rows[each], powers[1:], level)
        else:
            ends = interval(each, forecasts, confidence_level=level)
        found.append(MetricInference(each, ends, conclude(each, forecasts, powers)))
    return found


def _resampled(
    statistic: Estimator, forecasts: Forecasts, rows: Floats, labels: Floats, level: float
) -> Interval:
    values, noise = values_of(statistic, rows), values_of(statistic, labels)
    estimate, units = float(statistic(forecasts)), Units(forecasts)
    drawn = Bootstrap(statistic, forecasts, estimate, values, lambda: noise, units)
    return resampled_interval(drawn, level, "widest")
