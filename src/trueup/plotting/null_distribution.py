"""Null distribution: the statistic of calibrated models, and the observed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be
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
    columns: ResultTable,
    observed: float,
    pvalue: float | None = None,
    *,
    measure: str = "calibration error",
    ax: Axes | None = None,
) -> Axes:
    """Plot how a statistic is distributed for calibrated models, and where the model is.

    An observed value beyond twice the spread of the bars is an arrow at the edge of the axis.

    Parameters
    ----------
    columns : ResultTable
        Histogram of the statistic among resamples under calibration: the edges ``low`` and
        ``high`` and the ``count`` of each bar.
    observed : float
        The statistic of the model.
    pvalue : float, optional
        The p-value of the test, written next to the observed value.
    measure : str, default "calibration error"
        Name of the statistic, for the axis.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> bars = [(0.0, 0.01, 60), (0.01, 0.02, 30), (0.02, 0.03, 10)]
    >>> table = tu.tables.ResultTable.from_rows(bars, ("low", "high", "count"))
    >>> ax = tu.plotting.plot_null(table, observed=0.025, pvalue=0.04)
    >>> ax.texts[0].get_text()
    'observed: 0.025   p = 0.04'
    """
    check_columns("columns", columns, "low", "high", "count")
    if not is_number(observed) or not np.isfinite(observed):
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
    axes.set_xlabel(measure)
    axes.set_ylabel("resamples under\ncalibration")
    axes.locator_params(axis="x", nbins=7)
    number_axis(axes.xaxis)
    tidy(axes, grid="y")
    return axes


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
