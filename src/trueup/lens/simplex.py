"""Lenses for whole distributions: points of a simplex with their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import check_whole
from trueup.errors import must_be
from trueup.forecasts import Forecasts
from trueup.lens.base import SimplexLens
from trueup.lens.induced import Cells


@dataclass(frozen=True, repr=False)
class Canonical(SimplexLens):
    """The whole predicted distribution against the label: full calibration.

    It is the strictest lens. Use it with few classes or with kernels: the number of cells of a
    binning grows quickly with the number of classes.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> probs, labels = [[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]], [0, 1]
    >>> round(tu.BinnedError(Canonical(), tu.bins.SimplexGrid(2))(probs, labels), 6)
    0.3
    """

    words: ClassVar[str] = "whole distribution"
    tells_outcomes: ClassVar[bool] = True

    def outcomes(self, rows: Floats) -> Ints:
        """Return the classes themselves."""
        return np.broadcast_to(np.arange(rows.shape[1]), rows.shape)

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        return self._cells(forecasts, forecasts.rows, forecasts.one_hot, forecasts.n_classes)


@dataclass(frozen=True, repr=False)
class Partition(SimplexLens):
    """Probabilities summed over groups of classes.

    Use it if only the group of a class matters, such as "cat or dog" against "vehicle".

    Parameters
    ----------
    groups : sequence of sequence of int
        Class numbers of each group, such as ``((0, 1), (2, 3, 4))``.
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> lens, probs = Partition(((0, 1), (2,))), [[0.6, 0.2, 0.2], [0.1, 0.7, 0.2]]
    >>> round(tu.BinnedError(lens, tu.bins.SimplexGrid(2))(probs, [0, 1]), 6)
    0.2
    """

    groups: Sequence[Sequence[int]] = ()
    tells_outcomes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = tuple(tuple(group) for group in self.groups)
        if len(groups) < 2 or not all(groups):
            raise must_be("groups", "two groups of classes or more, none of them empty", groups)
        object.__setattr__(self, "groups", groups)

    def outcomes(self, rows: Floats) -> Ints:
        """Return the group of each class."""
        k = rows.shape[1]
        group = {c: j for j, members in enumerate(self.groups) for c in members}
        return np.broadcast_to([group[c] for c in range(k)], rows.shape)

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
    """The k largest probabilities in decreasing order, and the rest, against the rank of the label.

    Use it to ask whether the probabilities of the first k answers are calibrated together.

    Parameters
    ----------
    k : int, default 1
        Number of the largest probabilities.
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> probs = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]
    >>> round(tu.BinnedError(TopK(2), tu.bins.SimplexGrid(2))(probs, [0, 0]), 6)
    0.2
    """

    k: int = 1
    tells_outcomes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("k", self.k, 1)

    def outcomes(self, rows: Floats) -> Ints:
        """Return the rank of each class in its row, or k if the rank is k or more."""
        rank = np.empty(rows.shape, np.int64)
        order = np.argsort(-rows, axis=1, kind="stable")
        np.put_along_axis(rank, order, np.arange(rows.shape[1])[None], axis=1)
        return np.minimum(rank, self.k)

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
