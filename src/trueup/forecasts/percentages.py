"""Conversion of percentages written as text, such as "85%", to fractions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.forecasts.arrays import is_missing

PERCENT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*%\s*")
MIXED = "hold percentages such as '85%' in every row or in none"
NO_NUMBER = "hold numbers or percentages"
OUTSIDE = "hold percentages from 0% to 100%"


class PercentageError(ValueError):
    """Percentages among other entries, or impossible ones: the rule, and the first that breaks it.

    ``row`` and ``item`` are of that entry.
    """

    def __init__(self, rule: str, row: int, item: object) -> None:
        super().__init__(rule, row, item)
        self.rule, self.row, self.item = rule, row, item


def as_fractions(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return percentages as fractions, NaN where missing; None if no entry is a percentage.

    >>> as_fractions(np.array(["85%", "12.3 %"])).tolist(), as_fractions(np.array(["0.5"]))
    ([0.85, 0.123], None)
    """
    if array.dtype.kind not in "OU":
        return None
    fractions = np.full(array.shape, np.nan)
    first_other: tuple[int, object] | None = None
    n_found = 0
    for place, item in np.ndenumerate(array):
        found = PERCENT.fullmatch(item) if isinstance(item, str) else None
        if found is not None:
            fractions[place] = float(f"{found[1]}e-2")  # 12.3 / 100 would not be 0.123
            n_found += 1
        elif first_other is None and not is_missing(item) and item != "":
            first_other = place[0], item
    if n_found == 0:
        return None
    if first_other is not None:
        raise PercentageError(MIXED if _is_number(first_other[1]) else NO_NUMBER, *first_other)
    outside = (fractions < 0) | (fractions > 1)
    if outside.any():
        place = tuple(int(each) for each in np.argwhere(outside)[0])
        raise PercentageError(OUTSIDE, place[0], array[place])
    return fractions


def _is_number(item: object) -> bool:
    try:
        float(item)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
