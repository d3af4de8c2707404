"""The variance tree: cells split at the mean of their most variable coordinate.

Means and variances are computed so that the order of rows cannot change them: every number is
rounded to a multiple of 2^−53 and split into two whole numbers of 27 bits, whose sums float64
represents exactly. Otherwise the last digit of a mean, and with it the cell of a row, could depend
on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.equal_mass import whole_weights

SAME_VARIANCE = 1e-9  # relative: coordinates closer than this count as equally variable


@dataclass(frozen=True, eq=False)
class Leaf:
    """Rows of a cell and its corners: low < q ≤ high in every bounded coordinate."""

    rows: Ints
    low: Floats
    high: Floats


class Rule(NamedTuple):
    """When to stop splitting: in a small cell, or if a side would have too few rows."""

    min_samples: int
    min_leaf: int


def grow(
    read: Callable[[Ints], Floats], rows: Ints, m: int, w: Floats | None, rule: Rule
) -> list[Leaf]:
    """Split the cell of all ``rows`` until the rule stops; return the leaves from left to right."""
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
    m = len(cell.low)
    lowest, highest = _range(read, cell.rows, m)
    if not np.any(highest > lowest):
        return None
    if w is not None:  # relative to the heaviest of these rows, by a power of two: exact
        w = np.ldexp(w, -_power_of_two_above(w[cell.rows].max()))
    total = _joined(_whole_parts(np.ones((len(cell.rows), 1)), cell.rows, w))[0]
    mean = _sum_over(read, cell.rows, w, None, highest) / total
    spread = _sum_over(read, cell.rows, w, mean, (highest - lowest) ** 2) / total
    spread[highest <= lowest] = -1
    axis = int(np.argmax(spread >= spread.max() * (1 - SAME_VARIANCE)))
    column = np.concatenate([q[:, axis] for _, q in _blocks(read, cell.rows, m)])
    cut = max(float(mean[axis]), float(lowest[axis]))  # a mean is rounded, a score is not
    if not cut < highest[axis]:  # neighboring floats: the mean was rounded up to the larger one
        cut = float(column[column < highest[axis]].max())
    left = column <= cut
    if min(left.sum(), len(left) - left.sum()) < rule.min_leaf:
        return None
    high, low = cell.high.copy(), cell.low.copy()
    high[axis] = low[axis] = cut
    return [Leaf(cell.rows[left], cell.low, high), Leaf(cell.rows[~left], low, cell.high)]


def _range(read: Callable[[Ints], Floats], rows: Ints, m: int) -> tuple[Floats, Floats]:
    ends = [(q.min(axis=0), q.max(axis=0)) for _, q in _blocks(read, rows, m)]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _sum_over(
    read: Callable[[Ints], Floats], rows: Ints, w: Floats | None, mean: Floats | None, most: Floats
) -> Floats:
    """Return Σ w q or, with a mean, Σ w (q − mean)²; no term is larger than ``most``."""
    parts = np.zeros((2, len(most)))
    power = _power_of_two_above(most)
    for here, q in _blocks(read, rows, len(most)):
        terms = q if mean is None else (q - mean) ** 2
        parts += _whole_parts(np.ldexp(terms, -power), here, w)
    return np.ldexp(_joined(parts), power)


def _whole_parts(values: Floats, rows: Ints, w: Floats | None) -> Floats:
    """Return column sums of w·values, for values in [0, 1], as two rows of whole numbers.

    Sums of whole numbers are exact in float64, here below 2^26 rows, and so do not depend on
    the order of the rows. Weights are at most 1.
    """
    if w is not None:
        values = values * w[rows][:, None]
    coarse = np.floor(values * 2.0**26)
    fine = np.rint((values * 2.0**26 - coarse) * 2.0**27)
    return np.stack([coarse.sum(axis=0), fine.sum(axis=0)])


def _joined(parts: Floats) -> Floats:
    return np.asarray(parts[0] * 2.0**-26 + parts[1] * 2.0**-53)


def _power_of_two_above(most: Floats | float) -> NDArray[np.intc]:
    """Return the exponent of the smallest power of two that is no less, or 0 for 0."""
    fraction, exponent = np.frexp(most)
    return np.asarray(exponent - (fraction == 0.5), np.intc)


def _blocks(read: Callable[[Ints], Floats], rows: Ints, m: int) -> Iterator[tuple[Ints, Floats]]:
    for block in row_blocks(len(rows), m):
        yield rows[block], read(rows[block])
