"""Several named tables on the same axes: one line each, distinguished by more than its color."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Floats
from trueup.errors import must_be
from trueup.plotting.common.columns import check_columns
from trueup.plotting.common.style import LOOKS, Look, legend_beside, look, on, tidy, words
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_ENTRIES = 20  # of a legend
MARKS = 12  # number of marks, about, on a line with more points than this


def named_tables(argument: str, tables: object, *columns: str) -> dict[str, ResultTable]:
    """Return tables by name, each with these columns and at least one row.

    A single table gets the name "", because there are no others to distinguish it from.
    """
    if not isinstance(tables, Mapping):
        return {"": check_columns(argument, tables, *columns)}
    if len(tables) == 0:
        raise must_be(argument, "a ResultTable, or a dictionary of ResultTables by name", tables)
    return {
        str(name): check_columns(f"{argument}[{name!r}]", table, *columns)
        for name, table in tables.items()
    }


def series_look(index: int) -> Look:
    """Return the style of a series; after seven, colors repeat with other markers and dashes."""
    turn = index // len(LOOKS)
    return Look(look(index).colour, look(index + 2 * turn).marker, look(index + 3 * turn).dashes)


def finite(values: Any) -> Floats:
    """Return numbers, with NaN (which is not plotted) in place of infinite values."""
    numbers = np.asarray(values, np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def draw_series(ax: Axes, index: int, name: str, x: Any, y: Any, **options: Any) -> Line2D:
    """Plot one of several lines, with markers at some of its points."""
    colour, marker, dashes = series_look(index)
    settings: dict[str, Any] = {
        "color": colour,
        "marker": marker,
        "markersize": 5,
        "markevery": max(1, len(x) // MARKS),
        "linestyle": dashes,
        "linewidth": 1.6,
        "label": words(name) if name else "_",
    }
    (line,) = ax.plot(finite(x), finite(y), **settings | options)
    return line


def series_axes(ax: Axes | None, series: int) -> Axes:
    """Return tidy axes; new axes are tall enough for a legend with ``series`` entries."""
    axes = on(ax, (6.4, max(4.0, 0.9 + 0.19 * min(series, MOST_ENTRIES + 1))))
    tidy(axes)
    return axes


def legend_of_series(ax: Axes) -> None:
    """Place the legend next to the data; with too many series, list some and count the rest."""
    from matplotlib.lines import Line2D

    handles = ax.get_legend_handles_labels()[0]
    more = len(handles) - MOST_ENTRIES
    if more > 0:
        rest = Line2D([], [], linestyle="none", label=f"… and {more} more")
        handles = [*handles[:MOST_ENTRIES], rest]
    legend_beside(ax, handles)


def _in_full(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def log_x(ax: Axes, values: Any) -> None:
    """Make the horizontal axis for these values logarithmic, with numbers written in full."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known) & (known > 0)]
    if known.size == 0:
        return
    ax.set_xscale("log")
    if known.min() == known.max():  # rounding of the logarithm would be all there is to see
        ax.set_xlim(known[0] / 2, known[0] * 2)
    narrow = known.max() / known.min() < 100
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    ax.xaxis.set_major_formatter(FuncFormatter(_in_full))
    ax.xaxis.set_minor_locator(NullLocator() if narrow else LogLocator(subs=range(2, 10)))
    ax.xaxis.set_minor_formatter(NullFormatter())
