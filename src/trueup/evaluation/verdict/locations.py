"""Where the error is: which range of scores, which classes and which groups."""

from __future__ import annotations

import numpy as np

from trueup.evaluation.verdict.evidence import TESTS_DISAGREE, Evidence
from trueup.evaluation.verdict.wording import amount, error_of_part, pvalue_of
from trueup.tables import BinTable, ResultTable

NAMED = 3
MOST_DIGITS = 6
PLURALS = {"class": "classes", "group": "groups"}


def location(evidence: Evidence) -> str:
    """Name the scores, classes and groups whose error is larger than sampling noise."""
    found = [_scores(evidence), _classes(evidence), _groups(evidence)]
    return " ".join(text for text in found if text)


def standing_out(table: BinTable, band: ResultTable | None) -> int | None:
    """Return the bin outside its band that contributes most to the error; None if none is."""
    if band is None or np.count_nonzero(table.count) < 2:
        return None
    with np.errstate(invalid="ignore"):
        out = (table.mean_label < band["low"]) | (table.mean_label > band["high"])
    if not out.any():
        return None
    return int(np.argmax(np.where(out, table.share * np.abs(table.gap), -1.0)))


def _scores(evidence: Evidence) -> str:
    table = evidence.table
    if evidence.band is None:
        return ""
    if np.count_nonzero(table.count) < 2:
        return "All scores fall into one bin." if evidence.overview.n > 1 else ""
    worst = standing_out(table, evidence.band)
    if worst is None:
        return "No range of scores stands out." if evidence.classes is None else ""
    of = "total weight" if evidence.overview.weighted else "rows"
    share = f"{100 * table.share[worst]:.0f}% of {of}"
    predicted, observed = amount(table.mean_score[worst]), amount(table.mean_label[worst])
    if evidence.multiclass:
        means = f"mean confidence {predicted}, accuracy {observed}"
    else:
        means = f"mean prediction {predicted}, observed rate {observed}"
    which = f"{'Confidences' if evidence.multiclass else 'Scores'} {range_of(table, worst)}"
    if evidence.miscalibrated:
        return f"{which} contribute most ({share}): {means}."
    return f"{which} deviate most ({share}: {means}), but this may be sampling noise."


def range_of(table: BinTable, b: int) -> str:
    """Return which scores a bin holds: a range, or one score if it holds no other."""
    mean, square = table.mean_score[b], table.sums.score2[b] / table.weight[b]
    if square - mean * mean <= 1e-12:
        return f"of {mean:.4g}"
    low, high = float(table.edges[b]), float(table.edges[b + 1])
    digits = next((d for d in range(2, MOST_DIGITS) if round(low, d) < round(high, d)), MOST_DIGITS)
    if b == 0:
        return f"up to {_bound(high, digits)}"
    if b == table.n_bins - 1:
        return f"above {_bound(low, digits)}"
    first, last = _bound(low, digits), _bound(high, digits)
    return first if first == last and not first[0].isdigit() else f"from {first} to {last}"


def _bound(bound: float, least: int) -> str:
    """Return a bound with enough decimals to tell it from 0 and 1, or say that it is next to one.

    >>> _bound(0.1, 2), _bound(0.99971, 2), _bound(1 - 1e-9, 2), _bound(1e-12, 3)
    ('0.10', '0.9997', 'just below 1', 'just above 0')
    """
    if bound in (0.0, 1.0):
        return f"{bound:.0f}"
    for digits in range(least, MOST_DIGITS + 1):
        if 0 < round(bound, digits) < 1:
            return f"{bound:.{digits}f}"
    return "just below 1" if bound > 0.5 else "just above 0"


def _classes(evidence: Evidence) -> str:
    table = evidence.classes
    if table is None or "adjusted_pvalue" not in table:
        return ""
    found = _of_parts(evidence, table, "class")
    if found and evidence.by_frequency:
        note = "tested by class frequency only: errors that cancel within a class go undetected"
        return f"{found[:-1]} ({note})."
    return found


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


def _of_parts(evidence: Evidence, table: ResultTable, one: str) -> str:
    bad = evidence.bad_parts(table)
    many = PLURALS[one]
    if not len(bad):
        return f"No {one} stands out." if len(table) > 1 else ""
    named = "; ".join(
        f"{one} {table[one][k]} ({error_of_part(table, k, evidence.alpha)})" for k in bad[:NAMED]
    )
    few = f"{len(bad)} of {len(table)} {many}"
    least = pvalue_of(float(table["adjusted_pvalue"][bad].min()), evidence.alpha)
    verb, p = ("is", "") if len(bad) == 1 else ("are", "smallest ")
    p = f" ({p}Holm-adjusted p = {least})"
    if evidence.status == TESTS_DISAGREE:
        p = ""  # the first sentence has it
    if len(bad) > NAMED:
        named = f"the largest errors are in {named}"
    return f"{few} {verb} miscalibrated{p}: {named}."
