"""Calibration group by group: errors, intervals and tests, and the group that is worst off."""

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
from trueup.inference.multiple_tests.mean_gap import gap_test
from trueup.lens import Pairs, chosen_lens
from trueup.metrics import rmsce_debiased
from trueup.notebook import FieldsShown
from trueup.readable import short_number
from trueup.seeds import Seed, seed_of
from trueup.tables import ResultTable

CALL = "call it as group_errors(probs, labels, groups)"


@dataclass(frozen=True)
class GroupErrors(FieldsShown):
    """Errors of every group, and the largest of them.

    Attributes
    ----------
    table
        One row a group: ``group``, ``n``, ``share`` of the weight, ``mean_score``,
        ``mean_label``, ``gap`` (label − score) with its standard error ``gap_se`` and p-value
        ``gap_pvalue``, ``error``, its interval ``low`` … ``high``, and ``pvalue``,
        ``adjusted_pvalue``, ``pvalue_bh`` of the test that the group is calibrated.
    largest
        The largest error. Small groups have noisy errors, and the largest of many is too large
        on average: read it with the interval and the adjusted p-value of its group.
    group
        The group that has it; the first of several.
    """

    table: ResultTable
    largest: float
    group: Any
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
    """Measure every group alone: is the model calibrated for all of them?

    A model can be calibrated on the whole and not for any group, where errors cancel.

    Parameters
    ----------
    probs, labels, weights
        As for every metric, or one `Forecasts` that was made with ``groups``.
    logits
        Whether the predictions are logits.
    groups
        The group of each row: names or numbers.
    estimator
        What is measured and tested, an estimator or a named metric; by default that of
        `rmsce_debiased`. Bins are made for each group anew.
    confidence_level
        Of every interval by itself, not of all at once.
    rng, n_resamples
        As for `interval` and `calibration_test`. A p-value is at least 1/(1 + n_resamples), and
        the smallest of Holm's among G groups at least G times that: ask for more resamples where
        there are many groups.
    progress
        Whether to show progress: True, False, or a function of a report; None for the setting of
        `show_progress`.

    Notes
    -----
    ``mean_score`` and ``mean_label`` are seen through the estimator's lens where that induces one
    set of pairs, otherwise through `TopLabel` (for 1-D probabilities `Binary`). The bootstrap, for
    estimators without bins, can say nothing from one row: the interval of such a group is all
    values that there can be, 0 to 1 for an error.
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
            found.append((about, pairs.means, {**gap_test(pairs), **error, "pvalue": test.pvalue}))
    table = with_adjusted(ResultTable.from_parts(found))
    worst = int(np.argmax(table["error"]))
    return GroupErrors(table, float(table["error"][worst]), found[worst][0]["group"])


def _pairs(estimator: Estimator, part: Forecasts) -> Pairs:
    lens = estimator.lens_for(part)
    if lens.induces != "pairs":
        lens = chosen_lens(None, part)
    return lens.problem(part)
