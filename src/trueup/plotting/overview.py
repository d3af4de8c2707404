"""Figures of an evaluation: one kind of the registry, or several on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.errors import InputError, must_be
from trueup.evaluation import Evaluation
from trueup.plotting.common.style import need_matplotlib, words
from trueup.plotting.registry import FIGURES, KINDS, OVERVIEW, Parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = 2
PANEL_SIZE = (6.6, 4.6)


def plot_overview(evaluation: Evaluation) -> Figure:
    """Draw the diagrams that say most about some predictions, on a new figure.

    Reliability in both forms, the errors with their intervals, the distribution of the statistic
    for calibrated models; and where there are: classes, groups, recalibrators, models.
    """
    return _page(parts_of(evaluation))


def figure_of(parts: Parts, kind: str) -> Figure:
    """Draw one kind of figure from the parts of an evaluation."""
    if kind == OVERVIEW:
        return _page(parts)
    entries = [entry for entry in FIGURES if entry.kind == kind]
    if not entries:
        raise must_be("kind", f"one of {', '.join(map(repr, KINDS))}", kind)
    for entry in entries:
        if entry.present(parts):
            figure: Figure = entry.draw(parts).get_figure(root=True)  # type: ignore[assignment]
            return figure
    there = [OVERVIEW, *dict.fromkeys(each.kind for each in FIGURES if each.possible(parts))]
    others = ", ".join(name for name in there if name != kind)
    rule = f"{kind!r} is not available for these data; there are: {others}"
    raise InputError("kind", rule, hint=entries[0].hint)


def parts_of(found: Evaluation) -> dict[str, Any]:
    """Return the parts of an evaluation that figures are drawn from, by name."""
    simplex = {3: "triangle", 4: "tetrahedron"}.get(found.overview.n_classes, "simplex")
    parts = {
        **found.tables,
        simplex: found.tables.get("simplex"),
        "overview": found.overview,
        "estimates": found.estimates,
        "headline": found.estimates[0],
        "test": found.estimates[0].test,
        "groups": found.groups,
        "local": found.local,
        "recalibration": found.recalibration,
        "brier": found.scores[0].decomposition,
        "models": found.models if len(found.models) > 1 else None,
    }
    return {name: part for name, part in parts.items() if part is not None}


def _page(parts: Parts) -> Figure:
    """Draw the panels of the overview that the parts of an evaluation allow."""
    need_matplotlib()
    from trueup.plotting.common.figures import NotebookFigure

    panels = [each for each in FIGURES if each.title and each.present(parts)]
    first = f" ({words(next(iter(parts.get('models'))))})" if "models" in parts else ""
    down = -(-len(panels) // ACROSS)
    figure = NotebookFigure.of_size((ACROSS * PANEL_SIZE[0], down * PANEL_SIZE[1]))
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(down, ACROSS, place)
        panel.draw(parts, axes)
        title = panel.title + first * (panel.kind != "models")
        axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        if not panel.labelled:
            axes.set_ylabel("")
    return figure
