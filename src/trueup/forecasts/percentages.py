"""Conversion of percentages written as text, such as "85%", to fractions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.forecasts.arrays import is_missing

PERCENT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*%\s*")
RULE = "percentages such as '85%' in every row or in none"


class MixedError(ValueError):
    """Error: some entries are percentages and others are not; ``item`` in ``row`` is the first."""

    def __init__(self, row: int, item: object) -> None:
        super().__init__(row, item)
        self.row, self.item = row, item


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
        raise MixedError(*first_other)
    return fractions
