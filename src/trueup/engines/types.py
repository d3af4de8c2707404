"""Types that engines take and return, other than plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints

LocalFit = Callable[[Floats, Floats], Floats]
"""Heights of a curve at some places, with a width of its window for each."""


class RowScan(NamedTuple):
    """Results of one pass over the rows of a matrix of probabilities, before renormalizing."""

    first_bad: int  # first row with an entry that is NaN or outside [0, 1]; -1 if none
    total: Floats  # sum of each row
    top: Floats  # largest entry of each row
    top_class: NDArray[np.int32]  # its column; the lowest wins a tie


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """Sufficient statistics of every bin; the arrays are (B,), or (K, B) for K sets at once.

    Iterating gives the arrays in this order, which is that of `MOMENTS`.
    """

    count: Ints
    weight: Floats  # sum of w
    weight2: Floats  # sum of w^2
    score: Floats  # sum of w p
    score2: Floats  # sum of w p^2
    label: Floats  # sum of w y
    label2: Floats  # sum of w y^2
    cross: Floats  # sum of w p y

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in MOMENTS)


MOMENTS = tuple(field.name for field in fields(Sums))


@dataclass(frozen=True, eq=False, slots=True)
class ScoreCounts:
    """Distinct scores in increasing order, with the number of rows that have each of them."""

    value: Floats
    count: Ints
    positive: Ints

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.value, self.count, self.positive))


class Spread(NamedTuple):
    """Sums of rows spread over the points of a grid; each array has the same total as the rows."""

    weight: Floats  # sums of w
    label: Floats  # sums of w y
    residual: Floats  # sums of w (p - y)


class BinnedLimits(NamedTuple):
    """Rows to draw labels for, grouped by bin; see `trueup.engines.draw_keys`."""

    limit: Bits  # each bin is filled up to whole pairs of rows with rows that are never drawn
    start: Ints  # first pair of each bin, and the end of the last


class Tempered(NamedTuple):
    """Sums over the classes of each row, where d = logit − largest logit.

    The sums are of e^{βd}, of d e^{βd} and of d² e^{βd}, where β is the inverse temperature;
    ``gap`` is −d of the label.
    """

    total: Floats
    first: Floats
    second: Floats
    gap: Floats


class ScaledSums(NamedTuple):
    """Log loss of softmax(scale∘z + shift), and its derivatives summed over rows.

    ``gradient`` is (2, K): the derivatives with respect to the shift and the scale. ``curvature``
    is (3, K): each class's own second derivatives, with respect to shift and shift, shift and
    scale, scale and scale.
    """

    loss: Floats  # of each row, without its weight
    log_total: Floats  # of each row: log Σ e^{scale∘z + shift}
    gradient: Floats
    curvature: Floats


class SigmoidSums(NamedTuple):
    """Summed loss of a sigmoid, with its derivatives with respect to slopes and intercept."""

    loss: float
    gradient: Floats  # (slopes + 1,), the intercept last
    hessian: Floats


class KernelSet(NamedTuple):
    """Points with values, and the queries at which a kernel sums them."""

    points: Floats  # (n, d)
    values: Floats  # (n, m)
    queries: Floats | None = None  # (q, d); None: the points themselves
    within: Floats | None = None  # (q,): points farther than this from a query may be left out

    @property
    def at(self) -> Floats:
        """Return the queries, or the points if there are no separate queries."""
        return self.points if self.queries is None else self.queries


class KernelTotals(NamedTuple):
    """Sums at every query, and the smallest distance of each if they are relative to it."""

    sums: Floats  # (q, m)
    nearest: Floats | None  # (q,); squared for the Gaussian kernel
