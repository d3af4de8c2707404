"""What all figures share: colors and markers, new axes, formats, and where legends go.

Nothing here changes a global setting of matplotlib, and matplotlib is imported only when something
is plotted. Every color comes with a marker or line style of its own, so that figures are readable
in grayscale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trueup.checks import is_number
from trueup.errors import CapabilityError, must_be, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend

# Okabe & Ito: distinguishable with color-vision deficiency.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"

INK = "#262626"  # text and outlines
MUTED = "#6E6E6E"  # reference lines, remarks
FAINT = "#D4D4D4"  # bands and bars behind the data
GRID = "#E9E9E9"

OVER = VERMILION  # predicted too often: mean score above mean label; marker ▲
UNDER = BLUE  # predicted too rarely; marker ▼
OVER_MARKER, UNDER_MARKER = "^", "v"

DASHED = (0, (4, 2))  # lines to compare with

SMALL = "small"  # size of remarks and legends, relative to the reader's own setting
LONGEST_NAME = 28

SMALLEST, LARGEST = 1.0, 100.0  # sides of a figure, in inches
SMALLEST_IN_FULL = 1e-6  # of numbers that are not written with a power of ten
COMPACT_WIDTH, COMPACT_HEIGHT = 3.4, 2.8  # in inches: smaller axes have their legend inside
LABEL, TICK, TINY = 8.0, 7.0, 6.5  # sizes of text there, in points


class Look(NamedTuple):
    """How one of several series is drawn."""

    colour: str
    marker: str
    dashes: Any


# Vermilion comes last: figures use it for what stands out.
LOOKS = (
    Look(BLUE, "o", "solid"),
    Look(ORANGE, "s", (0, (5, 1.5))),
    Look(GREEN, "^", (0, (1.2, 1.2))),
    Look(PURPLE, "P", (0, (6, 1.5, 1.2, 1.5))),
    Look(BLACK, "v", (0, (3, 1.2))),
    Look(SKY, "X", (0, (8, 2))),
    Look(VERMILION, "p", (0, (1.2, 2.5))),
)


def look(index: int) -> Look:
    """Return the color, marker and dashes of a series; after seven they repeat."""
    return LOOKS[index % len(LOOKS)]


def need_matplotlib() -> None:
    """Say in one sentence what is missing where matplotlib is."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        message = "Figures need matplotlib. Hint: pip install matplotlib."
        raise CapabilityError(message) from None


def on(ax: object, size: tuple[float, float], projection: str | None = None) -> Axes:
    """Return the axes that were passed, or those of a new figure with a size in inches.

    A new figure is not registered with pyplot, so it is freed together with its axes. It makes room
    for its text; ``axes.figure.savefig(path)`` saves it, and notebooks show both.
    """
    need_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        from trueup.plotting.common.figures import NotebookFigure

        axes: Axes = NotebookFigure.of_size(size).add_subplot(projection=projection)
        return axes
    if not isinstance(ax, Axes):
        hint = "plt.subplots(2, 2) returns an array: pass one of its entries"
        raise must_be("ax", "matplotlib axes or None", ax, hint=hint)
    if projection is not None and ax.name != projection:
        hint = f'make them with subplot_kw={{"projection": "{projection}"}}'
        raise must_be("ax", f"axes of the projection {projection!r}", ax.name, hint=hint)
    return ax


def small_axes(size: tuple[float, float]) -> Axes:
    """Return axes of a new figure of this size, for a diagram that makes room for its text."""
    from trueup.plotting.common.figures import NotebookFigure

    axes: Axes = NotebookFigure.without_layout(size).add_subplot()
    return axes


def tidy(ax: Axes, *, grid: str | None = "both") -> None:
    """Take away the frame's upper and right side, put a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(True, axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]


def words(name: object, longest: int = LONGEST_NAME) -> str:
    r"""Return a user's name as text to draw: one line, not too long, no formula.

    Long names lose their middle: many of one kind differ at the end.

    >>> print(words("a $5 note"), words("region number 18 of the north", longest=14))
    a \$5 note region nu…orth
    """
    text = printable(" ".join(str(name).split()))
    if len(text) > longest:
        tail = longest // 3
        text = f"{text[: longest - 1 - tail]}…{text[-tail:]}"
    text = plain(text)
    return f" {text}" if text.startswith("_") else text  # else it would not be in legends


def plain(text: str) -> str:
    """Return text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")


def check_size(size: object) -> None:
    """Raise InputError unless this is None or the width and height of a figure in inches."""
    if size is None:
        return
    pair = isinstance(size, tuple | list) and len(size) == 2 and all(map(is_number, size))
    if not pair or not all(SMALLEST <= inches <= LARGEST for inches in size):  # type: ignore[attr-defined]
        rule = f"a pair (width, height) in inches, each from {SMALLEST:g} to {LARGEST:g}"
        raise must_be("size", rule, size)


def number(value: float) -> str:
    """Return a number for a figure, to three digits, with a proper minus.

    >>> number(0.039784), number(-0.5), number(12345.6), number(1.384e-5)
    ('0.0398', '−0.5', '12346', '0.0000138')
    """
    size = abs(value)
    if SMALLEST_IN_FULL <= size < 1e-4:
        text = f"{value:.{2 - math.floor(math.log10(size))}f}".rstrip("0")
    else:
        text = f"{value:.0f}" if size >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def in_words(pvalue: float, resamples: float = math.inf) -> str:
    """Return a p-value; the smallest that `resamples` can give is a bound.

    >>> in_words(0.0123), in_words(0.001, 999)
    ('p = 0.0123', 'p ≤ 0.001')
    """
    least = pvalue * (1 + resamples) <= 1 + 1e-9
    return f"p {'≤' if least else '='} {number(pvalue)}"


def percent(value: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.95), percent(0.0012)
    ('95%', '0.12%')
    """
    return f"{100 * value:.3g}%".replace("-", "−")


def percent_axis(axis: Axis) -> None:
    """Write shares along an axis as percentages."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(_percent_tick))


def _percent_tick(value: float, _: int) -> str:
    return percent(value)


def number_axis(axis: Axis) -> None:
    """Write numbers along an axis in full, never as a distance from one of them."""
    from matplotlib.ticker import ScalarFormatter

    formatter = ScalarFormatter(useOffset=False)
    formatter.set_powerlimits((round(math.log10(SMALLEST_IN_FULL)), 7))
    axis.set_major_formatter(formatter)


def legend_beside(
    ax: Axes, handles: Sequence[Any] | None = None, *, size: float | str = SMALL
) -> Legend | None:
    """Put the legend to the right of the data, where it covers none; None without entries.

    By default of everything on the axes with a label, each label once. The axes give up as much of
    their width as the legend takes, so it stays in the place that the axes were given.
    """
    from trueup.plotting.common.figures import Room

    by_label = _by_label(ax, handles)
    if not by_label:
        return None
    legend = ax.legend(
        list(by_label.values()),
        list(by_label),
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        borderaxespad=0,
        frameon=False,
        fontsize=size,
        alignment="left",
    )
    Room.of(ax).has_legend_beside = True
    return legend


def legend_inside(ax: Axes, place: str, left_out: Sequence[str] = ()) -> Legend | None:
    """Put a small legend into a corner of axes that have no room next to them."""
    by_label = {k: v for k, v in _by_label(ax, None).items() if k not in left_out}
    if not by_label:
        return None
    where: Any = place
    legend: Legend = ax.legend(
        list(by_label.values()),
        list(by_label),
        loc=where,
        borderaxespad=0.2,
        borderpad=0.2,
        handlelength=1.2,
        handletextpad=0.4,
        labelspacing=0.25,
        frameon=True,
        framealpha=0.7,
        edgecolor="none",
        fontsize=small_print(TINY),
        alignment="left",
    )
    return legend


def _by_label(ax: Axes, handles: Sequence[Any] | None) -> dict[str, Any]:
    """What the legend shows, each label once."""
    given = ax.get_legend_handles_labels()[0] if handles is None else handles
    by_label: dict[str, Any] = {}
    for handle in given:
        by_label.setdefault(str(handle.get_label()), handle)
    return by_label


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of the place that axes were given, in inches."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    place, size = ax.get_position(original=True), figure.get_size_inches()
    return float(place.width * size[0]), float(place.height * size[1])


def is_compact(ax: Axes) -> bool:
    """Whether axes are as small as those of a figure in a column of a paper."""
    width, height = inches_of(ax)
    return width < COMPACT_WIDTH or height < COMPACT_HEIGHT


def small_print(points: float) -> float:
    """Return a size in points: that of the reader's own setting where it is smaller."""
    from matplotlib import rcParams

    return min(points, float(rcParams["font.size"]))


def shrink(ax: Axes) -> None:
    """Make labels and numbers of small axes as small as the text of a figure in a paper."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(small_print(LABEL))
        axis.labelpad = 2.0
    ax.tick_params(labelsize=small_print(TICK), pad=2, length=2.5)
