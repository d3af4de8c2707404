"""The variance tree: cells split at the mean of their most variable coordinate.

Means and variances are computed so that the order of rows cannot change them: every number is
rounded to a multiple of 2^−53 and split into two whole numbers of 27 bits, whose sums float64
holds exactly. A row on the wrong side of a mean that moved in its last digit would be a bin
that depends on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.engines.cuts import whole_weights

BLOCK_ENTRIES = 1 << 18
SAME_VARIANCE = 1e-9  # relative: coordinates closer than this count as equally variable


@dataclass(frozen=True, eq=False)
class Leaf:
    """Rows of a cell and its corners: low < q ≤ high in every bounded coordinate."""

    rows: Ints
    low: Floats
    high: Floats


class Rule(Protocol):
    """When to stop splitting."""

    @property
    def min_samples(self) -> int:
        """A cell of so many rows or fewer is not split."""

    @property
    def min_leaf(self) -> int:
        """No side of a split has fewer rows."""


def grow(
    read: Callable[[Ints], Floats], rows: Ints, m: int, w: Floats | None, rule: Rule
) -> list[Leaf]:
    """Split the cell that holds all ``rows`` until the rule stops; leaves from left to right."""
    w = None if w is None else whole_weights(w).astype(np.float64)
    waiting = [Leaf(rows, np.zeros(m), np.ones(m))]
    leaves = []
    while waiting:
        cell = waiting.pop()
        split = _split(read, cell, w, rule)
        if split is None:
            leaves.append(cell)
        else:
            waiting += reversed(split)
    return leaves


def _split(
    read: Callable[[Ints], Floats], cell: Leaf, w: Floats | None, rule: Rule
) -> list[Leaf] | None:
    if len(cell.rows) <= rule.min_samples:
        return None
    lowest, highest = _range(read, cell.rows)
    if not np.any(highest > lowest):
        return None
    total = _joined(_whole_parts(np.ones((len(cell.rows), 1)), cell.rows, w))[0]
    mean = _sum_over(read, cell.rows, w, None, highest) / total
    spread = _sum_over(read, cell.rows, w, mean, (highest - lowest) ** 2) / total
    spread[highest <= lowest] = -1
    axis = int(np.argmax(spread >= spread.max() * (1 - SAME_VARIANCE)))
    column = np.concatenate([q[:, axis] for q in _blocks(read, cell.rows)])
    cut = max(float(mean[axis]), float(lowest[axis]))  # a mean is rounded, a score is not
    if not cut < highest[axis]:  # neighbouring floats: the mean was rounded up to the larger one
        cut = float(column[column < highest[axis]].max())
    left = column <= cut
    if min(left.sum(), len(left) - left.sum()) < rule.min_leaf:
        return None
    high, low = cell.high.copy(), cell.low.copy()
    high[axis] = low[axis] = cut
    return [Leaf(cell.rows[left], cell.low, high), Leaf(cell.rows[~left], low, cell.high)]


def _range(read: Callable[[Ints], Floats], rows: Ints) -> tuple[Floats, Floats]:
    blocks = [(q.min(axis=0), q.max(axis=0)) for q in _blocks(read, rows)]
    return np.min([b[0] for b in blocks], axis=0), np.max([b[1] for b in blocks], axis=0)


def _sum_over(
    read: Callable[[Ints], Floats], rows: Ints, w: Floats | None, mean: Floats | None, most: Floats
) -> Floats:
    """Σ w q, or with a mean Σ w (q − mean)²; no term is larger than ``most``."""
    done = 0
    parts = np.zeros((2, len(most)))
    unit = _power_of_two_above(most)
    for q in _blocks(read, rows):
        terms = q if mean is None else (q - mean) ** 2
        parts += _whole_parts(terms / unit, rows[done : done + len(q)], w)
        done += len(q)
    return _joined(parts) * unit


def _whole_parts(values: Floats, rows: Ints, w: Floats | None) -> Floats:
    """Column sums of w·values, values in [0, 1], as two rows of whole numbers.

    Sums of whole numbers are exact in float64, here below 2^26 rows, and so do not depend on
    the order of the rows. Weights are scaled to at most 1 by a power of two, which is exact.
    """
    if w is not None:
        values = values * (w[rows] / _power_of_two_above(w.max()))[:, None]
    coarse = np.floor(values * 2.0**26)
    fine = np.rint((values * 2.0**26 - coarse) * 2.0**27)
    return np.stack([coarse.sum(axis=0), fine.sum(axis=0)])


def _joined(parts: Floats) -> Floats:
    return np.asarray(parts[0] * 2.0**-26 + parts[1] * 2.0**-53)


def _power_of_two_above(most: Floats | float) -> Floats:
    """The smallest power of two that is no less, so that dividing by it is exact; 1 for 0."""
    fraction, exponent = np.frexp(most)
    return np.where(fraction > 0, np.ldexp(1.0, exponent - (fraction == 0.5)), 1.0)


def _blocks(read: Callable[[Ints], Floats], rows: Ints) -> Iterator[Floats]:
    size = max(1, BLOCK_ENTRIES // read(rows[:1]).shape[1])
    for start in range(0, len(rows), size):
        yield read(rows[start : start + size])
