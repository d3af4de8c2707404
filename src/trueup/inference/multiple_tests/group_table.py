"""The table of all groups, with the columns that define them, as it is written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.codec import column_of
from trueup.forecasts import Forecasts
from trueup.forecasts.group_names import numbered
from trueup.tables import ResultTable

COLUMNS = {
    "n": "n",
    "mean_prediction": "mean_score",
    "observed_rate": "mean_label",
    "gap": "gap",
    "gap_low": "gap_low",
    "gap_high": "gap_high",
    "gap_pvalue": "gap_pvalue",
    "ece": "ece",
    "error": "error",
    "error_low": "low",
    "error_high": "high",
    "pvalue": "pvalue",
    "adjusted_pvalue": "adjusted_pvalue",
}
"""Columns of the table, and what they are called among the errors of groups."""


def columns_of_groups(names: Sequence[Any], forecasts: Forecasts) -> ResultTable | None:
    """Return the columns that groups came from, one row per name, or None if they are not known."""
    columns = forecasts.group_columns
    if forecasts.groups is None or not columns:
        return None
    if len(columns) == 1:
        return ResultTable({columns[0]: column_of(list(names))})
    parts = {str(name): name.parts for name in numbered(forecasts.groups)[0]}
    return ResultTable(
        {column: column_of([parts[name][k] for name in names]) for k, column in enumerate(columns)}
    )


def table_of_groups(errors: ResultTable, names: ResultTable | None) -> ResultTable:
    """Return all groups in order: their names, each in its own column, and the main numbers.

    A column of names that has the name of a result column is renamed: n becomes group_n.
    """
    by_name: dict[str, NDArray[Any]] = {"group": errors["group"]}
    if names is not None:
        by_name = {f"group_{name}" if name in COLUMNS else name: names[name] for name in names}
    missing = np.full(len(errors), np.nan)
    numbers = {name: errors.columns().get(known, missing) for name, known in COLUMNS.items()}
    return ResultTable(by_name | numbers)
