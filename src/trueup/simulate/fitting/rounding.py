"""The rounding of scores, which limits the original value of scores of exactly 0 or 1.

Softmax in float32 gives exactly 1 for every complement below 2⁻²⁵, and a table printed to two
decimals for every complement below 0.005. The values show the rounding even after a change of type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats

MOST_DECIMALS = 6
MUCH_COARSER = 10
LOG_2 = math.log(2)


class Rounding(NamedTuple):
    """A grid of numbers; scores within half a step of 0 or 1 are rounded to 0 or 1."""

    name: str
    log_step_at_0: float  # logarithm of half the smallest positive number
    log_step_at_1: float  # logarithm of half the distance from 1 to the number below

    @property
    def step_at_1(self) -> float:
        """The largest complement of a score that is rounded to 1."""
        return math.exp(self.log_step_at_1)

    @property
    def even(self) -> bool:
        """Whether steps are constant, as for decimals, and not finer near 0."""
        return self.log_step_at_0 == self.log_step_at_1

    @property
    def words(self) -> str:
        """Description of the rounding, such as "in float32" or "to 2 decimals"."""
        return f"{'to' if self.even else 'in'} {self.name}"

    def half_step(self, score: Floats) -> Floats:
        """Return the largest possible distance of a score from its original value."""
        return self.step_at_1 * (np.ones_like(score) if self.even else score)


def _binary(name: str, fraction_bits: int, least_exponent: int) -> Rounding:
    at_0 = (least_exponent - fraction_bits - 1) * LOG_2
    return Rounding(name, at_0, -(fraction_bits + 2) * LOG_2)


def _decimal(places: int) -> Rounding:
    half = math.log(0.5) - places * math.log(10)
    return Rounding("1 decimal" if places == 1 else f"{places} decimals", half, half)


FLOAT64 = _binary("float64", 52, -1022)
FLOAT32 = _binary("float32", 23, -126)
FLOAT16 = _binary("float16", 10, -14)
BFLOAT16 = _binary("bfloat16", 7, -126)


def rounding_of(scores: NDArray[Any], tiny: float) -> Rounding:
    """Return the coarsest grid that holds all scores.

    It is at least as coarse as the original type, whose smallest normal number is ``tiny``.
    Decimals are considered only if they are much coarser than the floats, because fine decimals can
    represent any score.
    """
    floats = _floats_of(scores, tiny)
    for places in range(1, MOST_DECIMALS + 1):
        grid = _decimal(places)
        if grid.step_at_1 < MUCH_COARSER * floats.step_at_1:
            break
        if _all_kept(scores, partial(_to_places, places=places)):
            return grid
    return floats


def _floats_of(scores: NDArray[Any], tiny: float) -> Rounding:
    if not _all_kept(scores, lambda c: c.astype(np.float32)):
        narrow = ((np.float16, FLOAT16), (np.float32, FLOAT32))
        return next((grid for kind, grid in narrow if tiny == float(np.finfo(kind).tiny)), FLOAT64)
    if _all_kept(scores, _as_bfloat16):
        return BFLOAT16
    return FLOAT16 if _all_kept(scores, lambda c: c.astype(np.float16)) else FLOAT32


def _all_kept(scores: NDArray[Any], rounded: Callable[[NDArray[Any]], NDArray[Any]]) -> bool:
    """Return whether rounding changes no score; the first few usually decide."""
    parts = (scores[:100], scores)
    return all(np.array_equal(rounded(part).astype(part.dtype), part) for part in parts)


def _to_places(scores: NDArray[Any], places: int) -> NDArray[Any]:
    return np.round(scores.astype(np.float64), places)


def _as_bfloat16(scores: NDArray[Any]) -> NDArray[Any]:
    """Truncate to the upper half of float32 (bfloat16)."""
    return (scores.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
