"""Lenses that look at whole distributions: points of a simplex with their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats, Ints
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens.base import SimplexLens
from trueup.lens.induced import Cells
from trueup.specification import check_whole


@dataclass(frozen=True, repr=False)
class Canonical(SimplexLens):
    """The whole predicted distribution against the label: full calibration."""

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        m = forecasts.n_classes
        return self._cells(forecasts, forecasts.rows, forecasts.one_hot, m)


@dataclass(frozen=True, repr=False)
class Partition(SimplexLens):
    """Probabilities summed over groups of classes, such as ``((0, 1), (2, 3, 4))``."""

    groups: Sequence[Sequence[int]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = tuple(tuple(group) for group in self.groups)
        if len(groups) < 2 or not all(groups):
            raise must_be("groups", "two groups of classes or more, none of them empty", groups)
        object.__setattr__(self, "groups", groups)

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        k = forecasts.n_classes
        if sorted(c for group in self.groups for c in group) != list(range(k)):
            rule = f"groups that hold every class from 0 to {k - 1} once"
            raise must_be("groups", rule, self.groups)

        def summed(rows: Floats) -> Floats:
            return np.column_stack([rows[:, list(group)].sum(axis=1) for group in self.groups])

        return self._cells(
            forecasts,
            lambda which: summed(forecasts.rows(which)),
            lambda which: summed(forecasts.one_hot(which)),
            len(self.groups),
        )


@dataclass(frozen=True, repr=False)
class TopK(SimplexLens):
    """The k largest probabilities in order, and the rest, against the rank of the label."""

    k: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("k", self.k, 1)

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        k = self.k
        if not 1 <= k < forecasts.n_classes:
            raise must_be("k", f"from 1 to {forecasts.n_classes - 1}", k)

        def ordered(rows: Floats, by: Floats) -> Floats:
            order = np.argsort(-by, axis=1, kind="stable")
            ranked = np.take_along_axis(rows, order, axis=1)
            return np.column_stack([ranked[:, :k], ranked[:, k:].sum(axis=1)])

        def points(which: Ints) -> Floats:
            rows = forecasts.rows(which)
            return ordered(rows, rows)

        def outcomes(which: Ints) -> Floats:
            return ordered(forecasts.one_hot(which), forecasts.rows(which))

        return self._cells(forecasts, points, outcomes, k + 1)
