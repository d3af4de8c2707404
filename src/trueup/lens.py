"""Lenses: which part of a prediction is looked at (Vaicenavicius et al. 2019, §3.1).

A lens turns predictions and labels into an induced problem: pairs of a score and an outcome, a
family of such pairs (one per class), or points of a simplex with their outcomes. If a model is
calibrated, so is every induced problem; the converse does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats, Ints
from trueup.errors import Words, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.forecasts import COLUMNS_AT_ONCE
from trueup.specification import Specification

__all__ = [
    "Binary",
    "Canonical",
    "Cells",
    "ClassWise",
    "Lens",
    "OneVsRest",
    "Pairs",
    "Partition",
    "Pooled",
    "TopK",
    "TopLabel",
    "TopLabelGiven",
]

Region = tuple[float, float] | Callable[[Any], Any] | None


@dataclass(frozen=True, eq=False)
class Pairs:
    """Scores p in [0, 1] with outcomes y (0 or 1, or soft) and weights w or None."""

    p: NDArray[Any]
    y: NDArray[Any]
    w: Floats | None

    @property
    def soft(self) -> bool:
        """Whether outcomes are probabilities."""
        return self.y.dtype.kind == "f"

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.p)


@dataclass(frozen=True, eq=False)
class Member:
    """One induced problem of a family, its name and its share in the average."""

    name: Any
    share: float
    pairs: Pairs


@dataclass(frozen=True, eq=False)
class Cells:
    """Points of a simplex of m outcomes, read by rows, with the outcome of each."""

    rows: Callable[[Ints], Floats]
    outcomes: Callable[[Ints], Floats]  # one-hot, or soft
    w: Floats | None
    kept: Ints
    m: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Lens(Specification):
    """What every lens has: a region ``where`` of induced predictions to look at (eq. 5).

    ``where=(low, high)`` keeps low < p ≤ high; a function is given the array of induced
    predictions (for a simplex: some rows of them at a time) and returns which to keep.
    """

    where: Region = None
    kind: ClassVar[str] = "pairs"
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.where is None or callable(self.where):
            return
        try:
            low, high = (float(end) for end in self.where)
        except (TypeError, ValueError):
            raise must_be("where", "a pair (low, high) or a function", self.where) from None
        if not low < high:
            raise must_be("where", "a pair (low, high) with low below high", self.where)

    def _inside(self, p: NDArray[Any]) -> NDArray[np.bool_]:
        if callable(self.where):
            inside = np.asarray(self.where(p))
            if inside.shape != (len(p),) or inside.dtype != bool:
                raise must_be("where", f"a function that returns {len(p)} booleans", inside)
            return inside
        assert self.where is not None
        low, high = self.where
        return np.asarray((p > low) & (p <= high))

    def _restrict(self, pairs: Pairs) -> Pairs:
        if self.where is None:
            return pairs
        inside = self._inside(pairs.p)
        w = None if pairs.w is None else pairs.w[inside]
        return Pairs(pairs.p[inside], pairs.y[inside], w)

    def _pairs(self, p: NDArray[Any], y: NDArray[Any], w: Floats | None) -> Pairs:
        pairs = self._restrict(Pairs(p, y, w))
        if len(pairs) == 0:
            raise must_be("where", "a region that holds a prediction", Words("an empty one"))
        return pairs


class PairsLens(Lens):
    """A lens that induces one set of pairs."""

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        raise NotImplementedError


class FamilyLens(Lens):
    """A lens that induces several sets of pairs, averaged with shares that sum to 1."""

    kind: ClassVar[str] = "family"

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the induced problems one at a time."""
        raise NotImplementedError


class SimplexLens(Lens):
    """A lens that induces points of a simplex."""

    kind: ClassVar[str] = "simplex"

    def cells(self, forecasts: Forecasts) -> Cells:
        """Return the induced points and outcomes."""
        raise NotImplementedError

    def _cells(self, f: Forecasts, rows: Any, outcomes: Any, m: int) -> Cells:
        kept = np.arange(f.n)
        if self.where is not None:
            if not callable(self.where):
                raise must_be("where", "a function of (n, m) predictions for this lens", self.where)
            size = max(1, (1 << 18) // m)
            parts = [self._inside(rows(kept[i : i + size])) for i in range(0, f.n, size)]
            kept = np.flatnonzero(np.concatenate(parts))
            if len(kept) == 0:
                raise must_be("where", "a region that holds a prediction", Words("an empty one"))
        return Cells(rows, outcomes, f.weights, kept, m)


@dataclass(frozen=True, repr=False)
class Binary(PairsLens):
    """P(positive) against "the label is positive"; a matrix must have two columns."""

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if not forecasts.is_matrix:
            return self._pairs(forecasts.scores, forecasts.labels, forecasts.weights)
        if forecasts.n_classes != 2:
            raise must_be(
                "lens",
                "another than Binary() for a matrix of more than two columns",
                Words(f"{forecasts.n_classes} columns"),
                hint="OneVsRest(c) looks at one class, TopLabel() at the predicted one",
            )
        return _one_vs_rest(self, forecasts, 1)


@dataclass(frozen=True, repr=False)
class OneVsRest(PairsLens):
    """The probability of one class against "the label is that class"."""

    class_number: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_whole("class_number", self.class_number, 0)

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if not 0 <= self.class_number < forecasts.n_classes:
            rule = f"from 0 to {forecasts.n_classes - 1}"
            raise must_be("class_number", rule, self.class_number)
        return _one_vs_rest(self, forecasts, self.class_number)


@dataclass(frozen=True, repr=False)
class TopLabel(PairsLens):
    """The largest probability against "the predicted class is right".

    Ties go to the lowest class. For 1-D ``probs`` it looks at max(p, 1 − p). On two columns this
    is not the binary question: errors at p and at 1 − p can cancel here and not there.
    """

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        p, _, y = _top_label(forecasts)
        return self._pairs(p, y, forecasts.weights)


@dataclass(frozen=True, repr=False)
class Pooled(PairsLens):
    """All n·K pairs (g_k, "the label is k") in one bag (Vaicenavicius Ex. 4).

    Rows give dependent pairs, so there is no debiasing and no binomial interval. Extra memory
    is that of all the pairs.
    """

    independent: ClassVar[bool] = False

    def pairs(self, forecasts: Forecasts) -> Pairs:
        """Return the induced pairs."""
        if forecasts.is_matrix:
            parts = list(_columns(forecasts, 0, forecasts.n_classes))
        else:
            positive = forecasts.scores.astype(np.float64)
            parts = [(1 - positive, forecasts.outcomes(0)), (positive, forecasts.outcomes(1))]
        w = forecasts.weights
        return self._pairs(
            np.concatenate([p for p, _ in parts]),
            np.concatenate([y for _, y in parts]),
            None if w is None else np.tile(w, len(parts)),
        )


@dataclass(frozen=True, repr=False)
class ClassWise(FamilyLens):
    """Every one-vs-rest problem; p-th powers are averaged, then one root is taken.

    ``class_weights`` (one number per class, divided by their sum) default to 1/K. 1-D ``probs``
    are the one problem of the positive class. With ``where``, a class with no prediction in the
    region adds 0.
    """

    class_weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.class_weights is not None:  # a tuple, so that the lens can be hashed
            object.__setattr__(self, "class_weights", tuple(self.class_weights))

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

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the one-vs-rest problem of every class."""
        yield from self.some_members(forecasts, 0, len(self.shares(forecasts)))

    def some_members(self, forecasts: Forecasts, first: int, last: int) -> Iterator[Member]:
        """Yield the one-vs-rest problems of the classes first … last−1."""
        shares, names = self.shares(forecasts), self.names(forecasts)
        columns = _columns(forecasts, first, last)
        for k, (p, y) in zip(range(first, last), columns, strict=True):
            pairs = self._restrict(Pairs(p, y, forecasts.weights))
            yield Member(names[k], float(shares[k]), pairs)


@dataclass(frozen=True, repr=False)
class TopLabelGiven(FamilyLens):
    """Top-label problems of each predicted class, averaged by how often it is predicted.

    Calibration of the confidence given the predicted class (Gupta & Ramdas 2021), which plain
    top-label calibration does not imply.
    """

    def members(self, forecasts: Forecasts) -> Iterator[Member]:
        """Yield the top-label problem of every class that is predicted."""
        p, predicted, y = _top_label(forecasts)
        w = forecasts.weights
        if self.where is not None:
            inside = self._inside(p)
            p, predicted, y = p[inside], predicted[inside], y[inside]
            w = None if w is None else w[inside]
        if len(p) == 0:
            raise must_be("where", "a region that holds a prediction", Words("an empty one"))
        mass = np.bincount(predicted, w, minlength=forecasts.n_classes)
        for k in np.flatnonzero(mass):
            rows = np.flatnonzero(predicted == k)
            pairs = Pairs(p[rows], y[rows], None if w is None else w[rows])
            yield Member(forecasts.class_name(int(k)), float(mass[k] / mass.sum()), pairs)


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
        _check_whole("k", self.k, 1)

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


def _check_whole(name: str, value: object, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise must_be(name, f"a whole number of at least {least}", value)


def _one_vs_rest(lens: Lens, forecasts: Forecasts, number: int) -> Pairs:
    if forecasts.is_matrix:
        p: NDArray[Any] = forecasts.columns(number, number + 1)[0]
    else:
        p = forecasts.scores if number == 1 else 1 - forecasts.scores.astype(np.float64)
    return lens._pairs(p, forecasts.outcomes(number), forecasts.weights)


def _columns(
    forecasts: Forecasts, first: int, last: int
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Scores and outcomes of some classes, a few at a time; 1-D data: the positive class."""
    if not forecasts.is_matrix:
        yield forecasts.scores, forecasts.labels
        return
    for start in range(first, last, COLUMNS_AT_ONCE):
        stop = min(start + COLUMNS_AT_ONCE, last)
        for k, p in zip(range(start, stop), forecasts.columns(start, stop), strict=True):
            yield p, forecasts.outcomes(k)


def _top_label(forecasts: Forecasts) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Confidence, predicted class and outcome of each row."""
    if forecasts.is_matrix:
        p: NDArray[Any]
        p, predicted = forecasts.top
    else:
        positive = forecasts.scores.astype(np.float64)
        predicted = (positive > 0.5).astype(np.int32)
        p = np.maximum(positive, 1 - positive)
    labels = forecasts.labels
    if labels.ndim == 2:
        return p, predicted, labels[np.arange(len(p)), predicted]
    if forecasts.soft:
        return p, predicted, np.where(predicted == 1, labels, 1 - labels)
    return p, predicted, predicted == labels
