"""Errors of individual classes and groups, the worst ones with their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be
from trueup.plotting.common.columns import numbers
from trueup.plotting.common.names import distinct_words, order_of
from trueup.plotting.common.style import (
    DASHED,
    FAINT,
    INK,
    LONGEST_NAME,
    MUTED,
    legend_beside,
    number,
    number_axis,
    on,
    percent,
    tidy,
)
from trueup.plotting.row_charts.rows import (
    CONSERVATIVE,
    INCHES_A_ROW,
    PLAIN,
    TOO_HIGH,
    TOO_LOW,
    Kind,
    Rows,
    draw_rows,
    highest,
    limit_errors,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import Finding
    from trueup.inference import GroupErrors

WIDTH = 6.8
MOST_NAMED = 40  # rows that still have names one can read
MOST_ORDERED = 31  # groups, such as the days of a month
WORST_NAMED = 20
LONGEST_ALONE = 48  # letters of a name in a figure of its own, which is as wide as it takes
INCHES_A_LETTER = 0.075
LABEL_INCHES = 0.65  # below an axis: numbers, and two lines of label
OVERVIEW = "all of them"


def plot_class_errors(
    columns: ResultTable,
    *,
    measure: str = "calibration error",
    alpha: float | None = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Plot the error of every class, the largest first (Nixon et al. 2019, Fig. 2).

    With more than 40 classes, the 20 worst are plotted with their names, and a strip below shows
    all classes as a curve. Classes without an error (NaN) are omitted.

    Parameters
    ----------
    columns : ResultTable
        Table with ``class`` and ``error``, as returned by ``tu.class_errors`` or
        ``inference.class_tests``. Other columns are optional. ``gap`` (mean label − mean score)
        distinguishes classes that are predicted too often from those predicted too rarely. ``low``
        and ``high`` are plotted as intervals. Points are filled if ``adjusted_pvalue`` is at most
        ``alpha``.
    measure : str, default "calibration error"
        Name of the error for the axis label.
    alpha : float or None, default 0.05
        Significance level of the tests; None fills all points.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> probs = [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]
    >>> table = tu.class_errors(tu.ece, probs, [0, 1, 2, 0])
    >>> ax = tu.plotting.plot_class_errors(table, measure="ECE")
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('ECE', ['1', '0', '2'])
    """
    axes, rows = _drawn(columns, "class", "classes", measure, alpha, ax)
    left_out = len(columns) - len(rows)
    if left_out:
        without = f"{left_out} class{'es' * (left_out != 1)} without predictions left out"
        axes.set_xlabel(f"{measure}\n({without})")
    return axes


def plot_group_errors(
    columns: ResultTable,
    *,
    overall: float | None = None,
    measure: str = "calibration error",
    alpha: float | None = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Plot the error of every group with its interval.

    Up to 31 groups that are dates or numbers are sorted by value; other groups are sorted by their
    error, the largest first. With more than 40 groups, the 20 worst are plotted with their names,
    and a strip below shows all groups as a curve. Long names lose the parts that they have in
    common, but stay distinct.

    Parameters
    ----------
    columns : ResultTable
        Table with ``group`` and ``error``, as in ``group_errors(...).table``. Other columns are
        optional: the number of rows ``n`` is written next to the name, and ``gap``, ``low``,
        ``high`` and ``adjusted_pvalue`` are used as in `plot_class_errors`.
    overall : float, optional
        Error of all rows together, plotted as a line.
    measure : str, default "calibration error"
        Name of the error for the axis label.
    alpha : float or None, default 0.05
        Significance level of the tests; None fills all points.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> names = ("group", "error", "n")
    >>> table = tu.tables.ResultTable.from_rows([("a", 0.02, 40), ("b", 0.07, 90)], names)
    >>> ax = tu.plotting.plot_group_errors(table, overall=0.03)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b (n = 90)', 'a (n = 40)']
    """
    axes, rows = _drawn(columns, "group", "groups", measure, alpha, ax)
    if overall is not None and np.isfinite(overall):
        limit_errors(axes, rows, overall)
        axes.axvline(overall, color=MUTED, linestyle=DASHED, linewidth=1.2, zorder=1)
        axes.set_xlabel(f"{measure}\n(dashed: all rows, {number(overall)})")
    return axes


def of_groups(groups: GroupErrors, headline: Finding, *, ax: Axes | None = None) -> Axes:
    """Plot the errors of an evaluation's groups, and its error over all rows."""
    return plot_group_errors(groups.table, overall=headline.value, ax=ax)


def _drawn(
    columns: ResultTable, one: str, many: str, measure: str, alpha: float | None, ax: Axes | None
) -> tuple[Axes, Rows]:
    """Plot all classes or groups; if there are too many, name the worst and add a strip of all."""
    _check_alpha(alpha)
    in_order = None
    if one == "group" and "group" in columns and len(columns) <= MOST_ORDERED:
        in_order = order_of(columns["group"].tolist())
    rows = Rows.of(columns, one, pvalue="adjusted_pvalue", in_order=in_order)
    shown = _named(len(rows))
    strip_inches = 1.4 if shown < len(rows) else 0.0
    names = _names(columns, rows, one, LONGEST_NAME if ax is not None else LONGEST_ALONE)
    wider = max(0, max(map(len, names), default=0) - LONGEST_NAME) * INCHES_A_LETTER
    axes = on(ax, (WIDTH + wider, 1.1 + INCHES_A_ROW * max(shown, 3) + strip_inches))
    kinds = rows.kinds()
    draw_rows(axes, rows, kinds, names[:shown], alpha)
    limit_errors(axes, rows)
    axes.set_xlabel(measure)
    axes.set_ylabel(one if shown == len(rows) else f"worst {many}")
    if shown < len(rows):
        _strip(axes, rows, many)
    _explain(axes, kinds, rows, alpha)
    return axes, rows


def _named(count: int) -> int:
    """Return how many of ``count`` rows are plotted with their names."""
    return count if count <= MOST_NAMED else WORST_NAMED


def _names(columns: ResultTable, rows: Rows, one: str, longest: int) -> list[str]:
    """Return the names to write; names of groups include the number of rows if it is known."""
    if one != "group" or "n" not in columns:
        return distinct_words(rows.names, longest)
    sizes = numbers(columns, "n")[rows.order]
    names = distinct_words(rows.names, longest - 8)
    return [f"{name} (n = {size:,.0f})" for name, size in zip(names, sizes, strict=True)]


def _strip(axes: Axes, rows: Rows, what: str) -> None:
    """Plot all errors, sorted, in a strip below, and shade the rows that have names."""
    from trueup.plotting.common.figures import strip_below

    figure = axes.get_figure(root=True)
    assert figure is not None
    inches = axes.get_position(original=True).height * figure.get_size_inches()[1]
    gap = float(np.clip(LABEL_INCHES / (0.7 * inches), 0.14, 0.4))  # for two lines and ticks
    strip = strip_below(axes, OVERVIEW, share=0.2, gap=gap, shared_x=False)
    rank = np.arange(1, len(rows) + 1)
    strip.axvspan(0.5, _named(len(rows)) + 0.5, color=FAINT, linewidth=0)
    strip.plot(rank, rows.value, color=INK, linewidth=1.4)
    strip.set_xlim(0.5, len(rows) + 0.5)
    strip.set_ylim(min(0.0, float(rows.value.min())), 1.08 * highest(rows.value))
    strip.set_xlabel(f"all {len(rows):,} {what} by decreasing error (shaded: shown above)")
    strip.set_ylabel("error")
    strip.locator_params(axis="y", nbins=3)
    number_axis(strip.yaxis)
    tidy(strip)


def _explain(axes: Axes, kinds: Sequence[Kind], rows: Rows, alpha: float | None) -> None:
    """Explain the markers, intervals and filled points in the legend."""
    from matplotlib.lines import Line2D

    shown = _named(len(rows))
    used = [kind for kind in (TOO_HIGH, TOO_LOW, PLAIN) if kind in kinds[:shown]]
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 6.5}
    if np.isnan(rows.gap).all():
        used = []
    handles = [Line2D([], [], color=k.colour, marker=k.marker, label=k.label, **dot) for k in used]
    if not (np.isnan(rows.low[:shown]).all() or np.isnan(rows.high[:shown]).all()):
        rejected = rows.pvalue[:shown] <= (0.0 if alpha is None else alpha)
        reach = rejected & (rows.low[:shown] == 0)
        label = f"interval,\n{CONSERVATIVE}" if reach.any() else "interval"
        handles.append(Line2D([], [], color=MUTED, linewidth=1.6, label=label))
    if alpha is not None and not np.isnan(rows.pvalue).all():
        said = f"filled: adjusted\np-value ≤ {percent(alpha)}"
        hollow: dict[str, Any] = {"markerfacecolor": "white", "color": INK, "marker": "o"}
        other = "hollow: not shown to\nbe miscalibrated"
        handles.append(Line2D([], [], color=INK, marker="o", label=said, **dot))
        handles.append(Line2D([], [], label=other, **hollow, **dot))
    legend_beside(axes, handles)


def _check_alpha(alpha: object) -> None:
    """Raise InputError unless ``alpha`` is None or a number between 0 and 1."""
    if alpha is not None and (not is_number(alpha) or not 0 < alpha < 1):  # type: ignore[operator]
        raise must_be("alpha", "a number between 0 and 1, or None", alpha)
