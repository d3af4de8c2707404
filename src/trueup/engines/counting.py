"""The native engine's side of counted rows: single scans, each on the thread that asks."""

from __future__ import annotations

import math

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.engines.rooms import FRESH, Room
from trueup.engines.threads import cut, run
from trueup.native import areas, counted

CHUNK_SCORES = 1 << 18


def count_residuals(value: Floats, count: Ints, positive: Ints, room: Room = FRESH) -> Floats:
    """Σ(p − y) over the rows of each score; no sum cancels for scores near 1."""
    residual = room.empty("residual", len(value), np.float64)

    def fill(start: int, stop: int) -> None:
        here = slice(start, stop)
        counted.residuals(value[here], count[here], positive[here], residual[here])

    run(fill, cut(len(value), CHUNK_SCORES))
    return residual


def extreme_sums(terms: Floats) -> tuple[float, float]:
    """The lowest and the highest of the sums of the first 0, 1, 2, … terms."""
    return counted.extreme_sums(terms, max(1, math.isqrt(len(terms))))


def absolute_area(height: Floats) -> float:
    """∫|r| over [0, 1] of a smooth r, level at both ends, from its values at even steps."""
    return areas.absolute_area(height)
