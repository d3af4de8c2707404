"""The omnibus statistics of the top label and of every class, from the same drawn labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from trueup._typing import Bits, Floats
from trueup.forecasts import Forecasts
from trueup.inference.drawn_classes import DrawnClasses, Sums, with_data_once
from trueup.inference.hypothesis_tests.binned_resamples import ClassPowers, key_of_powers
from trueup.inference.omnibus.columns import Column
from trueup.lens import ClassWise, TopLabel
from trueup.lens.induced import already_made, once


class MatrixColumns:
    """The columns of a matrix and its top labels, in cells."""

    def __init__(self, forecasts: Forecasts) -> None:
        self.forecasts = forecasts
        self.top = _without_rows(Column.from_pairs(TopLabel().problem(forecasts)))
        self.names: list[Any] = []
        self.classes: list[Column] = []
        for member in ClassWise().members(forecasts):
            self.names.append(member.name)
            self.classes.append(_without_rows(Column.from_pairs(member.pairs)))

    def values(self, keys: Bits) -> tuple[Floats, Floats]:
        """Return the statistics of the top label, (1 + draws, 6), and of classes, (…, K, 6)."""
        known = already_made(self.forecasts, _key(keys))
        if known is not None:
            found: tuple[Floats, Floats] = known
            return found
        drawn = DrawnClasses(self.forecasts, [self.inner], self.top.inner)
        top, classes = with_data_once([self.of_top, self.of_classes], drawn.sums(keys))
        return top, classes

    @property
    def inner(self) -> list[Floats]:
        """Edges between the cells of each class."""
        return [column.inner for column in self.classes]

    def of_top(self, sums: Sums) -> Floats:
        """Return the statistics of the top label, for the data and for draws."""
        return self.top.values(sums.of_top)

    def of_classes(self, sums: Sums) -> Floats:
        """Return the statistics of every class, for the data and for draws."""
        each = enumerate(self.classes)
        return np.stack([c.values(sums.of_class(k, c.inner)) for k, c in each], axis=1)


def columns_of(forecasts: Forecasts) -> MatrixColumns:
    """Return the columns of a matrix, computed once."""
    return once(forecasts, "omnibus columns", lambda: MatrixColumns(forecasts))


def draw_together(forecasts: Forecasts, statistics: Iterable[Any], keys: Bits) -> None:
    """Draw labels once for the omnibus test of a matrix and for statistics of all classes.

    The results are stored with the forecasts and used by `MatrixColumns.values` and
    `powers_of_classes` for the same keys. They are the same as if each had drawn its own labels.
    """
    columns, powers = columns_of(forecasts), [ClassPowers(s, forecasts) for s in statistics]
    inner = [columns.inner, *(each.inner for each in powers)]
    drawn = DrawnClasses(forecasts, inner, columns.top.inner)
    values = [columns.of_top, columns.of_classes, *(each.of_each for each in powers)]
    top, classes, *of_powers = with_data_once(values, drawn.sums(keys))
    once(forecasts, _key(keys), lambda: (top, classes))
    for each, power in zip(powers, of_powers, strict=True):
        once(forecasts, key_of_powers(each.statistic, keys), partial(np.asarray, power))


def _without_rows(column: Column) -> Column:
    """Return a column without the cell of each row, which drawn labels find by the edges."""
    return replace(column, index=column.index[:0])


def _key(keys: Bits) -> tuple[Any, ...]:
    return ("omnibus of a matrix", keys.tobytes())
