"""Local quadratic fits (loess); each thread fits at some of the points.

The values are sorted, so the kernel finds the window around each point by bisection. It then adds
up sums of powers that are stored for blocks of values.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import trueup.engines.kernels.loess as compiled
from trueup._typing import Floats
from trueup.engines.blocks import cut
from trueup.engines.memory import plain
from trueup.engines.reference.loess import FLAT
from trueup.engines.threads import run
from trueup.engines.types import LocalFit

PLACES = 256  # fewer are not worth a thread
BLOCKS_FROM = 16  # places from which on sums are kept for blocks


def local_quadratics(
    value: Floats, weight: Floats, label: Floats, at: Floats, width: Floats
) -> Floats:
    return fit_of(value, weight, label)(at, width)


def fit_of(value: Floats, weight: Floats, label: Floats) -> LocalFit:
    value, weight, label = (plain(x, np.float64) for x in (value, weight, label))

    @cache
    def blocks() -> Floats:
        made = np.empty(compiled.block_entries(len(value)))
        compiled.fill_blocks(value, weight, label, made)
        return made

    def fit(at: Floats, width: Floats) -> Floats:
        at, width = plain(at, np.float64), plain(width, np.float64)
        found = np.empty(len(at))
        sums = blocks() if len(at) >= BLOCKS_FROM else np.empty(0)

        def some(start: int, stop: int) -> None:
            compiled.fit_quadratics(value, weight, label, at, width, FLAT, sums, start, stop, found)

        run(some, cut(len(at), PLACES))
        return found

    return fit
