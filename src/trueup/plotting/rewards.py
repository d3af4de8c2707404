"""Decisions that may abstain: reward against cost, and accuracy against coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trueup.errors import InputError
from trueup.plotting.common.series import (
    draw_series,
    legend_of_series,
    log_x,
    named_tables,
    series_axes,
)
from trueup.plotting.common.style import MUTED, percent_axis, words
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coverage", "plot_rewards"]

RATIO = "cost ratio (wrong answer / abstaining)"
REFERENCES = {"promised": "expected from confidences", "perfect": "oracle abstention"}
TOO_FEW = 0.05  # share of rows: the accuracy of fewer is mostly chance, and sets no limits


def plot_rewards(
    rewards: ResultTable | Mapping[str, ResultTable], *, ax: Axes | None = None
) -> Axes:
    """Plot the reward of models that may abstain against the cost of a wrong answer.

    For a single table, the reward that its confidences predict and the reward of oracle abstention
    are plotted as well. Always abstaining earns −1 per row.

    Parameters
    ----------
    rewards : ResultTable or dict of str to ResultTable
        Table from `abstention_rewards`, with ``ratio``, ``mean_reward`` and, for a single table,
        ``promised`` and ``perfect``; or several tables by name. Or one table from
        `compare_rewards`, with ``ratio`` and the total reward of each model in a column of its
        name.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    References
    ----------
    Luo et al. 2022, "Local calibration: metrics and recalibration", Fig. 5.

    Examples
    --------
    >>> import trueup as tu
    >>> table = tu.decisions.abstention_rewards([0.2, 0.6, 0.7, 0.9], [0, 0, 1, 1])
    >>> tu.plotting.plot_rewards(table).get_ylabel()
    'mean reward per row (abstaining costs 1)'
    """
    if not isinstance(rewards, Mapping):
        table = ResultTable.expect(rewards, "rewards")
        if "mean_reward" not in table:
            return _totals(table, ax)
    named = named_tables("rewards", rewards, "ratio", "mean_reward")
    ax = _ratio_axes(ax, named, len(named))
    ax.axhline(-1, color=MUTED, linewidth=1, linestyle=(0, (2, 2)), label="always abstain")
    for index, (name, table) in enumerate(named.items()):
        draw_series(ax, index, name or "realized", table["ratio"], table["mean_reward"])
    if len(named) == 1:
        for index, (column, text) in enumerate(REFERENCES.items(), start=1):
            if column in table:
                draw_series(ax, index, text, table["ratio"], table[column])
    ax.set_ylabel("mean reward per row (abstaining costs 1)")
    legend_of_series(ax)
    return ax


def _totals(rewards: ResultTable, ax: Axes | None) -> Axes:
    named = named_tables("rewards", rewards, "ratio")
    models = [name for name in rewards if name != "ratio"]
    if not models:
        raise InputError("rewards", "must have at least one column for a model")
    ax = _ratio_axes(ax, named, len(models))
    for index, name in enumerate(models):
        draw_series(ax, index, name, rewards["ratio"], rewards[name])
    baseline = [name for name in models if not np.any(rewards[name])]
    above = f" above that of {words(baseline[0], 16)}" if len(baseline) == 1 else ""
    ax.set_ylabel(f"total reward{above}")
    legend_of_series(ax)
    return ax


def _ratio_axes(ax: Axes | None, named: Mapping[str, ResultTable], series: int) -> Axes:
    ax = series_axes(ax, series)
    log_x(ax, np.concatenate([table["ratio"] for table in named.values()]))
    ax.set_xlabel(RATIO)
    return ax


def plot_coverage(
    curves: ResultTable | Mapping[str, ResultTable], *, ax: Axes | None = None
) -> Axes:
    """Plot the accuracy of models on the rows with the highest confidence.

    For a single curve, the mean confidence is plotted too. Where it lies above the accuracy, the
    model is overconfident.

    Parameters
    ----------
    curves : ResultTable or dict of str to ResultTable
        Table from `accuracy_coverage_curve`, with ``coverage``, ``accuracy`` and, for a single
        curve, ``confidence``; or several tables by name.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> curve = tu.decisions.accuracy_coverage_curve([0.2, 0.6, 0.7, 0.9], [0, 0, 1, 1])
    >>> tu.plotting.plot_coverage(curve).get_xlabel()
    'coverage (fraction answered)'
    """
    named = named_tables("curves", curves, "coverage", "accuracy")
    ax = series_axes(ax, len(named))
    for index, (name, table) in enumerate(named.items()):
        draw_series(ax, index, name or "accuracy", table["coverage"], table["accuracy"])
        if len(named) == 1 and "confidence" in table:
            draw_series(ax, 1, "mean confidence", table["coverage"], table["confidence"])
    ax.set_xlim(0, 1.02)
    shown = ("accuracy", "confidence") if len(named) == 1 else ("accuracy",)
    seen = [
        table[column][table["coverage"] >= TOO_FEW]
        for table in named.values()
        for column in shown
        if column in table
    ]
    low = float(np.nanmin(np.concatenate(seen)))
    bottom = max(-0.02, min(low - 0.1 * (1 - low), 0.95))
    ax.set_ylim(bottom, 1 + 0.03 * (1 - bottom))
    percent_axis(ax.xaxis)
    percent_axis(ax.yaxis)
    ax.set_xlabel("coverage (fraction answered)")
    ax.set_ylabel("accuracy on answered rows")
    legend_of_series(ax)
    return ax
