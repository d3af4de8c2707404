"""Isotonic fits by pooling adjacent violators, also with one added row, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Ints

Point = tuple[Any, Any]


def pool_rising(weight: NDArray[Any], label: NDArray[Any]) -> Ints:
    """Return the starts of the blocks of the non-decreasing fit; equal means are pooled.

    Pool adjacent violators: an item joins the blocks before it until the means increase strictly.
    Means of whole numbers are compared exactly, as Python integers of any size.
    """
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"

    def rises(w: Any, y: Any, next_w: Any, next_y: Any) -> bool:
        return bool(y * next_w < next_y * w if whole else y / w < next_y / next_w)

    blocks: list[tuple[int, Any, Any]] = []
    for item in zip(range(len(weight)), weight.tolist(), label.tolist(), strict=True):
        start, w, y = item
        while blocks and not rises(*blocks[-1][1:], w, y):
            start, block_w, block_y = blocks.pop()
            w, y = block_w + w, block_y + y
        blocks.append((start, w, y))
    return np.array([start for start, _, _ in blocks], np.int64)


def pool_added(weight: NDArray[Any], label: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return weight and label of the block of every item after adding a positive row to it.

    Running totals of the items are points of a path; blocks of a non-decreasing fit are edges of
    the lower hull. The added row has weight 1. Adding it to item i moves the points before i by
    (−1, −1), and its block is the edge between the hull of the points before and the hull of those
    after. Both ends only move right as i increases, so all items together take as long as a few
    fits. Whole numbers are exact.
    """
    whole = weight.dtype.kind in "iu" and label.dtype.kind in "iu"
    dtype = np.int64 if whole else np.float64
    totals = ([0, *np.cumsum(items, dtype=dtype).tolist()] for items in (weight, label))
    blocks = np.array(list(_blocks(list(zip(*totals, strict=True)))), dtype)
    return blocks[:, 0].copy(), blocks[:, 1].copy()


def _blocks(points: list[Point]) -> Iterator[Point]:
    n = len(points) - 1
    following = [-1] * (n + 1)  # the hull after i: i, following[i], …
    for i in range(n - 1, 0, -1):
        b = i + 1
        while following[b] >= 0 and not _bends(points[i], points[b], points[following[b]]):
            b = following[b]
        following[i] = b
    before: list[int] = []  # the hull before i
    at, end = 0, 0
    for i in range(1, n + 1):
        while len(before) > 1 and not _bends(points[before[-2]], points[before[-1]], points[i - 1]):
            before.pop()
        before.append(i - 1)
        at, end = min(at, len(before) - 1), max(end, i)
        while True:
            edge = _step(points[before[at]], points[end])
            edge = edge[0] + 1, edge[1] + 1
            if following[end] >= 0 and not _steeper(
                _step(points[end], points[following[end]]), edge
            ):
                end = following[end]
            elif at + 1 < len(before) and not _steeper(
                _step(points[before[at]], points[before[at + 1]]), edge
            ):
                at += 1
            else:
                break
        yield edge


def _step(start: Point, stop: Point) -> Point:
    return stop[0] - start[0], stop[1] - start[1]


def _steeper(step: Point, other: Point) -> bool:
    return bool(step[1] * other[0] > other[1] * step[0])


def _bends(a: Point, b: Point, c: Point) -> bool:
    """Return whether b lies below the line from a to c."""
    return _steeper(_step(a, c), _step(a, b))
