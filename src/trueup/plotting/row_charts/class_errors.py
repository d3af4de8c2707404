"""The error of every class by itself, the worst ones with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueup.plotting.common.style import on, words
from trueup.plotting.row_charts.rows import Parts, Rows, check_alpha, draw_parts, height_of
from trueup.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 6.8


def plot_class_errors(
    columns: ResultTable,
    *,
    measure: str = "calibration error",
    alpha: float | None = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error of every class, the largest first (Nixon et al. 2019, Fig. 2).

    Of more than 40 classes the 20 worst are drawn with their names, and all of them as a curve in
    a strip below. Classes without an error (NaN) are left out.

    Parameters
    ----------
    columns
        ``class`` and ``error``, as of ``tu.class_errors`` or ``inference.class_tests``. Where
        there are: ``gap`` (mean label − mean score) tells classes that are predicted too often
        from those predicted too rarely; ``low`` and ``high`` are drawn as intervals; points are
        filled where ``adjusted_pvalue`` is at most ``alpha``.
    measure
        What the error is, for the axis.
    alpha
        Of the tests; None fills all points.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    check_alpha(alpha)
    rows = Rows.of(columns, "class", pvalue="adjusted_pvalue")
    axes = on(ax, (WIDTH, height_of(len(rows))))
    axes.set_xlabel(measure)
    left_out = len(columns) - len(rows)
    if left_out:
        without = f"{left_out} class{'es' * (left_out != 1)} without predictions left out"
        axes.set_xlabel(f"{measure}\n({without})")
    draw_parts(axes, rows, [words(name) for name in rows.names], Parts("class", "classes"), alpha)
    return axes
