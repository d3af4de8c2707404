"""Figures of an evaluation: a single registered kind, or several kinds on one page."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.errors import InputError, must_be
from trueup.evaluation import Evaluation
from trueup.plotting.common.remarks import about_error
from trueup.plotting.common.score_axes import BEYOND
from trueup.plotting.common.small_figures import fit_small
from trueup.plotting.common.style import check_size, need_matplotlib, on, plain, small_axes, words
from trueup.plotting.registry import FIGURES, KINDS, OVERVIEW, Entry, Parts
from trueup.tables import BinTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = 2
PANEL_SIZE = (6.6, 4.6)
NAME_IN_TITLE = 16  # letters of the model in titles of panels
LINE = 118  # letters of the headline
LEAST_PANEL = "bins"  # left out where it would stand alone in its row
NARROW_BINS = ("reliability", "equal-mass")  # one of them is shown: where rows crowd, the second
ENOUGH_BINS = 4
LEAST_SIZE = (9.0, 3.0)  # inches of the page, and of each row of panels on it
ADVICE = "recalibration"  # shown where the verdict recommends it


def plot_overview(
    evaluation: Evaluation,
    *,
    title: str = "",
    name: object = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """Plot the most informative diagrams of an evaluation on a new figure.

    The headline is the part of the verdict that states whether the model is calibrated. Below it
    are the reliability diagram, deviations, and errors with their intervals and the errors expected
    of a calibrated model. Classes, groups and models are included if there are any, and
    recalibrators if the verdict recommends one.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `evaluate`.
    title : str
        Headline to show instead of the verdict.
    name : object, optional
        Name of the model or of its file, written above the headline.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels = [0.2, 0.4, 0.7, 0.9] * 9, [0, 0, 1, 1] * 9
    >>> found = tu.evaluate(probs, labels, n_resamples=39, advice=False)
    >>> plot_overview(found, name="toy").get_suptitle().splitlines()[0]
    'toy'
    """
    return figure_of(parts_of(evaluation), OVERVIEW, title=title, name=name, size=size)


def figure_of(
    parts: Parts,
    kind: str,
    *,
    title: str = "",
    name: object = None,
    size: tuple[float, float] | None = None,
    zoom: Any = None,
    stats: bool = False,
) -> Figure:
    """Return one kind of figure, plotted from the parts of an evaluation."""
    check_size(size)
    if kind == OVERVIEW:
        _check_options(kind, (), zoom, stats)
        return _page(parts, title, name, size)
    entries = [entry for entry in FIGURES if entry.kind == kind]
    if not entries:
        raise must_be("kind", f"one of {', '.join(map(repr, KINDS))}", kind)
    for entry in entries:
        if entry.possible(parts):
            _check_options(kind, entry.takes, zoom, stats)
        if entry.present(parts):
            return _figure(entry, parts, title, name, size, zoom, stats)
    there = [OVERVIEW, *dict.fromkeys(each.kind for each in FIGURES if each.possible(parts))]
    others = ", ".join(name for name in there if name != kind)
    rule = f"{kind!r} is not available for these data; available: {others}"
    raise InputError("kind", rule, hint=entries[0].hint)


def parts_of(found: Evaluation) -> dict[str, Any]:
    """Return the parts of an evaluation that figures are plotted from, by name."""
    simplex = {3: "triangle", 4: "tetrahedron"}.get(found.overview.n_classes, "simplex")
    several = len(found.models) > 1
    ece = next((each.interval for each in found.estimates if each.metric == "ece"), None)
    parts = {
        **found.tables,
        simplex: found.tables.get("simplex"),
        "overview": found.overview,
        "estimates": found.estimates,
        "headline": found.estimates[0],
        "test": found.estimates[0].test,
        "ece": ece,
        "groups": found.groups,
        "local": found.local,
        "recalibration": found.recalibration,
        "brier": found.scores[0].decomposition,
        "models": found.models if several else None,
        "sentence": found.verdict.partition(" Verdict for ")[0]
        if several
        else found.answers.get("calibrated"),
        "advised": found.answers.get("expected_gain") or None,
    }
    return {name: part for name, part in parts.items() if part is not None}


def _check_options(kind: str, takes: tuple[str, ...], zoom: Any, stats: bool) -> None:
    """Raise InputError if an option is given that this kind of figure does not have."""
    for option, given in (("zoom", zoom is not None), ("stats", stats)):
        if given and option not in takes:
            having = dict.fromkeys(entry.kind for entry in FIGURES if option in entry.takes)
            raise InputError(option, f"is an option of {', '.join(having)}, not of {kind}")


def _figure(
    entry: Entry,
    parts: Parts,
    title: str,
    name: object,
    size: tuple[float, float] | None,
    zoom: Any,
    stats: bool,
) -> Figure:
    ax = None
    if size is not None:
        ax = small_axes(size) if entry.takes else on(None, size, entry.projection)
    options = {"zoom": zoom, "name": name, "title": plain(title)} if entry.takes else {}
    options = {option: given for option, given in options.items() if given not in (None, "")}
    if stats and "ece" in parts:
        options["remark"] = about_error("ECE", parts.get("ece"), parts.get("overview").n)
    axes = entry.draw(parts, ax, **options)
    above = plain(title) if title else words(name) if name is not None else ""
    if above and not entry.takes:
        axes.set_title(above, loc="left", fontsize="medium", fontweight="bold")
    if size is not None and not entry.takes:
        fit_small(axes)
    figure: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
    return figure


def _page(parts: Parts, title: str, name: object, size: tuple[float, float] | None) -> Figure:
    """Return the overview: a headline, and the panels that the parts of an evaluation allow."""
    need_matplotlib()
    from trueup.plotting.common.figures import NotebookFigure

    panels = _panels(parts)
    first = (
        f" ({words(next(iter(parts.get('models'))), NAME_IN_TITLE)})" if "models" in parts else ""
    )
    down = -(-len(panels) // ACROSS)
    if size is not None and (size[0] < LEAST_SIZE[0] or size[1] < LEAST_SIZE[1] * down):
        rule = f"at least {LEAST_SIZE[0]:g} by {LEAST_SIZE[1] * down:g} inches for an overview"
        raise must_be("size", rule, size, hint="plot one kind of figure, such as reliability")
    headline = _headline(parts, title, name)
    inches = 0.3 * len(headline)
    figure = NotebookFigure.of_size(size or (ACROSS * PANEL_SIZE[0], down * PANEL_SIZE[1] + inches))
    layout: Any = figure.get_layout_engine()
    layout.set(w_pad=0.12, h_pad=0.08)  # inches: labels keep away from the edge
    if headline:
        at: dict[str, Any] = {"x": 0.01, "ha": "left"}
        figure.suptitle("\n".join(headline), fontsize="large", fontweight="bold", **at)
    grid = figure.add_gridspec(down, ACROSS)
    for place, panel in enumerate(panels):
        alone = place == len(panels) - 1 and place % ACROSS == 0
        column = slice(None) if alone else place % ACROSS
        axes = figure.add_subplot(grid[place // ACROSS, column])
        panel.draw(parts, axes)
        heading = panel.title + first * (panel.kind != "models")
        axes.set_title(heading, loc="left", fontsize="medium", fontweight="bold")
        if not panel.labelled:
            axes.set_ylabel("")
    return figure


def _panels(parts: Parts) -> list[Entry]:
    """Return the figures of the page in order, an even number of them if possible."""
    twice = NARROW_BINS[0 if is_crowded(parts.get("reliability")) else 1]
    panels = [each for each in FIGURES if each.title and each.kind not in (ADVICE, twice)]
    panels = [each for each in panels if each.present(parts)]
    if "advised" in parts:
        panels += [each for each in FIGURES if each.kind == ADVICE and each.present(parts)]
    if len(panels) % ACROSS:
        panels = [each for each in panels if each.kind != LEAST_PANEL]
    return panels


def is_crowded(table: BinTable | None) -> bool:
    """Return whether so few bins hold 99% of the rows that a diagram of them shows little."""
    if table is None or table.n_bins < ENOUGH_BINS:
        return False
    largest = np.sort(table.share)[::-1]
    return bool(np.searchsorted(np.cumsum(largest), 1 - BEYOND) + 1 < ENOUGH_BINS)


def _headline(parts: Parts, title: str, name: object) -> list[str]:
    """Return the lines above all panels: the name, then the title or the verdict's main claim."""
    sentence = title or (parts.get("sentence") if "sentence" in parts else "")
    lines = [words(name, LINE)] if name is not None else []
    return [*lines, *(plain(line) for line in wrap(sentence or "", LINE))]
