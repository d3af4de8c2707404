"""How much of the axis from 0 to 1 a diagram of scores shows, and what its label says of that."""

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
    """Return the limits of an axis of scores, so that what is drawn at them has room as well.

    Parameters
    ----------
    zoom
        What was asked for: "auto" zooms where 99% of the rows take less than a third of the axis.
    score, share
        Points in increasing order of the score, and their shares of the rows.
    heights
        What else is drawn at each point, on the same scale as the score; NaN for nothing.
    spread
        Standard deviation of the scores at each point, if it stands for several.
    before
        Limits that the axes have already, which are included.
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
    """Return limits for heights on the same scale as the scores: those of the scores, or wider."""
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
    """Return a range from round numbers near these ends; None if it is most of the axis."""
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
    """Which points remain if as many as possible are cut from both ends, 1% of the rows at most."""
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
    """Return limits with a margin; they include those that the axes had before."""
    pad = PAD * (limits[1] - limits[0])
    return _with_those_before((limits[0] - pad, limits[1] + pad), before)


def about_zoom(limits: tuple[float, float], beyond: float, rest: str = "") -> str:
    """Return a line for below the label of the axis; nothing if it shows everything.

    ``beyond`` is the share of the rows that is not drawn; if it is 0, ``rest`` is written.
    """
    if beyond > 0:
        shown = percent(float(f"{beyond:.2g}")) if beyond >= 0.0005 else "<0.1%"
        return f"\n(zoomed in; {shown} of rows beyond)"
    full = limits[0] <= 0 and limits[1] >= 1
    return "" if full else f"\n(zoomed in{rest})"


def inches_of_square(axes: Axes) -> tuple[float, float]:
    """Return about how long both axes are where one unit is as long on either."""
    width, height = inches_of(axes)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    side = OF_DATA * height
    return min(width, side * (right - left) / (high - low)), side


def has_room_beside(axes: Axes) -> bool:
    """Whether small axes with a diagonal at 45 degrees leave room for a legend to the right."""
    width, height = inches_of(axes)
    return width - height > ROOM_FOR_LEGEND


def label_scores(axes: Axes, bottom: Axes, what: str, about: str) -> None:
    """Label the axis of scores; below narrow axes a long label starts at their left side."""
    narrow = inches_of_square(axes)[0] < LABEL_INCHES and axes.get_aspect() == 1
    bottom.set_xlabel(f"{what}{about}", loc="left" if narrow and about else "center")


def ticks_by_size(axes: Axes, inches: tuple[float, float]) -> None:
    """Put as many ticks on both axes as their lengths in inches have room for."""
    from matplotlib.ticker import MaxNLocator

    for axis, length in zip((axes.xaxis, axes.yaxis), inches, strict=True):
        number_axis(axis)
        most = int(np.clip(length / INCHES_PER_TICK, 2, 5))
        steps: Any = [1, 2, 2.5, 5, 10] if most > 3 else [1, 2, 5, 10]
        axis.set_major_locator(MaxNLocator(most, steps=steps))
