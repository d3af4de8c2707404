"""Checks of the columns of tables to plot, and their values as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Verbatim, must_be
from trueup.tables import ResultTable

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


def check_columns(argument: str, table: object, *names: str) -> ResultTable:
    """Raise InputError unless this is a `ResultTable` with these columns and at least one row."""
    columns = ResultTable.expect(table, argument, f"a ResultTable with {_listed(names)}")
    missing = [name for name in names if name not in columns]
    if missing:
        got = Verbatim(f"columns {_listed(tuple(columns))} without {_listed(tuple(missing))}")
        raise must_be(argument, f"a ResultTable with {_listed(names)}", got)
    if len(columns) == 0:
        raise must_be(argument, "a ResultTable with a row or more", Verbatim("no rows"))
    return columns


def numbers(table: ResultTable, name: str) -> Floats:
    """Return a column as numbers, or NaN for every row if there is no such column."""
    if name not in table:
        return np.full(len(table), np.nan)
    return np.asarray(table[name], np.float64)


def _listed(names: tuple[str, ...]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
