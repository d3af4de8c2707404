"""Reliability diagram: observed rate against mean prediction in each bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from trueup.calls.hints import hinted
from trueup.checks import check_choice, check_flag
from trueup.errors import Verbatim, must_be
from trueup.plotting.common.columns import Flags, Floats, Indices, check_columns, numbers
from trueup.plotting.common.remarks import write_above
from trueup.plotting.common.score_axes import (
    OF_DATA,
    Zoom,
    about_zoom,
    check_zoom,
    has_room_beside,
    inches_of_square,
    label_scores,
    limits_of,
    limits_of_heights,
    ticks_by_size,
)
from trueup.plotting.common.style import (
    DASHED,
    FAINT,
    MUTED,
    TICK,
    TINY,
    VERMILION,
    Look,
    inches_of,
    is_compact,
    legend_beside,
    legend_inside,
    look,
    on,
    percent_axis,
    shrink,
    small_print,
    tidy,
    words,
)
from trueup.tables import BinTable, ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Form = Literal["classical", "deviation"]

SIZE = (6.4, 5.4)
SIZE_OF_DEVIATIONS = (6.8, 4.4)
FEW = 5  # rows: the mean of fewer says little
STRIP = "fraction of rows"
SERIES, SERIES_OF_FEW = "reliability", "reliability-few"
CALIBRATED = "calibrated"
ROUNDING = 1e-9
LEGEND = (1.1, 0.5)  # width and height in inches of a legend inside


class Points(NamedTuple):
    """Values to plot for each non-empty bin."""

    score: Floats
    height: Floats  # mean label, or its distance from the score
    outside: Flags  # of the consistency band
    few: Flags  # fewer than 5 rows


@hinted
def plot_reliability(
    table: BinTable,
    *,
    band: ResultTable | None = None,
    confidence: ResultTable | None = None,
    form: Form = "classical",
    histogram: bool = True,
    zoom: Zoom = "auto",
    name: object = None,
    title: str = "",
    remark: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Plot a reliability diagram (Vaicenavicius et al. 2019, Fig. 4, after Bröcker & Smith 2007).

    Bins with fewer than 5 rows are small hollow points that no line connects. On axes as small as
    those of a figure in a paper (less than 3.4 inches wide), text is smaller and the legend is
    inside. `trueup.reliability_diagram` computes the tables and calls this function.

    Parameters
    ----------
    table : BinTable
        Table of bins from ``estimator.table(probs, labels)``. Empty bins are not plotted.
    band : ResultTable, optional
        Consistency band of a calibrated model, from ``inference.consistency_band(table)``, plotted
        as a bar behind each point. Points outside their bar are filled diamonds.
    confidence : ResultTable, optional
        Confidence interval of each observed rate, from ``inference.confidence_band(table)``,
        plotted as a whisker on each point.
    form : {"classical", "deviation"}
        ``"classical"``: mean label against mean score, with the diagonal. ``"deviation"``: mean
        label − mean score against mean score, with the zero line. Predictions are too high in bins
        below the line.
    histogram : bool
        Whether a strip below shows the fraction of rows in each bin: bars if all bins are equally
        wide, otherwise stems at the mean scores. Each model has its own strip.
    zoom : {"auto", "none"} or (float, float)
        ``"auto"`` zooms in if 99% of the rows take less than a third of the axis, and the axis
        label then says so. ``"none"`` shows 0 to 1. Two numbers set the limits.
    name : object, optional
        Name of the model for the legend. To plot several models, pass the returned axes as ``ax``.
    title : str
        Text above the axes.
    remark : str
        Small text below the title, such as the error and the number of rows.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.BinnedError().table([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1])
    >>> plot_reliability(table, name="my model").get_ylabel()
    'observed frequency'
    """
    BinTable.expect(table, "table")
    check_choice("form", form, "classical", "deviation")
    check_zoom(zoom)
    check_flag("histogram", histogram)
    bars = None if band is None else _ends("band", band, table)
    whiskers = None if confidence is None else _ends("confidence", confidence, table)
    deviation = form == "deviation"
    axes = on(ax, SIZE_OF_DEVIATIONS if deviation else SIZE)
    from trueup.plotting.common.figures import Room

    room, compact = Room.of(axes), is_compact(axes)
    index = len(room.not_drawn)
    shown = look(index)
    if index == 0:
        _reference(axes, deviation)
    bounds = [*(bars or ()), *(whiskers or ())]
    full, score, share = _means(table)
    heights = [] if deviation else [each[full] for each in (table.mean_label, *bounds)]
    before = axes.get_xlim() if index else None
    limits = limits_of(zoom, score, share, *heights, spread=spread_of(table), before=before)
    axes.set_xlim(limits)
    within = (limits[0] <= score) & (score <= limits[1])
    room.not_drawn.append(float(np.sum(share[~within])))
    full, score = full[within], score[within]
    base = score if deviation else np.zeros(len(full))
    label, *ends = (each[full] - base for each in (table.mean_label, *bounds))
    _limit_heights(axes, limits, [label, *ends], deviation=deviation, first=index == 0)
    outside = np.zeros(len(full), bool)
    if bars is not None:
        low, high = ends[:2]
        _bars(axes, score, low, high)
        outside = (label < low - ROUNDING) | (label > high + ROUNDING)
    if whiskers is not None:
        low, high = ends[-2:]
        axes.vlines(score, low, high, color=shown.colour, linewidth=1, label="confidence interval")
    points = Points(score, label, outside, table.count[full] < FEW)
    _points(axes, points, shown, name, hollow=bars is not None, compact=compact)
    bottom = _strip(axes, table, shown, index, compact) if histogram else axes
    zoomed = about_zoom(limits, max(room.not_drawn), "; all bins shown")
    label_scores(axes, bottom, "mean predicted probability", zoomed)
    axes.set_ylabel("observed − predicted" if deviation else "observed frequency")
    ticks_by_size(axes, inches_of(axes) if deviation else inches_of_square(axes))
    tidy(axes)
    write_above(axes, title, remark)
    if compact:
        for each in (axes, bottom):
            shrink(each)
        _small_legend(axes, deviation)
    else:
        legend_beside(axes)
    return axes


def of_bins(
    table: BinTable,
    band: ResultTable | None,
    *,
    form: Form = "classical",
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Plot the bins of an evaluation, with their consistency band if there is one."""
    return plot_reliability(table, band=band, form=form, ax=ax, **options)


def _means(table: BinTable) -> tuple[Indices, Floats, Floats]:
    """Return the indices, mean scores and fractions of rows of the non-empty bins."""
    full = np.flatnonzero(table.count)
    return full, table.mean_score[full], table.share[full] if len(full) else np.zeros(0)


def spread_of(table: BinTable) -> Floats:
    """Return the standard deviation of the scores in each bin that holds rows."""
    full = table.count > 0
    second = table.sums.score2[full] / table.sums.weight[full]
    return np.sqrt(np.maximum(second - table.mean_score[full] ** 2, 0.0))


def _ends(argument: str, band: ResultTable, table: BinTable) -> tuple[Floats, Floats]:
    """Return both ends of a band, one pair for each bin of the table."""
    check_columns(argument, band, "low", "high")
    if len(band) != table.n_bins:
        got = Verbatim(f"{len(band)} rows")
        raise must_be(argument, f"the band of this table, with {table.n_bins} rows", got)
    return numbers(band, "low"), numbers(band, "high")


def _reference(axes: Axes, deviation: bool) -> None:
    ends = (0, 0) if deviation else (0, 1)
    line: dict[str, Any] = {"color": MUTED, "linewidth": 1.2, "linestyle": DASHED}
    axes.plot((0, 1), ends, label=CALIBRATED, zorder=1.5, **line)


def _bars(axes: Axes, score: Floats, low: Floats, high: Floats) -> None:
    """Plot bars as wide as the distance to their neighbors allows."""
    left, right = axes.get_xlim()
    points_across = 0.85 * 72 * inches_of(axes)[0]
    gap = np.diff(score, prepend=-np.inf, append=np.inf)
    nearest = np.minimum(gap[:-1], gap[1:]) / (right - left)
    width = np.clip(0.7 * points_across * nearest, 1.2, 7.0)
    axes.vlines(score, low, high, color=FAINT, linewidth=width, gid="band", zorder=1)
    # For the legend.
    axes.fill_between([], [], color=FAINT, linewidth=0, label="consistency band")


def _points(
    axes: Axes, points: Points, shown: Look, name: object, *, hollow: bool, compact: bool
) -> None:
    """Plot points joined by a line, with diamonds on those outside the band."""
    firm = ~points.few
    size = (3.5 if len(points.score) > 60 else 5.5) * (0.75 if compact else 1.0)
    label = "observed" if name is None else words(name)
    line: dict[str, Any] = {"color": shown.colour, "markeredgewidth": 0.9 if compact else 1.3}
    axes.plot(
        points.score[firm],
        points.height[firm],
        linestyle=shown.dashes,
        linewidth=1.2,
        marker=shown.marker,
        markersize=size,
        markerfacecolor="white" if hollow else shown.colour,
        label=label if firm.any() or not len(firm) else "_",
        gid=SERIES,
        zorder=3,
        **line,
    )
    if points.few.any():
        axes.plot(
            points.score[points.few],
            points.height[points.few],
            linestyle="none",
            marker=shown.marker,
            markersize=0.5 * size,
            markerfacecolor="white",
            label=f"fewer than {FEW} rows" if firm.any() else f"{label}\n(fewer than {FEW} rows)",
            gid=SERIES_OF_FEW,
            zorder=3,
            **line,
        )
    for here, much, face in (
        (firm & points.outside, 1.27, VERMILION),
        (points.few & points.outside, 0.7, "white"),
    ):
        if here.any():
            axes.plot(
                points.score[here],
                points.height[here],
                linestyle="none",
                marker="D",
                markersize=much * size,
                markerfacecolor=face,
                markeredgecolor=shown.colour if face == VERMILION else VERMILION,
                markeredgewidth=0.7 if compact else 1.0,
                label="outside the band",
                zorder=4,
            )


def _limit_heights(
    axes: Axes,
    limits: tuple[float, float],
    heights: list[Floats],
    *,
    deviation: bool,
    first: bool,
) -> None:
    """Set y limits that show all points and bands within the x limits, and earlier models."""
    if not deviation:
        axes.set_ylim(limits_of_heights(limits, heights, None if first else axes.get_ylim()))
        axes.set_aspect("equal", adjustable="box", anchor="NW")
        return
    reach = 1.1 * float(np.nanmax(np.abs(np.concatenate(heights)), initial=0.01))
    reach = reach if first else max(reach, axes.get_ylim()[1])
    axes.set_ylim(-reach, reach)


def _small_legend(axes: Axes, deviation: bool) -> None:
    """Place the legend where small axes have room: next to a square, or in its emptier corner."""
    if not deviation and has_room_beside(axes):
        legend_beside(axes, size=small_print(TINY))
    else:
        legend_inside(axes, _empty_corner(axes), left_out=[CALIBRATED])


def _empty_corner(axes: Axes) -> str:
    """Return the corner, off the diagonal, in which a legend hides fewer points and bars."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    drawn = [np.asarray(line.get_xydata()) for line in axes.lines if line.get_gid() == SERIES]
    for bars in axes.collections:
        if bars.get_gid() == "band":
            drawn += [np.asarray(ends) for ends in bars.get_segments()]  # type: ignore[attr-defined]
    x, y = np.concatenate([np.zeros((0, 2)), *drawn]).T
    x, y = (x - left) / (right - left), (y - low) / (high - low)
    side = OF_DATA * inches_of(axes)[1]
    across = side if axes.get_aspect() != 1 else side * (right - left) / (high - low)
    wide, tall = LEGEND[0] / across, LEGEND[1] / side
    above, below = (x < wide) & (y > 1 - tall), (x > 1 - wide) & (y < tall)
    return "upper left" if np.sum(above) <= np.sum(below) else "lower right"


def _strip(axes: Axes, table: BinTable, shown: Look, index: int, compact: bool) -> Axes:
    """Plot the fraction of rows in each bin in this model's own strip; return the strip."""
    from trueup.plotting.common.figures import strip_below

    height = 0.16 if index == 0 else 0.1
    kind = f"{STRIP} {index + 1}"
    strip = strip_below(axes, kind, share=height, gap=0.05, shared_x=True)
    full, score, share = _means(table)
    widths = np.diff(table.edges)
    if np.ptp(widths) > 1e-6 * widths.mean() or table.n_bins == 1:
        stem: dict[str, Any] = {"color": shown.colour, "linestyle": shown.dashes}
        strip.vlines(score, 0, share, linewidth=2.5 if len(score) <= 60 else 1.0, **stem)
    else:
        bar: dict[str, Any] = {"facecolor": FAINT, "edgecolor": shown.colour, "linewidth": 0.8}
        strip.bar(table.edges[full], share, widths[full], align="edge", **bar)
    top = 1.1 * float(max(share, default=0.0)) or 1.0
    strip.set_ylim(0, top)
    strip.set_yticks([top / 1.1] if compact or index else [0, top / 1.1])
    percent_axis(strip.yaxis)
    if index == 0:
        strip.set_ylabel("rows")
    tidy(strip, grid="x")
    if compact:
        shrink(strip)
        strip.tick_params(axis="y", labelsize=small_print(TICK) - 0.5)
    return strip
