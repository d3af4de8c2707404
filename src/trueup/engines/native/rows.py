"""Checks of scores and labels, and one pass over the rows of a matrix, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueup.engines.kernels.rows as compiled
from trueup._typing import Floats, Read
from trueup.engines.blocks import cut, steps
from trueup.engines.memory import plain_labels, plain_scores
from trueup.engines.threads import run
from trueup.engines.types import RowScan

CHECKED_ROWS = 120_000  # larger chunks than caches ask for: threads wait for each other less
BLOCK_ENTRIES = 1 << 18


def first_outside_unit(values: NDArray[Any]) -> int:
    score = plain_scores(values)
    chunks = cut(len(score), CHECKED_ROWS)
    return _first(run(lambda start, stop: compiled.first_outside_unit(score, start, stop), chunks))


def first_not_binary(labels: NDArray[Any]) -> int:
    label = plain_labels(labels)
    chunks = cut(len(label), CHECKED_ROWS)
    return _first(run(lambda start, stop: compiled.first_not_binary(label, start, stop), chunks))


def all_pairs_good(p: NDArray[Any], y: NDArray[Any]) -> bool:
    score, label = plain_scores(p), plain_labels(y)

    def bad(start: int, stop: int) -> bool:
        if compiled.first_outside_unit(score, start, stop) >= 0:
            return True
        return bool(compiled.first_not_binary(label, start, stop) >= 0)

    return not any(run(bad, cut(len(score), CHECKED_ROWS)))


def scan_rows(read: Read, n: int, n_classes: int) -> RowScan:
    total, top = np.empty(n), np.empty(n)
    top_class = np.empty(n, np.int32)
    step = max(1, BLOCK_ENTRIES // n_classes)

    def scan(start: int, stop: int) -> int:
        blocks = ((start + i, start + j) for i, j in steps(stop - start, step))
        return _first([compiled.scan(read(i, j), i, total, top, top_class) for i, j in blocks])

    return RowScan(_first(run(scan, cut(n, step))), total, top, top_class)


def scaled_columns(block: NDArray[Any], factor: Floats | None, out: Floats) -> None:
    compiled.scaled_columns(plain_scores(block), factor, out)


def _first(found: list[int]) -> int:
    return next((place for place in found if place >= 0), -1)
