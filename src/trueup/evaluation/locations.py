"""Where the error is: which scores, classes and groups, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.evaluation.evidence import Evidence, amount
from trueup.tables import BinTable, ResultTable

NAMED = 3
MOST_DIGITS = 8


def where(evidence: Evidence) -> str:
    """Name the scores, classes and groups whose error is more than chance."""
    found = [_scores(evidence), _classes(evidence), _groups(evidence)]
    return " ".join(text for text in found if text)


def standing_out(evidence: Evidence) -> list[str]:
    """Return the worst classes and groups, those whose error is more than chance."""
    found = []
    groups = None if evidence.groups is None else evidence.groups.table
    for kind, table in (("class", evidence.classes), ("group", groups)):
        if table is not None:
            found += [f"{kind} {table[kind][k]}" for k in _bad(evidence, table)[:NAMED]]
    return found


def _scores(evidence: Evidence) -> str:
    table, band = evidence.table, evidence.band
    if band is None:
        return ""
    if np.count_nonzero(table.count) < 2:
        return "All scores are in one bin." if evidence.overview.n > 1 else ""
    with np.errstate(invalid="ignore"):
        out = (table.mean_label < band["low"]) | (table.mean_label > band["high"])
    if not out.any():
        return "No range of scores stands out." if evidence.classes is None else ""
    worst = int(np.argmax(np.where(out, table.share * np.abs(table.gap), -1.0)))
    of = "all weight" if evidence.overview.weighted else "rows"
    share = f"{100 * table.share[worst]:.0f} % of {of}"
    said, true = amount(table.mean_score[worst]), amount(table.mean_label[worst])
    means = f"{said} predicted, {true} came true"
    if evidence.miscalibrated:
        return f"{_range(table, worst)} add most to it ({share}): {means}."
    return f"{_range(table, worst)} look off ({share}: {means}), which may be chance."


def _range(table: BinTable, b: int) -> str:
    """Say which scores a bin holds; one score, if it holds no other."""
    mean, square = table.mean_score[b], table.sums.score2[b] / table.weight[b]
    if square - mean * mean <= 1e-12:
        return f"Scores of {mean:.4g}"
    low, high = float(table.edges[b]), float(table.edges[b + 1])
    apart = next((d for d in range(2, MOST_DIGITS) if round(low, d) < round(high, d)), MOST_DIGITS)
    if b == 0:
        return f"Scores up to {high:.{_digits(high, apart)}f}"
    if b == table.n_bins - 1:
        return f"Scores above {low:.{_digits(low, apart)}f}"
    first, last = _digits(low, apart), _digits(high, apart)
    return f"Scores from {low:.{first}f} to {high:.{last}f}"


def _digits(bound: float, least: int) -> int:
    """As many decimals as tell a bound from 0 and from 1."""
    return next((d for d in range(least, MOST_DIGITS) if 0 < round(bound, d) < 1), MOST_DIGITS)


def _classes(evidence: Evidence) -> str:
    if evidence.classes is None or "adjusted_pvalue" not in evidence.classes:
        return ""
    found = _of_parts(evidence, evidence.classes, "class", "classes")
    if found and evidence.by_frequency:
        return f"{found[:-1]}, by how often each came true: errors that cancel are not seen."
    return found


def _groups(evidence: Evidence) -> str:
    if evidence.groups is None:
        why = evidence.groups_left_out
        return f"Groups were not measured: {why}." if why else ""
    many = len(evidence.groups.table)
    if many > evidence.alpha * (1 + evidence.resamples_of_groups):
        return f"With {many:,} groups, p-values adjusted for all of them can single out none."
    return _of_parts(evidence, evidence.groups.table, "group", "groups")


def _of_parts(evidence: Evidence, table: ResultTable, one: str, many: str) -> str:
    bad = _bad(evidence, table)
    if not len(bad):
        return f"No {one} stands out." if len(table) > 1 else ""
    named = ", ".join(f"{one} {table[one][k]} ({table['error'][k]:.3f})" for k in bad[:NAMED])
    few = f"{len(bad)} of {len(table)} {many}"
    if evidence.miscalibrated:
        verb = "is" if len(bad) == 1 else "are"
        what = "error" if len(bad) == 1 else "largest errors"
        return f"{few} {verb} miscalibrated; {what}: {named}."
    least = float(table["adjusted_pvalue"][bad].min())
    verb = "stands" if len(bad) == 1 else "stand"
    return f"But {few} {verb} out (p = {least:.2g} adjusted for {len(table)}): {named}."


def _bad(evidence: Evidence, table: ResultTable) -> Any:
    """Rows whose adjusted p-value speaks against calibration, the largest error first."""
    if "adjusted_pvalue" not in table:
        return np.array([], np.int64)
    bad = np.flatnonzero(table["adjusted_pvalue"] <= evidence.alpha)
    return bad[np.argsort(-table["error"][bad], kind="stable")]
