"""Brier score against the certified bound on the calibration error, by number of bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Floats
from trueup.plotting.common.series import (
    draw_series,
    finite,
    legend_of_series,
    named_tables,
    series_axes,
)
from trueup.plotting.common.style import INK, SMALL, number_axis, words
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import Overview

__all__ = ["plot_trade_off"]

BEST, OTHERS = "Pareto-optimal", "dominated"
LABEL = np.array([0.1, 0.06])  # width and height of a label, in shares of the axes


def plot_trade_off(
    columns: ResultTable | Mapping[str, ResultTable],
    *,
    score: str = "Brier score",
    ax: Axes | None = None,
) -> Axes:
    """Plot the Brier score against the certified bound, one point for each number of bins.

    Points closer to the lower left are better. A line joins the points that no other point beats in
    both values; choose among those. Numbers of bins are written below these points and below the
    first and the last point.

    Parameters
    ----------
    columns : ResultTable or dict of str to ResultTable
        Table with ``n_bins``, ``brier`` and ``upper_bound``, as returned by `trade_off`; or several
        tables by name.
    score : str, default "Brier score"
        Name of the score for the axis label.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Kumar et al. 2019, "Verified uncertainty calibration", Fig. 17.

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> probs = np.random.default_rng(0).random(200)
    >>> labels = np.random.default_rng(1).random(200) < probs
    >>> table = tu.inference.trade_off(probs, labels, n_bins=(3, 9), rng=0)
    >>> tu.plotting.plot_trade_off(table).get_xlabel()
    'upper bound on the calibration error'
    """
    named = named_tables("columns", columns, "n_bins", "brier", "upper_bound")
    ax = series_axes(ax, len(named))
    labelled = []
    for index, (name, table) in enumerate(named.items()):
        bound, brier = finite(table["upper_bound"]), finite(table["brier"])
        alone = len(named) == 1 and not name
        points = draw_series(
            ax,
            index,
            OTHERS if alone else name,
            bound,
            brier,
            linestyle="none",
            markevery=None,
            alpha=0.45,
        )
        best = _unbeaten(bound, brier)
        draw_series(
            ax,
            index,
            BEST if alone else "",
            bound[best],
            brier[best],
            markevery=None,
            zorder=points.get_zorder() + 1,
        )
        shown = list(dict.fromkeys([*best, 0, len(table) - 1]))
        labelled.append((table["n_bins"][shown], np.column_stack([bound, brier])[shown]))
    ax.margins(0.12)
    ax.autoscale_view()
    for n_bins, where in labelled:
        _write(ax, n_bins, where)
    number_axis(ax.xaxis)
    number_axis(ax.yaxis)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel("upper bound on the calibration error")
    ax.set_ylabel(words(score, longest=60))
    legend_of_series(ax)
    return ax


def of_bins(columns: ResultTable, overview: Overview, *, ax: Axes | None = None) -> Axes:
    """Plot the trade-off of an evaluation; for a matrix, its bins are those of the top label."""
    of = " of the predicted class" if overview.kind == "multiclass" else ""
    return plot_trade_off(columns, score=f"Brier score{of}", ax=ax)


def _write(ax: Axes, n_bins: Any, points: Floats) -> None:
    """Write numbers of bins below points, but skip those that would overlap."""
    written: list[Floats] = []
    for number, point in zip(n_bins, points, strict=True):
        place = ax.transAxes.inverted().transform(ax.transData.transform(point))
        if np.isnan(place).any() or any(np.all(np.abs(place - other) < LABEL) for other in written):
            continue
        written.append(place)
        ax.annotate(
            f"{number:.0f} bins",
            point,
            xytext=(0, -6),
            textcoords="offset points",
            ha="center",
            va="top",
            size=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
            zorder=1.9,  # below the points
        )


def _unbeaten(bound: Floats, brier: Floats) -> list[int]:
    """Return the points that no other point beats in both values, from left to right."""
    best: list[int] = []
    for k in np.lexsort((brier, bound)).tolist():
        known = not np.isnan(bound[k] + brier[k])
        if known and (not best or brier[k] < brier[best[-1]]):
            best.append(k)
    return best
