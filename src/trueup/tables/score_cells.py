"""A fixed grid of fine score cells, and the sums in each cell.

Cells do not depend on the data, so sums over cells add over chunks, files and machines. The omnibus
test groups whole cells of this grid, and gives the same result from rows and from the sums of a
table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks

PER_OCTAVE = 128
FINEST = 40  # scores below 2^-40 share the last octave, cut evenly
MIDDLE = 2048  # cells between 1/16 and 15/16 are of this width
OUTSIDE = (FINEST - 4 + 1) * PER_OCTAVE  # cells below 1/16, and as many above 15/16
N_CELLS = 2 * OUTSIDE + MIDDLE * 7 // 8
MANTISSA_BITS = 45  # bits of a float64 below its sign, its exponent and seven more
FIRST_BITS = (1023 - FINEST) * PER_OCTAVE  # of 2^-40


def cell_of(p: NDArray[Any]) -> NDArray[np.int16]:
    """Return the cell of each score in [0, 1], in the order of scores.

    Let q = min(p, 1 − p), which is exact. Cells have a width of 1/2,048 for q ≥ 1/16, and are 128
    equal parts of each octave below, by the leading bits of q. Every score with up to three
    decimals has its own cell.
    """
    found = np.empty(len(p), np.int16)
    for block in row_blocks(len(p), 1):
        found[block] = _cell_of_some(np.asarray(p[block], np.float64))
    return found


def _cell_of_some(score: Floats) -> Ints:
    upper = score >= 0.5
    q = np.abs(np.where(upper, 1 - score, score))
    by_bits = (q.view(np.int64) >> MANTISSA_BITS) - FIRST_BITS + PER_OCTAVE
    smallest = (q * 2.0 ** (FINEST + 7)).astype(np.int64)
    outside = np.where(q < 2.0**-FINEST, smallest, by_bits)
    outside = np.where(upper, N_CELLS - 1 - outside, outside)
    inside = np.minimum((score * MIDDLE).astype(np.int64), MIDDLE * 15 // 16 - 1)
    inside += OUTSIDE - MIDDLE // 16
    return np.asarray(np.where(q < 1 / 16, outside, inside))


@dataclass(frozen=True, eq=False)
class CellMoments:
    """Sums over the rows of each non-empty cell, in the order of scores.

    q is p in the lower half of the grid and 1 − p in the upper half, so that sums of small
    probabilities of either outcome keep their digits.
    """

    cell: Ints
    count: Ints
    w: Floats
    wq: Floats
    wy: Floats
    w2q: Floats
    w2q2: Floats

    @classmethod
    def from_rows(
        cls, cell: NDArray[Any], p: NDArray[Any], y: NDArray[Any], w: Floats | None
    ) -> Self:
        """Add up the rows of scores p with outcomes y and weights w, or None."""
        count, sums = np.zeros(N_CELLS, np.int64), np.zeros((5, N_CELLS))
        for block in row_blocks(len(p), 1):
            here, weight = cell[block], None if w is None else w[block]
            count += np.bincount(here, minlength=N_CELLS)
            score = np.asarray(p[block], np.float64)
            q = np.where(score >= 0.5, 1 - score, score)
            for total, terms in zip(sums, _terms(q, y[block], weight), strict=True):
                total += np.bincount(here, terms, N_CELLS)
        found = np.flatnonzero(count)
        return cls(found, count[found], *(moment[found] for moment in sums))

    @property
    def upper(self) -> NDArray[np.bool_]:
        """Whether each cell is in the upper half, where q is 1 − p."""
        return self.cell >= N_CELLS // 2

    @property
    def wp(self) -> Floats:
        """Σ w p."""
        return np.where(self.upper, self.w - self.wq, self.wq)

    @property
    def variance(self) -> Floats:
        """Return Σ w² p(1 − p): the variance of Σ w (y − p) if the scores are calibrated."""
        return np.maximum(self.w2q - self.w2q2, 0.0)

    @property
    def logit(self) -> Floats:
        """Return the logit of the mean score; it is infinite if every score is 0 or 1."""
        mean = self.wq / self.w
        with np.errstate(divide="ignore"):
            below = np.log(mean) - np.log1p(-mean)
        return np.where(self.upper, -below, below)


def _terms(q: Floats, y: NDArray[Any], w: Floats | None) -> Iterator[Floats]:
    """Yield w, w q, w y, w² q and w² q² of each row."""
    if w is None:
        yield from (np.ones(len(q)), q, y.astype(np.float64), q, q * q)
    else:
        w2q = w * w * q
        yield from (w, w * q, w * y, w2q, w2q * q)


@cache
def cell_edges() -> Floats:
    """Return the edges of all cells: cell k lies between edges k and k + 1."""
    steps = np.arange(PER_OCTAVE)
    octaves = [np.ldexp(steps + PER_OCTAVE, -(octave + 7)) for octave in range(FINEST, 4, -1)]
    below = np.concatenate([np.ldexp(steps, -(FINEST + 7)), *octaves])
    inside = np.arange(MIDDLE // 16, MIDDLE * 15 // 16) / MIDDLE
    return np.concatenate([below, inside, 1 - np.r_[below, 1 / 16][::-1]])


@cache
def closed_edges() -> Floats:
    """Return edges such that cell k holds exactly the scores above edge k and up to edge k + 1.

    Cells below 15/16 contain their lower edge, so their edge here is the next smaller number.
    """
    edges = cell_edges()
    return np.where(edges < 15 / 16, np.nextafter(edges, -np.inf), edges)
