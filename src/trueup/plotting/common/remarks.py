"""Text above a diagram: the title, the error with its interval, and the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.plotting.common.style import INK, LABEL, TICK, is_compact, small_print

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueup.results import Interval


def about_error(name: str, found: Interval | None, n: int) -> str:
    """Return the error and the number of rows as text, in two lines that fit above small axes.

    A plug-in error is biased upward and may lie above the interval for the population value. If it
    does, the text says so.

    >>> from trueup.results import Interval
    >>> found = Interval(0.1648, 0.1931, 0.18, 0.95, "analytic", "the error")
    >>> print(about_error("ECE", found, 1500))
    ECE 0.180 (95% CI 0.165 to 0.193)
    n = 1,500
    """
    rows = f"n = {n:,}"
    if found is None:
        return rows
    level = f"{100 * found.confidence_level:g}% CI"
    inside = found.low <= found.estimate <= found.high
    biased = "" if inside else "; estimate biased"
    ends = f"{found.low:.3f} to {found.high:.3f}"
    return f"{name} {found.estimate:.3f} ({level} {ends}{biased})\n{rows}"


def write_above(axes: Axes, title: str, remark: str) -> None:
    """Write a title above the axes, and a remark in small print below the title."""
    from trueup.plotting.common.figures import Room

    small, room = is_compact(axes), Room.of(axes)
    lines = remark.count("\n") + 1 if remark else 0
    size = small_print(TICK if small else LABEL + 0.5)
    if remark:
        offset: dict[str, Any] = {"xytext": (0, 3), "textcoords": "offset points"}
        at: dict[str, Any] = {"xycoords": "axes fraction", "ha": "left", "va": "bottom"}
        room.above.append(
            axes.annotate(remark, (0, 1), fontsize=size, color=INK, **offset, **at, gid="remark")
        )
    if title:
        pad = 4 + 1.25 * lines * size
        large = small_print(LABEL + 1) if small else "medium"
        style: dict[str, Any] = {"fontsize": large, "fontweight": "bold", "pad": pad}
        room.above.append(axes.set_title(title, loc="left", **style))
