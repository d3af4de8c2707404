"""Charts with one row for each class, group or model: a point, its interval and a remark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trueup.plotting.common.columns import Flags, Floats, Indices, check_columns, numbers
from trueup.plotting.common.style import (
    GREEN,
    INK,
    MUTED,
    OVER,
    OVER_MARKER,
    SMALL,
    UNDER,
    UNDER_MARKER,
    inches_of,
    number,
    number_axis,
    tidy,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES_A_ROW = 0.23
LINE = 1.35  # height of a line of text, in sizes of the text
SMALLEST_NAME = 4.0  # points
ROOM_FOR_BOUND = 0.25  # of the width, for what is written after an interval
BOUND = "bound"
CONSERVATIVE = "conservative near 0"  # intervals, which may reach 0 though the test rejects


class Kind(NamedTuple):
    """Style of a row, and its label in the legend."""

    marker: str
    colour: str
    label: str


TOO_HIGH = Kind(OVER_MARKER, OVER, "overpredicted")
TOO_LOW = Kind(UNDER_MARKER, UNDER, "underpredicted")
PLAIN = Kind("o", GREEN, "predicted as often\nas it occurs")


@dataclass(frozen=True)
class Rows:
    """Values to plot in each row; all columns are in the order of the rows."""

    order: Indices  # of each row in the columns
    names: list[Any]
    value: Floats
    low: Floats
    high: Floats
    gap: Floats
    pvalue: Floats

    @classmethod
    def of(
        cls,
        columns: ResultTable,
        name: str,
        *,
        pvalue: str,
        worst_first: bool = True,
        in_order: Sequence[int] | None = None,
    ) -> Rows:
        """Read and sort the columns, by error or as given; drop rows without an error."""
        check_columns("columns", columns, name, "error")
        value = numbers(columns, "error")
        order = np.argsort(-value if worst_first else value, kind="stable")
        if in_order is not None:
            order = np.asarray(in_order, np.intp)
        order = order[~np.isnan(value[order])]
        names = columns[name].tolist()
        low, high, gap, p = (numbers(columns, c)[order] for c in ("low", "high", "gap", pvalue))
        return cls(order, [names[i] for i in order], value[order], low, high, gap, p)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)

    def is_bound(self) -> Flags:
        """Return which errors are known only to be below the upper end of their interval."""
        return np.asarray((self.value == 0) & (self.low == 0) & (self.high > 0))

    def kinds(self) -> list[Kind]:
        """Return the kind of each row: overpredicted, underpredicted or neither."""
        return [TOO_HIGH if g < 0 else TOO_LOW if g > 0 else PLAIN for g in self.gap]


def draw_rows(
    axes: Axes, rows: Rows, kinds: Sequence[Kind], names: Sequence[str], alpha: float | None
) -> None:
    """Plot intervals and points, from the top, in as many rows as there are names.

    Points are hollow if their adjusted p-value is above ``alpha``; None fills all points.
    """
    from matplotlib import rcParams

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
    for row in np.flatnonzero(rows.is_bound()[:shown]):
        after: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        text = f"below {number(float(rows.high[row]))}"
        axes.annotate(text, (rows.high[row], row), fontsize=SMALL, color=INK, gid=BOUND, **after)
    axes.set_yticks(place, names)
    points_a_row = 72 * inches_of(axes)[1] / max(shown, 1)
    if points_a_row < LINE * rcParams["font.size"]:
        axes.tick_params(axis="y", labelsize=max(points_a_row / LINE, SMALLEST_NAME))
    axes.set_ylim(max(shown, 1) - 0.4, -0.6)
    number_axis(axes.xaxis)
    axes.locator_params(axis="x", nbins=5)
    tidy(axes, grid="x")


def limit_errors(axes: Axes, rows: Rows, *others: float) -> None:
    """Set limits that show 0, all points, all intervals and any other numbers given."""
    ends = np.concatenate([rows.value, rows.low, rows.high, others])
    low, high = min(0.0, float(np.nanmin(ends, initial=0))), highest(ends)
    pad = 0.03 * (high - low)  # so that markers at either end are whole
    bound = rows.high[rows.is_bound()]
    room = ROOM_FOR_BOUND if len(bound) and bound.max() > (1 - ROOM_FOR_BOUND) * high else 0.0
    axes.set_xlim(low - pad, high + 2 * pad + room * (high - low))


def highest(ends: Floats) -> float:
    """Return the largest of 0 and these numbers, or a small positive number if that is 0."""
    return float(np.nanmax(ends, initial=0)) or 0.01
