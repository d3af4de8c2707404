"""Comparison of several models: their errors with intervals, the smallest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueup.plotting.common.columns import Floats, numbers
from trueup.plotting.common.names import distinct_words
from trueup.plotting.common.style import (
    BLUE,
    DASHED,
    INK,
    LONGEST_NAME,
    MUTED,
    SMALL,
    in_words,
    inches_of,
    number,
    on,
)
from trueup.plotting.row_charts.rows import (
    CONSERVATIVE,
    INCHES_A_ROW,
    Kind,
    Rows,
    draw_rows,
    limit_errors,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation import Evaluation
    from trueup.evaluation.sections import Finding

WIDTH = 6.4
MODEL = Kind("o", BLUE, "model")
PVALUE_INCHES = 0.8  # which p-values take next to the data
DATA_SHARE = 0.65  # of the width of the figure, next to the names of models


def plot_comparison(
    columns: ResultTable,
    *,
    reference: float | None = None,
    measure: str = "calibration error",
    ax: Axes | None = None,
) -> Axes:
    """Plot the errors of several models with their intervals, the smallest first.

    Intervals of individual models say little about differences: two models may differ clearly
    although their intervals overlap, because they are evaluated on the same rows. Use
    ``tu.compare`` to test differences.

    Parameters
    ----------
    columns : ResultTable
        Table with ``model`` and ``error``, and optionally ``low`` and ``high``. A ``pvalue`` is
        written next to the model, as a bound if it is the smallest that ``n_resamples`` can give.
        Models without an error (NaN) are omitted.
    reference : float, optional
        Error to compare with, plotted as a line; by default the smallest.
    measure : str, default "calibration error"
        Name of the error for the axis label.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> rows = [("raw", 0.08), ("scaled", 0.01)]
    >>> table = tu.tables.ResultTable.from_rows(rows, ("model", "error"))
    >>> ax = tu.plotting.plot_comparison(table, measure="ECE")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['scaled', 'raw']
    """
    rows = Rows.of(columns, "model", pvalue="pvalue", worst_first=False)
    axes = on(ax, (WIDTH, 1.2 + 1.4 * INCHES_A_ROW * max(len(rows), 2)))
    names = distinct_words(rows.names, LONGEST_NAME)
    draw_rows(axes, rows, [MODEL] * len(rows), names, None)
    line = float(rows.value[0]) if reference is None and len(rows) else reference
    limit_errors(axes, rows, *([] if line is None else [line]))
    notes = []
    if line is not None:
        axes.axvline(line, color=MUTED, linestyle=DASHED, linewidth=1.2, zorder=1)
        what = "the smallest" if reference is None else "reference"
        notes = [f"dashed: {what}, {number(line)}"] if line else []
    if (rows.low == 0).any():
        notes.append(f"intervals are {CONSERVATIVE}")
    axes.set_xlabel("\n".join([measure, *(f"({note})" for note in notes)]))
    if not np.isnan(rows.pvalue).all():
        _pvalues(axes, rows, numbers(columns, "n_resamples")[rows.order])
    return axes


def of_estimates(estimates: Sequence[Finding], *, ax: Axes | None = None) -> Axes:
    """Plot metrics with their intervals."""
    return plot_comparison(errors_of(estimates), reference=0.0, ax=ax)


def of_models(models: Mapping[str, Evaluation], *, ax: Axes | None = None) -> Axes:
    """Plot the headline error of every model."""
    return plot_comparison(models_of(models), reference=0.0, ax=ax)


def errors_of(estimates: Sequence[Finding]) -> ResultTable:
    """Return metrics with their intervals as a table for `plot_comparison`.

    The error of the worst bin is omitted, because its scale is different and it is mostly sampling
    noise.
    """
    shown = {each.metric: each for each in estimates if each.metric != "mce"}
    return _named_errors(shown)


def models_of(models: Mapping[str, Evaluation]) -> ResultTable:
    """Return the error of every model and the p-value of its omnibus test."""
    first = {name: model.estimates[0] for name, model in models.items()}
    pvalues = [np.nan if each.pvalue is None else each.pvalue for each in models.values()]
    tests = [each.test for each in models.values()]
    draws = [np.nan if test is None else test.notes.get("n_resamples", np.nan) for test in tests]
    return ResultTable(
        {
            **_named_errors(first).data,
            "pvalue": np.array(pvalues),
            "n_resamples": np.array(draws, np.float64),
        }
    )


def _named_errors(found: Mapping[str, Finding]) -> ResultTable:
    return ResultTable(
        {
            "model": np.array(list(found)),
            "error": np.array([each.value for each in found.values()]),
            "low": np.array([each.interval.low for each in found.values()]),
            "high": np.array([each.interval.high for each in found.values()]),
        }
    )


def _pvalues(axes: Axes, rows: Rows, n_resamples: Floats) -> None:
    """Write p-values along the right side, next to the data."""
    left, right = axes.get_xlim()
    room = 1 - min(PVALUE_INCHES / (DATA_SHARE * inches_of(axes)[0]), 0.5)
    axes.set_xlim(left, left + (right - left) / room)
    resamples = np.where(np.isnan(n_resamples), np.inf, n_resamples)
    for place, pvalue in enumerate(rows.pvalue):
        if not np.isnan(pvalue):
            axes.text(
                1,
                place,
                in_words(float(pvalue), float(resamples[place])),
                ha="right",
                va="center",
                color=INK,
                fontsize=SMALL,
                transform=axes.get_yaxis_transform(),
            )
