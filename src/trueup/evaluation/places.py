"""Where the error is: which scores, classes and groups, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.evaluation.grounds import Grounds
from trueup.tables import BinTable, Columns

__all__ = ["standing_out", "where"]

NAMED = 3
MOST_DIGITS = 8


def where(grounds: Grounds) -> str:
    """Name the scores, classes and groups whose error is more than chance."""
    found = [_scores(grounds), _classes(grounds), _groups(grounds)]
    return " ".join(text for text in found if text)


def standing_out(grounds: Grounds) -> list[str]:
    """Return the worst class and the worst group, those whose error is more than chance."""
    found = []
    if grounds.classes is not None and len(bad := _bad(grounds, grounds.classes)):
        found.append(_name("class", grounds.classes["class"][bad[0]]))
    if grounds.groups is not None and len(bad := _bad(grounds, grounds.groups.table)):
        found.append(_name("group", grounds.groups.table["group"][bad[0]]))
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
    share = f"{100 * table.share[worst]:.0f} % of rows"
    means = f"{table.mean_score[worst]:.3f} predicted, {table.mean_label[worst]:.3f} came true"
    if grounds.against:
        return f"{_range(table, worst)} add most to it ({share}): {means}."
    return f"{_range(table, worst)} look off ({share}: {means}), which may be chance."


def _range(table: BinTable, b: int) -> str:
    """Say which scores a bin holds; one score, if it holds no other."""
    mean, square = table.mean_score[b], table.sums.score2[b] / table.weight[b]
    if square - mean * mean <= 1e-12:
        return f"Scores of {mean:.4g}"
    low, high = float(table.edges[b]), float(table.edges[b + 1])
    digits = next((d for d in range(2, MOST_DIGITS) if round(low, d) < round(high, d)), MOST_DIGITS)
    if b == 0:
        return f"Scores up to {high:.{digits}f}"
    if b == table.made - 1:
        return f"Scores above {low:.{digits}f}"
    return f"Scores from {low:.{digits}f} to {high:.{digits}f}"


def _classes(grounds: Grounds) -> str:
    if grounds.classes is None or "pvalue_holm" not in grounds.classes:
        return ""
    return _of_parts(grounds, grounds.classes, "class", "classes")


def _groups(grounds: Grounds) -> str:
    if grounds.groups is None:
        why = grounds.groups_left_out
        return f"Groups were not measured: {why}." if why else ""
    return _of_parts(grounds, grounds.groups.table, "group", "groups")


def _of_parts(grounds: Grounds, table: Columns, one: str, many: str) -> str:
    bad = _bad(grounds, table)
    if not len(bad):
        return f"No {one} stands out." if len(table) > 1 else ""
    named = ", ".join(f"{_name(one, table[one][k])} ({table['error'][k]:.3f})" for k in bad[:NAMED])
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


def _name(kind: str, name: Any) -> str:
    return str(name) if isinstance(name, str) else f"{kind} {name}"
