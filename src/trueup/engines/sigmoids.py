"""The native engine's side of sigmoids of one or two covariates: some rows a thread.

Rows are cut by their number alone and sums of chunks are added in order, so the result has the
same bits on any number of threads.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from trueup.engines.base import Floats, Ints, SigmoidSums
from trueup.engines.threads import cut, run
from trueup.native import sigmoid

CHUNK_ROWS = 1 << 14  # fewer rows than this are not worth a thread


def sigmoid_sums(
    covariates: Floats, targets: Floats, w: Floats | None, point: Floats, squared: bool
) -> SigmoidSums:
    """Loss of σ(slopes · covariates + intercept) against targets, summed with its derivatives."""
    x, target, at = _plain(covariates), _plain(targets), _plain(point)
    weight = None if w is None else _plain(w)
    size = len(at)
    triangle = _upper(size)

    def some(start: int, stop: int) -> Floats:
        sums = np.zeros(1 + size + len(triangle[0]))
        sigmoid.add_sums(x, target, weight, at, squared, start, stop, sums)
        return sums

    total, *others = run(some, cut(len(target), CHUNK_ROWS))
    for other in others:
        total += other
    hessian = np.empty((size, size))
    hessian[triangle] = hessian.T[triangle] = total[1 + size :]
    return SigmoidSums(float(total[0]), -total[1 : 1 + size], hessian)


@cache  # finding them takes longer than summing a thousand rows
def _upper(size: int) -> tuple[Ints, Ints]:
    """Places of the upper triangle of a matrix, by rows."""
    return np.triu_indices(size)


def _plain(array: Floats) -> Floats:
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return array  # `require` takes longer to find that out
    return np.require(array, np.float64, ("C", "ALIGNED"))
