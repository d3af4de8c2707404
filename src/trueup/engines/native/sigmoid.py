"""Loss of a sigmoid of one or two covariates, and its derivatives, computed by threads."""

from __future__ import annotations

from functools import cache

import numpy as np

import trueup.engines.kernels.sigmoid as compiled
from trueup._typing import Floats, Ints
from trueup.engines.blocks import cut
from trueup.engines.memory import plain
from trueup.engines.sums import added
from trueup.engines.threads import run
from trueup.engines.types import SigmoidSums

CHUNK_ROWS = 1 << 14  # fewer rows than this are not worth a thread


def sigmoid_sums(
    covariates: Floats, targets: Floats, w: Floats | None, point: Floats, squared: bool
) -> SigmoidSums:
    x, target, at = (plain(array, np.float64) for array in (covariates, targets, point))
    weight = None if w is None else plain(w, np.float64)
    size = len(at)
    triangle = _upper(size)

    def some(start: int, stop: int) -> Floats:
        sums = np.zeros(1 + size + len(triangle[0]))
        compiled.add_sums(x, target, weight, at, squared, start, stop, sums)
        return sums

    total = added(run(some, cut(len(target), CHUNK_ROWS)))
    hessian = np.empty((size, size))
    hessian[triangle] = hessian.T[triangle] = total[1 + size :]
    return SigmoidSums(float(total[0]), -total[1 : 1 + size], hessian)


@cache  # finding them takes longer than summing a thousand rows
def _upper(size: int) -> tuple[Ints, Ints]:
    """Return the indexes of the upper triangle of a matrix, row by row."""
    return np.triu_indices(size)
