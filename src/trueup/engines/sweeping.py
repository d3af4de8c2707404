"""The native engine's side of the sweep: how many equal-mass bins keep mean labels rising."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup.engines import counted_reference as reference
from trueup.engines.base import Floats, Ints
from trueup.engines.rooms import FRESH, Room
from trueup.native import counted, sweep

MOST_ROWS = 2**31 - 1
FEW_BINS = 64  # so many are soon tried bin by bin; whoever gets further needs dents and an index
NO_INDEX = 31  # bits of a row's number: the whole range is searched

Numbers = NDArray[np.int32]


class Index(NamedTuple):
    """Where to look for the group of a row: from ``group[row >> shift]`` to the next."""

    group: Numbers
    shift: int


class Running(NamedTuple):
    """Rows and positive labels before each group, and after the last."""

    rows: Numbers
    hits: Numbers
    n: int

    @classmethod
    def of(cls, count: Ints, positive: Ints, room: Room) -> Running:
        """Add up; of more than 2^31 rows only their number is right."""
        rows, hits = (room.empty(name, len(count) + 1, np.int32) for name in ("rows", "ones"))
        return cls(rows, hits, sweep.add_up(count, positive, rows, hits))


def sweep_bins(count: Ints, positive: Ints, most: int) -> int:
    """Largest b up to ``most`` such that 1 … b equal-mass bins have non-falling mean labels."""
    count, positive = np.ascontiguousarray(count), np.ascontiguousarray(positive)
    running = Running.of(count, positive, FRESH)
    if running.n > MOST_ROWS:
        return reference.sweep_bins(count, positive, most)
    return _swept(count, positive, running, most, FRESH)


def swept_residuals(
    residual: Floats, count: Ints, positive: Ints, room: Room = FRESH
) -> tuple[Ints, Floats]:
    """Rows and Σ residual of the bins of the sweep; one bin a score where no mean label falls."""
    running = Running.of(count, positive, room)
    rows, n = running.rows, running.n
    if n > MOST_ROWS:
        return reference.swept_residuals(residual, count, positive)
    chosen = _swept(count, positive, running, n, room)
    if chosen == n:
        return count, residual
    starts = np.empty(min(chosen, len(count)) + 1, np.int64)
    made = sweep.start_bins(rows, *_whole_range(rows), chosen, starts)
    starts, sums = starts[: made + 1], np.empty(made)
    counted.sum_bins(residual, starts, sums)
    ends = rows[starts].astype(np.int64)
    return ends[1:] - ends[:-1], sums


def _swept(count: Ints, positive: Ints, running: Running, most: int, room: Room) -> int:
    rows, hits, n = running
    tried = min(FEW_BINS, most)
    falling = sweep.first_falling_of_few(rows, hits, *_whole_range(rows), tried)
    if falling <= tried:
        return falling - 1
    groups = len(count)
    next_dent = room.empty("dents", groups + 1, np.int32)
    if tried == most or sweep.find_dents(count, positive, next_dent) == groups:
        return most
    shift = max(0, (n // groups).bit_length() - 1)
    index = room.empty("index", 1 if n == groups else ((n - 1) >> shift) + 2, np.int32)
    sweep.index_rows(rows, shift, index)
    return sweep.first_falling(rows, hits, next_dent, index, shift, tried, most) - 1


def _whole_range(rows: Numbers) -> Index:
    return Index(np.array([0, len(rows) - 2], np.int32), NO_INDEX)
