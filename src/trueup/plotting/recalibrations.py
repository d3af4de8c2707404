"""Comparison of recalibrators: the gain of each, and which one was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.plotting.common.columns import Flags, check_columns
from trueup.plotting.common.series import finite
from trueup.plotting.common.style import (
    BLUE,
    DASHED,
    INK,
    MUTED,
    SMALL,
    VERMILION,
    legend_beside,
    number,
    number_axis,
    on,
    tidy,
    words,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.evaluation.sections import Recalibration

__all__ = ["plot_recalibrations"]

MEASURES = {
    "difference": "{score} − lowest {score} (± 1 SE)",
    "score": "{score} (lower is better, ± 1 SE)",
    "error": "debiased calibration error (95% interval)",
    "marginal_error": "debiased class-wise error (95% interval)",
}
BEFORE = "no recalibration"
FAR = 3.0  # times the reach of most candidates: what is farther is written, not drawn


def plot_recalibrations(
    columns: ResultTable,
    *,
    measure: str = "difference",
    score: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Plot the out-of-fold results of the candidates of `AutoCalibration`, the best at the top.

    The chosen candidate is filled. A dashed line marks the candidate without recalibration. A value
    so large that it would squeeze the others together is written at the edge instead.

    Parameters
    ----------
    columns : ResultTable
        Table like ``AutoCalibration.table_``, with ``candidate``, ``simplicity``, ``chosen`` and
        the columns of the measure.
    measure : {"difference", "score", "error", "marginal_error"}
        Value to plot: ``"difference"`` (default) from the best score, which determines the choice;
        ``"score"``; ``"error"`` of the top label (for two classes, of the second class); or
        ``"marginal_error"`` of all classes.
    score : str, default "score"
        Name of the score for the axis label, such as ``"log loss"``.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> candidates = [tu.TemperatureScaling(), tu.PlattScaling()]
    >>> auto = tu.AutoCalibration(candidates).fit([0.2, 0.4, 0.7, 0.9] * 5, [0, 0, 1, 1] * 5)
    >>> ax = tu.plotting.plot_recalibrations(auto.table_, measure="score")
    >>> ax.get_xlabel()
    'score (lower is better, ± 1 SE)'
    """
    check_choice("measure", measure, *MEASURES)
    is_error = measure.endswith("error")
    ends = (f"{measure}_low", f"{measure}_high") if is_error else (f"{measure}_se",)
    check_columns("columns", columns, "candidate", "simplicity", "chosen", measure, *ends)
    value = finite(columns[measure])
    if is_error:
        low, high = (finite(columns[name]) for name in ends)
    else:
        spread = finite(columns[ends[0]])
        low, high = value - spread, value + spread
    ax = on(ax, (6.4, 1.2 + 0.28 * len(columns)))
    tidy(ax, grid="x")
    before = int(np.argmin(columns["simplicity"]))
    chosen = np.asarray(columns["chosen"], bool)
    far = _far(value, high, before) & ~chosen
    if not np.isnan(value[before]):
        ax.axvline(value[before], color=MUTED, linewidth=1, linestyle=DASHED, label=BEFORE)
    _dots(ax, value, low, high, chosen, far)
    _edge(ax, value, far)
    ax.set_ylim(len(columns) - 0.4, -0.6)
    ax.set_yticks(range(len(columns)), [words(name) for name in columns["candidate"].tolist()])
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=4)
    number_axis(ax.xaxis)
    ax.set_xlabel(MEASURES[measure].format(score=words(score)))
    legend_beside(ax)
    return ax


def of_recalibration(recalibration: Recalibration, *, ax: Axes | None = None) -> Axes:
    """Plot the recalibration candidates of an evaluation."""
    return plot_recalibrations(recalibration.table, score="log loss", ax=ax)


def _dots(ax: Axes, value: Floats, low: Floats, high: Floats, chosen: Flags, far: Flags) -> None:
    for here, colour, face, label in (
        (chosen & ~far, VERMILION, VERMILION, "chosen"),
        (~chosen & ~far, BLUE, "white", ""),
    ):
        rows = np.flatnonzero(here)
        reach = np.stack([value - low, high - value])[:, rows]
        ax.errorbar(
            value[rows],
            rows,
            xerr=np.maximum(reach, 0),
            fmt="o" if face == "white" else "D",
            color=colour,
            markerfacecolor=face,
            markersize=6,
            elinewidth=1.5,
            capsize=0,
            label=label or "_",
        )


def _edge(ax: Axes, value: Floats, far: Flags) -> None:
    """Write values that lie beyond the limits at the edge of the axes."""
    for row in np.flatnonzero(far):
        ax.annotate(
            f"{number(value[row])} ▸",
            (1, row),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center",
            size=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )


def _far(value: Floats, high: Floats, before: int) -> Flags:
    """Return which candidates are much worse than most others and than no recalibration."""
    known = high[~np.isnan(high)]
    if known.size == 0:
        return np.zeros(len(value), bool)
    most = max(float(np.median(known)), float(np.nan_to_num(high[before])))
    start = float(np.nanmin(value))
    return np.asarray(np.nan_to_num(value, nan=start) - start > FAR * (most - start))
