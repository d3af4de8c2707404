"""The native engine's side of drawing labels: some resamples a thread.

What a row draws is a hash of its number and the resample's key, so threads change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import BinnedLimits, Bits, Floats, Groups, Ints
from trueup.engines.rooms import FRESH, Room
from trueup.engines.threads import cut, run
from trueup.native import draws

CHUNK_DRAWS = 1 << 18  # fewer draws than this are not worth a thread


def draw_labels(limit: Bits, key: np.uint64) -> NDArray[np.bool_]:
    """Draw the label of every row of one resample."""
    labels = np.empty(len(limit), np.uint8)
    draws.draw_labels(_plain(limit, np.uint64), int(key), labels)
    return labels.view(np.bool_)


def draw_classes(limit: Bits, key: np.uint64, first: int = 0) -> Ints:
    """Draw the class of rows first, first + 1, …: how many of its limits a hash has reached."""
    labels = np.empty(len(limit), np.int64)
    draws.draw_classes(_plain(limit, np.uint64), int(key), first, labels)
    return labels


def draw_rows(n: int, key: np.uint64) -> Ints:
    """Draw n rows from 0 … n−1 with replacement."""
    rows = np.empty(n, np.int64)
    draws.draw_rows(int(key), rows)
    return rows


def draw_hits(
    limit: Bits, code: NDArray[np.int32], n_scores: int, key: np.uint64, room: Room = FRESH
) -> Ints:
    """Draw the label of every row of one resample, and count the ones of each score."""
    hits: Ints = room.empty("hits", n_scores, np.int64)
    draws.draw_hits(_plain(limit, np.uint64), _plain(code, np.int32), int(key), hits)
    return hits


def regroup_rows(
    value: Floats, code: NDArray[np.int32], key: np.uint64, room: Room = FRESH
) -> Groups:
    """Draw as many rows as there are, with replacement, and put them together by score."""
    scores = len(value)
    times, kept = room.empty("times", len(code), np.uint32), room.empty("kept", scores + 1, float)
    count, positive = (room.empty(name, scores + 1, np.int64) for name in ("count", "positive"))
    many = draws.regroup_rows(value, code, int(key), times, kept, count, positive)
    return Groups(kept[:many], count[:many], positive[:many])


def count_labels(rows: BinnedLimits, keys: Bits) -> Ints:
    """Count the labels drawn in every bin, (resamples, bins)."""
    limit, start = _plain(rows.limit, np.uint64), _plain(rows.start, np.int64)
    parts = (limit.reshape(-1, 2) >> np.uint64(32)).astype(np.uint32)
    even, odd = np.ascontiguousarray(parts[:, 0]), np.ascontiguousarray(parts[:, 1])
    counts = np.empty((len(keys), len(start) - 1), np.int64)

    def count(first: int, last: int) -> None:
        draws.count_labels(limit, even, odd, start, keys[first:last], counts[first:last])

    run(count, _resamples(len(keys), len(limit)))
    return counts


def add_classes(
    limit: Bits,
    place: NDArray[np.int32],
    w: Floats | None,
    keys: Bits,
    first: int,
    totals: NDArray[Any],
) -> None:
    """Add 1, or w, for every row first, first + 1, … at the ``place`` of the class it drew."""
    limit, place = _plain(limit, np.uint64), _plain(place, np.int32)
    weight = None if w is None else _plain(w, np.float64)

    def add(start: int, stop: int) -> None:
        draws.add_classes(limit, place, weight, first, keys[start:stop], totals[start:stop])

    run(add, _resamples(len(keys), len(limit)))


def _resamples(many: int, rows: int) -> list[tuple[int, int]]:
    return cut(many, -(-CHUNK_DRAWS // max(1, rows)))


def _plain(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.require(array, dtype, ("C", "ALIGNED"))
