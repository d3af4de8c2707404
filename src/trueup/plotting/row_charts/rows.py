"""Charts of one row for each class, group or model: a point, its interval, a remark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be
from trueup.plotting.common.columns import Floats, Indices, check_columns, numbers, texts
from trueup.plotting.common.style import (
    FAINT,
    GREEN,
    INK,
    MUTED,
    OVER,
    OVER_MARKER,
    UNDER,
    UNDER_MARKER,
    legend_beside,
    number_axis,
    percent,
    tidy,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 40  # rows that still have names one can read
WORST_NAMED = 20
INCHES_A_ROW = 0.23
LABEL_INCHES = 0.75  # below an axis: numbers, and two lines of label
OVERVIEW = "all of them"


class Kind(NamedTuple):
    """How a row is drawn, and what the legend says of it."""

    marker: str
    colour: str
    label: str


class Parts(NamedTuple):
    """What rows are: one of them, and many."""

    one: str
    many: str


TOO_HIGH = Kind(OVER_MARKER, OVER, "predicted too often")
TOO_LOW = Kind(UNDER_MARKER, UNDER, "predicted too rarely")
PLAIN = Kind("o", GREEN, "on the whole as\noften as it occurs")


@dataclass(frozen=True)
class Rows:
    """What is drawn in each row, worst first; all columns in that order."""

    order: Indices  # of each row in the columns
    names: list[Any]
    value: Floats
    low: Floats
    high: Floats
    gap: Floats
    pvalue: Floats

    @classmethod
    def of(cls, columns: ResultTable, name: str, *, pvalue: str, worst_first: bool = True) -> Rows:
        """Read and sort the columns; rows without a number are left out."""
        check_columns("columns", columns, name, "error")
        value = numbers(columns, "error")
        order = np.argsort(-value if worst_first else value, kind="stable")
        order = order[~np.isnan(value[order])]
        names = texts(columns, name)
        low, high, gap, p = (numbers(columns, c)[order] for c in ("low", "high", "gap", pvalue))
        return cls(order, [names[i] for i in order], value[order], low, high, gap, p)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)

    def kinds(self) -> list[Kind]:
        """Whether each row is predicted too often or too rarely."""
        return [TOO_HIGH if g < 0 else TOO_LOW if g > 0 else PLAIN for g in self.gap]


def named(count: int) -> int:
    """Return how many of so many rows are drawn with their names."""
    return count if count <= MOST_NAMED else WORST_NAMED


def height_of(count: int) -> float:
    """Return the inches that so many rows need."""
    overview = 1.4 if count > MOST_NAMED else 0.0
    return 1.1 + INCHES_A_ROW * max(named(count), 3) + overview


def draw_rows(
    axes: Axes, rows: Rows, kinds: Sequence[Kind], names: Sequence[str], alpha: float | None
) -> None:
    """Draw as many rows as there are names, from the top: intervals and points.

    Points are hollow where the adjusted p-value is above ``alpha``; None fills all.
    """
    from trueup.plotting.common.figures import Room

    Room.of(axes)
    shown = len(names)
    place = np.arange(shown)
    axes.hlines(place, rows.low[:shown], rows.high[:shown], color=MUTED, linewidth=1.6, zorder=2)
    known = alpha is not None and not np.isnan(rows.pvalue).all()
    for kind in dict.fromkeys(kinds[:shown]):
        here = np.array([k == kind for k in kinds[:shown]])
        sure = here & (rows.pvalue[:shown] <= alpha) if alpha is not None and known else here
        look: dict[str, Any] = {"marker": kind.marker, "s": 42, "edgecolor": kind.colour}
        for part, face in ((here & ~sure, "white"), (sure, kind.colour)):
            if part.any():
                at = (rows.value[:shown][part], place[part])
                axes.scatter(*at, facecolor=face, linewidth=1.2, zorder=3, **look)
    axes.set_yticks(place, names)
    axes.set_ylim(max(shown, 1) - 0.4, -0.6)
    number_axis(axes.xaxis)
    axes.locator_params(axis="x", nbins=5)
    tidy(axes, grid="x")


def limit_errors(axes: Axes, rows: Rows, *others: float) -> None:
    """Show 0, all points, all intervals and some other numbers."""
    ends = np.concatenate([rows.value, rows.low, rows.high, others])
    low, high = min(0.0, float(np.nanmin(ends, initial=0))), _top(ends)
    pad = 0.03 * (high - low)  # so that markers at either end are whole
    axes.set_xlim(low - pad, high + 2 * pad)


def _top(ends: Floats) -> float:
    return float(np.nanmax(ends, initial=0)) or 0.01


def draw_parts(axes: Axes, rows: Rows, names: Sequence[str], what: Parts, alpha: object) -> None:
    """Draw the errors of all classes or groups: the worst by name, very many in a strip below."""
    alpha, kinds, shown = check_alpha(alpha), rows.kinds(), named(len(rows))
    draw_rows(axes, rows, kinds, names[:shown], alpha)
    limit_errors(axes, rows)
    axes.set_ylabel(what.one if shown == len(rows) else f"worst {what.many}")
    if shown < len(rows):
        plot_overview(axes, rows, what.many)
    explain(axes, kinds, rows, alpha)


def plot_overview(axes: Axes, rows: Rows, what: str) -> None:
    """Draw all errors in order in a strip below, with the rows that have names marked."""
    from trueup.plotting.common.figures import strip_below

    figure = axes.get_figure(root=True)
    assert figure is not None
    inches = axes.get_position(original=True).height * figure.get_size_inches()[1]
    gap = float(np.clip(LABEL_INCHES / (0.7 * inches), 0.14, 0.4))  # for two lines and ticks
    strip = strip_below(axes, OVERVIEW, share=0.2, gap=gap, shared_x=False)
    rank = np.arange(1, len(rows) + 1)
    strip.axvspan(0.5, named(len(rows)) + 0.5, color=FAINT, linewidth=0)
    strip.plot(rank, rows.value, color=INK, linewidth=1.4)
    strip.set_xlim(0.5, len(rows) + 0.5)
    strip.set_ylim(min(0.0, float(rows.value.min())), 1.08 * _top(rows.value))
    strip.set_xlabel(f"all {len(rows)} {what}, largest error first; shaded: those above")
    strip.set_ylabel("error")
    strip.locator_params(axis="y", nbins=3)
    number_axis(strip.yaxis)
    tidy(strip)


def explain(axes: Axes, kinds: Sequence[Kind], rows: Rows, alpha: float | None) -> None:
    """Say in the legend what markers mean, and what filled ones do."""
    from matplotlib.lines import Line2D

    shown = named(len(rows))
    used = [kind for kind in (TOO_HIGH, TOO_LOW, PLAIN) if kind in kinds[:shown]]
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 6.5}
    if np.isnan(rows.gap).all():
        used = []
    handles = [Line2D([], [], color=k.colour, marker=k.marker, label=k.label, **dot) for k in used]
    if not (np.isnan(rows.low[:shown]).all() or np.isnan(rows.high[:shown]).all()):
        handles.append(Line2D([], [], color=MUTED, linewidth=1.6, label="interval"))
    if alpha is not None and not np.isnan(rows.pvalue).all():
        said = f"filled: adjusted\np-value ≤ {percent(alpha)}"
        hollow: dict[str, Any] = {"markerfacecolor": "white", "color": INK, "marker": "o"}
        other = "hollow: not shown to\nbe miscalibrated"
        handles.append(Line2D([], [], color=INK, marker="o", label=said, **dot))
        handles.append(Line2D([], [], label=other, **hollow, **dot))
    legend_beside(axes, handles)


def check_alpha(alpha: object) -> float | None:
    """Refuse what is neither None nor a share between 0 and 1."""
    if alpha is None:
        return None
    if not is_number(alpha) or not 0 < alpha < 1:  # type: ignore[operator]
        raise must_be("alpha", "a number between 0 and 1, or None", alpha)
    return float(alpha)  # type: ignore[arg-type]
