"""Figures that notebooks display without pyplot, and axes that reserve space within their area.

Importing this module requires matplotlib. Most other modules import matplotlib only when they plot.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.text import Text
from matplotlib.transforms import Bbox

LEGEND_GAP = 0.02  # between axes and legend, as a share of the axes' width
LABEL_INCHES = 0.5  # what figures leave for the labels of axes, to the left and below
LEAST = 0.3  # of the place, however long names are
BELOW = 0.7  # of the space between rows of axes is for labels of the upper row
MARGIN = 0.06  # inches around axes that make room themselves
EDGE = 3.0  # pixels between labels and what is next to them


class NotebookFigure(Figure):
    """A figure outside pyplot that a notebook displays, also through its axes."""

    @classmethod
    def of_size(cls, size: tuple[float, float]) -> Self:
        """Return an empty figure of this size in inches, whose layout leaves room for all text."""
        figure = cls(figsize=size, layout="constrained")
        layout: Any = figure.get_layout_engine()
        layout.set(w_pad=MARGIN, h_pad=MARGIN)
        FigureCanvasAgg(figure)
        return figure

    @classmethod
    def without_layout(cls, size: tuple[float, float]) -> Self:
        """Return an empty figure for axes that reserve space for their text with `Room`."""
        figure = cls(figsize=size)
        FigureCanvasAgg(figure)
        width, height = MARGIN / size[0], MARGIN / size[1]
        figure.subplots_adjust(left=width, right=1 - width, bottom=height, top=1 - height)
        return figure

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes that a notebook displays as the figure, because plot functions return axes."""
        axes = super().add_subplot(*args, **kwargs)
        axes._repr_png_ = self._repr_png_
        return axes

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


class Room:
    """Position of axes within the area assigned to them, with space reserved next to the axes.

    Strips of other axes below take part of the height, and a legend on the right takes part of the
    width. If the figure has no layout engine, space for labels on the left, below and above is
    reserved as well; otherwise, the layout engine does this.
    """

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.strips: list[Axes] = []
        self.below = 0.0  # heights of strips and of the spaces above them, as shares of the axes'
        self.above: list[Text] = []  # title and remark
        self.has_legend_beside = False
        self.not_drawn: list[float] = []  # of each model on these axes, the share of rows beyond

    @classmethod
    def of(cls, axes: Axes) -> Room:
        """Return the `Room` of these axes; the first call creates it."""
        present: Any = axes.get_axes_locator()
        if isinstance(present, cls):
            return present
        made: Any = cls(axes)
        axes.set_axes_locator(made)
        return cls.of(axes)

    def __call__(self, axes: Axes, renderer: Any) -> Bbox:
        """Return the position of the axes, in fractions of the figure."""
        place = axes.get_position(original=True)
        figure = axes.get_figure(root=True)
        assert figure is not None
        least = LEAST * place.width
        left, right, bottom, top = place.x0, place.x1, place.y0, place.y1
        before, under, over = self._missing(renderer, figure)
        left += min(before / figure.bbox.width, place.width - least)
        top -= min(over / figure.bbox.height, LEAST * place.height)
        bottom += min(under / figure.bbox.height, (1 - LEAST) * (top - bottom))
        bottom += self.below / (1 + self.below) * (top - bottom)
        legend = axes.get_legend()
        if legend is not None and self.has_legend_beside:
            after = legend.get_window_extent(renderer).width / figure.bbox.width
            right = max(left + (right - left - after) / (1 + LEGEND_GAP), left + least)
        return Bbox.from_extents(left, bottom, right, top)

    def _missing(self, renderer: Any, figure: Figure) -> tuple[float, float, float]:
        """Return how many more pixels labels need on the left, below and above than are free."""
        all_axes = [self.axes, *self.strips]
        sides = [(axes, axes.yaxis.get_tightbbox(renderer)) for axes in all_axes]
        before = max((float(axes.bbox.x0 - box.x0) for axes, box in sides if box), default=0.0)
        bottom = all_axes[-1].xaxis.get_tightbbox(renderer)
        under = float(all_axes[-1].bbox.y0 - bottom.y0) if bottom else 0.0
        tops = [text.get_window_extent(renderer).y1 for text in self.above]
        over = max(tops, default=self.axes.bbox.y1) - float(self.axes.bbox.y1)
        free = self._free(figure)
        if figure.get_layout_engine() is not None:
            # It makes room, but may take a square's empty place for room below.
            edge = self.axes.get_position(original=True).y0 * figure.bbox.height - EDGE
            return 0.0, max(under - edge, 0.0) if self._is_lowest() else 0.0, 0.0
        needed = (before, under, over)
        return tuple(max(n - f, 0.0) for n, f in zip(needed, free, strict=True))

    def _is_lowest(self) -> bool:
        spec = self.axes.get_subplotspec()
        return spec is None or spec.is_last_row()

    def _free(self, figure: Figure) -> tuple[float, float, float]:
        """Return the free pixels on the left, below and above, up to other axes or the edge."""
        most = LABEL_INCHES * figure.dpi
        width, height = figure.bbox.width, figure.bbox.height
        spec = self.axes.get_subplotspec()
        if spec is None:
            return most, most, most
        bottoms, tops, lefts, rights = spec.get_gridspec().get_grid_positions(figure)
        column, first, last = spec.colspan.start, spec.rowspan.start, spec.rowspan.stop
        left = lefts[column] - rights[column - 1] if column else lefts[0]
        under = BELOW * (bottoms[last - 1] - tops[last]) if last < len(tops) else bottoms[-1]
        over = (1 - BELOW) * (bottoms[first - 1] - tops[first]) if first else 1 - tops[0]
        pixels = (left * width, under * height, over * height)
        return tuple(min(free - EDGE, most) for free in pixels)

    def get_subplotspec(self) -> SubplotSpec | None:
        """Return the position in the grid, which matplotlib's tight layout requires."""
        return self.axes.get_subplotspec()


def strip_below(axes: Axes, kind: str, *, share: float, gap: float, shared_x: bool) -> Axes:
    """Return a strip of other axes below; the first call creates it within the area of the axes.

    Parameters
    ----------
    axes
        Axes that the strip belongs to; the strip takes part of their area.
    kind
        Name of the strip, by which later calls find it.
    share, gap
        Heights of the strip and of the space above it, as fractions of the height of the axes.
    shared_x
        Whether both have the same x axis, whose labels are then below the strip.
    """
    for child in axes.child_axes:
        if isinstance(child, Axes) and child.get_label() == kind:
            return child
    room = Room.of(axes)
    bounds = (0.0, -room.below - gap - share, 1.0, share)
    strip = axes.inset_axes(bounds, sharex=axes if shared_x else None, label=kind)
    if shared_x:
        for upper in (axes, *room.strips):
            upper.tick_params(axis="x", labelbottom=False)
            upper.set_xlabel("")
    room.strips.append(strip)
    room.below += share + gap
    return strip


class LineupFigure(NotebookFigure):
    """Figure of a lineup, with the number of the panel that shows the data."""

    place: int = 0
