"""Limits of the axis of scores in a diagram, and the note about zooming in its label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be
from trueup.plotting.common.columns import Flags, Floats
from trueup.plotting.common.style import inches_of, number_axis, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Zoom = Literal["auto", "none"] | tuple[float, float]

FULL = (0.0, 1.0)
BEYOND = 0.01  # share of the rows that may lie beyond a zoomed axis
NARROW = 1 / 3  # rows that take less of the axis than this are zoomed in on
WIDE = 2 / 3  # points that take more of it are not, however narrow the rows lie
SPREADS = 2.0  # standard deviations of the rows of a bin to either side of their mean
PAD = 0.03  # beyond the outermost points, as a share of the range
INCHES_PER_TICK = 0.42
LABEL_INCHES = 2.0  # of what the label says of the zoom
OF_DATA = 0.65  # of the height of small axes, without strip and labels
ROOM_FOR_LEGEND = 0.5  # inches by which a place must be wider than high


def check_zoom(zoom: object) -> None:
    """Raise InputError unless ``zoom`` is "auto", "none" or a pair of limits."""
    if isinstance(zoom, str) and zoom in ("auto", "none"):
        return
    pair = isinstance(zoom, tuple | list) and len(zoom) == 2 and all(map(is_number, zoom))
    if not pair or not 0 <= zoom[0] < zoom[1] <= 1:  # type: ignore[index]
        raise must_be("zoom", '"auto", "none" or two increasing numbers from 0 to 1', zoom)


def limits_of(
    zoom: Zoom,
    score: Floats,
    share: Floats,
    *heights: Floats,
    spread: Floats | float = 0.0,
    before: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Return the limits of an axis of scores, with a margin for markers at the limits.

    Parameters
    ----------
    zoom
        Requested zoom: "auto" zooms in if 99% of the rows take less than a third of the axis.
    score, share
        Scores of the points in increasing order, and the fraction of rows at each point.
    heights
        Other values plotted at each point, on the same scale as the score; NaN if there is none.
    spread
        Standard deviation of the scores at each point, if a point represents several scores.
    before
        Limits that the axes already have; the new limits include them.
    """
    if not isinstance(zoom, str):
        return _padded((float(zoom[0]), float(zoom[1])), before)
    limits = _padded(FULL, before)
    if zoom == "none" or len(score) == 0:
        return limits
    kept = np.flatnonzero(most_rows(share))
    first, last = kept[0], kept[-1]
    around = SPREADS * np.broadcast_to(spread, score.shape)
    if score[last] + around[last] - (score[first] - around[first]) >= NARROW:
        return limits
    drawn = np.concatenate([score[kept], *(height[kept] for height in heights)])
    closer = _closer(float(np.nanmin(drawn)), float(np.nanmax(drawn)))
    if closer is None:
        return limits
    low, high = _padded(closer, None)
    # The heights may reach further than the scores: a point that is not shown is not in sight.
    if first > 0:
        low = max(low, float(score[first - 1] + score[first]) / 2)
    if last + 1 < len(score):
        high = min(high, float(score[last] + score[last + 1]) / 2)
    return _with_those_before((low, high), before)


def limits_of_heights(
    limits: tuple[float, float], heights: list[Floats], before: tuple[float, float] | None
) -> tuple[float, float]:
    """Return limits for heights on the scale of the scores, at least as wide as theirs."""
    drawn = np.concatenate([np.zeros(0), *heights])
    low, high = (float(end(drawn, initial=limits[0])) for end in (np.nanmin, np.nanmax))
    high = max(high, limits[1])
    pad = PAD * (high - low)
    low, high = low - pad * (low < limits[0]), high + pad * (high > limits[1])
    return _with_those_before((low, high), before)


def _with_those_before(
    limits: tuple[float, float], before: tuple[float, float] | None
) -> tuple[float, float]:
    return limits if before is None else (min(before[0], limits[0]), max(before[1], limits[1]))


def _closer(low: float, high: float) -> tuple[float, float] | None:
    """Return a range extended to 0 or 1 if an end is near; None if it is most of the axis."""
    if high - low < 1e-6:
        low, high = max(low - 0.05, 0.0), min(high + 0.05, 1.0)
    if high - low > WIDE:
        return None
    if low < 0.5 * (high - low):  # so near 0 that it may as well be seen
        low = 0.0
    if 1 - high < 0.5 * (high - low):
        high = 1.0
    return low, high


def most_rows(share: Floats) -> Flags:
    """Return which points remain after cutting up to 1% of the rows at the ends."""
    first, last, cut = 0, len(share) - 1, 0.0
    while first < last:
        end = first if share[first] < share[last] else last
        cut += float(share[end])
        if cut > BEYOND:
            break
        first, last = (first + 1, last) if end == first else (first, last - 1)
    place = np.arange(len(share))
    return np.asarray((place >= first) & (place <= last))


def _padded(limits: tuple[float, float], before: tuple[float, float] | None) -> tuple[float, float]:
    """Return limits with a margin, widened to include the previous limits."""
    pad = PAD * (limits[1] - limits[0])
    return _with_those_before((limits[0] - pad, limits[1] + pad), before)


def about_zoom(limits: tuple[float, float], beyond: float, rest: str = "") -> str:
    """Return a note on the zoom for the axis label; an empty string if the axis shows everything.

    ``beyond`` is the fraction of rows that are not plotted. If it is 0, the note ends with
    ``rest``.
    """
    if beyond > 0:
        shown = percent(float(f"{beyond:.2g}")) if beyond >= 0.0005 else "<0.1%"
        return f"\n(zoomed in; {shown} of rows beyond)"
    full = limits[0] <= 0 and limits[1] >= 1
    return "" if full else f"\n(zoomed in{rest})"


def inches_of_square(axes: Axes) -> tuple[float, float]:
    """Return the approximate lengths of both axes if a unit is equally long on each."""
    width, height = inches_of(axes)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    side = OF_DATA * height
    return min(width, side * (right - left) / (high - low)), side


def has_room_beside(axes: Axes) -> bool:
    """Return whether small axes with a 45-degree diagonal leave room for a legend on the right."""
    width, height = inches_of(axes)
    return width - height > ROOM_FOR_LEGEND


def label_scores(axes: Axes, bottom: Axes, what: str, about: str) -> None:
    """Label the axis of scores; below narrow axes, align a long label with their left edge."""
    narrow = inches_of_square(axes)[0] < LABEL_INCHES and axes.get_aspect() == 1
    bottom.set_xlabel(f"{what}{about}", loc="left" if narrow and about else "center")


def ticks_by_size(axes: Axes, inches: tuple[float, float]) -> None:
    """Put as many ticks on both axes as fit into their lengths in inches."""
    from matplotlib.ticker import MaxNLocator

    for axis, length in zip((axes.xaxis, axes.yaxis), inches, strict=True):
        number_axis(axis)
        most = int(np.clip(length / INCHES_PER_TICK, 2, 5))
        steps: Any = [1, 2, 2.5, 5, 10] if most > 3 else [1, 2, 5, 10]
        axis.set_major_locator(MaxNLocator(most, steps=steps))
