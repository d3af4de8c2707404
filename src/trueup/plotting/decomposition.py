"""Decomposition of a proper score: uncertainty, discrimination and miscalibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trueup.errors import must_be
from trueup.plotting.common.style import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    SMALL,
    VERMILION,
    legend_beside,
    need_matplotlib,
    number_axis,
    on,
    tidy,
    words,
)
from trueup.readable import minus
from trueup.results import Decomposition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 2.9)


class Term(NamedTuple):
    """One term of a decomposition: its sign in the sum and its style."""

    name: str
    sign: int
    colour: str
    hatch: str


TERMS = (
    Term("uncertainty", 1, FAINT, ""),
    Term("discrimination", -1, BLUE, "\\\\\\"),
    Term("miscalibration", 1, VERMILION, "///"),
    Term("within", 1, ORANGE, "..."),
)


def plot_decomposition(
    found: Decomposition | Mapping[str, Decomposition],
    *,
    score: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Plot the terms of a proper score: uncertainty − discrimination + miscalibration.

    A single decomposition is plotted as a sum: each bar starts where the previous one ends. Several
    decompositions are plotted side by side, with every term starting at 0 for comparison.

    Parameters
    ----------
    found : Decomposition or dict of str to Decomposition
        Result of ``tu.Brier().decompose(probs, labels)``, or several results by name.
    score : str, default "score"
        Name of the score, such as ``"Brier score"``.
    ax : Axes, optional
        Axes to plot on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes of the plot.

    Examples
    --------
    >>> import trueup as tu
    >>> parts = tu.Brier().decompose([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1])
    >>> tu.plotting.plot_decomposition(parts, score="Brier score").get_xlabel()
    'Brier score'
    """
    need_matplotlib()
    from trueup.plotting.common.figures import Room

    if isinstance(found, Decomposition):
        axes = _sum(on(ax, SIZE), found, score)
    else:
        several = _checked(found)
        axes = _beside(on(ax, (SIZE[0] + 0.6, 1.3 + 0.8 * len(several))), several, score)
    Room.of(axes)
    number_axis(axes.xaxis)
    axes.locator_params(axis="x", nbins=5)
    tidy(axes, grid="x")
    return axes


def _checked(found: object) -> Mapping[str, Decomposition]:
    right = isinstance(found, Mapping) and len(found) > 0
    if not right or not all(isinstance(one, Decomposition) for one in found.values()):  # type: ignore[attr-defined]
        raise must_be("found", "a Decomposition, or several by name", found)
    return found  # type: ignore[return-value]


def _terms(*found: Decomposition) -> list[Term]:
    """Return the terms to plot, without the within-bin term if it is 0 everywhere."""
    return [t for t in TERMS if t.name != "within" or any(one.within != 0 for one in found)]


def _largest(*found: Decomposition) -> float:
    """Return the largest absolute score or uncertainty, which sets the number of decimals."""
    return max(max(abs(one.score), abs(one.uncertainty)) for one in found)


def _sum(axes: Axes, found: Decomposition, score: str) -> Axes:
    terms = _terms(found)
    start, names, ends = 0.0, [], [0.0, found.score]
    largest = _largest(found)
    for place, term in enumerate(terms):
        value = getattr(found, term.name)
        step = term.sign * value
        low, high = min(start, start + step), max(start, start + step)
        _bar(axes, place, low, high - low, term, 0.62)
        _write(axes, place, high, value, largest)
        joint: dict[str, Any] = {"color": MUTED, "linewidth": 0.9, "linestyle": (0, (2, 2))}
        axes.vlines(start + step, place + 0.31, place + 0.69, **joint)
        start += step
        ends += [low, high]
        sign = "−" if term.sign < 0 else "+" if place else ""
        names.append(f"{sign} {'within bins' if term.name == 'within' else term.name}".strip())
    axes.barh(len(terms), found.score, 0.62, color=INK)
    _write(axes, len(terms), max(found.score, 0.0), found.score, largest)
    axes.set_yticks(range(len(terms) + 1), [*names, f"= {score}"])
    _frame(axes, ends, len(terms) + 1)
    axes.set_xlabel(score)
    return axes


def _beside(axes: Axes, found: Mapping[str, Decomposition], score: str) -> Axes:
    terms = _terms(*found.values())
    thick = 0.8 / len(terms)
    ends = [0.0]
    largest = _largest(*found.values())
    for row, one in enumerate(found.values()):
        for place, term in enumerate(terms):
            value = float(getattr(one, term.name))
            at = row - 0.4 + (place + 0.5) * thick
            _bar(axes, at, 0, value, term, 0.92 * thick, label=row == 0)
            _write(axes, at, max(value, 0.0), value, largest)
            ends.append(value)
    names = [
        f"{words(name, 20)}\n{score} {_text(one.score, largest)}" for name, one in found.items()
    ]
    axes.set_yticks(range(len(found)), names)
    _frame(axes, ends, len(found))
    axes.set_xlabel(f"{score} = uncertainty − discrimination + miscalibration")
    legend_beside(axes)
    return axes


def _bar(
    axes: Axes,
    place: float,
    low: float,
    width: float,
    term: Term,
    thick: float,
    label: bool = False,
) -> None:
    axes.barh(
        place,
        width,
        thick,
        left=low,
        facecolor=term.colour,
        edgecolor=INK,
        linewidth=0.7,
        hatch=term.hatch,
        label=("within bins" if term.name == "within" else term.name) if label else None,
    )


def _text(value: float, largest: float) -> str:
    """Return a value with four decimals, as a decomposition prints it, or more if all are small."""
    digits = 4 if largest >= 0.1 or largest <= 0 else 3 - math.floor(math.log10(largest))
    return minus(f"{value:.{digits}f}")


def _write(axes: Axes, place: float, end: float, value: float, largest: float) -> None:
    """Write a number to the right of its bar."""
    offset: dict[str, Any] = {"xytext": (5, 0), "textcoords": "offset points"}
    text: dict[str, Any] = {"va": "center", "color": INK, "fontsize": SMALL}
    axes.annotate(_text(value, largest), (end, place), **offset, **text)


def _frame(axes: Axes, ends: list[float], rows: int) -> None:
    """Set limits that leave room for the numbers at the ends of the bars."""
    high = float(np.nanmax(ends)) or 0.01
    low = float(np.nanmin(ends))
    axes.set_xlim(low - 0.02 * (high - low) if low < 0 else 0, high + 0.16 * (high - low))
    axes.set_ylim(rows - 0.5, -0.5)
