"""The reliability diagram on the triangle: three outcomes, or classes in three groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Floats
from trueup.plotting.common.style import INK, MUTED, SMALL, on, percent
from trueup.plotting.simplex.shares import (
    arrow_opacity,
    check_cells,
    corner_names,
    fineness,
    share_bar,
    share_colours,
    share_norm,
)
from trueup.tables import CellTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import Overview

__all__ = ["plot_simplex"]

HEIGHT = math.sqrt(3) / 2
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])
# Of the side where outcome j rises from 0, which is that towards corner j: its numbers' place.
SIDES = (
    ((-0.02, 0.01), "right", "bottom"),
    ((0.0, -0.02), "center", "top"),
    ((0.02, 0.01), "left", "bottom"),
)
LINE = 20  # letters: two names stand side by side
HINT = (
    "group the classes: BinnedError(lens=Partition(((0,), (1,), (2, 3))), binning=SimplexGrid(7))"
)


def plot_simplex(
    cells: CellTable, *, names: Sequence[Any] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot predictions of three outcomes against observed rates, on the triangle.

    Each corner is certainty of one outcome. An arrow goes from the mean prediction of a cell to
    the frequencies of the outcomes in it. For a calibrated model the arrows are short and point
    anywhere. The color of a cell is its share of the rows, on a logarithmic scale. Arrows of
    cells with a small share are fainter: they are long by chance.

    Parameters
    ----------
    cells : CellTable
        Table of three outcomes, from the method ``table`` of
        ``BinnedError(lens=Canonical(), binning=SimplexTriangles(7))`` or with ``SimplexGrid(7)``,
        whose cells depend on the order of the classes. With the lens ``Partition``, the outcomes
        are three groups of classes.
    names : sequence, optional
        Names of the three outcomes.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Vaicenavicius et al. 2019, "Evaluating model calibration in classification", Fig. 1.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.SimplexGrid(3))
    >>> cells = error.table([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]], [0, 1, 2])
    >>> ax = tu.plotting.plot_simplex(cells, names=["cat", "dog", "bird"])
    >>> "bird" in [text.get_text() for text in ax.texts]
    True
    """
    check_cells(cells, 3, HINT)
    corners = corner_names(names, 3, LINE)
    ax = on(ax, (5.2, 4.6))
    from matplotlib.collections import PolyCollection

    norm, share = share_norm(cells.share), cells.share
    coloured = PolyCollection(
        [_polygon(low, high) @ CORNERS for low, high in zip(cells.low, cells.high, strict=True)],
        array=share,
        cmap=share_colours(),
        norm=norm,
        edgecolors="white",
        linewidths=0.5 * fineness(cells.n_bins),
        zorder=1,
    )
    ax.add_collection(coloured, autolim=False)
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=INK, linewidth=1.0, zorder=2)
    _arrows(ax, cells.mean_score @ CORNERS, cells.mean_label @ CORNERS, arrow_opacity(share, norm))
    _corners_and_sides(ax, corners)
    share_bar(ax, coloured, (0.86, 0.58, 0.035, 0.3))
    return ax


def of_cells(cells: CellTable, overview: Overview, *, ax: Axes | None = None) -> Axes:
    """Draw the cells of an evaluation, with the names of its classes."""
    return plot_simplex(cells, names=overview.classes, ax=ax)


def _arrows(ax: Axes, start: Floats, end: Floats, opacity: Floats) -> None:
    colours = np.column_stack([np.zeros((len(opacity), 3)), opacity])
    along, fine = end - start, fineness(len(start))
    arrows = ax.quiver(
        *start.T,
        *along.T,
        color=colours,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.0045 * fine,
        headwidth=4.5,
        headlength=5.5,
        headaxislength=5,
        minlength=0,
        zorder=4,
        clip_on=False,
    )
    arrows.set_in_layout(False)  # it says it covers everything; all arrows end inside the triangle
    ax.scatter(
        start[:, 0], start[:, 1], s=7 * fine**2, c=colours, linewidths=0, zorder=3, clip_on=False
    )


def _corners_and_sides(ax: Axes, names: Sequence[str]) -> None:
    """Names at the corners, percentages along the sides, and nothing of the frame."""
    ax.set_aspect("equal")
    ax.set_xlim(-0.06, 1.06)
    ax.set_ylim(-0.14, HEIGHT + 0.1)
    ax.set_axis_off()
    for name, (x, y), side in zip(names, CORNERS, ("left", "right", "center"), strict=True):
        below = side != "center"
        ax.text(
            x - 0.05 if side == "left" else x + 0.05 if side == "right" else x,
            y - 0.075 if below else y + 0.035,
            name,
            ha=side,
            va="top" if below else "bottom",
            color=INK,
        )
    for j, (away, ha, va) in enumerate(SIDES):
        for share in (0.25, 0.5, 0.75):
            point = np.zeros(3)
            point[j], point[j - 1] = share, 1 - share
            x, y = point @ CORNERS + away
            ax.text(x, y, percent(share), ha=ha, va=va, color=MUTED, size=SMALL)


def _polygon(low: Floats, high: Floats) -> Floats:
    """Return the corners, as points of the simplex, of the part of it that a box holds."""
    points = np.eye(3)
    for j in range(len(low)):  # the last coordinate may be unbounded, and then is not there
        points = _clipped(points, points[:, j] - low[j])
        points = _clipped(points, high[j] - points[:, j])
    return points


def _clipped(points: Floats, inside: Floats) -> Floats:
    """Cut a convex polygon along the line where ``inside``, given at its corners, is 0."""
    kept: list[Floats] = []
    for k in range(len(points)):
        here, before = inside[k], inside[k - 1]
        if (here < 0) != (before < 0):
            kept.append(points[k - 1] + (points[k] - points[k - 1]) * before / (before - here))
        if here >= 0:
            kept.append(points[k])
    return np.array(kept).reshape(-1, 3)
