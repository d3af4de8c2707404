"""Style of a plotted simplex: corner names, and colors for the cells' fractions of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._typing import Floats
from trueup.errors import Verbatim, must_be
from trueup.plotting.common.style import INK, SMALL, percent, words
from trueup.tables import CellTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, LogNorm

FAINTEST_ARROW = 0.22  # opacity of the arrow of the cell with the smallest share


def check_cells(cells: CellTable, m: int, hint: str) -> None:
    """Raise InputError unless these are cells of the simplex of ``m`` outcomes."""
    CellTable.expect(cells, "cells", f"a CellTable of {m} outcomes", hint)
    if cells.score.shape[1] != m:
        got = Verbatim(f"{cells.score.shape[1]} outcomes")
        raise must_be("cells", f"a CellTable of {m} outcomes", got, hint=hint)
    if cells.n_bins == 0:
        raise must_be("cells", "a table with at least one cell", Verbatim("none"))


def corner_names(names: Sequence[Any] | None, m: int, line: int) -> list[str]:
    """Return the text at each corner, by default "class" and its number.

    Long names are wrapped to two or three lines of at most ``line`` characters.
    """
    given = [f"class {j}" for j in range(m)] if names is None else list(names)
    if len(given) != m:
        raise must_be("names", f"{m} names, one for each outcome", names)
    return ["\n".join(wrap(words(name, 2 * line - 4), line)) for name in given]


def share_colours() -> Colormap:
    """Return colors from nearly white to a blue that shows dark arrows; monotone in grayscale."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    shades = colormaps["Blues"](np.linspace(0.12, 0.72, 256))
    return LinearSegmentedColormap.from_list("shares", [tuple(shade) for shade in shades])


def share_norm(share: Floats) -> LogNorm:
    """Return a logarithmic color scale between round fractions.

    Most rows of a confident model are in the corners. On a linear scale, all other cells would look
    the same.
    """
    from matplotlib.colors import LogNorm

    low, high = _round_down(float(share.min())), _round_up(float(share.max()))
    return LogNorm(low if low < high else low / 2, high)


def share_bar(ax: Axes, mappable: Any, place: tuple[float, float, float, float]) -> Axes:
    """Plot the color key of fractions inside the axes, at a position in axes fractions."""
    inside = ax.inset_axes(place)
    bar = ax.figure.colorbar(mappable, cax=inside)
    bar.outline.set_visible(False)
    ticks = _round_shares(mappable.norm.vmin, mappable.norm.vmax)
    bar.set_ticks(ticks, labels=[percent(tick) for tick in ticks])
    inside.minorticks_off()
    inside.tick_params(length=0, labelsize=SMALL)
    inside.set_title("share of\nrows", fontsize=SMALL, loc="left", color=INK)
    return inside


def arrow_opacity(share: Floats, norm: LogNorm) -> Floats:
    """Return the opacity of each arrow: fainter for cells with few rows, which are mostly noise."""
    seen = np.clip(np.ma.filled(norm(share), 0.0), 0, 1)
    return np.asarray(FAINTEST_ARROW + (1 - FAINTEST_ARROW) * seen)


def fineness(count: int) -> float:
    """Return the factor that makes arrows thinner if there are many cells: 1 for up to 60 cells."""
    return max(0.2, min(1.0, math.sqrt(60 / count)))


def _round_down(share: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is at most ``share``."""
    ten: float = 10.0 ** math.floor(math.log10(share) + 1e-9)
    return max(step * ten for step in (1, 2, 5) if step * ten <= share * (1 + 1e-9))


def _round_up(share: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``share``, up to 1."""
    ten: float = 10.0 ** math.floor(math.log10(share) + 1e-9)
    return min(1.0, *(step * ten for step in (1, 2, 5, 10) if step * ten >= share * (1 - 1e-9)))


def _round_shares(low: float, high: float) -> list[float]:
    """Return fractions to write next to the colors: both ends, and powers of ten between them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = [10.0**power for power in range(first, last + 1)]
    inner = [share for share in decades if 2.5 * low < share < high / 2.5]
    return [low, *inner[:: 1 + len(inner) // 5], high]
