"""What a figure shows: where its text is, and whether it can be saved."""

from __future__ import annotations

import io
import warnings
from itertools import pairwise

import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Text3D
from mpl_toolkits.mplot3d.proj3d import proj_transform

SLACK = 1.5  # pixels


def plain_axes(projection: str | None = None):
    """Axes as a caller gives them: of a figure of the usual size without a layout."""
    figure = Figure(figsize=(6.4, 4.8))
    FigureCanvasAgg(figure)
    return figure.add_subplot(projection=projection)


def cropped(figure: Figure) -> list[str]:
    """Texts that reach beyond the edge of the figure."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    axes = figure.findobj(Axis)
    ticks = {text for axis in axes for text in axis.findobj(Text)}
    boxes = [
        (text.get_text(), _box(text, renderer))
        for text in figure.findobj(Text)
        if text not in ticks and text.get_visible() and text.get_text()
    ]
    # An axis knows which of its labels are drawn.
    for axis in axes:
        if axis.get_visible() and axis.axes.axison and (box := axis.get_tightbbox(renderer)):
            boxes.append((f"{axis.axis_name} axis of {axis.axes.get_label()!r}", box))
    inside = figure.bbox
    return [
        name
        for name, box in boxes
        if box.x0 < inside.x0 - SLACK
        or box.y0 < inside.y0 - SLACK
        or box.x1 > inside.x1 + SLACK
        or box.y1 > inside.y1 + SLACK
    ]


def _box(text: Text, renderer):
    if not isinstance(text, Text3D):
        return text.get_window_extent(renderer)
    x, y, _ = proj_transform(*text.get_position_3d(), text.axes.M)
    flat = text.axes.text2D(x, y, text.get_text(), transform=text.axes.transData)
    flat.set(ha=text.get_ha(), va=text.get_va(), fontproperties=text.get_fontproperties())
    box = flat.get_window_extent(renderer)
    flat.remove()
    return box


def saved(figure: Figure, kind: str) -> bytes:
    """The figure as a file; a warning is an error."""
    file = io.BytesIO()
    with warnings.catch_warnings(action="error"):
        figure.savefig(file, format=kind)
    return file.getvalue()


def points_of(line) -> np.ndarray:
    """Where a line was drawn."""
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of visible texts whose boxes overlap."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [(text.get_text(), _box(text, renderer)) for text in _visible_texts(figure)]
    return [
        (name, other)
        for k, (name, box) in enumerate(boxes)
        for other, against in boxes[:k]
        if min(box.x1, against.x1) - max(box.x0, against.x0) > SLACK
        and min(box.y1, against.y1) - max(box.y0, against.y0) > SLACK
    ]


def _visible_texts(figure: Figure) -> list[Text]:
    """Texts that are drawn: of the labels of an axis, those within its limits."""
    axes = figure.findobj(Axis)
    of_axes = {text for axis in axes for text in axis.findobj(Text)}
    found = [text for text in figure.findobj(Text) if text not in of_axes]
    for axis in axes:
        if not axis.get_visible() or not axis.axes.get_visible() or not axis.axes.axison:
            continue
        low, high = sorted(axis.get_view_interval())
        found.append(axis.label)
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high:
                found += [tick.label1, tick.label2]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def ticks_that_touch(figure: Figure, gap: float = 2.0) -> list[tuple[str, str]]:
    """Neighboring numbers below an axis with fewer than ``gap`` pixels between them."""
    figure.canvas.draw()
    found = []
    for axis in figure.findobj(XAxis):
        if not axis.get_visible() or not axis.axes.get_visible() or not axis.axes.axison:
            continue
        low, high = sorted(axis.get_view_interval())
        labels = [
            tick.label1
            for tick in axis.get_major_ticks()
            if low <= tick.get_loc() <= high and tick.label1.get_visible()
        ]
        shown = [label for label in labels if label.get_text().strip()]
        boxes = sorted((label.get_window_extent().x0, label) for label in shown)
        for (_, label), (start, other) in pairwise(boxes):
            if start - label.get_window_extent().x1 < gap:
                found.append((label.get_text(), other.get_text()))
    return found
