"""Calibration error as a function of the number of bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.checks import check_whole
from trueup.plotting.common.columns import Indices, check_columns, numbers
from trueup.plotting.common.style import (
    DASHED,
    MUTED,
    legend_beside,
    look,
    number_axis,
    on,
    tidy,
    words,
)
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.8, 3.9)
LOGARITHMIC = 30  # ratio of bin numbers from which on equal steps are equal ratios


def plot_error_by_bins(
    columns: ResultTable,
    *,
    chosen: int | None = None,
    measure: str = "calibration error",
    ax: Axes | None = None,
) -> Axes:
    """Plot an error against the number of bins, and mark the choice of the monotonic sweep.

    Parameters
    ----------
    columns : ResultTable
        Table with ``n_bins`` and ``error``, one row for each number of bins. Other columns are
        optional. ``low`` and ``high`` are plotted as a band, and points are hollow if ``monotone``
        is false. With a column ``estimator``, each estimator gets its own curve.
    chosen : int, optional
        Number of bins that the sweep chose, from the notes of ``SweepError().measure(...)``.
    measure : str, default "calibration error"
        Name of the error for the axis label.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels = [0.1, 0.2, 0.3, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1]
    >>> rows = [
    ...     (b, tu.BinnedError(binning=tu.bins.EqualMass(b))(probs, labels)) for b in (1, 2, 3)
    ... ]
    >>> table = tu.tables.ResultTable.from_rows(rows, ("n_bins", "error"))
    >>> ax = tu.plotting.plot_error_by_bins(table, chosen=2, measure="ECE")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of bins', 'ECE')
    """
    check_columns("columns", columns, "n_bins", "error")
    if chosen is not None:
        check_whole("chosen", chosen, 1)
    axes = on(ax, SIZE)
    bins, error = numbers(columns, "n_bins"), numbers(columns, "error")
    names = columns["estimator"].tolist() if "estimator" in columns else [None] * len(columns)
    for index, name in enumerate(dict.fromkeys(names)):
        mine = np.flatnonzero([other == name for other in names])
        _curve(axes, columns, mine[np.argsort(bins[mine], kind="stable")], index, name)
    top = float(np.nanmax(np.concatenate([error, numbers(columns, "high")]), initial=0)) or 0.01
    axes.set_ylim(min(0.0, float(np.nanmin(error, initial=0))), 1.08 * top)
    if chosen is not None:
        what = f"selected by sweep: {chosen}"
        axes.axvline(chosen, color=MUTED, linestyle=DASHED, linewidth=1.4, label=what)
    if np.nanmax(bins) > LOGARITHMIC * max(np.nanmin(bins), 1):
        _by_ratio(axes)
    else:
        axes.set_xlim(np.nanmin(bins) - 0.8, np.nanmax(bins) + 0.8)
        axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("number of bins")
    axes.set_ylabel(measure)
    number_axis(axes.yaxis)
    tidy(axes)
    legend_beside(axes)
    return axes


def of_sweep(columns: ResultTable, *, ax: Axes | None = None) -> Axes:
    """Plot the errors of an evaluation, and mark the number of bins that the sweep chose."""
    chosen = columns["n_bins"][columns["sweep"].astype(bool)]
    return plot_error_by_bins(columns, chosen=int(chosen[0]) if len(chosen) else None, ax=ax)


def _curve(axes: Axes, columns: ResultTable, rows: Indices, index: int, name: object) -> None:
    shown = look(index)
    bins, error, low, high = (
        numbers(columns, column)[rows] for column in ("n_bins", "error", "low", "high")
    )
    label = None if name is None else words(name)
    if not np.isnan(low).all():
        band: dict[str, Any] = {"color": shown.colour, "alpha": 0.18, "linewidth": 0}
        axes.fill_between(bins, low, high, **band)
    axes.plot(bins, error, color=shown.colour, linestyle=shown.dashes, linewidth=1.4, label=label)
    rising = np.ones(len(bins), bool)
    if "monotone" in columns:
        rising = columns["monotone"][rows].astype(bool)
    for part, face, what in (
        (rising, shown.colour, "monotone bin means" if not rising.all() else None),
        (~rising, "white", "non-monotone\nbin means"),
    ):
        if part.any():
            axes.scatter(
                bins[part],
                error[part],
                marker=shown.marker,
                s=26 if len(bins) <= 30 else 14 if len(bins) <= 100 else 5,
                facecolor=face,
                edgecolor=shown.colour,
                zorder=3,
                label=what,
            )


def _by_ratio(axes: Axes) -> None:
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
