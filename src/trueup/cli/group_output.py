"""The table of all groups that `trueup evaluate` writes to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trueup.errors import InputError

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation
    from trueup.forecasts import Forecasts

__all__ = ["is_table", "refuse_without_groups", "write_groups"]


def is_table(path: str) -> bool:
    """Return whether the suffix of an output file asks for the table of groups (.csv, not .json).

    >>> is_table("p.json"), is_table("groups.csv"), is_table("groups.csv.gz"), is_table("out")
    (False, True, True, False)
    """
    from trueup.io.sources import SUFFIXES

    name = Path(path).name.lower().removesuffix(".gz")
    return any(name.endswith(suffix) for suffix in SUFFIXES if suffix != ".json")


def refuse_without_groups(path: str, forecasts: Forecasts) -> None:
    """Raise InputError if there is no table of groups to write to ``path``."""
    if forecasts.groups is None:
        hint = "pass --groups, or several files, or write a *.json file"
        raise InputError("--output", f"cannot be {path!r}: there are no groups", hint=hint)
    if forecasts.clusters is not None:
        rule = f"cannot be {path!r}: groups of rows in clusters are not tested"
        raise InputError("--output", rule, hint="leave out --clusters")


def write_groups(path: str, found: Evaluation) -> None:
    """Write one row per group: its names, size, mean prediction, rate, gap, ECE and p-values."""
    import numpy as np

    from trueup.io import write_table

    table = found.group_table
    if table is None:
        why = found.internal_errors.get("groups", "groups were not measured")
        raise InputError(None, f"no table of groups can be written to {path}: {why}")
    columns = table.columns()
    for name, column in columns.items():
        if column.dtype == object:  # dates, and names of several types
            columns[name] = np.array([str(each) for each in column], object)
    write_table(path, columns)
