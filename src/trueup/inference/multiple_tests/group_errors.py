"""Calibration by group: errors, intervals and tests, and the group with the largest error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.estimators.base import Estimator, Metric, estimator_of
from trueup.estimators.proper_scores import total_weight
from trueup.forecasts import Forecasts
from trueup.forecasts.sample_data import rows_of_groups
from trueup.inference.arguments import check_level, check_resamples
from trueup.inference.confidence_intervals.interval import interval
from trueup.inference.hypothesis_tests.calibration_test import calibration_test
from trueup.inference.hypothesis_tests.null_distribution import check_test
from trueup.inference.multiple_tests.classes_and_bins import with_adjusted
from trueup.inference.multiple_tests.group_table import columns_of_groups
from trueup.inference.multiple_tests.mean_gap import gap_interval, gap_test
from trueup.lens import Pairs, chosen_lens
from trueup.metrics import ece, rmsce_debiased
from trueup.notebook import FieldsShown
from trueup.readable import short_number
from trueup.seeds import Seed, seed_of
from trueup.tables import ResultTable

CALL = "call it as group_errors(probs, labels, groups)"


@dataclass(frozen=True)
class GroupErrors(FieldsShown):
    """Result of `group_errors`: calibration error per group, and the largest.

    Parameters
    ----------
    table : ResultTable
        One row per group: ``group``, ``n``, ``share`` of the weight, ``mean_score``,
        ``mean_label``, ``gap`` (label − score) with its standard error ``gap_se`` and p-value
        ``gap_pvalue`` under calibration and its interval ``gap_low`` to ``gap_high``, ``ece``,
        ``error``, and its interval ``low`` to ``high``. The test that the group is calibrated has
        ``pvalue``, ``adjusted_pvalue`` (Holm) and ``pvalue_bh``.
    largest : float
        The largest error. Small groups have noisy errors, and the largest of many is too large on
        average: read it with the interval and the adjusted p-value of its group.
    group : object
        The group with the largest error; the first in a tie.
    columns : ResultTable or None
        The columns that groups came from, one row per group; None if they had no names.

    Examples
    --------
    >>> import trueup as tu
    >>> labels, groups = [0, 0, 0, 0, 1] * 4 + [1] * 20, ["a"] * 20 + ["b"] * 20
    >>> result = tu.group_errors([0.2] * 40, labels, groups)
    >>> result.group, round(result.largest, 6)
    ('b', 0.8)
    """

    table: ResultTable
    largest: float
    group: Any
    columns: ResultTable | None = None
    _prints_table: ClassVar[bool] = True

    def _line(self) -> str:
        worst = self.table["error"] == self.largest
        low, high = (float(self.table[name][worst][0]) for name in ("low", "high"))
        ends = f"interval {short_number(low)} to {short_number(high)}"
        error = f"{short_number(self.largest)} in {self.group!r} ({ends})"
        return f"{len(self.table):,} groups, largest error {error}"


@hinted
@with_progress("group errors")
def group_errors(
    probs: object,
    labels: object = None,
    groups: object = None,
    *,
    estimator: Metric | None = None,
    confidence_level: float = 0.95,
    weights: object = None,
    logits: bool = False,
    rng: Seed = 0,
    n_resamples: int = 999,
    progress: Progress = None,
) -> GroupErrors:
    """Compute and test the calibration error of each group.

    Use it to check fairness: a model can be calibrated overall and miscalibrated in every group if
    the errors cancel. Errors of small groups are noisy, so read the adjusted p-values.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` made with ``groups``.
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    groups : array_like, optional
        Group of each row: names or numbers, or several columns, as for `Forecasts.from_arrays`.
        Groups are in the order of their names: 2 before 10.
    estimator : Estimator or named metric, optional
        Error to compute and test (default `rmsce_debiased`). Bins are computed for each group
        separately.
    confidence_level : float, default 0.95
        Confidence level of every interval separately, not of all together.
    weights : array_like, optional
        Weight of each row (default: all rows count the same).
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    n_resamples : int, default 999
        Number of resamples. A p-value is at least 1/(1 + n_resamples), and the smallest
        Holm-adjusted p-value of G groups at least G times that: with many groups, use more
        resamples.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    GroupErrors
        Table of groups, and the largest error.

    Notes
    -----
    ``mean_score`` and ``mean_label`` use the lens of the estimator if it induces one set of pairs.
    Otherwise they use `TopLabel` (for 1-D probabilities `Binary`). The bootstrap, for estimators
    without bins, says nothing about a group with one row: its interval is the whole range of the
    error, 0 to 1.

    Examples
    --------
    >>> labels, groups = [0, 0, 0, 0, 1] * 4 + [1] * 20, ["a"] * 20 + ["b"] * 20
    >>> result = group_errors([0.2] * 40, labels, groups)
    >>> result.table["error"].round(2).tolist(), result.table["adjusted_pvalue"].round(3).tolist()
    ([0.0, 0.8], [1.0, 0.002])
    """
    measure = estimator_of("estimator", rmsce_debiased if estimator is None else estimator)
    level, n_resamples = check_level(confidence_level), check_resamples(n_resamples)
    forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits, groups=groups)
    check_test(forecasts, n_resamples)
    chance = np.random.default_rng(seed_of(rng))
    whole = total_weight(forecasts)
    found = []
    parts = rows_of_groups(forecasts.groups, CALL)
    with stages(len(parts)):
        for name, rows in parts:
            part = forecasts.take(rows)
            with stage(f"group {name}"):
                within = interval(
                    measure, part, confidence_level=level, n_resamples=n_resamples, rng=chance
                )
                test = calibration_test(
                    part, statistic=measure, n_resamples=n_resamples, rng=chance
                )
            weight = part.n if part.weights is None else float(part.weights.sum())
            about = {"group": name, "n": part.n, "share": weight / whole}
            error = {"error": within.estimate, "low": within.low, "high": within.high}
            pairs = _pairs(measure, part)
            gap = {**gap_test(pairs), **gap_interval(pairs, level), "ece": ece(part)}
            found.append((about, pairs.means, {**gap, **error, "pvalue": test.pvalue}))
    table = with_adjusted(ResultTable.from_parts(found))
    worst = int(np.argmax(table["error"]))
    names = columns_of_groups([about["group"] for about, _, _ in found], forecasts)
    return GroupErrors(table, float(table["error"][worst]), found[worst][0]["group"], names)


def _pairs(estimator: Estimator, part: Forecasts) -> Pairs:
    lens = estimator.lens_for(part)
    if lens.induces != "pairs":
        lens = chosen_lens(None, part)
    return lens.problem(part)
