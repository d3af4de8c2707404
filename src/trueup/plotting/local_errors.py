"""Local calibration errors: their location, their distribution and the effect of the bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.plotting.common.columns import check_columns
from trueup.plotting.common.series import (
    draw_series,
    finite,
    legend_of_series,
    log_x,
    named_tables,
    series_axes,
)
from trueup.plotting.common.style import (
    INK,
    OVER,
    OVER_MARKER,
    SMALL,
    UNDER,
    UNDER_MARKER,
    on,
    percent_axis,
    tidy,
    words,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import LocalFinding

__all__ = ["plot_lce_cdf", "plot_lce_landscape", "plot_mlce"]

COLOURED = 0.95  # of the errors within the range of colors; the others have its end
MOST_POINTS = 3000  # more than these would hide each other, and are gathered in hexagons
HEXAGONS = 36  # along the horizontal axis
SUMMARIES = {
    "max": "largest local calibration error (MLCE)",
    "mean": "mean local calibration error",
    "median": "median local calibration error",
    "q90": "90th percentile of local calibration errors",
}


def plot_lce_landscape(
    landscape: ResultTable, *, x: str = "x1", y: str = "x2", ax: Axes | None = None
) -> Axes:
    """Plot where predictions are too high or too low in the space of two features.

    Up to 3,000 rows are plotted as points: ▲ is too high (overconfident, for confidences), ▼ is too
    low. More rows are grouped into hexagons, colored by their mean; hexagons with a mean above 0
    have a dot. The color scale is symmetric around 0 and covers 95% of the errors.

    Parameters
    ----------
    landscape : ResultTable
        Table with ``gap`` (observed − predicted) and the two features, one row per sample, as
        returned by `LocalError.table`.
    x, y : str, default "x1" and "x2"
        Columns of the two features.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", Figs. 2 and 3.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1]
    >>> features = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.5]]
    >>> table = tu.LocalError().table(probs, labels, features)
    >>> ax = tu.plotting.plot_lce_landscape(table)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x2')
    """
    check_columns("landscape", landscape, x, y, "gap")
    ax = on(ax, (5.8, 4.4))
    tidy(ax, grid=None)
    points = np.column_stack([finite(landscape[name]) for name in (x, y, "gap")])
    points = points[~np.isnan(points).any(axis=1)]
    gathered = len(points) > MOST_POINTS
    drawn = _hexagons(ax, points) if gathered else _triangles(ax, points)
    reach, everything = _reach(np.concatenate([np.ma.compressed(c.get_array()) for c in drawn]))
    for collection in drawn:
        collection.set_clim(-reach, reach)
    ax.set_xlabel(words(x))
    ax.set_ylabel(words(y))
    extend = "neither" if everything else "both"
    bar = ax.figure.colorbar(drawn[0], ax=ax, extend=extend, fraction=0.05, pad=0.03)
    bar.outline.set_visible(False)
    bar.set_label(f"{'mean ' * gathered}observed − predicted, locally")
    # Short lines: to the left are the numbers of the axes.
    low = "predicted\ntoo low (dots)" if gathered else "▼ predicted\ntoo low"
    high = "predicted\ntoo high" if gathered else "▲ predicted\ntoo high"
    bar.ax.set_title(low, fontsize=SMALL, pad=10)
    bar.ax.set_xlabel(high, fontsize=SMALL, labelpad=16)
    return ax


def of_rows(local: LocalFinding, *, ax: Axes | None = None) -> Axes:
    """Plot the local errors of an evaluation over two features, or against a single one."""
    across, up = local.axes
    ax = plot_lce_landscape(local.landscape, y="x2" if up else "gap", ax=ax)
    ax.set(xlabel=words(across), ylabel=words(up or "observed − predicted, locally", longest=40))
    return ax


def _triangles(ax: Axes, points: Floats) -> list[Any]:
    """Plot each row with a marker that shows the sign of its error, even in grayscale."""
    error = points[:, 2]
    options: dict[str, Any] = {"s": 24, "cmap": _colours(), "linewidths": 0}
    return [
        ax.scatter(points[here, 0], points[here, 1], c=error[here], marker=marker, **options)
        for here, marker in ((error < 0, OVER_MARKER), (error > 0, UNDER_MARKER), (error == 0, "o"))
    ]


def _hexagons(ax: Axes, points: Floats) -> list[Any]:
    """Plot means over hexagons, with a dot if above 0, so that grayscale shows the sign too."""
    hexagons: Any = ax.hexbin(*points.T, gridsize=HEXAGONS, cmap=_colours(), linewidths=0.2)
    dotted = hexagons.get_offsets()[np.ma.filled(hexagons.get_array(), 0.0) > 0]
    ax.scatter(dotted[:, 0], dotted[:, 1], s=2, color=INK, linewidths=0)
    return [hexagons]


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("gap", [OVER, "#D2D2D2", UNDER])


def _reach(errors: Floats) -> tuple[float, bool]:
    """Return the limit of the colors, ignoring a few large errors, and whether all errors fit."""
    size = np.abs(errors)
    if size.size == 0 or size.max() == 0:
        return 1.0, True
    reach = float(np.quantile(size, COLOURED, method="inverted_cdf"))
    return (reach, bool(size.max() <= reach)) if reach > 0 else (float(size.max()), True)


def plot_lce_cdf(
    landscapes: ResultTable | Mapping[str, ResultTable], *, ax: Axes | None = None
) -> Axes:
    """Plot the cumulative distribution of the local calibration error.

    Parameters
    ----------
    landscapes : ResultTable or dict of str to ResultTable
        Table with ``absolute`` errors, one row per sample, as returned by `LocalError.table`; or
        several tables by name, such as ``{"before": …, "after": …}``.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", Figs. 2 and 3.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels, features = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1], [0.0, 1.0, 1.5, 2.0]
    >>> table = tu.LocalError().table(probs, labels, features)
    >>> tu.plotting.plot_lce_cdf(table).get_xlabel()
    'local calibration error'
    """
    named = named_tables("landscapes", landscapes, "absolute")
    ax = series_axes(ax, len(named))
    for index, (name, table) in enumerate(named.items()):
        errors = np.sort(finite(table["absolute"]))
        errors = errors[~np.isnan(errors)]
        reached = np.arange(len(errors) + 1) / max(1, len(errors))
        draw_series(ax, index, name, np.r_[0.0, errors], reached, drawstyle="steps-post")
    ax.set_xlim(left=-0.01 * ax.get_xlim()[1])  # room for half a marker
    ax.set_ylim(-0.01, 1.02)
    ax.set_xlabel("local calibration error")
    ax.set_ylabel("cumulative fraction of rows")
    percent_axis(ax.yaxis)
    legend_of_series(ax)
    return ax


def plot_mlce(
    sweeps: ResultTable | Mapping[str, ResultTable], *, summary: str = "max", ax: Axes | None = None
) -> Axes:
    """Plot local calibration errors against the bandwidth, from individual to global.

    Parameters
    ----------
    sweeps : ResultTable or dict of str to ResultTable
        Table with ``bandwidth`` and the summary, as returned by `mlce_over_bandwidths`; or several
        tables by name.
    summary : {"max", "mean", "median", "q90"}
        Summary of the local errors of all rows: ``"max"`` (default) is the MLCE.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", Figs. 1 and 4.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels, features = [0.2, 0.4, 0.7, 0.9], [0, 1, 1, 1], [0.0, 1.0, 1.5, 2.0]
    >>> table = tu.local.mlce_over_bandwidths(probs, labels, features, bandwidths=[0.1, 0.4, 1.6])
    >>> tu.plotting.plot_mlce(table, summary="mean").get_ylabel()
    'mean local calibration error'
    """
    check_choice("summary", summary, *SUMMARIES)
    named = named_tables("sweeps", sweeps, "bandwidth", summary)
    ax = series_axes(ax, len(named))
    log_x(ax, np.concatenate([table["bandwidth"] for table in named.values()]))
    for index, (name, table) in enumerate(named.items()):
        order = np.argsort(table["bandwidth"], kind="stable")
        draw_series(ax, index, name, table["bandwidth"][order], table[summary][order])
    top = max(ax.get_ylim()[1], 0.01)
    ax.set_ylim(-0.01 * top, top)
    ax.set_xlabel("kernel bandwidth γ")
    ax.set_ylabel(SUMMARIES[summary])
    legend_of_series(ax)
    return ax
