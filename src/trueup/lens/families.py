"""Lenses that induce several sets of scores and outcomes, such as one for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.threads import get_threads, run
from trueup.errors import InputError, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.forecasts import COLUMNS_AT_ONCE
from trueup.lens.base import FamilyLens, Found
from trueup.lens.induced import Member, Pairs, columns, once, top_label


@dataclass(frozen=True, repr=False)
class ClassWise(FamilyLens):
    """Every one-vs-rest problem; the p-th powers of the classes are averaged.

    Use it if the probabilities of all classes matter. 1-D ``probs`` are a single problem, that of
    the positive class.

    Parameters
    ----------
    class_weights : sequence of float, optional
        Weight of each class, divided by their sum (default: all classes count the same).
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A class without
        a prediction in the region adds 0. A function takes the array of induced predictions and
        returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(ClassWise())([[0.6, 0.4], [0.6, 0.4]], [0, 1]), 6)
    0.1
    """

    class_weights: Sequence[float] | None = None
    words: ClassVar[str] = "all classes"
    tells_outcomes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.class_weights is None:
            return
        try:
            weights = tuple(self.class_weights)
            np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            rule = "None or one number for each class"
            raise must_be("class_weights", rule, self.class_weights) from None
        object.__setattr__(self, "class_weights", weights)  # so that the lens can be hashed

    def shares(self, forecasts: Forecasts) -> Floats:
        """Weight of each class in the average."""
        k = forecasts.n_classes if forecasts.is_matrix else 1
        if self.class_weights is None:
            return np.full(k, 1 / k)
        weights = np.asarray(self.class_weights, np.float64)
        if weights.shape != (k,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            rule = f"{k} numbers that are at least 0 and not all 0"
            raise must_be("class_weights", rule, self.class_weights)
        return np.asarray(weights / weights.sum())

    def names(self, forecasts: Forecasts) -> list[Any]:
        """Name of each class in the average."""
        if not forecasts.is_matrix:
            return [forecasts.class_name(1)]
        return [forecasts.class_name(k) for k in range(forecasts.n_classes)]

    def of_columns(self, forecasts: Forecasts) -> bool:
        """Return True for a matrix, unless there is a region."""
        return forecasts.is_matrix and self.where is None

    def outcomes(self, rows: Floats) -> Ints:
        """Return the classes themselves: each label is the outcome of its class."""
        return np.broadcast_to(np.arange(rows.shape[1]), rows.shape)

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the one-vs-rest problem of every class."""
        yield from self._some_members(forecasts, 0, len(self.shares(forecasts)))

    def map_members(self, forecasts: Forecasts, measure: Callable[[Member], Found]) -> list[Found]:
        """Call ``measure`` for every class; threads process a few columns of a matrix at a time."""
        if not forecasts.is_matrix:
            return super().map_members(forecasts, measure)

        def some(first: int, last: int) -> list[Found]:
            return [measure(member) for member in self._some_members(forecasts, first, last)]

        k = forecasts.n_classes
        pieces = 2 * -(-k // (2 * COLUMNS_AT_ONCE))  # even, for two threads to share
        pieces = max(pieces, min(k, get_threads()))
        chunks = [(k * i // pieces, k * (i + 1) // pieces) for i in range(pieces)]
        return [found for part in run(some, chunks) for found in part]

    def _some_members(self, forecasts: Forecasts, first: int, last: int) -> Iterator[Member]:
        """Yield the one-vs-rest problems of the classes first … last−1."""
        shares, names = self.shares(forecasts), self.names(forecasts)
        problems = columns(forecasts, first, last)
        for k, (p, y) in zip(range(first, last), problems, strict=True):
            tables: dict[Any, Any] = once(forecasts, ("tables of class", k), dict)
            pairs = self._restrict(Pairs(p, y, forecasts.weights, tables))
            yield Member(names[k], float(shares[k]), pairs)


@dataclass(frozen=True, repr=False)
class TopLabelByClass(FamilyLens):
    """Top-label calibration within each predicted class, weighted by how often it is predicted.

    Use it to ask whether the confidence is calibrated given the predicted class (Gupta & Ramdas
    2021). Plain top-label calibration does not imply this.

    Parameters
    ----------
    where : tuple or callable, optional
        Region of induced predictions to use: ``(low, high)`` keeps low < p ≤ high. A function takes
        the array of induced predictions and returns which to keep. The default keeps all.

    Examples
    --------
    >>> import trueup as tu
    >>> round(tu.BinnedError(TopLabelByClass())([[0.6, 0.4], [0.3, 0.7]], [0, 1]), 6)
    0.35
    """

    divides_rows: ClassVar[bool] = True

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the top-label problem of every predicted class."""
        p, predicted, y = top_label(forecasts)
        pairs = Pairs(p, y, forecasts.weights)
        if self.where is not None:
            inside = self.inside(p)
            pairs, predicted = pairs.take(inside), predicted[inside]
        if len(pairs) == 0:
            raise InputError("where", "selects no predictions")
        mass = np.bincount(predicted, pairs.w, minlength=forecasts.n_classes)
        for k in np.flatnonzero(mass):
            part = pairs.take(np.flatnonzero(predicted == k))
            yield Member(forecasts.class_name(int(k)), float(mass[k] / mass.sum()), part)
