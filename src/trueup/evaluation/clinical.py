"""Clinical measures and their joint test, for all rows and for each group."""

from __future__ import annotations

import math
from typing import Any

from trueup.errors import InputError
from trueup.estimators.clinical import cox
from trueup.forecasts import Forecasts
from trueup.forecasts.sample_data import rows_of_groups
from trueup.inference import oe_ratio_interval
from trueup.lens import Binary
from trueup.tables import ResultTable

ALL_ROWS = "all rows"
CALL = "call it as evaluate(probs, labels, groups=groups)"


def clinical_table(forecasts: Forecasts, confidence_level: float) -> ResultTable:
    """Return one row for all rows, named `ALL_ROWS`, then one per group.

    Columns: ``group``, ``n``, ``oe`` with ``oe_low`` and ``oe_high``, the same of
    ``in_the_large``, ``slope`` and ``intercept``, ``joint_statistic`` and ``joint_pvalue``; a
    number that does not exist is NaN.
    """
    found = [_row(ALL_ROWS, forecasts, confidence_level)]
    if forecasts.groups is not None:
        for name, rows in rows_of_groups(forecasts.groups, CALL):
            found.append(_row(name, forecasts.take(rows), confidence_level))
    return ResultTable.from_rows(found)


def _row(name: Any, forecasts: Forecasts, confidence_level: float) -> dict[str, Any]:
    fitted = cox(forecasts, lens=Binary())
    intervals = fitted.intervals(confidence_level)
    try:
        ratio = oe_ratio_interval(forecasts, lens=Binary(), confidence_level=confidence_level)
        ends = (ratio.estimate, ratio.low, ratio.high)
    except InputError:  # every prediction is 0
        ends = (math.nan, math.nan, math.nan)
    found: dict[str, Any] = {"group": name, "n": forecasts.n}
    found |= dict(zip(("oe", "oe_low", "oe_high"), ends, strict=True))
    for each in ("in_the_large", "slope", "intercept"):
        low, high = getattr(intervals, each)
        found |= {each: getattr(fitted, each), f"{each}_low": low, f"{each}_high": high}
    joint = {"joint_statistic": fitted.joint_statistic, "joint_pvalue": fitted.joint_pvalue}
    return found | joint
