"""Reliability diagram of predictions in one call: table of bins, band and diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.bins import Binning, EqualMass, EqualWidth
from trueup.calls.hints import hinted
from trueup.checks import check_flag
from trueup.errors import InputError, must_be
from trueup.estimators import BinnedError
from trueup.forecasts import Forecasts
from trueup.inference import confidence_band, consistency_band, interval
from trueup.inference.arguments import check_level
from trueup.lens import Lens
from trueup.plotting.common.remarks import about_error
from trueup.plotting.common.score_axes import Zoom, check_zoom
from trueup.plotting.common.style import check_size, need_matplotlib, small_axes
from trueup.plotting.reliability import Form, plot_reliability
from trueup.seeds import Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINNINGS: dict[str, Any] = {"equal-width": EqualWidth, "equal-mass": EqualMass}


@hinted
def reliability_diagram(
    probs: object,
    labels: object = None,
    *,
    n_bins: int = 15,
    binning: str | Binning = "equal-width",
    lens: Lens | None = None,
    form: Form = "classical",
    band: bool = True,
    whiskers: bool = False,
    confidence_level: float = 0.95,
    zoom: Zoom = "auto",
    histogram: bool = True,
    stats: bool = False,
    name: object = None,
    title: str = "",
    size: tuple[float, float] | None = None,
    ax: Axes | None = None,
    weights: object = None,
    classes: Any = None,
    logits: bool = False,
    rng: Seed = 0,
) -> Axes:
    """Plot the reliability diagram of predictions.

    Gray bars show where the points of a calibrated model would be; points outside them are filled
    diamonds. Bins with fewer than 5 rows are small hollow points. If you already have a table of
    bins, use `plotting.plot_reliability`.

    Parameters
    ----------
    probs : array_like or Forecasts
        Predicted probabilities: (n,) for the positive class, or (n, K). For a matrix, the diagram
        shows the top label.
    labels : array_like, optional
        Labels; not needed with `Forecasts`.
    n_bins : int
        Number of bins.
    binning : {"equal-width", "equal-mass"} or Binning
        Type of bins. Equal-mass bins show more detail if most scores are close together, as for
        rare outcomes. A `Binning`, such as ``tu.bins.VarianceTree()``, replaces ``n_bins``.
    lens : Lens, optional
        Part of a matrix to show, such as ``tu.lens.OneVsRest(2)`` for class 2.
    form : {"classical", "deviation"}
        Observed rate against prediction, or their difference against prediction.
    band : bool
        Whether to show the consistency band of a calibrated model. There is no such band for soft
        labels or rows in clusters.
    whiskers : bool
        Whether to show a confidence interval of each observed rate.
    confidence_level : float
        Confidence level of the band, the whiskers and the interval.
    zoom : {"auto", "none"} or (float, float)
        ``"auto"`` zooms in if 99% of the rows take less than a third of the axis; ``"none"`` shows
        0 to 1; a pair of numbers sets the limits.
    histogram : bool
        Whether a strip below shows the fraction of rows in each bin.
    stats : bool
        Whether to write the ECE with its interval, and the number of rows, above the axes.
    name : object, optional
        Name of the model for the legend.
    title : str
        Title of the diagram.
    size : (float, float), optional
        Width and height of a new figure in inches.
    ax : Axes, optional
        Axes to plot on, instead of a new figure. To plot several models, pass the returned axes.
    weights : array_like, optional
        Importance weights.
    classes : sequence, optional
        Names of the classes in the order of the columns, if labels are names.
    logits : bool
        Whether the predictions are logits.
    rng : int or Generator, optional
        Random seed for the interval of rows in clusters, the only interval that is bootstrapped.

    Returns
    -------
    Axes
        The axes of the plot; ``axes.figure.savefig("reliability.pdf")`` saves the figure.

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.random(500)
    >>> axes = tu.reliability_diagram(probs, rng.random(500) < probs**2, title="My model")
    >>> axes.get_title(loc="left")
    'My model'
    """
    for flag, given in (("band", band), ("whiskers", whiskers), ("stats", stats)):
        check_flag(flag, given)
    check_zoom(zoom)
    check_size(size)
    check_level(confidence_level)
    need_matplotlib()
    bins: Any = binning
    if isinstance(binning, str):
        if binning not in BINNINGS:
            rule = '"equal-width", "equal-mass" or a binning such as EqualMass(20)'
            raise must_be("binning", rule, binning)
        bins = BINNINGS[binning](n_bins)
    error = BinnedError(binning=bins, lens=lens)
    forecasts = Forecasts.from_arrays(
        probs, labels, weights=weights, classes=classes, logits=logits
    )
    if error.lens_for(forecasts).induces != "pairs":
        hint = "use OneVsRest(k) for class k"
        raise InputError("lens", "must yield one score per row", lens, hint=hint)
    table = error.table(forecasts)
    independent = not forecasts.soft and forecasts.clusters is None
    level: dict[str, Any] = {"confidence_level": confidence_level}
    remark = ""
    if stats:
        found = None if forecasts.soft else interval(error, forecasts, rng=rng, **level)
        remark = about_error("ECE", found, forecasts.n)
    if ax is None and size is not None:
        ax = small_axes(size)
    return plot_reliability(
        table,
        band=consistency_band(table, **level) if band and independent else None,
        confidence=confidence_band(table, **level) if whiskers and independent else None,
        form=form,
        histogram=histogram,
        zoom=zoom,
        name=name,
        title=title,
        remark=remark,
        ax=ax,
    )
