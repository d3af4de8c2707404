"""The location of the error: ranges of scores, classes and groups."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats, Ints
from trueup.evaluation.verdict.calibrated import NAMED, PLURALS
from trueup.evaluation.verdict.evidence import TESTS_DISAGREE, Evidence
from trueup.evaluation.verdict.score_ranges import between, one_score
from trueup.evaluation.verdict.wording import (
    amount,
    error_of_part,
    gap_of_part,
    named,
    pvalue_of,
    reaches_zero,
)
from trueup.tables import BinTable, ResultTable

ONE_SCORE = 1e-12
"""Variance of scores that are all the same."""


def location(evidence: Evidence) -> str:
    """Name the scores, classes and groups whose error is larger than sampling noise."""
    found = [_scores(evidence), _classes(evidence), _groups(evidence)]
    return " ".join(text for text in found if text)


def standing_out(table: BinTable, band: ResultTable | None) -> int | None:
    """Return the bin outside its band that contributes most to the error, or None."""
    if band is None or np.count_nonzero(table.count) < 2:
        return None
    with np.errstate(invalid="ignore"):
        out = (table.mean_label < band["low"]) | (table.mean_label > band["high"])
    if not out.any():
        return None
    return int(np.argmax(np.where(out, contributions(table), -1.0)))


def contributions(table: BinTable) -> Floats:
    """Return the contribution of each bin to the squared error, 0 for an empty bin."""
    return np.where(table.count > 0, table.share * np.nan_to_num(table.gap) ** 2, 0.0)


def _scores(evidence: Evidence) -> str:
    table = evidence.table
    if evidence.band is None:
        return ""
    if np.count_nonzero(table.count) < 2:
        scores = "confidences" if evidence.multiclass else "scores"
        return f"All {scores} fall into one bin." if evidence.overview.n > 1 else ""
    worst = standing_out(table, evidence.band)
    if worst is None:
        return "No range of scores stands out." if evidence.classes is None else ""
    # A bin that contributes more may be in its band, which is wide where rates vary most.
    most = contributions(table).argmax() == worst
    of = " of total weight" if evidence.overview.weighted else " of rows"
    share = f"{100 * table.share[worst]:.0f}%{of}"
    predicted, observed = amount(table.mean_score[worst]), amount(table.mean_label[worst])
    if evidence.multiclass:
        means = f"mean confidence {predicted}, accuracy {observed}"
    else:
        means = f"mean prediction {predicted}, observed rate {observed}"
    which = f"{'Confidences' if evidence.multiclass else 'Scores'} {range_of(table, worst)}"
    if evidence.rejected:
        return f"{which} {'contribute most' if most else 'stand out'} ({share}): {means}."
    verb = "deviate most" if most else "stand out"
    # Of outcomes that were certain, one that did not occur is an error and no noise.
    certain = evidence.overview.n_zero_prob_outcomes and table.mean_score[worst] in (0.0, 1.0)
    if evidence.status == TESTS_DISAGREE or certain:
        return f"{which} {verb} ({share}): {means}."
    return f"{which} {verb} ({share}: {means}), but this may be sampling noise."


def range_of(table: BinTable, b: int) -> str:
    """Return the scores of a bin in words: a range, or one score if there is no other."""
    mean, square = table.mean_score[b], table.sums.score2[b] / table.weight[b]
    if square - mean * mean <= ONE_SCORE:
        return one_score(float(mean))
    low = 0.0 if b == 0 else float(table.edges[b])
    high = 1.0 if b == table.n_bins - 1 else float(table.edges[b + 1])
    return between(low, high)


def _classes(evidence: Evidence) -> str:
    table = evidence.classes
    if table is None or "adjusted_pvalue" not in table:
        return ""
    note = "tested by class frequency only: errors that cancel within a class go undetected"
    return _of_parts(evidence, table, "class", f" ({note})" if evidence.by_frequency else "")


def _groups(evidence: Evidence) -> str:
    if evidence.groups is None:
        why = evidence.groups_left_out
        return f"Group errors were not computed: {why}." if why else ""
    many, draws = len(evidence.groups.table), evidence.resamples_of_groups
    if many > evidence.alpha * (1 + draws):
        return (
            f"With {many:,} groups and {draws:,} resamples, no group can reach significance after "
            "Holm adjustment."
        )
    return _of_parts(evidence, evidence.groups.table, "group")


def _of_parts(evidence: Evidence, table: ResultTable, one: str, note: str = "") -> str:
    bad = evidence.bad_parts(table)
    many = PLURALS[one]
    if not len(bad):
        return f"No {one} stands out{note}." if len(table) > 1 else ""
    errors = "; ".join(
        f"{one} {named(table[one][k])} ({error_of_part(table, k, evidence.alpha)})"
        for k in bad[:NAMED]
    )
    few = f"{len(bad)} of {len(table)} {many}"
    least = pvalue_of(float(table["adjusted_pvalue"][bad].min()), evidence.alpha)
    verb, p = ("is", "") if len(bad) == 1 else ("are", "smallest ")
    p = f" ({p}Holm-adjusted p = {least})"
    if evidence.status == TESTS_DISAGREE:
        p = ""  # the first sentence has it
    if len(bad) > NAMED:
        errors = f"the largest errors are in {errors}"
    found = f"{few} {verb} shown to be miscalibrated{p}: {errors}{note}."
    return f"{found}{_gaps(evidence, table, one, bad)}"


def _gaps(evidence: Evidence, table: ResultTable, one: str, bad: Ints) -> str:
    """State the mean gaps of classes or groups for which the interval alone shows no error."""
    found = [
        f"{one} {named(table[one][k])} {gap_of_part(table, k, evidence.alpha)}"
        for k in bad[:NAMED]
        if reaches_zero(table, k)
    ]
    if not found:
        return ""
    return (
        f" Mean {'gap' if len(found) == 1 else 'gaps'} (observed − predicted): {'; '.join(found)}."
    )
