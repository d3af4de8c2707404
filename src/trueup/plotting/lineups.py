"""Lineups: the reliability diagram of the data hidden among those of calibrated models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.bins import EqualMass
from trueup.calls.hints import hinted
from trueup.checks import check_whole
from trueup.errors import InputError
from trueup.estimators import BinnedError
from trueup.forecasts import Forecasts
from trueup.inference import consistency_band
from trueup.lens import Lens, binary_problem, chosen_lens
from trueup.plotting.common.score_axes import Zoom, check_zoom, limits_of, limits_of_heights
from trueup.plotting.common.style import BLUE, DASHED, INK, MUTED, check_size, need_matplotlib, tidy
from trueup.plotting.reliability import FEW, SERIES, SERIES_OF_FEW, spread_of
from trueup.seeds import Seed, generator_of
from trueup.tables import BinTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.plotting.common.figures import LineupFigure

SIZE = (9.0, 7.8)
ACROSS = 5


@hinted
def lineup(
    probs: object,
    labels: object = None,
    *,
    n_panels: int = 20,
    n_bins: int = 10,
    lens: Lens | None = None,
    zoom: Zoom = "auto",
    size: tuple[float, float] | None = None,
    weights: object = None,
    classes: Any = None,
    logits: bool = False,
    rng: Seed = None,
) -> LineupFigure:
    """Plot the reliability diagram of the data among those of calibrated models.

    All panels have the same scores. One panel, chosen at random, shows the labels of the data. In
    the others, labels are drawn from the predicted probabilities, as for a calibrated model. If you
    can pick out the panel of the data among 20 without knowing its position, that is evidence
    against calibration at the 5% level. The upside-down caption at the bottom and the attribute
    ``place`` of the figure give the number of that panel.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities, (n,) or (n, K).
    labels : array_like, optional
        Hard labels; omit them if `probs` is a `Forecasts`.
    n_panels : int
        Number of panels, including the one with the data.
    n_bins : int
        Number of equal-mass bins.
    lens : Lens, optional
        Part of a matrix of probabilities to show; by default the top label.
    zoom : {"auto", "none"} or (float, float)
        Limits of the axes, as in `reliability_diagram`; the same for all panels.
    size : (float, float), optional
        Width and height in inches.
    weights : array_like, optional
        Importance weights.
    classes : sequence, optional
        Names of the classes in the order of the columns, if labels are names.
    logits : bool
        Whether the predictions are logits.
    rng : int or Generator, optional
        Random seed for the labels and the position of the data; by default, both differ between
        calls.

    Returns
    -------
    LineupFigure
        A matplotlib figure; ``place`` is the number of the panel with the data, from 1.

    References
    ----------
    Buja et al. 2009, "Statistical inference for exploratory data analysis and model diagnostics".

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> probs = np.random.default_rng(0).random(500)
    >>> figure = tu.lineup(probs, probs > 0.4, rng=1)
    >>> 1 <= figure.place <= 20
    True
    """
    check_whole("n_panels", n_panels, 2)
    check_whole("n_bins", n_bins, 1)
    check_zoom(zoom)
    check_size(size)
    need_matplotlib()
    from trueup.plotting.common.figures import LineupFigure

    forecasts = Forecasts.from_arrays(
        probs, labels, weights=weights, classes=classes, logits=logits
    )
    if forecasts.soft or forecasts.clusters is not None:
        rule = "cannot be drawn from soft labels or for rows in clusters"
        raise InputError("labels", rule, hint="reliability_diagram shows these data")
    chosen = chosen_lens(lens, forecasts)
    if chosen.induces != "pairs":
        hint = "use OneVsRest(k) for class k"
        raise InputError("lens", "must yield one score per row", lens, hint=hint)
    data = binary_problem(chosen, forecasts)
    chance = generator_of(rng)
    place = int(chance.integers(n_panels)) + 1
    error = BinnedError(binning=EqualMass(n_bins))
    score = data.rows(slice(0, data.n))[:, 1]
    tables: list[BinTable] = []
    for panel in range(1, n_panels + 1):
        drawn = data.with_labels(chance.random(data.n) < score)
        tables.append(error.table(data if panel == place else drawn))
    down = -(-n_panels // ACROSS)
    figure = LineupFigure.of_size(size or (SIZE[0], 0.6 + (SIZE[1] - 0.6) * down / 4))
    figure.place = place
    _draw(figure.subplots(down, min(ACROSS, n_panels), squeeze=False).ravel(), tables, zoom)
    figure.supxlabel("mean predicted probability", fontsize="medium")
    figure.supylabel("observed frequency", fontsize="medium")
    caption = f"The data are in panel {place}."
    about: dict[str, Any] = {"rotation": 180, "fontsize": "x-small", "color": MUTED}
    figure.text(0.995, 0.004, caption, ha="right", va="bottom", gid="caption", **about)
    return figure


def _draw(all_axes: Any, tables: list[BinTable], zoom: Zoom) -> None:
    """Plot all tables with the same limits; axes without a table are removed."""
    band = consistency_band(tables[0])
    full = np.flatnonzero(tables[0].count)
    labels = [table.mean_label[full] for table in tables]
    score, share = tables[0].mean_score[full], tables[0].share[full]
    low, high = band["low"][full], band["high"][full]
    limits = limits_of(zoom, score, share, low, high, *labels, spread=spread_of(tables[0]))
    few = tables[0].count[full] < FEW
    of_heights = limits_of_heights(limits, labels, None)
    for number, axes in enumerate(all_axes, start=1):
        if number > len(tables):
            axes.remove()
            continue
        axes.plot((0, 1), (0, 1), color=MUTED, linestyle=DASHED, linewidth=0.9)
        line: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 3, "linewidth": 1.0}
        heights = labels[number - 1]
        axes.plot(score[~few], heights[~few], gid=SERIES, **line)
        if few.any():
            hollow: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white"}
            axes.plot(score[few], heights[few], gid=SERIES_OF_FEW, **line | hollow)
        axes.set(xlim=limits, ylim=of_heights)
        axes.set_aspect("equal", adjustable="box")
        _tidy(axes, number)


def _tidy(axes: Axes, number: int) -> None:
    """Number a panel, and keep tick labels only along the outer sides of the figure."""
    tidy(axes)
    axes.locator_params(nbins=3)
    axes.tick_params(labelsize="x-small", length=2)
    axes.set_title(str(number), fontsize="small", color=INK, pad=3)
    axes.label_outer()
