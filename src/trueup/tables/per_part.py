"""One table for parts of the data, such as classes or groups: mean score, mean label, error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trueup.tables.columns import ResultTable


class PartFound(NamedTuple):
    """What was found in one part: its mean score and label, its error, and what else is known.

    ``before`` are its name and size, ``after`` its interval and p-value, by column.
    """

    before: Mapping[str, Any]
    means: tuple[float, float]
    error: float
    after: Mapping[str, float] = {}


def per_part(found: Iterable[PartFound]) -> ResultTable:
    """Return one row a part; its ``gap`` is negative where scores are too high."""
    rows = []
    for before, (score, label), error, after in found:
        means = {"mean_score": score, "mean_label": label, "gap": label - score}
        rows.append({**before, **means, "error": error, **after})
    return ResultTable.from_rows(rows)
