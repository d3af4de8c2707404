"""Residuals (prediction minus outcome), whose products kernel errors sum over pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.engines.types import ScoreCounts
from trueup.estimators.ties import TiedScores
from trueup.lens import Cells, Pairs

HELD_ENTRIES = 1 << 22  # 32 MiB: smaller matrices are read once, larger ones block by block
ONLY_TIES = 1e-3  # a bandwidth at which exp(−1/bandwidth) is 0


class PairMass(NamedTuple):
    """Total weight of pairs of rows: w_i w_j summed over all pairs, and over i ≠ j."""

    rows: int
    every: float
    different: float

    @classmethod
    def of(cls, n: int, w: Floats | None) -> PairMass:
        """Sum over the pairs of ``n`` rows of weights ``w`` (None: 1 each)."""
        if w is None:
            return cls(n, float(n) * n, float(n) * (n - 1))
        # not (Σw)² − Σw², which is all rounding where one row outweighs the others
        different = 2 * float(np.sum(w[1:] * np.cumsum(w)[:-1]))
        return cls(n, float(w.sum()) ** 2, different)


@dataclass(frozen=True, eq=False)
class ScoreResiduals:
    """Distinct scores in increasing order, with the sums over their rows for kernel sums.

    Ties are one group, so nothing depends on the order of rows. Weights are divided by the largest
    one, which changes no error.
    """

    value: Floats
    count: Ints
    right: NDArray[Any]  # Σ w y, whole numbers where rows are counted
    wrong: NDArray[Any]  # Σ w (1 − y)
    residual: Floats  # Σ w (p − y)
    within: float  # Σ w_i w_j (p_i − y_i)(p_j − y_j) over i ≠ j of the same score
    mass: PairMass

    @classmethod
    def of(cls, pairs: Pairs) -> ScoreResiduals:
        """Sort pairs and sum over ties."""
        if pairs.w is None and not pairs.soft:
            ties = TiedScores.of(pairs)
            return cls.of_counts(ScoreCounts(ties.value, ties.rank, ties.hits))
        w = np.ones(len(pairs)) if pairs.w is None else unit_weights(pairs.w)
        p, y = pairs.p.astype(np.float64), pairs.y.astype(np.float64)
        order = np.argsort(p)
        if (np.diff(p[order]) == 0).any():  # sums over ties must not depend on the order of rows
            order = np.lexsort((y, w, p))
        p, y, w = p[order], y[order], w[order]
        new = np.r_[True, p[1:] != p[:-1]]
        first = np.flatnonzero(new)
        terms = w * (p - y)
        within = 0.0
        if len(first) < len(p):  # a scan over numbers of groups: nothing is subtracted from a sum
            number = np.cumsum(new).astype(np.float64)
            within = 2 * engine.pairs.laplace_cross(number, terms, ONLY_TIES)
        return cls(
            p[first],
            np.diff(np.r_[first, len(p)]),
            np.add.reduceat(w * y, first),
            np.add.reduceat(w * (1 - y), first),
            np.add.reduceat(terms, first),
            within,
            PairMass.of(len(p), w),
        )

    @classmethod
    def of_counts(cls, groups: ScoreCounts) -> ScoreResiduals:
        """Sum residuals; unweighted groups have two kinds of rows, so no sum cancels near 1."""
        p, right, wrong = groups.value, groups.positive, groups.count - groups.positive
        residual = engine.sweep.count_residuals(p, groups.count, right)
        within, n = 0.0, int(groups.count.sum())
        if len(p) < n:
            tied = np.flatnonzero(groups.count > 1)
            q, ones, zeros = p[tied], right[tied].astype(float), wrong[tied].astype(float)
            alike = zeros * (zeros - 1) * q * q + ones * (ones - 1) * (1 - q) ** 2
            within = float(np.sum(alike - 2 * zeros * ones * q * (1 - q)))
        return cls(p, groups.count, right, wrong, residual, within, PairMass.of(n, None))


@dataclass(frozen=True, eq=False)
class RowResiduals:
    """Points and residual vectors, row by row in the given order; scores are 1-D points."""

    n: int
    m: int
    w: Floats | None
    read: Callable[[slice | Ints], tuple[Floats, Floats]]

    @classmethod
    def of_pairs(cls, pairs: Pairs) -> RowResiduals:
        """Return scores and outcomes as points with one coordinate."""
        w = None if pairs.w is None else unit_weights(pairs.w)

        def read(which: slice | Ints) -> tuple[Floats, Floats]:
            p = pairs.p[which, None].astype(np.float64)
            return p, p - pairs.y[which, None]

        return cls(len(pairs), 1, w, read)

    @classmethod
    def of_cells(cls, cells: Cells) -> RowResiduals:
        """Points of a simplex and their outcomes."""
        kept, n = cells.kept, len(cells.kept)
        w = None if cells.w is None else unit_weights(cells.w[kept])

        def read(which: slice | Ints) -> tuple[Floats, Floats]:
            rows = kept[which]
            points = cells.rows(rows)
            return points, points - cells.outcomes(rows)

        if n * cells.m > HELD_ENTRIES:
            return cls(n, cells.m, w, read)
        points, residuals = read(slice(n))
        return cls(n, cells.m, w, lambda which: (points[which], residuals[which]))

    def weighted(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Return points, and residuals times weight, of the rows start … stop−1."""
        points, residuals = self.read(slice(start, stop))
        if self.w is None:
            return points, residuals
        return points, residuals * self.w[start:stop, None]


def unit_weights(w: Floats) -> Floats:
    """Divide weights by the largest, so that their products neither overflow nor vanish."""
    return np.asarray(w / w.max())
