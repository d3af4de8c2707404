"""The smooth calibration curve: the observed rate as a function of the predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.plotting.common.columns import Floats, check_columns, numbers
from trueup.plotting.common.remarks import write_above
from trueup.plotting.common.score_axes import (
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
    TINY,
    Look,
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
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 5.4)
BARS = 30  # of the histogram
FEW_PLACES = 30  # so few distinct scores have a stem each
CURVE = "calibration curve"


def plot_calibration_curve(
    curve: ResultTable,
    *,
    zoom: Zoom = "auto",
    name: object = None,
    title: str = "",
    remark: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Plot a smooth calibration curve, its confidence band and the distribution of the rows.

    Parameters
    ----------
    curve : ResultTable
        Table from ``inference.calibration_curve(probs, labels)``, with ``score``, ``mean_label``
        and ``weight``. If there are columns ``low`` and ``high``, they are plotted as the band.
    zoom : {"auto", "none"} or (float, float)
        Limits of the axes, as in `plot_reliability`.
    name : object, optional
        Name of the model for the legend. To plot several models, pass the returned axes as ``ax``.
    title, remark : str
        Text above the axes, and small text below the title.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from trueup.inference import calibration_curve
    >>> probs = np.linspace(0, 1, 200)
    >>> plot_calibration_curve(calibration_curve(probs, probs > 0.4)).get_ylabel()
    'observed frequency'
    """
    check_columns("curve", curve, "score", "mean_label", "weight")
    check_zoom(zoom)
    axes = on(ax, SIZE)
    from trueup.plotting.common.figures import Room

    room, compact = Room.of(axes), is_compact(axes)
    index = len(room.not_drawn)
    names = ("score", "mean_label", "low", "high", "weight")
    score, label, low, high, weight = (numbers(curve, each) for each in names)
    if index == 0:
        line: dict[str, Any] = {"color": MUTED, "linewidth": 1.2, "linestyle": DASHED}
        axes.plot((0, 1), (0, 1), label="calibrated", zorder=1.5, **line)
    share = weight / weight.sum()
    before = axes.get_xlim() if index else None
    limits = limits_of(zoom, score, share, label, low, high, before=before)
    here = (limits[0] <= score) & (score <= limits[1])
    heights = [each[here] for each in (label, low, high)]
    of_heights = limits_of_heights(limits, heights, axes.get_ylim() if index else None)
    axes.set(xlim=limits, ylim=of_heights)
    axes.set_aspect("equal", adjustable="box", anchor="NW")
    shown = look(index)
    room.not_drawn.append(float(np.sum(share[~here])))
    marker = shown.marker if len(score) == 1 else None  # a single score has no line
    line = {"color": shown.colour, "linestyle": shown.dashes, "linewidth": 1.6, "marker": marker}
    label_of = CURVE if name is None else words(name)
    axes.plot(score[here], label[here], label=label_of, gid=CURVE, zorder=3, **line)
    if not np.isnan(low).all():
        band: dict[str, Any] = {"color": shown.colour, "alpha": 0.2, "linewidth": 0}
        axes.fill_between(score[here], low[here], high[here], label="confidence band", **band)
    strip = _strip(axes, score, share, limits, shown, index)
    zoomed = about_zoom(limits, max(room.not_drawn))
    label_scores(axes, strip, "predicted probability", zoomed)
    axes.set_ylabel("observed frequency")
    ticks_by_size(axes, inches_of_square(axes))
    tidy(axes)
    write_above(axes, title, remark)
    if compact:
        shrink(axes)
        shrink(strip)
        over = float(np.sum(share * (label - score))) > 0
        if has_room_beside(axes):
            legend_beside(axes, size=small_print(TINY))
        else:
            legend_inside(axes, "lower right" if over else "upper left", left_out=["calibrated"])
    else:
        legend_beside(axes)
    return axes


def _strip(
    axes: Axes, score: Floats, share: Floats, limits: tuple[float, float], shown: Look, index: int
) -> Axes:
    """Plot a histogram of the rows within the limits in this model's own strip."""
    from trueup.plotting.common.figures import strip_below

    height = 0.16 if index == 0 else 0.1
    strip = strip_below(axes, f"rows {index + 1}", share=height, gap=0.05, shared_x=True)
    if len(score) <= FEW_PLACES:
        strip.vlines(score, 0, share, color=shown.colour, linewidth=2.5)
        top = 1.1 * float(share.max())
    else:
        edges = np.linspace(max(limits[0], 0), min(limits[1], 1), BARS + 1)
        between = np.r_[score[0], (score[1:] + score[:-1]) / 2, score[-1]]
        heights = np.diff(np.interp(edges, between, np.r_[0, np.cumsum(share)]))
        bar: dict[str, Any] = {"facecolor": FAINT, "edgecolor": shown.colour, "linewidth": 0.6}
        strip.bar(edges[:-1], heights, np.diff(edges), align="edge", **bar)
        top = 1.1 * float(heights.max())
    strip.set_ylim(0, top)
    strip.set_yticks([top / 1.1])
    percent_axis(strip.yaxis)
    if index == 0:
        strip.set_ylabel("rows")
    tidy(strip, grid="x")
    return strip
