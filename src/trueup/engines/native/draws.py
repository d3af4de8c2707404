"""Random draws of labels, classes and rows; each thread computes some resamples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.draws as compiled
import trueup.engines.reference.draws as reference
from trueup._typing import Bits, Floats, Ints
from trueup.engines.blocks import Chunk, cut
from trueup.engines.memory import FRESH, Scratch, plain
from trueup.engines.threads import run
from trueup.engines.types import BinnedLimits, ScoreCounts

FEW_ROWS = 300  # for fewer, many draws at once in NumPy are faster than a call for each
CHUNK_DRAWS = 1 << 18  # fewer draws than this are not worth a thread


def draw_labels(limit: Bits, key: np.uint64) -> NDArray[np.bool_]:
    labels = np.empty(len(limit), np.uint8)
    compiled.draw_labels(plain(limit, np.uint64), int(key), labels)
    return labels.view(np.bool_)


def draw_label_rows(limit: Bits, keys: Bits) -> NDArray[np.bool_]:
    if len(limit) < FEW_ROWS:
        return reference.draw_label_rows(limit, keys)
    limit = plain(limit, np.uint64)
    labels = np.empty((len(keys), len(limit)), np.uint8)
    for row, key in zip(labels, keys.tolist(), strict=True):
        compiled.draw_labels(limit, key, row)
    return labels.view(np.bool_)


def draw_classes(limit: Bits, key: np.uint64, first: int = 0) -> Ints:
    labels = np.empty(len(limit), np.int64)
    compiled.draw_classes(plain(limit, np.uint64), int(key), first, labels)
    return labels


def draw_rows(n: int, key: np.uint64) -> Ints:
    rows = np.empty(n, np.int64)
    compiled.draw_rows(int(key), rows)
    return rows


def draw_hits(
    limit: Bits, code: NDArray[np.int32], n_scores: int, key: np.uint64, scratch: Scratch = FRESH
) -> Ints:
    hits: Ints = scratch.empty("hits", n_scores, np.int64)
    compiled.draw_hits(plain(limit, np.uint64), plain(code, np.int32), int(key), hits)
    return hits


def resample_scores(
    value: Floats, code: NDArray[np.int32], key: np.uint64, scratch: Scratch = FRESH
) -> ScoreCounts:
    scores = len(value)
    times, kept = (
        scratch.empty("times", len(code), np.uint32),
        scratch.empty("kept", scores + 1, float),
    )
    count, positive = (scratch.empty(name, scores + 1, np.int64) for name in ("count", "positive"))
    many = compiled.resample_scores(value, code, int(key), times, kept, count, positive)
    return ScoreCounts(kept[:many], count[:many], positive[:many])


def count_labels(rows: BinnedLimits, keys: Bits) -> Ints:
    limit, start = plain(rows.limit, np.uint64), plain(rows.start, np.int64)
    parts = (limit.reshape(-1, 2) >> np.uint64(32)).astype(np.uint32)
    even, odd = np.ascontiguousarray(parts[:, 0]), np.ascontiguousarray(parts[:, 1])
    counts = np.empty((len(keys), len(start) - 1), np.int64)

    def count(first: int, last: int) -> None:
        compiled.count_labels(limit, even, odd, start, keys[first:last], counts[first:last])

    run(count, _resamples(len(keys), len(limit)), tell=True)
    return counts


def add_classes(
    limit: Bits,
    place: NDArray[np.int32],
    w: Floats | None,
    keys: Bits,
    first: int,
    totals: NDArray[Any],
) -> None:
    limit, place = plain(limit, np.uint64), plain(place, np.int32)
    weight = None if w is None else plain(w, np.float64)

    def add(start: int, stop: int) -> None:
        compiled.add_classes(limit, place, weight, first, keys[start:stop], totals[start:stop])

    run(add, _resamples(len(keys), len(limit)))


def _resamples(many: int, rows: int) -> list[Chunk]:
    return cut(many, -(-CHUNK_DRAWS // max(1, rows)))
