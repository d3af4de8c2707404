"""Rows grouped by distinct score, the input of every estimator that sorts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.equal_mass import whole_weights
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.select import engine
from trueup.engines.types import Sums
from trueup.lens import Pairs


@dataclass(frozen=True, eq=False)
class TiedScores:
    """Distinct scores in increasing order with the sums of their rows.

    Ties are one group, so nothing computed from groups depends on the order of rows. ``rank`` and
    ``hits`` are Σw and Σwy in whole numbers (of a common unit) if weights and labels allow it;
    every comparison is then exact.
    """

    value: Floats
    rank: NDArray[Any]
    hits: NDArray[Any]
    weighted: Sums | None = None  # None: rank and hits are counts of rows
    rows: int | None = None  # how many rows there are, where that is known before
    room: Scratch = FRESH  # for what is computed from them; it must outlive them

    @classmethod
    def of(cls, pairs: Pairs) -> TiedScores:
        """Sort pairs and sum over ties; the result is stored unless there are too many rows."""
        return pairs.once("ties", lambda: cls._sorted(pairs))

    @classmethod
    def _sorted(cls, pairs: Pairs) -> TiedScores:
        if pairs.w is None and not pairs.soft:
            counts = engine.order.tied_scores(pairs.p, pairs.y)
            return cls(counts.value, counts.count, counts.positive)
        w = np.ones(len(pairs)) if pairs.w is None else pairs.w
        y = pairs.y.astype(np.float64)
        order = np.lexsort((y, w, pairs.p))  # sums must not depend on the order of rows
        p, w, y = pairs.p[order].astype(np.float64), w[order], y[order]
        first = np.flatnonzero(np.r_[True, p[1:] != p[:-1]])
        count = np.diff(np.r_[first, len(p)]).astype(np.int64)
        moments = (w, w * w, w * p, w * p * p, w * y, w * y * y, w * p * y)
        sums = Sums(count, *(np.add.reduceat(moment, first) for moment in moments))
        rank = whole_weights(w)
        hits = rank * y
        if rank.dtype == np.int64 and not pairs.soft:
            hits = hits.astype(np.int64)
        return cls(p[first], np.add.reduceat(rank, first), np.add.reduceat(hits, first), sums)

    @cached_property
    def sums(self) -> Sums:
        """All moments of each group."""
        if self.weighted is not None:
            return self.weighted
        n, hits, value = self.rank.astype(float), self.hits.astype(float), self.value
        return Sums(self.rank, n, n, n * value, n * value * value, hits, hits, hits * value)

    def merged(self, starts: Ints) -> Sums:
        """Return sums of runs of groups, each from one start to the next, without all moments."""

        def total(terms: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.add.reduceat(terms, starts))

        if self.weighted is not None:
            return Sums(*(total(moment) for moment in self.weighted))
        count = total(self.rank)
        n = total(term := self.rank.astype(float))
        term *= self.value
        score = total(term)
        term *= self.value
        score2 = total(term)
        term[:] = self.hits
        hits = total(term)
        term *= self.value
        return Sums(count, n, n, score, score2, hits, hits, total(term))

    @cached_property
    def total(self) -> Any:
        """Σw of all groups, in the unit of ``rank``: the number of rows if rows are counted."""
        return self.rank.sum() if self.rows is None else self.rows

    @cached_property
    def count_residual(self) -> Floats:
        """Σ(p − y) of each group of counted rows."""
        return engine.sweep.count_residuals(self.value, self.rank, self.hits, self.room)

    @cached_property
    def swept(self) -> tuple[Ints, Floats]:
        """Return rows and Σ(p − y) of the sweep's bins over counted rows, shared by all norms."""
        return engine.sweep.swept_residuals(self.count_residual, self.rank, self.hits, self.room)

    @property
    def weight(self) -> NDArray[Any]:
        """Σw of each group, in whole numbers if rows are counted."""
        return self.rank if self.weighted is None else self.weighted.weight

    @property
    def label(self) -> NDArray[Any]:
        """Σwy of each group, in whole numbers if rows are counted."""
        return self.hits if self.weighted is None else self.weighted.label

    @property
    def exact(self) -> bool:
        """Whether ranks and hits are whole numbers."""
        return self.rank.dtype == np.int64 and self.hits.dtype == np.int64

    @property
    def residual(self) -> Floats:
        """Σ w (p − y) of each group."""
        return np.asarray(self.weight * self.value - self.label)

    def __len__(self) -> int:
        """Return the number of distinct scores."""
        return len(self.value)
