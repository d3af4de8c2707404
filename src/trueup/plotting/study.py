"""Simulation studies: the error of estimators against the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueup.checks import check_choice
from trueup.errors import InputError, must_be
from trueup.plotting.common.series import (
    draw_series,
    finite,
    legend_of_series,
    log_x,
    series_axes,
    series_look,
)
from trueup.plotting.common.style import INK, words
from trueup.simulate.studies.study_result import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_study"]

VALUES = {
    "bias": "bias (mean − true error)",
    "rmse": "RMSE",
}


def plot_study(
    study: Study,
    *,
    value: str = "bias",
    world: str | None = None,
    measures: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the bias or RMSE of measures in a world against the number of rows in a dataset.

    Error bars extend two Monte Carlo standard errors in both directions. Measures without a known
    true value are omitted. A world is a simulated model.

    Parameters
    ----------
    study : Study
        Result of `simulate.study`.
    value : {"bias", "rmse"}
        Value to plot: ``"bias"`` (default) or ``"rmse"``.
    world : str, optional
        Name of the world; required if the study has several.
    measures : sequence of str, optional
        Names of the measures to plot; by default all.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> from trueup.simulate import Power, Uniform, World
    >>> world = World(Uniform(), Power(2.0))
    >>> result = tu.simulate.study(world, {"ECE": tu.BinnedError()}, n=(50, 100), n_datasets=20)
    >>> tu.plotting.plot_study(result).get_ylabel()
    'bias (mean − true error)'
    """
    check_choice("value", value, *VALUES)
    if not isinstance(study, Study):
        raise must_be("study", "a Study, as of simulate.study", study)
    chosen = _world(study, world)
    rows = [row for row in study.select(world=chosen) if np.isfinite(getattr(row, value))]
    known = list(dict.fromkeys(row.measure for row in rows))
    for name in measures or ():
        if name not in known:
            rule = f"measures with a known truth, of {', '.join(map(repr, known))}"
            raise must_be("measures", rule, name)
    if not known:
        raise InputError("study", "has no known truth", hint="pass truth= to study")
    ax = series_axes(ax, len(measures or known))
    log_x(ax, [row.n for row in rows])
    if value == "bias":
        ax.axhline(0, color=INK, linewidth=0.8)
    for index, name in enumerate(measures or known):
        mine = sorted((row for row in rows if row.measure == name), key=lambda row: row.n)
        n = [row.n for row in mine]
        centre = finite([getattr(row, value) for row in mine])
        spread = np.nan_to_num(finite([getattr(row, f"{value}_se") for row in mine]))
        draw_series(ax, index, name, n, centre, markevery=None)
        ax.errorbar(
            n, centre, yerr=2 * spread, fmt="none", color=series_look(index).colour, elinewidth=1
        )
    if value == "rmse":
        ax.set_ylim(bottom=0)
    ax.set_title(words(chosen, 48), loc="left", fontsize="medium")
    ax.set_xlabel("rows per dataset")
    ax.set_ylabel(VALUES[value])
    legend_of_series(ax)
    return ax


def _world(study: Study, world: str | None) -> str:
    names = list(dict.fromkeys(row.world for row in study.rows))
    if not names:
        raise InputError("study", "has no rows")
    if world is None and len(names) == 1:
        return names[0]
    if world not in names:
        raise must_be("world", f"one of {', '.join(map(repr, names[:10]))}", world)
    return world
