"""Reliability diagram on the tetrahedron, for four outcomes or four groups of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.plotting.common.style import INK, MUTED, need_matplotlib, on
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

__all__ = ["plot_tetrahedron"]

# A base with one corner towards the reader, and the fourth corner above it; sides of length 1.
CORNERS = np.array(
    [
        [-0.5, math.sqrt(3) / 6, 0],
        [0, -math.sqrt(3) / 3, 0],
        [0.5, math.sqrt(3) / 6, 0],
        [0, 0, math.sqrt(2 / 3)],
    ]
)
BEHIND = (0, 2)  # the side that the two faces in front hide
VIEW = {"elev": 16.0, "azim": -81.0}
SMALLEST, LARGEST = 8.0, 90.0  # areas of markers, in points²
LINE = 12  # letters of a name
HINT = "group the classes: BinnedError(lens=Partition(((0,), (1,), (2,), (3, 4))), binning=…)"


def plot_tetrahedron(
    cells: CellTable, *, names: Sequence[Any] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot predictions of four outcomes against observed rates, on the tetrahedron.

    Each corner stands for certainty of one outcome. A marker shows the mean prediction of each
    cell; its area and its color show the cell's fraction of the rows. An arrow goes from the marker
    to the frequencies of the outcomes in the cell. Arrows of cells with few rows are fainter.

    Parameters
    ----------
    cells : CellTable
        Table of four outcomes, from the method ``table`` of
        ``BinnedError(lens=Canonical(), binning=VarianceTree(300))``. With the lens ``Partition``,
        the outcomes are four groups of classes.
    names : sequence, optional
        Names of the four outcomes.
    ax : Axes, optional
        Axes with the projection "3d" to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Vaicenavicius et al. 2019, "Evaluating model calibration in classification", §4.4.

    Examples
    --------
    >>> import trueup as tu
    >>> error = tu.BinnedError(lens=tu.lens.Canonical(), binning=tu.bins.VarianceTree(2))
    >>> probs = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]]
    >>> ax = tu.plotting.plot_tetrahedron(error.table(probs, [0, 1, 3]), names="ABCD")
    >>> ax.name
    '3d'
    """
    check_cells(cells, 4, HINT)
    need_matplotlib()
    from trueup.plotting.simplex.arrows import SpaceArrow

    corners = corner_names(names, 4, LINE)
    axes: Any = on(ax, (5.6, 5.0), "3d")
    _frame(axes, corners)
    start, end = cells.mean_score @ CORNERS, cells.mean_label @ CORNERS
    norm, share, fine = share_norm(cells.share), cells.share, fineness(cells.n_bins)
    markers = axes.scatter(
        *start.T,
        c=share,
        s=fine * (SMALLEST + (LARGEST - SMALLEST) * share / share.max()),
        cmap=share_colours(),
        norm=norm,
        edgecolors=INK,
        linewidths=0.5,
        depthshade=False,
    )
    thin = {"arrowstyle": "-|>", "mutation_scale": 7 * fine, "linewidth": fine}
    for tail, head, seen in zip(start, end, arrow_opacity(share, norm), strict=True):
        axes.add_artist(SpaceArrow(tail, head, color=(0, 0, 0, seen), **thin))
    share_bar(axes, markers, (0.86, 0.62, 0.03, 0.26))
    drawn: Axes = axes
    return drawn


def of_cells(cells: CellTable, overview: Overview, *, ax: Axes | None = None) -> Axes:
    """Plot the cells of an evaluation, with the names of its classes."""
    return plot_tetrahedron(cells, names=overview.classes, ax=ax)


def _frame(axes: Any, names: Sequence[str]) -> None:
    """Plot the edges of the tetrahedron and the names of its corners, without a box around it."""
    axes.set_axis_off()
    axes.view_init(**VIEW)
    axes.set_proj_type("ortho")  # lengths of arrows compare wherever they are
    low, high = CORNERS.min(axis=0), CORNERS.max(axis=0)
    high[0] += 0.12  # as much room on the left, for names, as on the right
    axes.set(**dict(zip(("xlim", "ylim", "zlim"), np.column_stack([low, high]), strict=True)))
    axes.set_box_aspect(high - low, zoom=1.04)
    for pair in combinations(range(4), 2):
        hidden = pair == BEHIND
        axes.plot(
            *CORNERS[list(pair)].T,
            color=MUTED if hidden else INK,
            linewidth=0.8,
            linestyle=(0, (4, 3)) if hidden else "solid",
        )
    # matplotlib's layouts do not know how long text in space is, so it is kept short and placed
    # where it leads away from the sides.
    aligned = ("right", "center", "left", "center")
    for j, (name, corner, ha) in enumerate(zip(names, CORNERS, aligned, strict=True)):
        top = j == 3
        x, y, z = corner
        z += 0.05 if top else -0.05
        axes.text(
            x,
            y,
            z,
            name,
            ha=ha,
            va="bottom" if top else "top",
            color=INK,
        )
