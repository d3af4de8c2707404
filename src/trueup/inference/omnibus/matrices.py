"""The omnibus statistics of the top label and of every class, from the same drawn labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats
from trueup.engines.blocks import steps
from trueup.engines.draw_keys import class_limits
from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.binned_resamples import totals_of_drawn_classes
from trueup.inference.omnibus.columns import Column
from trueup.inference.omnibus.statistics import MOST_CELLS
from trueup.lens import ClassWise, TopLabel

MOST_ENTRIES = 1 << 23
"""Sums of drawn labels that are held at once; for more, labels are drawn in several rounds."""


class MatrixColumns:
    """The columns of a matrix and of its top labels, in cells."""

    def __init__(self, forecasts: Forecasts) -> None:
        self.forecasts = forecasts
        self.top = Column.from_pairs(TopLabel().problem(forecasts))
        self.names: list[Any] = []
        self.classes: list[Column] = []
        place = np.empty((forecasts.n, forecasts.n_classes), np.int32)
        start = [0]
        for k, member in enumerate(ClassWise().members(forecasts)):
            column = Column.from_pairs(member.pairs)
            place[:, k] = start[-1] + column.index
            start.append(start[-1] + len(column.cells.place))
            self.names.append(member.name)
            self.classes.append(replace(column, index=column.index[:0]))  # it is in `place`
        # An entry of the top label counts for its class and for the top label: its place is one
        # that no other entry has, of both cells.
        _, top_class = forecasts.top
        rows = np.arange(forecasts.n)
        both = place[rows, top_class].astype(np.int64) * MOST_CELLS + self.top.index
        self.pairs_of_cells, number = np.unique(both, return_inverse=True)
        place[rows, top_class] = start[-1] + number.reshape(-1)
        self.place, self.start = place, np.array(start)

    def values(self, keys: Bits) -> tuple[Floats, Floats]:
        """Return the statistics of the top label, (1 + draws, 6), and of classes, (…, K, 6)."""
        at_once = max(1, MOST_ENTRIES // (int(self.start[-1]) + len(self.pairs_of_cells)))
        top, classes = [], []
        for first, last in steps(len(keys), at_once):
            of_top, of_classes = self._values(keys[first:last])
            kept = slice(0 if first == 0 else 1, None)  # the data are in every round
            top.append(of_top[kept])
            classes.append(of_classes[kept])
        return np.concatenate(top), np.concatenate(classes)

    def _values(self, keys: Bits) -> tuple[Floats, Floats]:
        n_places = int(self.start[-1])
        totals = self._drawn(keys, n_places + len(self.pairs_of_cells))
        both = totals[:, n_places:]
        of_class, of_top = np.divmod(self.pairs_of_cells, MOST_CELLS)
        new = np.flatnonzero(np.r_[True, of_class[1:] != of_class[:-1]])
        totals[:, of_class[new]] += np.add.reduceat(both, new, axis=1)
        order = np.argsort(of_top, kind="stable")
        ordered = of_top[order]
        new = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        top = np.zeros((len(keys), len(self.top.cells.place)))
        top[:, ordered[new]] = np.add.reduceat(both[:, order], new, axis=1)
        classes = [
            column.values(totals[:, first:last])
            for column, first, last in zip(
                self.classes, self.start[:-1], self.start[1:], strict=True
            )
        ]
        return self.top.values(top), np.stack(classes, axis=1)

    def _drawn(self, keys: Bits, n_places: int) -> NDArray[Any]:
        forecasts = self.forecasts

        def draw(block: slice) -> tuple[Bits, NDArray[np.int32]]:
            return class_limits(forecasts.rows(block)), self.place[block]

        return totals_of_drawn_classes(
            forecasts.n, forecasts.n_classes, forecasts.weights, n_places, keys, draw
        )
