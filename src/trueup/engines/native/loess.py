"""Local quadratic fits (loess): some places per thread.

The kernel finds the window of each place by bisection, as the values are sorted.
"""

from __future__ import annotations

import numpy as np

import trueup.engines.kernels.loess as compiled
from trueup._typing import Floats
from trueup.engines.blocks import cut
from trueup.engines.memory import plain
from trueup.engines.reference.loess import FLAT
from trueup.engines.threads import run

FITTED_ENTRIES = 1 << 16  # of values times places: fewer are not worth a thread


def local_quadratics(
    value: Floats, weight: Floats, label: Floats, at: Floats, width: Floats
) -> Floats:
    value, weight, label = (plain(x, np.float64) for x in (value, weight, label))
    at, width = plain(at, np.float64), plain(width, np.float64)
    fit = np.empty(len(at))

    def some(start: int, stop: int) -> None:
        compiled.fit_quadratics(value, weight, label, at, width, FLAT, start, stop, fit)

    run(some, cut(len(at), FITTED_ENTRIES // len(value)))
    return fit
