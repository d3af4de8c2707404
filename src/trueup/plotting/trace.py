"""Metrics over training: how calibration changes as a model learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.errors import InputError
from trueup.plotting.common.columns import check_columns
from trueup.plotting.common.series import draw_series, legend_of_series, series_axes
from trueup.plotting.common.style import need_matplotlib, words
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_trace"]

NAMED_STEPS = 8  # most steps with names instead of numbers that are written along the axis


def plot_trace(
    columns: ResultTable, *, metrics: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot metrics against training steps.

    Parameters
    ----------
    columns : ResultTable
        Table with ``step`` and a column for each metric, as returned by `Trace.table`. Numeric
        steps are placed by value, other steps in the order of the rows. A non-finite value leaves a
        gap.
    metrics : sequence of str, optional
        Columns to plot; by default all but ``step`` and ``rows``.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Nixon et al. 2019, "Measuring calibration in deep learning", Figs. 6 and 7; Vaicenavicius et
    al. 2019, "Evaluating model calibration in classification", Fig. 3.

    Examples
    --------
    >>> import trueup as tu
    >>> trace = tu.Trace({"ece": tu.ece})
    >>> for epoch, probs in enumerate(([0.9, 0.8, 0.6], [0.7, 0.6, 0.4])):
    ...     result = trace.record(epoch, probs, [1, 0, 1])
    >>> tu.plotting.plot_trace(trace.table()).get_ylabel()
    'ece'
    """
    check_columns("columns", columns, "step")
    need_matplotlib()
    from matplotlib.ticker import MaxNLocator

    chosen = [name for name in columns if name not in ("step", "rows")]
    if metrics is not None:
        chosen = [metrics] if isinstance(metrics, str) else list(metrics)
        check_columns("columns", columns, "step", *chosen)
    if not chosen:
        raise InputError("columns", "must have at least one column for a metric")
    ax = series_axes(ax, len(chosen))
    steps = columns["step"]
    if np.issubdtype(steps.dtype, np.number):
        order = np.argsort(steps, kind="stable")
        places = np.asarray(steps, np.float64)[order]
        if np.issubdtype(steps.dtype, np.integer):
            ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    else:
        order = np.arange(len(steps))
        places = order.astype(np.float64)
        _write_steps(ax, steps)
    for index, name in enumerate(chosen):
        draw_series(ax, index, name, places, columns[name][order])
    ax.set_xlabel("training step")
    if len(chosen) == 1:
        ax.set_ylabel(words(chosen[0]))
    else:
        ax.set_ylabel("value")
        legend_of_series(ax)
    return ax


def _write_steps(ax: Axes, steps: Any) -> None:
    """Write the names of some evenly spaced steps, including the first and the last."""
    count = min(len(steps), NAMED_STEPS)
    shown = np.unique(np.linspace(0, len(steps) - 1, count).round().astype(int))
    names = [words(steps[place], 16) for place in shown]
    crowded = sum(map(len, names)) > 40
    ax.set_xticks(shown, names, rotation=30 if crowded else 0, ha="right" if crowded else "center")
