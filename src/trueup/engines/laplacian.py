"""The native engine's side of Laplacian sums by divide and conquer: threads over sets and halves.

A large set is halved a few times. The pairs across each cut, and the pairs within each of the last
parts, are a task of their own with sums of its own; these are added in a fixed order. How a set is
halved depends on its size alone, so the result has the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats, KernelSet
from trueup.engines.threads import run
from trueup.native import laplace_sums as native, places

Item = TypeVar("Item")
Result = TypeVar("Result")

SMALLEST_HALF = 1 << 13
MOST_HALVINGS = 4
FEW_POINTS = 1 << 12  # a plain sort is as fast


class Ordered(NamedTuple):
    """All points and queries of a set in the order of coordinate 0."""

    row: NDArray[np.integer]  # of each: points first, then queries
    x: Floats  # (d, n)
    order: NDArray[np.int32]  # (d − 1, n): places in the order of each other coordinate
    values: Floats  # (pairs of columns, n, 2); those of queries are 0
    power: NDArray[np.int32]  # of two, that was taken out of each column


class Node(NamedTuple):
    """Sums over the points start … stop−1 of a set: of all, or of pairs across their middle."""

    at: Ordered
    pair: int
    start: int
    stop: int
    whole: bool
    out: Floats

    @property
    def work(self) -> float:
        """How long it takes, in some unit: long ones go first."""
        n, levels = self.stop - self.start, len(self.at.x) - (1 if self.whole else 2)
        return float(n * np.log2(n + 1) ** levels)

    @property
    def space(self) -> int:
        """Bytes the sums need to be found."""
        d = len(self.at.x)
        return native.room_for(self.stop - self.start, d) if d > 1 else 0


def divided_sums(sets: Sequence[KernelSet], steep: float) -> list[Floats]:
    """Sums of e^{−steep·L1 distance}, for one to four coordinates."""
    ordered = _each(_ordered, sets)
    _each(
        lambda job: _sort_places(*job), [(one, j) for one in ordered for j in range(len(one.order))]
    )
    nodes = [_nodes(one) for one in ordered]
    tasks = [node for some in nodes for node in some]
    space = max((node.space for node in tasks), default=0)
    spaces: list[NDArray[np.uint8]] = []  # handed on: fresh memory would have to be cleared first

    def solve(node: Node) -> None:
        at, values = node.at, node.at.values[node.pair]
        if len(at.x) == 1:
            native.sum_line(at.x[0], values, steep, node.out)
            return
        try:
            here = spaces.pop()
        except IndexError:
            here = np.empty(space, np.uint8)
        native.sum_node(
            at.x, values, at.order, node.start, node.stop, node.whole, steep, here, node.out
        )
        spaces.append(here)

    _each(solve, sorted(tasks, key=lambda node: -node.work))
    return _each(lambda parts: _together(*parts), list(zip(sets, ordered, nodes, strict=True)))


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
    """The power of two just above all absolute values."""
    largest = max(column.max(initial=0.0), -column.min(initial=0.0))
    return int(np.frexp(largest)[1])


def _sort_places(one: Ordered, j: int) -> None:
    one.order[j] = _places(one.x[j + 1])


def _places(x: Floats) -> NDArray[np.integer]:
    """The stable order of numbers."""
    if len(x) < FEW_POINTS:
        return np.argsort(x, kind="stable")
    found = np.empty(len(x), np.int32)
    places.sort_places(x, found)
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
    """The sums at the queries, in their own order."""
    totals = np.zeros(ordered.values.shape)
    for node in nodes:
        totals[node.pair, node.start : node.stop] += node.out
    sums = np.empty((len(ordered.row), len(ordered.power)))
    for column, power in enumerate(ordered.power):
        sums[ordered.row, column] = np.ldexp(totals[column // 2, :, column % 2], power)
    return sums if one.queries is None else sums[len(one.points) :]


def _each(task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return run(lambda i, _: task(items[i]), [(i, i + 1) for i in range(len(items))])
