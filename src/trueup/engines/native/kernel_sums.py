"""Kernel sums over sets of points: by brute force, or by divide and conquer.

By brute force, each query is compared with the points in blocks of sixteen, always in the same
order; each thread takes some queries. To divide and conquer, a large set is halved a few times. The
pairs across each cut, and the pairs within each of the last parts, are separate tasks, whose sums
are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.argsort as argsort
import trueup.engines.kernels.kernel_sums as compiled
from trueup._typing import Floats, Ints
from trueup.engines.blocks import Chunk, steps
from trueup.engines.memory import plain
from trueup.engines.threads import run
from trueup.engines.types import KernelSet, KernelTotals

TILE = compiled.QUERIES
CHUNK_PAIRS = 1 << 22  # fewer pairs than this are not worth a thread
SMALLEST_HALF = 1 << 13
MOST_HALVINGS = 4
FEW_POINTS = 1 << 12  # a plain sort is as fast

Item = TypeVar("Item")
Result = TypeVar("Result")


def block_sums(
    sets: Sequence[KernelSet], steep: float, gaussian: bool, relative: bool
) -> list[KernelTotals]:
    packed = [_packed(one) for one in sets]
    totals = [
        KernelTotals(
            np.zeros((len(one.query), one.value.shape[1])),
            np.full(len(one.query), np.inf) if relative else None,
        )
        for one in packed
    ]
    chunks = [(i, *chunk) for i, one in enumerate(packed) for chunk in _chunks(one)]

    def some(chunk: tuple[int, int, int]) -> None:
        i, start, stop = chunk
        one, (sums, nearest) = packed[i], totals[i]
        compiled.sum_pairs(
            one.place,
            one.value,
            one.query[start:stop],
            one.blocks[start // TILE : -(-stop // TILE)],
            steep,
            gaussian,
            sums[start:stop],
            None if nearest is None else nearest[start:stop],
        )

    _each(some, chunks)
    return [_in_order(total, one.row) for total, one in zip(totals, packed, strict=True)]


class Packed(NamedTuple):
    """Points in tiles of sixteen, by coordinate, and the points that each tile is compared with."""

    place: Floats
    value: Floats
    query: Floats
    blocks: Ints
    row: Ints | None  # of each query in the set, where they stand in another order


def _packed(one: KernelSet) -> Packed:
    points, values, queries = one.points, one.values, plain(one.at, np.float64)
    tiles = -(-len(queries) // TILE)
    blocks = np.zeros((tiles, 2), np.int64)
    if one.within is None:
        blocks[:, 1] = -(-len(points) // compiled.POINTS)
        return Packed(_pack(points, np.inf), _pack(values, 0.0), queries, blocks, None)
    by_first, row = np.argsort(points[:, 0]), np.argsort(queries[:, 0])
    points, values = points[by_first], values[by_first]
    first, within = queries[row, 0], one.within[row]
    starts = np.arange(0, len(queries), TILE)
    low = np.minimum.reduceat(first - within, starts) if tiles else first
    high = np.maximum.reduceat(first + within, starts) if tiles else first
    blocks[:, 0] = np.searchsorted(points[:, 0], low, side="left") // compiled.POINTS
    blocks[:, 1] = -(-np.searchsorted(points[:, 0], high, side="right") // compiled.POINTS)
    return Packed(_pack(points, np.inf), _pack(values, 0.0), queries[row], blocks, row)


def _pack(rows: Floats, filler: float) -> Floats:
    """Arrange rows in blocks of sixteen, (blocks, columns, 16); the last block is padded."""
    blocks = -(-len(rows) // compiled.POINTS)
    filled = np.full((blocks * compiled.POINTS, rows.shape[1]), filler)
    filled[: len(rows)] = rows
    return plain(filled.reshape(blocks, compiled.POINTS, -1).transpose(0, 2, 1), np.float64)


def _chunks(one: Packed) -> list[Chunk]:
    """Split tiles into chunks; the size depends on the number of points alone."""
    rows = TILE * max(1, CHUNK_PAIRS // (TILE * compiled.POINTS * max(1, len(one.place))))
    return steps(len(one.query), rows)


def _in_order(total: KernelTotals, row: Ints | None) -> KernelTotals:
    if row is None:
        return total
    back = np.argsort(row)
    return KernelTotals(total.sums[back], None if total.nearest is None else total.nearest[back])


def divided_sums(sets: Sequence[KernelSet], steep: float) -> list[Floats]:
    ordered = _each(_ordered, sets)
    _each(
        lambda job: _sort_places(*job), [(one, j) for one in ordered for j in range(len(one.order))]
    )
    nodes = [_nodes(one) for one in ordered]
    tasks = [node for some in nodes for node in some]
    space = max((node.space for node in tasks), default=0)
    spaces: list[NDArray[np.uint8]] = []  # used again: fresh memory would have to be cleared first

    def solve(node: Node) -> None:
        at, values = node.at, node.at.values[node.pair]
        if len(at.x) == 1:
            compiled.sum_line(at.x[0], values, steep, node.out)
            return
        try:
            here = spaces.pop()
        except IndexError:
            here = np.empty(space, np.uint8)
        compiled.sum_node(
            at.x, values, at.order, node.start, node.stop, node.whole, steep, here, node.out
        )
        spaces.append(here)

    _each(solve, sorted(tasks, key=lambda node: -node.work))
    return _each(lambda parts: _together(*parts), list(zip(sets, ordered, nodes, strict=True)))


class Ordered(NamedTuple):
    """All points and queries of a set, sorted by coordinate 0."""

    row: NDArray[np.integer]  # of each: points first, then queries
    x: Floats  # (d, n)
    order: NDArray[np.int32]  # (d − 1, n): places in the order of each other coordinate
    values: Floats  # (pairs of columns, n, 2); those of queries are 0
    power: NDArray[np.int32]  # of two, that was taken out of each column


class Node(NamedTuple):
    """Task for the points start … stop−1 of a set: sum all pairs, or those across the middle."""

    at: Ordered
    pair: int
    start: int
    stop: int
    whole: bool
    out: Floats

    @property
    def work(self) -> float:
        """Relative time that the task takes; long tasks are started first."""
        n, levels = self.stop - self.start, len(self.at.x) - (1 if self.whole else 2)
        return float(n * np.log2(n + 1) ** levels)

    @property
    def space(self) -> int:
        """Bytes of memory that the sums need."""
        d = len(self.at.x)
        return int(compiled.space_for(self.stop - self.start, d)) if d > 1 else 0


def _ordered(one: KernelSet) -> Ordered:
    points, values = one.points, one.values
    if one.queries is not None:
        points = np.concatenate([points, one.queries])
    n, columns = len(points), values.shape[1]
    power = np.array([_power(column) for column in values.T], np.int32)
    row = _places(np.ascontiguousarray(points[:, 0]))
    # Column by column: picking short rows costs more than picking their numbers.
    x = np.stack([np.take(points[:, k], row) for k in range(points.shape[1])])
    in_pairs = np.zeros((-(-columns // 2), n, 2))
    for column, scaling in enumerate(power):
        padded = np.zeros(n)
        np.ldexp(values[:, column], -scaling, out=padded[: len(values)])
        in_pairs[column // 2, :, column % 2] = padded[row]
    return Ordered(row, x, np.empty((len(x) - 1, n), np.int32), in_pairs, power)


def _power(column: Floats) -> int:
    """Return the smallest power of two above all absolute values."""
    largest = max(column.max(initial=0.0), -column.min(initial=0.0))
    return int(np.frexp(largest)[1])


def _sort_places(one: Ordered, j: int) -> None:
    one.order[j] = _places(one.x[j + 1])


def _places(x: Floats) -> NDArray[np.integer]:
    """Return the stable sort order of numbers."""
    if len(x) < FEW_POINTS:
        return np.argsort(x, kind="stable")
    found = np.empty(len(x), np.int32)
    argsort.sort_places(x, found)
    return found


def _nodes(one: Ordered) -> list[Node]:
    many = len(one.row)
    return [
        Node(one, pair, start, stop, whole, np.zeros((stop - start, 2)))
        for pair in range(len(one.values))
        for start, stop, whole in _halved(0, many, MOST_HALVINGS if len(one.x) > 1 else 0)
    ]


def _halved(start: int, stop: int, halvings: int) -> Iterator[tuple[int, int, bool]]:
    if halvings == 0 or stop - start < 2 * SMALLEST_HALF:
        yield start, stop, True
        return
    middle = start + (stop - start) // 2
    yield start, stop, False
    yield from _halved(start, middle, halvings - 1)
    yield from _halved(middle, stop, halvings - 1)


def _together(one: KernelSet, ordered: Ordered, nodes: list[Node]) -> Floats:
    """Return the sums at the queries, in the original order."""
    totals = np.zeros(ordered.values.shape)
    for node in nodes:
        totals[node.pair, node.start : node.stop] += node.out
    sums = np.empty((len(ordered.row), len(ordered.power)))
    for column, power in enumerate(ordered.power):
        sums[ordered.row, column] = np.ldexp(totals[column // 2, :, column % 2], power)
    return sums if one.queries is None else sums[len(one.points) :]


def _each(task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return the result of a task for each item; threads take one item at a time."""
    return run(lambda i, _: task(items[i]), steps(len(items), 1))
