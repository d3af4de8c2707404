"""Residuals by distinct score, their running sums, and the sweep, from counts of rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.sweep as compiled
from trueup._typing import Floats, Ints
from trueup.engines.blocks import cut
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.reference import sweep as reference
from trueup.engines.threads import run

CHUNK_SCORES = 1 << 18
MOST_ROWS = 2**31 - 1
FEW_BINS = 64  # up to here every bin is looked at; beyond, dents and an index pay for themselves
NO_INDEX = 31  # bits of a row's number: the whole range is searched

Numbers = NDArray[np.int32]


def count_residuals(value: Floats, count: Ints, positive: Ints, scratch: Scratch = FRESH) -> Floats:
    residual = scratch.empty("residual", len(value), np.float64)

    def fill(start: int, stop: int) -> None:
        here = slice(start, stop)
        compiled.residuals(value[here], count[here], positive[here], residual[here])

    run(fill, cut(len(value), CHUNK_SCORES))
    return residual


def extreme_sums(terms: Floats) -> tuple[float, float]:
    lowest, highest = compiled.extreme_sums(terms, max(1, math.isqrt(len(terms))))
    return lowest, highest


def sweep_bins(count: Ints, positive: Ints, most: int) -> int:
    count, positive = np.ascontiguousarray(count), np.ascontiguousarray(positive)
    running = Running.of(count, positive, FRESH)
    if running.n > MOST_ROWS:
        return reference.sweep_bins(count, positive, most)
    return _swept(count, positive, running, most, FRESH)


def swept_residuals(
    residual: Floats, count: Ints, positive: Ints, scratch: Scratch = FRESH
) -> tuple[Ints, Floats]:
    running = Running.of(count, positive, scratch)
    rows, n = running.rows, running.n
    if n > MOST_ROWS:
        return reference.swept_residuals(residual, count, positive)
    chosen = _swept(count, positive, running, n, scratch)
    if chosen == n:
        return count, residual
    starts = np.empty(min(chosen, len(count)) + 1, np.int64)
    made = compiled.start_bins(rows, *_whole_range(rows), chosen, starts)
    starts, sums = starts[: made + 1], np.empty(made)
    compiled.sum_bins(residual, starts, sums)
    ends = rows[starts].astype(np.int64)
    return ends[1:] - ends[:-1], sums


class Index(NamedTuple):
    """Index to find the score of a row: search from ``score[row >> shift]`` to the next entry."""

    score: Numbers
    shift: int


class Running(NamedTuple):
    """Return the numbers of rows and of positive labels before each score, and in total."""

    rows: Numbers
    hits: Numbers
    n: int

    @classmethod
    def of(cls, count: Ints, positive: Ints, scratch: Scratch) -> Running:
        """Return cumulative sums; for more than 2^31 rows, only their number is correct."""
        rows, hits = (scratch.empty(name, len(count) + 1, np.int32) for name in ("rows", "ones"))
        return cls(rows, hits, compiled.add_up(count, positive, rows, hits))


def _swept(count: Ints, positive: Ints, running: Running, most: int, scratch: Scratch) -> int:
    rows, hits, n = running
    tried = min(FEW_BINS, most)
    falling: int = compiled.first_falling(rows, hits, None, *_whole_range(rows), 1, tried)
    if falling <= tried:
        return falling - 1
    scores = len(count)
    next_dent = scratch.empty("dents", scores + 1, np.int32)
    if tried == most or compiled.find_dents(count, positive, next_dent) == scores:
        return most
    shift = max(0, (n // scores).bit_length() - 1)
    index = scratch.empty("index", 1 if n == scores else ((n - 1) >> shift) + 2, np.int32)
    compiled.index_rows(rows, shift, index)
    falling = compiled.first_falling(rows, hits, next_dent, index, shift, tried, most)
    return falling - 1


def _whole_range(rows: Numbers) -> Index:
    return Index(np.array([0, len(rows) - 2], np.int32), NO_INDEX)
