"""Null distribution: the statistic of calibrated models, and the observed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueup.checks import is_number
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.evaluation.plot_tables import null_table
from trueup.plotting.common.columns import check_columns, numbers
from trueup.plotting.common.style import (
    FAINT,
    INK,
    MUTED,
    VERMILION,
    in_words,
    number,
    number_axis,
    on,
    tidy,
)
from trueup.results import CalibrationTestResult
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.0, 3.6)
FAR = 2.0  # times the spread of the bars: what is further away is marked at the edge
HEADROOM = 1.3  # height of the axes over that of the bars: words stand above them


def plot_null(
    columns: ResultTable | CalibrationTestResult,
    observed: float | None = None,
    pvalue: float | None = None,
    *,
    measure: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot how a statistic is distributed for calibrated models, and where the model is.

    An observed value beyond twice the spread of the bars is an arrow at the edge of the axis.

    Parameters
    ----------
    columns : CalibrationTestResult or ResultTable
        Result of a test, whose ``null_draws`` are shown in 40 bars. Or a histogram of the statistic
        among resamples under calibration: the edges ``low`` and ``high`` and the ``count`` of each
        bar.
    observed : float, optional
        The statistic of the model; required for a histogram, and omitted for a result.
    pvalue : float, optional
        The p-value of the test, written next to the observed value; omitted for a result.
    measure : str, optional
        Name of the statistic, for the axis. The default is "calibration error" for a histogram and
        the name of the test for a result.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> result = tu.calibration_test([0.2, 0.6] * 50, [0, 1] * 50, statistic=tu.ece)
    >>> plot_null(result).texts[0].get_text()
    'observed: 0.3   p ≤ 0.001'
    >>> bars = [(0.0, 0.01, 60), (0.01, 0.02, 30), (0.02, 0.03, 10)]
    >>> table = tu.tables.ResultTable.from_rows(bars, ("low", "high", "count"))
    >>> ax = tu.plotting.plot_null(table, observed=0.025, pvalue=0.04)
    >>> ax.texts[0].get_text()
    'observed: 0.025   p = 0.04'
    """
    hypothesis, name = "calibration", "calibration error"
    if isinstance(columns, CalibrationTestResult):
        hypothesis, name = "the null hypothesis", f"statistic of the {columns.method} test"
        result, columns = columns, _table_of(columns, observed=observed, pvalue=pvalue)
        observed, pvalue = result.statistic, result.pvalue
    check_columns("columns", columns, "low", "high", "count")
    if observed is None or not is_number(observed) or not np.isfinite(observed):
        raise must_be("observed", "a finite number", observed)
    low, high, count = (numbers(columns, name) for name in ("low", "high", "count"))
    axes = on(ax, SIZE)
    left, right = float(low.min()), float(high.max())
    spread = right - left or 0.02
    # An observed value that is far away would press all bars into a corner.
    far = max(left - observed, observed - right) > FAR * spread
    shown = float(np.clip(observed, left - 0.6 * spread, right + 0.6 * spread)) if far else observed
    span = max(right, shown) - min(left, shown) or 0.02
    # A statistic that is the same in all resamples is a bar without width: make it visible.
    width = np.maximum(high - low, 0.004 * span)
    middle = (low + high) / 2
    axes.bar(middle, count, width, facecolor=FAINT, edgecolor=MUTED, linewidth=0.8)
    top = float(np.nanmax(count, initial=0)) or 1.0
    axes.set_ylim(0, HEADROOM * top)
    axes.set_xlim(min(left, shown) - 0.05 * span, max(right, shown) + 0.05 * span)
    after = "" if pvalue is None else f"   {in_words(pvalue, float(count.sum()))}"
    if far:
        side = ">" if observed > right else "<"
        axes.plot([shown], [0.5 * top], marker=side, color=VERMILION, markersize=11, clip_on=False)
        _say(axes, observed, shown, 1.09 * top, f", beyond the axis{after}")
    else:
        axes.vlines(observed, 0, 1.04 * top, color=VERMILION, linewidth=2.2)
        axes.plot([observed], [1.04 * top], marker="v", color=VERMILION, markersize=8)
        _say(axes, observed, shown, 1.09 * top, after)
    axes.set_xlabel(measure or name)
    axes.set_ylabel(f"resamples under\n{hypothesis}")
    axes.locator_params(axis="x", nbins=7)
    number_axis(axes.xaxis)
    tidy(axes, grid="y")
    return axes


def _table_of(result: CalibrationTestResult, **omitted: float | None) -> ResultTable:
    """Return the histogram of the draws of a test; raise InputError if there are none."""
    for name, value in omitted.items():
        if value is not None:
            raise InputError(
                name, "must be omitted for the result of a test, which holds it", value
            )
    if result.null_draws is None:
        got = Verbatim(f"the result of a {result.method} test that drew no resamples")
        hint = ("pass ", Argument("method", "consistency", "calibration_test"))
        raise must_be("columns", "a result with null draws", got, hint=hint)
    return null_table(result.null_draws)


def of_test(columns: ResultTable, test: CalibrationTestResult, *, ax: Axes | None = None) -> Axes:
    """Draw the statistic of an evaluation's headline and what calibrated models have."""
    measure = "debiased squared error (test of this error alone)"
    return plot_null(columns, test.statistic, test.pvalue, measure=measure, ax=ax)


def _say(axes: Axes, observed: float, at: float, height: float, after: str) -> None:
    """Write the observed value above its line, on the side where there is more room."""
    left, right = axes.get_xlim()
    place = (at - left) / (right - left)
    side = "left" if place < 0.35 else "right" if place > 0.65 else "center"
    text = f"observed: {number(observed)}{after}"
    axes.text(at, height, text, ha=side, va="bottom", color=INK)
