"""Small versions, for papers, of figures that are designed for a larger size.

Reliability diagrams and curves adapt to small axes themselves. Other kinds are plotted as usual and
then refitted here: smaller text, the legend below, fewer numbers along the axes, wrapped labels.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from trueup.plotting.common.style import LABEL, TICK, TINY, is_compact, small_print

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

FEWEST_LETTERS = 8  # of a line of a label
FEWEST_POINTS = 4.0  # size of the names of very many rows
WIDE_LABEL = 0.6  # of the width of the figure, for a label below narrower axes
LINE = 1.25  # height of a line of text, in sizes of the text
ROOM_FOR_TICK = 1.35  # distance of numbers along an axis, in lengths of the longest
MOST_COLUMNS = 3  # of a legend


def fit_small(axes: Axes) -> None:
    """Refit a finished figure if it is small; leave larger figures unchanged."""
    if not is_compact(axes):
        return
    figure: Any = axes.get_figure(root=True)
    for each in figure.axes:
        _smaller_text(each)
    _legend_below(axes)
    every = [(each, axis) for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    for _ in range(2):  # what is refitted changes the room for the rest
        figure.canvas.draw()
        for each, axis in every:
            _wrap_label(each, axis)
            _fewer_ticks(each, axis)
    figure.canvas.draw()
    _names_by_height(axes)


def _smaller_text(axes: Axes) -> None:
    from matplotlib.text import Text

    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(small_print(LABEL))
        axis.labelpad = 2.0
    axes.tick_params(labelsize=small_print(TICK), pad=2, length=2.5)
    for text in axes.texts:
        text.set_fontsize(min(text.get_fontsize(), small_print(TICK)))
    for child in axes.get_children():
        if isinstance(child, Text) and child not in axes.texts:  # a title
            child.set_fontsize(min(child.get_fontsize(), small_print(LABEL + 1)))


def _legend_below(axes: Axes) -> None:
    """Move the legend from the side of the axes to below them, where there is more room for it."""
    legend = axes.get_legend()
    figure: Any = axes.get_figure(root=True)
    if legend is None or figure.get_layout_engine() is None:
        return
    known = {str(handle.get_label()): handle for handle in axes.get_legend_handles_labels()[0]}
    texts = [text.get_text() for text in legend.get_texts()]
    pairs = zip(texts, legend.legend_handles, strict=True)
    handles = [known.get(text, handle) for text, handle in pairs]
    names = [" ".join(text.split()) for text in texts]
    legend.remove()
    look: dict[str, Any] = {
        "loc": "outside lower left",
        "frameon": False,
        "fontsize": small_print(TINY),
        "handlelength": 1.4,
        "handletextpad": 0.4,
        "columnspacing": 0.9,
        "labelspacing": 0.25,
        "borderpad": 0.1,
    }
    for columns in (MOST_COLUMNS, 2, 1):
        below = figure.legend(handles, names, ncols=columns, **look)
        if columns == 1 or below.get_window_extent().width <= figure.bbox.width:
            break
        below.remove()


def _runs_across(axes: Axes, axis: Axis) -> bool:
    return axis is axes.xaxis


def _length(axes: Axes, axis: Axis) -> float:
    """Return the length of an axis in pixels."""
    return float(axes.bbox.width if _runs_across(axes, axis) else axes.bbox.height)


def _wrap_label(axes: Axes, axis: Axis) -> None:
    """Break the label of an axis into lines that are no longer than the axis."""
    across = _runs_across(axes, axis)
    box = axis.label.get_window_extent()
    extent = box.width if across else box.height
    figure: Any = axes.get_figure(root=True)
    room = max(_length(axes, axis), WIDE_LABEL * figure.bbox.width if across else 0.0)
    text = axis.label.get_text()
    if extent <= room or not text:
        return
    longest = max(map(len, text.splitlines()))
    letters = max(FEWEST_LETTERS, int(longest * room / extent))
    lines = [part for line in text.splitlines() for part in wrap(line, letters)]
    axis.label.set_text("\n".join(lines))


def _fewer_ticks(axes: Axes, axis: Axis) -> None:
    """Write only as many numbers along an axis as fit."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    locator = axis.get_major_locator()
    boxes = [
        tick.label1.get_window_extent() for tick in axis.get_major_ticks() if tick.label1.get_text()
    ]
    if not boxes:
        return
    across = _runs_across(axes, axis)
    each = ROOM_FOR_TICK * max(box.width if across else box.height for box in boxes)
    most = max(2, int(_length(axes, axis) / each)) if each else 2
    if isinstance(locator, MaxNLocator):
        axes.locator_params(axis="x" if across else "y", nbins=min(most, 5))
    elif isinstance(locator, LogLocator) and len(boxes) > most:
        axis.set_major_locator(LogLocator(subs=(1,)))


def _names_by_height(axes: Axes) -> None:
    """Make the names of rows small enough to fit the height of a row."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(axes.yaxis.get_major_locator(), FixedLocator):
        return
    figure: Any = axes.get_figure(root=True)
    points = 72 * axes.bbox.height / figure.dpi / max(len(axes.get_yticks()), 1) / LINE
    size = min(small_print(TICK), max(points, FEWEST_POINTS))
    axes.tick_params(axis="y", labelsize=size)
    for text in axes.texts:
        text.set_fontsize(min(text.get_fontsize(), size))
