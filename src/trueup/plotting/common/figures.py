"""Figures that notebooks show without pyplot, and axes that make room inside their own place.

The one module of the package that needs matplotlib to be imported; the others import it late.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.transforms import Bbox

LEGEND_GAP = 0.02  # between axes and legend, as a share of the axes' width
LABEL_INCHES = 0.5  # what figures leave for the labels of axes, to the left and below
LEAST = 0.3  # of the place, however long names are


class NotebookFigure(Figure):
    """A figure that pyplot does not know of, and that a notebook shows, as it does its axes."""

    @classmethod
    def of_size(cls, size: tuple[float, float]) -> Self:
        """Return an empty figure of a size in inches that makes room for all text."""
        figure = cls(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return figure

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes which a notebook shows as the figure, since functions return axes."""
        axes = super().add_subplot(*args, **kwargs)
        axes._repr_png_ = self._repr_png_
        return axes

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


class Room:
    """Where axes lie inside the place they were given: space next to them is kept free.

    ``strip`` is the share of the height that is kept below them, for a strip of other axes. To
    the right the width of the legend is kept. So is what long labels need to the left and below, in
    a figure without a layout engine, which would make room itself.
    """

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.strip = 0.0

    @classmethod
    def of(cls, axes: Axes) -> Room:
        """Return the room of some axes, made when first asked for."""
        present: Any = axes.get_axes_locator()
        if isinstance(present, cls):
            return present
        made: Any = cls(axes)
        axes.set_axes_locator(made)
        return cls.of(axes)

    def __call__(self, axes: Axes, renderer: Any) -> Bbox:
        """Return the place of the axes, in shares of the figure."""
        place = axes.get_position(original=True)
        figure = axes.get_figure(root=True)
        assert figure is not None
        least = LEAST * place.width
        left, right, bottom = place.x0, place.x1, place.y0 + self.strip * place.height
        if figure.get_layout_engine() is None:
            before, below = self._labels(renderer, LABEL_INCHES * figure.dpi)
            left += min(before / figure.bbox.width, place.width - least)
            bottom += min(below / figure.bbox.height, (1 - LEAST) * (place.y1 - bottom))
        legend = axes.get_legend()
        if legend is not None:
            after = legend.get_window_extent(renderer).width / figure.bbox.width
            right = max(left + (right - left - after) / (1 + LEGEND_GAP), left + least)
        return Bbox.from_extents(left, bottom, right, place.y1)

    def _labels(self, renderer: Any, left: float) -> tuple[float, float]:
        """Pixels that labels need to the left and below, beyond those that are left for them."""
        beside = self.axes.yaxis.get_tightbbox(renderer)
        below = self.axes.xaxis.get_tightbbox(renderer)
        now = self.axes.bbox
        width = 0.0 if beside is None else float(now.x0 - beside.x0)
        height = 0.0 if below is None or self.strip else float(now.y0 - below.y0)
        return max(width - left, 0.0), max(height - left, 0.0)

    def get_subplotspec(self) -> SubplotSpec | None:
        """Return the place in a grid, which matplotlib's tight layout asks for."""
        return self.axes.get_subplotspec()


def strip_below(axes: Axes, kind: str, *, share: float, gap: float, shared_x: bool) -> Axes:
    """Return the strip of other axes below, made in the place of the axes when first asked for.

    Parameters
    ----------
    axes
        What the strip belongs to; its place is shared with the strip.
    kind
        Name of the strip, by which it is found again.
    share, gap
        Heights of the strip and of the space above it, as shares of that of the axes.
    shared_x
        Whether both have one x axis, which then stands below the strip.
    """
    for child in axes.child_axes:
        if isinstance(child, Axes) and child.get_label() == kind:
            return child
    below = (0.0, -gap - share, 1.0, share)
    strip = axes.inset_axes(below, sharex=axes if shared_x else None, label=kind)
    Room.of(axes).strip = (share + gap) / (1 + share + gap)
    if shared_x:
        axes.tick_params(axis="x", labelbottom=False)
    return strip
