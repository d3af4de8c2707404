"""The table of all groups, with the columns that define them, as it is written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.codec import column_of
from trueup.forecasts import Forecasts
from trueup.forecasts.group_names import grid_of, numbered
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

    A column of names that has the name of a result column is renamed: n becomes group_n. Names that
    a separator splits into the rows and columns of a grid, such as model_task, are followed by
    their parts.
    """
    by_name: dict[str, NDArray[Any]] = {"group": errors["group"]}
    if names is not None:
        by_name = {f"group_{name}" if name in COLUMNS else name: names[name] for name in names}
    if len(by_name) == 1:
        by_name |= _parts(errors["group"].tolist(), next(iter(by_name)))
    missing = np.full(len(errors), np.nan)
    numbers = {name: errors.columns().get(known, missing) for name, known in COLUMNS.items()}
    return ResultTable(by_name | numbers)


def _parts(names: list[Any], column: str) -> dict[str, NDArray[Any]]:
    """Return the two parts of each name, or an empty dict if the names do not form a grid.

    >>> {name: parts.tolist() for name, parts in _parts(["a_x", "a_y", "b_x", "b_y"], "g").items()}
    {'part_1': ['a', 'a', 'b', 'b'], 'part_2': ['x', 'y', 'x', 'y']}
    """
    grid = grid_of(names)
    if grid is None:
        return {}
    parts = [place[:: -1 if grid.turned else 1] for place in grid.places]
    stem = column if column.startswith("part_") else "part"
    return {
        f"{stem}_{k}": column_of(list(part)) for k, part in enumerate(zip(*parts, strict=True), 1)
    }
