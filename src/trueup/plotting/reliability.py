"""The reliability diagram: what was predicted against what happened, bin by bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trueup.checks import check_choice, check_flag
from trueup.errors import Verbatim, must_be
from trueup.plotting.common.columns import Flags, Floats, check_columns, numbers
from trueup.plotting.common.style import (
    DASHED,
    FAINT,
    MUTED,
    VERMILION,
    Look,
    legend_beside,
    look,
    number_axis,
    on,
    percent_axis,
    tidy,
    words,
)
from trueup.tables import BinTable, ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 5.4)
SIZE_OF_DEVIATIONS = (6.8, 4.4)
PAD = 0.03  # beyond the outermost points, as a share of the range
SMALL_RANGE = 0.5  # of scores and labels, for zoom="auto" to look closer
POINTS_ACROSS = 300.0  # about the width of the axes
STRIP = "fraction of rows"
SERIES = "reliability"
ROUNDING = 1e-9


def plot_reliability(
    table: BinTable,
    *,
    band: ResultTable | None = None,
    confidence: ResultTable | None = None,
    form: Literal["classical", "deviation"] = "classical",
    histogram: bool = True,
    zoom: Literal["none", "auto"] = "none",
    name: object = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a reliability diagram (Vaicenavicius et al. 2019, Fig. 4, after Bröcker & Smith 2007).

    Parameters
    ----------
    table
        Bins, as of ``estimator.table(probs, labels)``. Empty ones are not drawn.
    band
        Where a calibrated model would be, from ``inference.consistency_band(table)``: a bar
        behind each point. Points outside theirs are filled diamonds.
    confidence
        Where the truth may be, from ``inference.confidence_band(table)``: a whisker on each point.
    form
        ``"classical"``: mean label against mean score, with the diagonal. ``"deviation"``: mean
        label − mean score against mean score, with the zero line; points below are overconfident.
    histogram
        Whether a strip below shows the share of rows: a bar for each bin where all are equally
        wide, otherwise a stem at the mean score of each bin.
    zoom
        ``"none"``: axes from 0 to 1. ``"auto"``: closer, where all points lie in a small range.
    name
        Of the model, for the legend. Draw several by calling again with the axes returned.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    BinTable.expect(table, "table")
    check_choice("form", form, "classical", "deviation")
    check_choice("zoom", zoom, "none", "auto")
    check_flag("histogram", histogram)
    bars = None if band is None else _ends("band", band, table)
    whiskers = None if confidence is None else _ends("confidence", confidence, table)
    deviation = form == "deviation"
    axes = on(ax, SIZE_OF_DEVIATIONS if deviation else SIZE)
    index = sum(line.get_gid() == SERIES for line in axes.lines)
    shown = look(index)
    full = np.flatnonzero(table.count)
    score, label = table.mean_score[full], table.mean_label[full]
    base = score if deviation else np.zeros(len(full))
    ends = [e[full] - base for pair in (bars, whiskers) if pair is not None for e in pair]
    if index == 0:
        _reference(axes, deviation)
    _limits(axes, score, label, ends, deviation=deviation, close=zoom == "auto", first=index == 0)
    outside = np.zeros(len(full), bool)
    if bars is not None:
        low, high = bars[0][full], bars[1][full]
        _bars(axes, score, low - base, high - base)
        outside = (label < low - ROUNDING) | (label > high + ROUNDING)
    if whiskers is not None:
        low, high = ends[-2:]
        axes.vlines(score, low, high, color=shown.colour, linewidth=1, label="confidence interval")
    _points(axes, score, label - base, outside, shown, name, hollow=bars is not None)
    bottom = _strip(axes, table, shown, index) if histogram else axes
    bottom.set_xlabel("mean predicted probability")
    axes.set_ylabel("observed − predicted" if deviation else "observed frequency")
    tidy(axes)
    legend_beside(axes)
    return axes


def of_bins(
    table: BinTable,
    band: ResultTable | None,
    *,
    form: Literal["classical", "deviation"] = "classical",
    ax: Axes | None = None,
) -> Axes:
    """Draw the bins of an evaluation, with their consistency band where there is one."""
    return plot_reliability(table, band=band, form=form, ax=ax)


def _ends(argument: str, band: ResultTable, table: BinTable) -> tuple[Floats, Floats]:
    """Both ends of a band, one pair for each bin of the table."""
    check_columns(argument, band, "low", "high")
    if len(band) != table.n_bins:
        got = Verbatim(f"{len(band)} rows")
        raise must_be(argument, f"the band of this table, with {table.n_bins} rows", got)
    return numbers(band, "low"), numbers(band, "high")


def _reference(axes: Axes, deviation: bool) -> None:
    ends = (0, 0) if deviation else (0, 1)
    line: dict[str, Any] = {"color": MUTED, "linewidth": 1.2, "linestyle": DASHED}
    axes.plot((0, 1), ends, label="calibrated", zorder=1.5, **line)


def _bars(axes: Axes, score: Floats, low: Floats, high: Floats) -> None:
    """Bars as wide as their neighbors leave room for."""
    left, right = axes.get_xlim()
    gap = np.diff(score, prepend=-np.inf, append=np.inf)
    nearest = np.minimum(gap[:-1], gap[1:]) / (right - left)
    width = np.clip(0.7 * POINTS_ACROSS * nearest, 1.2, 7.0)
    what = "consistency band\n(calibrated model)"
    axes.vlines(score, low, high, color=FAINT, linewidth=width, gid="band", zorder=1)
    axes.fill_between([], [], color=FAINT, linewidth=0, label=what)  # for the legend


def _points(
    axes: Axes,
    score: Floats,
    height: Floats,
    outside: Flags,
    shown: Look,
    name: object,
    *,
    hollow: bool,
) -> None:
    """Points joined by a line; hollow where chance explains them, diamonds where it does not."""
    axes.plot(
        score,
        height,
        color=shown.colour,
        linestyle=shown.dashes,
        linewidth=1.2,
        marker=shown.marker,
        markersize=5.5 if len(score) <= 60 else 3.5,
        markerfacecolor="white" if hollow else shown.colour,
        markeredgewidth=1.3,
        label="observed" if name is None else words(name),
        gid=SERIES,
        zorder=3,
    )
    if outside.any():
        axes.plot(
            score[outside],
            height[outside],
            linestyle="none",
            marker="D",
            markersize=7 if len(score) <= 60 else 4.5,
            markerfacecolor=VERMILION,
            markeredgecolor=shown.colour,
            markeredgewidth=1.0,
            label="outside the band",
            zorder=4,
        )


def _limits(
    axes: Axes,
    score: Floats,
    label: Floats,
    ends: list[Floats],
    *,
    deviation: bool,
    close: bool,
    first: bool,
) -> None:
    """Show all points, and what was there before."""
    from matplotlib.ticker import MaxNLocator

    points = score if deviation else np.concatenate([score, label])
    low, high = _range(points) if close else (0.0, 1.0)
    low, high = _wider(axes.get_xlim(), low, high, first)
    axes.set_xlim(low, high)
    for axis in (axes.xaxis, axes.yaxis):
        number_axis(axis)
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if deviation:
        heights = np.abs(np.concatenate([label - score, *ends]))
        reach = 1.1 * float(np.nanmax(heights, initial=0.01))
        reach = reach if first else max(reach, axes.get_ylim()[1])
        axes.set_ylim(-reach, reach)
    else:
        axes.set_ylim(low, high)
        axes.set_aspect("equal", adjustable="box", anchor="NW")


def _range(points: Floats) -> tuple[float, float]:
    """The range of the points if it is small; in any case not a single point."""
    if len(points) == 0 or np.ptp(points) > SMALL_RANGE:
        return 0.0, 1.0
    low, high = float(points.min()), float(points.max())
    if high - low < 1e-6:
        return max(low - 0.05, 0.0), min(high + 0.05, 1.0)
    if low < 0.5 * (high - low):  # so near 0 that it may as well be seen
        low = 0.0
    return low, high


def _wider(now: tuple[float, float], low: float, high: float, first: bool) -> tuple[float, float]:
    pad = PAD * (high - low)
    low, high = low - pad, high + pad
    return (low, high) if first else (min(now[0], low), max(now[1], high))


def _strip(axes: Axes, table: BinTable, shown: Look, index: int) -> Axes:
    """Draw the share of rows in each bin below; return the strip."""
    from trueup.plotting.common.figures import strip_below

    strip = strip_below(axes, STRIP, share=0.16, gap=0.04, shared_x=True)
    full = np.flatnonzero(table.count)
    share = table.share[full] if len(full) else np.zeros(0)
    widths = np.diff(table.edges)
    if np.ptp(widths) > 1e-6 * widths.mean() or table.n_bins == 1:
        width = 2.5 if len(full) <= 60 else 1.0
        strip.vlines(
            table.mean_score[full],
            0,
            share,
            color=shown.colour,
            linestyle=shown.dashes,
            linewidth=width,
        )
    elif index == 0:
        strip.bar(
            table.edges[full],
            share,
            widths[full],
            align="edge",
            facecolor=FAINT,
            edgecolor=shown.colour,
            linewidth=0.8,
        )
    else:
        heights = np.where(table.count > 0, table.share, 0)
        dashed: dict[str, Any] = {"color": shown.colour, "linestyle": shown.dashes}
        strip.stairs(heights, table.edges, linewidth=1.2, **dashed)
    top = max([0.0 if index == 0 else strip.get_ylim()[1], *(1.1 * share)], default=0.0) or 1.0
    strip.set_ylim(0, top)
    strip.set_yticks([0, top / 1.1])
    percent_axis(strip.yaxis)
    strip.set_ylabel("rows")
    tidy(strip, grid="x")
    return strip
