"""The error of every group of rows, with its size, interval and test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueup.plotting.common.columns import numbers
from trueup.plotting.common.style import DASHED, LONGEST_NAME, MUTED, number, on, words
from trueup.plotting.row_charts.rows import (
    Parts,
    Rows,
    check_alpha,
    draw_parts,
    height_of,
    limit_errors,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import Finding
    from trueup.inference import GroupErrors

WIDTH = 6.8


def plot_group_errors(
    columns: ResultTable,
    *,
    overall: float | None = None,
    measure: str = "calibration error",
    alpha: float | None = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error of every group, the largest first, with its interval.

    Of more than 40 groups the 20 worst are drawn with their names, and all of them as a curve in
    a strip below.

    Parameters
    ----------
    columns
        ``group`` and ``error``, as in ``group_errors(...).table``. Where there are: ``n`` stands
        with the name; ``gap``, ``low``, ``high`` and ``adjusted_pvalue``: as in
        `plot_class_errors`.
    overall
        The error of all rows together, drawn as a line.
    measure
        What the error is, for the axis.
    alpha
        Of the tests; None fills all points.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    check_alpha(alpha)
    rows = Rows.of(columns, "group", pvalue="adjusted_pvalue")
    axes = on(ax, (WIDTH, height_of(len(rows))))
    axes.set_xlabel(measure)
    draw_parts(axes, rows, _names(columns, rows), Parts("group", "groups"), alpha)
    if overall is not None and np.isfinite(overall):
        limit_errors(axes, rows, overall)
        axes.axvline(overall, color=MUTED, linestyle=DASHED, linewidth=1.2, zorder=1)
        axes.set_xlabel(f"{measure}\n(dashed: of all rows, {number(overall)})")
    return axes


def of_groups(groups: GroupErrors, headline: Finding, *, ax: Axes | None = None) -> Axes:
    """Draw the groups of an evaluation, and its error of all rows."""
    return plot_group_errors(groups.table, overall=headline.value, ax=ax)


def _names(columns: ResultTable, rows: Rows) -> list[str]:
    """Names with the number of rows, where that is known."""
    if "n" not in columns:
        return [words(name) for name in rows.names]
    sizes = numbers(columns, "n")[rows.order]
    return [
        f"{words(name, LONGEST_NAME - 8)} (n = {size:.0f})"
        for name, size in zip(rows.names, sizes, strict=True)
    ]
