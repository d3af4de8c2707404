"""Loss of a sigmoid of a few covariates, and its derivatives."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.engines.types import SigmoidSums


def sigmoid_sums(
    covariates: Floats, targets: Floats, w: Floats | None, point: Floats, squared: bool
) -> SigmoidSums:
    """Return the summed loss of σ(slopes · covariates + intercept), and its derivatives."""
    line = sum(a * x for a, x in zip(point[:-1], covariates, strict=True)) + point[-1]
    small = np.exp(-np.abs(line))
    high, low = 1 / (1 + small), small / (1 + small)
    p, q = np.where(line < 0, low, high), np.where(line < 0, high, low)
    residual, spread = targets * q - (1 - targets) * p, p * q  # no digits lost where p is near 1
    if squared:
        loss = residual**2
        first, second = 2 * residual * spread, 2 * spread * (spread - residual * (q - p))
    else:
        loss = (np.maximum(line, 0) - targets * line) + np.log1p(small)
        first, second = residual, spread
    weight = 1.0 if w is None else w
    design = [*covariates, np.ones(len(targets))]
    # Plain sums, not matrix products: those may round differently on another number of threads.
    gradient = [-(weight * first * x).sum() for x in design]
    hessian = [[(weight * second * x * other).sum() for other in design] for x in design]
    return SigmoidSums(float((weight * loss).sum()), np.array(gradient), np.array(hessian))
