"""The native engine's side of kernel sums by brute force: some queries a thread.

A query meets the points in blocks of sixteen, always in the same order, so the result has the
same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trueup.engines.base import Floats, Ints, KernelSet, KernelTotals
from trueup.engines.threads import run
from trueup.native import kernel_blocks as native

TILE = native.QUERIES
CHUNK_PAIRS = 1 << 22  # fewer pairs than this are not worth a thread


class Packed(NamedTuple):
    """Points sixteen by sixteen, coordinate by coordinate, and which of them each tile meets."""

    place: Floats
    value: Floats
    query: Floats
    blocks: Ints
    row: Ints | None  # of each query in the set, where they stand in another order


def block_sums(
    sets: Sequence[KernelSet], steep: float, gaussian: bool, relative: bool
) -> list[KernelTotals]:
    """Σ_j e^{−steep·distance} v_j over the points j, at every query."""
    packed = [_packed(one) for one in sets]
    totals = [
        KernelTotals(
            np.zeros((len(one.query), one.value.shape[1])),
            np.full(len(one.query), np.inf) if relative else None,
        )
        for one in packed
    ]
    chunks = [(i, *chunk) for i, one in enumerate(packed) for chunk in _chunks(one)]

    def some(place: int, _: int) -> None:
        i, start, stop = chunks[place]
        one, (sums, nearest) = packed[i], totals[i]
        native.sum_pairs(
            one.place,
            one.value,
            one.query[start:stop],
            one.blocks[start // TILE : -(-stop // TILE)],
            steep,
            gaussian,
            sums[start:stop],
            None if nearest is None else nearest[start:stop],
        )

    run(some, [(i, i + 1) for i in range(len(chunks))])
    return [_in_order(total, one.row) for total, one in zip(totals, packed, strict=True)]


def _packed(one: KernelSet) -> Packed:
    points, values, queries = one.points, one.values, _plain(one.at)
    tiles = -(-len(queries) // TILE)
    blocks = np.zeros((tiles, 2), np.int64)
    if one.within is None:
        blocks[:, 1] = -(-len(points) // native.POINTS)
        return Packed(_pack(points, np.inf), _pack(values, 0.0), queries, blocks, None)
    by_first, row = np.argsort(points[:, 0]), np.argsort(queries[:, 0])
    points, values = points[by_first], values[by_first]
    first, within = queries[row, 0], one.within[row]
    starts = np.arange(0, len(queries), TILE)
    low = np.minimum.reduceat(first - within, starts) if tiles else first
    high = np.maximum.reduceat(first + within, starts) if tiles else first
    blocks[:, 0] = np.searchsorted(points[:, 0], low, side="left") // native.POINTS
    blocks[:, 1] = -(-np.searchsorted(points[:, 0], high, side="right") // native.POINTS)
    return Packed(_pack(points, np.inf), _pack(values, 0.0), queries[row], blocks, row)


def _pack(rows: Floats, filler: float) -> Floats:
    """Rows in blocks of sixteen, (blocks, columns, 16), the last filled up."""
    blocks = -(-len(rows) // native.POINTS)
    filled = np.full((blocks * native.POINTS, rows.shape[1]), filler)
    filled[: len(rows)] = rows
    return _plain(filled.reshape(blocks, native.POINTS, -1).transpose(0, 2, 1))


def _chunks(one: Packed) -> list[tuple[int, int]]:
    """Chunks of whole tiles; their size depends on the number of points alone."""
    rows = TILE * max(1, CHUNK_PAIRS // (TILE * native.POINTS * max(1, len(one.place))))
    n = len(one.query)
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]


def _in_order(total: KernelTotals, row: Ints | None) -> KernelTotals:
    if row is None:
        return total
    back = np.argsort(row)
    return KernelTotals(total.sums[back], None if total.nearest is None else total.nearest[back])


def _plain(array: Floats) -> Floats:
    return np.require(array, np.float64, ("C", "ALIGNED"))
