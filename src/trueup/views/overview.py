"""The whole of an evaluation on one page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.evaluation import Evaluation
from trueup.tables import Columns
from trueup.views.bin_counts import draw_error_by_bins
from trueup.views.classes import draw_class_errors
from trueup.views.comparison import draw_comparison
from trueup.views.groups import draw_group_errors
from trueup.views.null import draw_null
from trueup.views.recalibrations import draw_recalibrations
from trueup.views.reliability import draw_reliability
from trueup.views.simplex import draw_simplex
from trueup.views.style import need_matplotlib, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panel = tuple[str, Callable[["Axes"], Any]]

ACROSS = 2
PANEL_SIZE = (6.6, 4.6)


def draw_overview(evaluation: Evaluation) -> Figure:
    """Draw the diagrams that say most about some predictions, on a new figure.

    Reliability in both forms, the errors with their intervals, the distribution of the statistic
    for calibrated models; and where there are: classes, groups, recalibrators, models.
    """
    need_matplotlib()
    from trueup.views.figures import ViewFigure

    panels = _panels(evaluation)
    if len(evaluation.models) > 1:
        first = words(next(iter(evaluation.models)))
        panels = [panels[0], *((f"{title} ({first})", draw) for title, draw in panels[1:])]
    down = -(-len(panels) // ACROSS)
    figure = ViewFigure.of_size((ACROSS * PANEL_SIZE[0], down * PANEL_SIZE[1]))
    for place, (title, draw) in enumerate(panels, start=1):
        axes = figure.add_subplot(down, ACROSS, place)
        draw(axes)
        axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    return figure


def errors_of(evaluation: Evaluation) -> Columns:
    """Return metrics with their intervals, as `draw_comparison` draws them.

    The error of the worst bin is left out: it is on another scale, and mostly chance.
    """
    found = [each for each in evaluation.estimates if each.metric != "mce"]
    return Columns(
        {
            "model": np.array([each.metric for each in found]),
            "error": np.array([each.value for each in found]),
            "low": np.array([each.interval.low for each in found]),
            "high": np.array([each.interval.high for each in found]),
        }
    )


def models_of(evaluation: Evaluation) -> Columns:
    """Return the headline of every model, as `draw_comparison` draws it."""
    first = {name: model.estimates[0] for name, model in evaluation.models.items()}
    nothing = float("nan")
    return Columns(
        {
            "model": np.array(list(first)),
            "error": np.array([each.value for each in first.values()]),
            "low": np.array([each.interval.low for each in first.values()]),
            "high": np.array([each.interval.high for each in first.values()]),
            "pvalue": np.array(
                [nothing if each.pvalue is None else each.pvalue for each in first.values()]
            ),
        }
    )


def _panels(evaluation: Evaluation) -> list[Panel]:
    tables: dict[str, Any] = dict(evaluation.tables)
    even, even_band = tables["reliability"], tables.get("band")
    bins, band = tables["reliability_mass"], tables.get("band_mass")
    headline = evaluation.estimates[0]
    panels: list[Panel] = []
    if len(evaluation.models) > 1:
        panels.append(
            ("Models", lambda ax: draw_comparison(models_of(evaluation), reference=0.0, ax=ax))
        )
    panels += [
        ("Bins of equal width", lambda ax: draw_reliability(even, band=even_band, ax=ax)),
        (
            "Bins of equal size: observed less predicted",
            lambda ax: draw_reliability(bins, band=band, form="deviation", ax=ax),
        ),
        (
            "Errors, but for that of the worst bin",
            lambda ax: draw_comparison(errors_of(evaluation), reference=0.0, ax=ax),
        ),
    ]
    if headline.test is not None and "null" in tables:
        test = headline.test
        panels.append(
            (
                "If the model were calibrated",
                lambda ax: draw_null(
                    tables["null"],
                    test.statistic,
                    test.pvalue,
                    measure="debiased squared error",
                    ax=ax,
                ),
            )
        )
    chosen = _chosen(tables["bins"])
    panels.append(
        (
            "How the number of bins matters",
            lambda ax: draw_error_by_bins(tables["bins"], chosen=chosen, ax=ax),
        )
    )
    if "classes" in tables:
        panels.append(
            ("Classes", lambda ax: _unlabelled(draw_class_errors(tables["classes"], ax=ax)))
        )
    if evaluation.groups is not None:
        groups = evaluation.groups.table
        overall = headline.value
        panels.append(
            ("Groups", lambda ax: _unlabelled(draw_group_errors(groups, overall=overall, ax=ax)))
        )
    if "simplex" in tables and evaluation.overview.n_classes == 3:
        names = evaluation.overview.classes
        panels.append(
            ("Whole predictions", lambda ax: draw_simplex(tables["simplex"], names=names, ax=ax))
        )
    if evaluation.repair is not None and len(evaluation.repair.table) > 1:
        candidates = evaluation.repair.table
        panels.append(
            ("Recalibrators out of fold", lambda ax: draw_recalibrations(candidates, ax=ax))
        )
    return panels


def _unlabelled(axes: Axes) -> Axes:
    """Leave out what the title says."""
    axes.set_ylabel("")
    return axes


def _chosen(bins: Columns) -> int | None:
    marked = bins["n_bins"][bins["sweep"].astype(bool)]
    return int(marked[0]) if len(marked) else None
