"""Induced problems: the scores and outcomes that a lens extracts from predictions and labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.forecasts import Forecasts
from trueup.forecasts.forecasts import COLUMNS_AT_ONCE
from trueup.tables import BinTable

Made = TypeVar("Made")
MOST_ROWS_KEPT = 200_000
"""What costs a sort is kept for reuse up to this many rows; above, memory matters more."""
MOST_BINS_KEPT = 1_000
"""A table of at most this many bins is kept for any number of rows."""


def once(
    owner: object,
    key: Hashable,
    make: Callable[[], Made],
    *,
    keep: bool | Callable[[Made], bool] = True,
) -> Made:
    """Return the result of ``make``, which is called once per key and stored with its owner."""
    made: dict[Hashable, Any] = vars(owner).setdefault("_made_once", {})
    found: Made | None = made.get(key)
    if found is None:  # nothing that is made is None
        found = make()
        if keep(found) if callable(keep) else keep:
            made[key] = found
    return found


def already_made(owner: object, key: Hashable) -> Any:
    """Return the result stored with its owner for a key, or None."""
    made: dict[Hashable, Any] = vars(owner).get("_made_once", {})
    return made.get(key)


def forget(owner: object) -> None:
    """Free the results stored with an owner; they are computed again when needed."""
    vars(owner).pop("_made_once", None)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Scores p in [0, 1] with outcomes y (0 or 1, or soft) and weights w.

    Tables and sorted scores of the pairs are stored with them and shared by all callers. To save
    memory, the pairs of one class of many are computed again for each caller, but share their
    ``tables``.

    Parameters
    ----------
    p : ndarray
        Scores.
    y : ndarray
        Outcomes.
    w : ndarray or None
        Weights.
    tables : dict
        Tables by binning.

    Examples
    --------
    >>> import trueup as tu
    >>> pairs = tu.lens.TopLabel().pairs(tu.Forecasts.from_arrays([[0.3, 0.7], [0.6, 0.4]], [1, 1]))
    >>> pairs.p.tolist(), pairs.y.astype(int).tolist()
    ([0.7, 0.6], [1, 0])
    """

    p: NDArray[Any]
    y: NDArray[Any]
    w: Floats | None
    tables: dict[Hashable, BinTable] = field(default_factory=dict, repr=False)

    @property
    def soft(self) -> bool:
        """Whether outcomes are probabilities."""
        return self.y.dtype.kind == "f"

    @property
    def means(self) -> tuple[float, float]:
        """Mean score and mean outcome in float64."""
        score, outcome = (
            np.average(x.astype(np.float64), weights=self.w) for x in (self.p, self.y)
        )
        return float(score), float(outcome)

    def take(self, rows: NDArray[Any]) -> Pairs:
        """Return some of the pairs.

        Parameters
        ----------
        rows : ndarray
            Row numbers, or one boolean per row.

        Returns
        -------
        Pairs
            The selected pairs.
        """
        return Pairs(self.p[rows], self.y[rows], None if self.w is None else self.w[rows])

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of a function that is called once; for many rows it is not stored.

        Parameters
        ----------
        key : hashable
            Key of the result.
        make : callable
            Function without arguments.

        Returns
        -------
        object
            The result.
        """
        return once(self, key, make, keep=len(self) <= MOST_ROWS_KEPT)

    def table(self, binning: Hashable, make: Callable[[], BinTable]) -> BinTable:
        """Return the table of a binning, stored unless it has very many bins.

        Parameters
        ----------
        binning : hashable
            Key of the table.
        make : callable
            Function without arguments that computes the table.

        Returns
        -------
        BinTable
            The table.
        """
        found = self.tables.get(binning)
        if found is None:
            found = make()
            if found.n_bins <= MOST_BINS_KEPT:
                self.tables[binning] = found
        return found

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.p)


@dataclass(frozen=True, eq=False)
class Member:
    """One induced problem of a family.

    Parameters
    ----------
    name : object
        Name of the member: the class.
    share : float
        Weight of the member in the average.
    pairs : Pairs
        Its scores and outcomes.

    Examples
    --------
    >>> import trueup as tu
    >>> forecasts = tu.Forecasts.from_arrays([[0.3, 0.7], [0.6, 0.4]], [1, 1])
    >>> [(member.name, member.share) for member in tu.lens.ClassWise().members(forecasts)]
    [(0, 0.5), (1, 0.5)]
    """

    name: Any
    share: float
    pairs: Pairs


@dataclass(frozen=True, eq=False)
class Cells:
    """Points of a simplex of m outcomes, read by rows, with the outcome of each.

    Parameters
    ----------
    rows : callable
        Function of row numbers that returns points, shape (n, m).
    outcomes : callable
        Function of row numbers that returns outcomes, one-hot or soft.
    w : ndarray or None
        Weights.
    kept : ndarray
        Numbers of the rows in the region of the lens.
    m : int
        Number of outcomes.

    Examples
    --------
    >>> import trueup as tu
    >>> forecasts = tu.Forecasts.from_arrays([[0.3, 0.7], [0.6, 0.4]], [1, 1])
    >>> tu.lens.Canonical().cells(forecasts).rows(slice(0, 1)).tolist()
    [[0.3, 0.7]]
    """

    rows: Callable[[Ints], Floats]
    outcomes: Callable[[Ints], Floats]  # one-hot, or soft
    w: Floats | None
    kept: Ints
    m: int


def columns(
    forecasts: Forecasts, first: int, last: int
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Return scores and outcomes of some classes, a few at a time; 1-D data: the positive class."""
    if not forecasts.is_matrix:
        yield forecasts.scores, forecasts.labels
        return
    for start in range(first, last, COLUMNS_AT_ONCE):
        stop = min(start + COLUMNS_AT_ONCE, last)
        for k, p in zip(range(start, stop), forecasts.columns(start, stop), strict=True):
            yield p, forecasts.outcomes(k)


def top_label(forecasts: Forecasts) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return confidence, predicted class and outcome of each row."""
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
