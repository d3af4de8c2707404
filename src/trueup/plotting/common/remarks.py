"""Small text of a diagram: its error with an interval, and the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueup.results import Interval


def about_error(name: str, found: Interval | None, n: int) -> str:
    """Return the text, in two lines so that it fits above small axes.

    A plug-in error is biased upward, and may lie above the interval of the population value: then
    the text says so.

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
