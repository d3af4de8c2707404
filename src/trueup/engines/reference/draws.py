"""Labels, classes and rows drawn at random; `trueup.engines.draw_keys` explains how."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Bits, Floats, Ints
from trueup.engines.draw_keys import STEP, mixed
from trueup.engines.memory import FRESH, Scratch
from trueup.engines.types import BinnedLimits, ScoreCounts

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def draw_labels(limit: Bits, key: np.uint64) -> NDArray[np.bool_]:
    """Draw the label of every row of one resample.

    A hash of 64 bits serves two rows: each compares 32 of them with the first 32 bits of its
    limit. If they are equal, which happens once in four billion draws, a second hash decides.
    """
    hashes = mixed(key + np.arange((len(limit) + 1) // 2, dtype=np.uint64) * STEP)
    part = np.empty(2 * len(hashes), np.uint64)
    part[0::2], part[1::2] = hashes >> HALF, hashes & LOW
    part = part[: len(limit)]
    drawn = part < limit >> HALF
    tied = np.flatnonzero(part == limit >> HALF)
    again = mixed(hashes[tied // 2] + STEP)
    rest = np.where(tied % 2 == 0, again >> HALF, again & LOW)
    drawn[tied] = rest < limit[tied] & LOW
    return np.asarray(drawn)


def draw_label_rows(limit: Bits, keys: Bits) -> NDArray[np.bool_]:
    """Draw the label of every row for every key, (keys, n): the same as `draw_labels` for each."""
    pairs = np.arange((len(limit) + 1) // 2, dtype=np.uint64) * STEP
    hashes = mixed(keys[:, None] + pairs)
    part = np.empty((len(keys), 2 * len(pairs)), np.uint64)
    part[:, 0::2], part[:, 1::2] = hashes >> HALF, hashes & LOW
    part = part[:, : len(limit)]
    upper = limit >> HALF
    drawn = np.asarray(part < upper)
    for draw in np.flatnonzero((part == upper).any(axis=1)):
        drawn[draw] = draw_labels(limit, keys[draw])
    return drawn


def draw_classes(limit: Bits, key: np.uint64, first: int = 0) -> Ints:
    """Draw the class of rows first, first + 1, …: the number of limits that the hash reaches."""
    hashes = mixed(key + np.arange(first, first + len(limit), dtype=np.uint64) * STEP)
    return np.asarray((limit <= hashes[:, None]).sum(axis=1))


def draw_rows(n: int, key: np.uint64) -> Ints:
    """Draw n rows from 0 … n−1 with replacement: ⌊n · hash / 2^64⌋, for n up to 2^32."""
    hashes = mixed(key + np.arange(n, dtype=np.uint64) * STEP)
    many = np.uint64(n)
    row: Bits = ((hashes >> HALF) * many + ((hashes & LOW) * many >> HALF)) >> HALF
    return row.astype(np.int64)


def draw_hits(
    limit: Bits, code: NDArray[np.int32], n_scores: int, key: np.uint64, scratch: Scratch = FRESH
) -> Ints:
    """Draw the label of every row of one resample, and count the ones at each score.

    The code of a row is twice the index of its score, plus its original label (0 or 1).
    """
    drawn = code[draw_labels(limit, key)] >> 1
    return np.bincount(drawn, minlength=n_scores).astype(np.int64)


def resample_scores(
    value: Floats, code: NDArray[np.int32], key: np.uint64, scratch: Scratch = FRESH
) -> ScoreCounts:
    """Draw as many rows as there are, with replacement, and group them by score.

    The code of a row is twice the index of its score in ``value``, plus its label (0 or 1); rows
    are in the order of their codes.
    """
    times = np.bincount(code[draw_rows(len(code), key)], minlength=2 * len(value))
    times = times.astype(np.int64).reshape(-1, 2)
    kept = times.any(axis=1)
    return ScoreCounts(value[kept], times[kept].sum(axis=1), times[kept, 1])


def count_labels(rows: BinnedLimits, keys: Bits) -> Ints:
    """Count the labels drawn in every bin; the result is (resamples, bins)."""
    counts = np.zeros((len(keys), len(rows.start) - 1), np.int64)
    for r, key in enumerate(keys):
        total = np.concatenate([[0], np.cumsum(draw_labels(rows.limit, key))])
        counts[r] = np.diff(total[2 * rows.start])
    return counts


def add_classes(
    limit: Bits,
    place: NDArray[np.int32],
    w: Floats | None,
    keys: Bits,
    first: int,
    totals: NDArray[Any],
) -> None:
    """Add 1, or w, at the ``place`` of the drawn class, for every row first, first + 1, ….

    ``place`` is (n, K): the column of ``totals``, (resamples, places), that counts each class.
    """
    row = np.arange(len(limit))
    for total, key in zip(totals, keys, strict=True):
        np.add.at(total, place[row, draw_classes(limit, key, first)], 1 if w is None else w)
