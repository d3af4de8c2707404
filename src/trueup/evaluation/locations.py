"""Where the error is: which scores, classes and groups, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.evaluation.evidence import Grounds, amount
from trueup.tables import BinTable, Columns

__all__ = ["standing_out", "where"]

NAMED = 3
MOST_DIGITS = 8


def where(grounds: Grounds) -> str:
    """Name the scores, classes and groups whose error is more than chance."""
    found = [_scores(grounds), _classes(grounds), _groups(grounds)]
    return " ".join(text for text in found if text)


def standing_out(grounds: Grounds) -> list[str]:
    """Return the worst classes and groups, those whose error is more than chance."""
    found = []
    groups = None if grounds.groups is None else grounds.groups.table
    for kind, table in (("class", grounds.classes), ("group", groups)):
        if table is not None:
            found += [f"{kind} {table[kind][k]}" for k in _bad(grounds, table)[:NAMED]]
    return found


def _scores(grounds: Grounds) -> str:
    table, band = grounds.table, grounds.band
    if band is None:
        return ""
    if np.count_nonzero(table.count) < 2:
        return "All scores are in one bin." if grounds.overview.n > 1 else ""
    with np.errstate(invalid="ignore"):
        out = (table.mean_label < band["low"]) | (table.mean_label > band["high"])
    if not out.any():
        return "No range of scores stands out." if grounds.classes is None else ""
    worst = int(np.argmax(np.where(out, table.share * np.abs(table.gap), -1.0)))
    of = "all weight" if grounds.overview.weighted else "rows"
    share = f"{100 * table.share[worst]:.0f} % of {of}"
    said, true = amount(table.mean_score[worst]), amount(table.mean_label[worst])
    means = f"{said} predicted, {true} came true"
    if grounds.against:
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
    if b == table.made - 1:
        return f"Scores above {low:.{_digits(low, apart)}f}"
    first, last = _digits(low, apart), _digits(high, apart)
    return f"Scores from {low:.{first}f} to {high:.{last}f}"


def _digits(bound: float, least: int) -> int:
    """As many decimals as tell a bound from 0 and from 1."""
    return next((d for d in range(least, MOST_DIGITS) if 0 < round(bound, d) < 1), MOST_DIGITS)


def _classes(grounds: Grounds) -> str:
    if grounds.classes is None or "pvalue_holm" not in grounds.classes:
        return ""
    found = _of_parts(grounds, grounds.classes, "class", "classes")
    if found and grounds.by_frequency:
        return f"{found[:-1]}, by how often each came true: errors that cancel are not seen."
    return found


def _groups(grounds: Grounds) -> str:
    if grounds.groups is None:
        why = grounds.groups_left_out
        return f"Groups were not measured: {why}." if why else ""
    many = len(grounds.groups.table)
    if many > grounds.alpha * (1 + grounds.resamples_of_groups):
        return f"With {many:,} groups, p-values adjusted for all of them can single out none."
    return _of_parts(grounds, grounds.groups.table, "group", "groups")


def _of_parts(grounds: Grounds, table: Columns, one: str, many: str) -> str:
    bad = _bad(grounds, table)
    if not len(bad):
        return f"No {one} stands out." if len(table) > 1 else ""
    named = ", ".join(f"{one} {table[one][k]} ({table['error'][k]:.3f})" for k in bad[:NAMED])
    few = f"{len(bad)} of {len(table)} {many}"
    if grounds.against:
        verb = "is" if len(bad) == 1 else "are"
        what = "error" if len(bad) == 1 else "largest errors"
        return f"{few} {verb} miscalibrated; {what}: {named}."
    least = float(table["pvalue_holm"][bad].min())
    verb = "stands" if len(bad) == 1 else "stand"
    return f"But {few} {verb} out (p = {least:.2g} adjusted for {len(table)}): {named}."


def _bad(grounds: Grounds, table: Columns) -> Any:
    """Rows whose adjusted p-value speaks against calibration, the largest error first."""
    if "pvalue_holm" not in table:
        return np.array([], np.int64)
    bad = np.flatnonzero(table["pvalue_holm"] <= grounds.alpha)
    return bad[np.argsort(-table["error"][bad], kind="stable")]
