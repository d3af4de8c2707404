"""Prediction-specific calibration error: the gap between each score and the labels near it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.errors import must_be
from trueup.plotting.common.columns import Flags, Floats, check_columns, numbers
from trueup.plotting.common.remarks import write_above
from trueup.plotting.common.score_axes import (
    Zoom,
    about_zoom,
    check_zoom,
    inches_of_square,
    label_scores,
    limits_of,
    ticks_by_size,
)
from trueup.plotting.common.style import (
    DASHED,
    FAINT,
    INK,
    MUTED,
    OVER,
    SMALL,
    TINY,
    UNDER,
    Look,
    is_compact,
    legend_beside,
    look,
    on,
    shrink,
    small_print,
    tidy,
    words,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 5.4)
FULL_AXIS = (-0.03, 1.03)
TINY_SUM = 1e-300
MOST_TOLD_APART = 7
ENOUGH_ROWS, ENOUGH_SHARE = 30.0, 0.05  # of the largest: with less than both a point is dotted


def plot_psce(
    curve: ResultTable,
    *,
    only: Sequence[Any] | None = None,
    zoom: Zoom = "auto",
    name: object = None,
    title: str = "",
    remark: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Plot the accuracy near every score against the score (Nixon et al. 2019, §5.4).

    The distance from the diagonal is the prediction-specific calibration error. A strip below shows
    how many rows each point rests on. The curve extends from the lowest to the highest score. It is
    dotted where it rests on fewer than 30 rows and on less than 5% of the largest number of rows at
    any point. Near 0 and 1, the curve leaves the diagonal even for calibrated models, because all
    neighbors of a score lie on one side.

    Parameters
    ----------
    curve : ResultTable
        Table with ``score``, ``mean_label`` and ``weight``, as returned by
        ``PointwiseError().table(probs, labels)``. With a column ``class``, each class gets its own
        curve.
    only : sequence, optional
        Classes that get their own color; the others are thin gray lines. By default, all classes if
        there are seven or fewer, otherwise none.
    zoom : {"auto", "none"} or (float, float)
        Limits of the axes, as in `plot_reliability`, based on the weight of the points. With
        several classes, ``"auto"`` shows the whole axis.
    name : object, optional
        Name of the curve for the legend.
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
    >>> import trueup as tu
    >>> curve = tu.PointwiseError().table([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    >>> tu.plotting.plot_psce(curve).get_ylabel()
    'local observed frequency'
    """
    check_columns("curve", curve, "score", "mean_label", "weight")
    check_zoom(zoom)
    axes = on(ax, SIZE)
    compact = is_compact(axes)
    names = curve["class"].tolist() if "class" in curve else [None] * len(curve)
    classes = list(dict.fromkeys(names))
    told = _told_apart(classes, only)
    axes.plot((0, 1), (0, 1), color=MUTED, linestyle=DASHED, linewidth=1.2, label="calibrated")
    if len(told) < len(classes):
        _others(axes, curve, names, set(told))
    limits = FULL_AXIS
    for index, one in enumerate(told):
        rows = np.flatnonzero([other == one for other in names])
        score, accuracy, weight = (
            numbers(curve, column)[rows] for column in ("score", "mean_label", "weight")
        )
        reached = ~_beyond(weight) & ~_beyond(weight[::-1])[::-1]
        accuracy = np.where(reached, accuracy, np.nan)
        firm = reached & _enough(weight)
        if len(classes) == 1:
            _gap(axes, score, np.where(firm, accuracy, np.nan))
            share = np.where(reached, weight, 0.0) / max(float(weight[reached].sum()), TINY_SUM)
            drawn = np.where(firm, accuracy, np.nan)
            limits = limits_of(zoom, score[reached], share[reached], drawn[reached])
        shown = one if name is None else name
        label = "local frequency" if shown is None else words(shown)
        _line(axes, score, accuracy, firm, look(index), label)
    if not isinstance(zoom, str):
        limits = limits_of(zoom, np.zeros(0), np.zeros(0))
    bottom = _strip(axes, numbers(curve, "score"), numbers(curve, "weight"))
    axes.set_xlim(limits)
    axes.set_ylim(limits)
    axes.set_aspect("equal", adjustable="box", anchor="NW")
    axes.set_ylabel("local observed frequency")
    label_scores(axes, bottom, "predicted probability", about_zoom(limits, 0.0))
    ticks_by_size(axes, inches_of_square(axes))
    tidy(axes)
    write_above(axes, title, remark)
    if compact:
        shrink(axes)
        shrink(bottom)
        bottom.set_ylabel("rows")
    legend_beside(axes, size=small_print(TINY) if compact else SMALL)
    return axes


def _told_apart(classes: list[Any], only: Sequence[Any] | None) -> list[Any]:
    if only is None:
        return classes if len(classes) <= MOST_TOLD_APART else []
    unknown = [name for name in only if name not in classes]
    if unknown:
        raise must_be("only", "names of classes of the curve", unknown[0])
    if len(only) > MOST_TOLD_APART:
        raise must_be("only", f"at most {MOST_TOLD_APART} classes", list(only))
    return list(only)


def _others(axes: Axes, curve: ResultTable, names: list[Any], told: set[Any]) -> None:
    """Plot all other classes as thin lines, in one collection because there may be a thousand."""
    from matplotlib.collections import LineCollection

    columns = ("score", "mean_label", "weight")
    points = np.column_stack([numbers(curve, column) for column in columns])
    starts = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    parts = [_where_rows_are(part) for part in np.split(points, starts[1:])]
    lines = [p for p, i in zip(parts, starts, strict=True) if names[i] not in told]
    label = f"{len(lines):,} {'other ' * bool(told)}classes"
    thin: dict[str, Any] = {"linewidths": 0.6, "alpha": max(0.15, min(0.6, 20 / len(lines)))}
    axes.add_collection(LineCollection(lines, colors=INK, label=label, **thin))


def _where_rows_are(points: Floats) -> Floats:
    """Return the points of a curve between its lowest and its highest score."""
    weight = points[:, 2]
    reached: Floats = points[~_beyond(weight) & ~_beyond(weight[::-1])[::-1], :2]
    return reached


def _enough(weight: Floats) -> Flags:
    """Return at which points the curve rests on enough rows."""
    return weight >= min(ENOUGH_ROWS, ENOUGH_SHARE * float(np.nanmax(weight, initial=0)))


def _beyond(weight: Floats) -> Flags:
    """Return which points lie before the first score, where weights grow by a constant factor."""
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = weight[1:] / weight[:-1]
    same = np.abs(factor / factor[:1] - 1) < 1e-6
    steps = len(same) if same.all() else int(np.argmin(same))
    empty = steps >= 2 and factor[0] > 1
    return np.asarray(np.arange(len(weight)) < (steps if empty else 0))


def _gap(axes: Axes, score: Floats, accuracy: Floats) -> None:
    """Fill the area between the curve and the diagonal."""
    for above, colour, hatch, what in (
        (False, OVER, "///", "overpredicted"),
        (True, UNDER, "...", "underpredicted"),
    ):
        where = (accuracy > score) == above
        if np.any(where & (accuracy != score)):
            axes.fill_between(
                score,
                score,
                accuracy,
                where,
                interpolate=True,
                facecolor=colour,
                edgecolor=colour,
                linewidth=0,
                alpha=0.22,
                hatch=hatch,
                label=what,
            )


def _line(
    axes: Axes, score: Floats, accuracy: Floats, firm: Flags, shown: Look, label: str
) -> None:
    line: dict[str, Any] = {"color": shown.colour, "linewidth": 1.6}
    if np.count_nonzero(~np.isnan(accuracy)) == 1:  # a single score has no line
        line["marker"] = shown.marker
    axes.plot(score, accuracy, linestyle=(0, (1, 1.6)), alpha=0.7, **line)
    solid = np.where(firm, accuracy, np.nan)
    axes.plot(score, solid, linestyle=shown.dashes, label=label, gid="psce", **line)


def _strip(axes: Axes, score: Floats, weight: Floats) -> Axes:
    """Plot how many rows each point rests on, summed over classes."""
    from trueup.plotting.common.figures import strip_below

    strip = strip_below(axes, "local rows", share=0.16, gap=0.04, shared_x=True)
    place, index = np.unique(score, return_inverse=True)
    total = np.bincount(index, weight, len(place))
    strip.fill_between(place, 0, total, facecolor=FAINT, edgecolor=MUTED, linewidth=0.8)
    strip.set_ylim(0, 1.1 * float(np.nanmax(total, initial=0)) or 1.0)
    strip.set_yticks([])
    strip.set_ylabel("rows\nnearby")
    tidy(strip, grid="x")
    return strip
