"""Labels of whole rows, drawn once and counted in the bins of every class and of the top label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.calls.progress import told
from trueup.engines.blocks import row_blocks, steps
from trueup.engines.draw_keys import class_limits
from trueup.engines.select import engine
from trueup.forecasts import Forecasts

Places = NDArray[np.int32]

BLOCK_ENTRIES = 1 << 18  # of a matrix, for which limits and places are made at a time
MOST_ENTRIES = 1 << 21
"""Sums of drawn labels that are held at once, unless these are fewer than `FEWEST_DRAWS`."""
FEWEST_DRAWS = 250


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of drawn labels, (draws, bins), in the finest bins that are needed."""

    inner: list[Floats]  # edges between the bins of each class
    of_classes: list[NDArray[Any]]
    of_top: NDArray[Any]

    def of_class(self, k: int, inner: Floats) -> NDArray[Any]:
        """Return the sums in the bins of a class that have these edges between them."""
        if len(inner) == len(self.inner[k]):  # these are all there are
            return self.of_classes[k]
        first = np.searchsorted(self.inner[k], np.r_[-np.inf, inner], side="right")
        return np.asarray(np.add.reduceat(self.of_classes[k], first, axis=1))


class DrawnClasses:
    """Bins of every class and of the top label, which share the drawn labels.

    ``inner`` has, for each statistic, the edges between the bins of each class, and ``top`` those
    of the top label; a bin contains its upper edge. Labels are counted in the cells between all
    edges, so without weights counts are exact.
    """

    def __init__(
        self, forecasts: Forecasts, inner: Sequence[Sequence[Floats]], top: Floats | None = None
    ) -> None:
        self.forecasts, self.top = forecasts, top
        self.inner = [np.unique(np.concatenate(each)) for each in zip(*inner, strict=True)]
        self.start = np.concatenate([[0], np.cumsum([len(each) + 1 for each in self.inner])])
        # An entry of the top label counts for its class and for the top label: its place is one
        # that no other entry has, of both bins.
        self.n_places, self.n_top = int(self.start[-1]), 0 if top is None else len(top) + 1
        seen = np.zeros(self.n_places * self.n_top, np.bool_)
        if top is not None:
            for block in row_blocks(forecasts.n, forecasts.n_classes):
                seen[self._both_places(block)] = True
        self.both = np.flatnonzero(seen)
        self._number = np.zeros(len(seen), np.int32)
        self._number[self.both] = np.arange(self.n_places, self.n_places + len(self.both))

    def sums(self, keys: Bits) -> Iterator[Sums]:
        """Draw labels with each key, and yield their sums for a few keys at a time."""
        many = self.n_places + len(self.both)
        for first, last in steps(len(keys), max(FEWEST_DRAWS, MOST_ENTRIES // many)):
            totals = totals_of_drawn_classes(
                self.forecasts.n,
                self.forecasts.n_classes,
                self.forecasts.weights,
                many,
                keys[first:last],
                self._draw,
            )
            top = self._add_top(totals)
            ends = zip(self.start[:-1], self.start[1:], strict=True)
            yield Sums(self.inner, [totals[:, start:stop] for start, stop in ends], top)

    def _add_top(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Add the sums of the top label to those of the classes; return the sums of the top label.

        Every bin of the top label contains a score, so each has a place.
        """
        both = totals[:, self.n_places :]
        if self.top is None:
            return both
        of_class, of_top = np.divmod(self.both, self.n_top)
        new = np.flatnonzero(np.r_[True, of_class[1:] != of_class[:-1]])
        totals[:, of_class[new]] += np.add.reduceat(both, new, axis=1)
        order = np.argsort(of_top, kind="stable")
        first = np.searchsorted(of_top[order], np.arange(self.n_top))
        return np.asarray(np.add.reduceat(both[:, order], first, axis=1))

    def _draw(self, block: slice) -> tuple[Bits, Places]:
        rows = self.forecasts.rows(block)
        place = np.empty(rows.shape, np.int32)
        for k, inner in enumerate(self.inner):
            place[:, k] = self.start[k] + np.searchsorted(inner, rows[:, k], side="left")
        if self.top is not None:
            every, top = np.arange(len(rows)), self.forecasts.top[1][block]
            of_top = np.searchsorted(self.top, rows[every, top], side="left")
            place[every, top] = self._number[
                place[every, top].astype(np.int64) * self.n_top + of_top
            ]
        return class_limits(rows), place

    def _both_places(self, block: slice) -> Ints:
        """Return the bin of each row's largest probability, in its class and in the top label."""
        assert self.top is not None
        top = self.forecasts.top[1][block]
        score = self.forecasts.rows(block)[np.arange(len(top)), top]
        place = np.empty(len(top), np.int64)
        for k in np.unique(top):
            here = top == k
            place[here] = self.start[k] + np.searchsorted(self.inner[k], score[here], side="left")
        return np.asarray(place * self.n_top + np.searchsorted(self.top, score, side="left"))


def with_data_once(
    values: Sequence[Callable[[Sums], Floats]], sums: Iterable[Sums]
) -> Iterator[Floats]:
    """Yield each function's values for the data, then for all draws, in several rounds."""
    rounds = [[each(some) for each in values] for some in sums]
    for found in zip(*rounds, strict=True):
        yield np.concatenate([found[0], *(each[1:] for each in found[1:])])


def totals_of_drawn_classes(
    n: int,
    n_classes: int,
    w: Floats | None,
    n_places: int,
    keys: Bits,
    draw: Callable[[slice], tuple[Bits, Places]],
) -> NDArray[Any]:
    """Return counts (or sums of w) of drawn labels at each place, (resamples, places).

    ``draw`` gives the limits of a block of rows and the places of its classes; entries at place
    ``n_places`` are dropped.
    """
    totals = np.zeros((len(keys), n_places + 1), np.int64 if w is None else np.float64)
    for start, stop in told(steps(n, max(1, BLOCK_ENTRIES // n_classes))):
        block = slice(start, stop)
        limit, place = draw(block)
        weight = None if w is None else w[block]
        engine.draws.add_classes(
            limit, place.astype(np.int32, copy=False), weight, keys, start, totals
        )
    return totals[:, :-1]
