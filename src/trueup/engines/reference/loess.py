"""Local quadratic fits (loess)."""

from __future__ import annotations

from functools import partial

import numpy as np

from trueup._typing import Floats
from trueup.engines.types import LocalFit

FLAT = 100 * float(np.finfo(np.float64).eps)  # of a column's length; R's loess stops there, too


def local_quadratics(
    value: Floats, weight: Floats, label: Floats, at: Floats, width: Floats
) -> Floats:
    """Fit a parabola around every point of ``at`` and return its height there.

    Least squares over the points nearer than ``width`` (positive), with weights
    w (1 − (distance/width)³)³; the points are increasing values with sums of weights and of
    weighted labels, and every point of ``at`` is one of them. The basis 1, u, u² − skew·u − spread
    in u = t − mean is orthogonal on the window. A line, or a mean, is fitted instead if the points
    do not determine a parabola, or a line: they are too few, or their differences are only rounding
    errors.
    """
    fit = np.empty(len(at))
    for i, (x, h) in enumerate(zip(at.tolist(), width.tolist(), strict=True)):
        near = np.abs(value - x) < h
        fit[i] = _height((value[near] - x) / h, weight[near], label[near])
    return fit


def fit_of(value: Floats, weight: Floats, label: Floats) -> LocalFit:
    """Return `local_quadratics` of these points: call it as ``fit(at, width)``."""
    return partial(local_quadratics, value, weight, label)


def _height(t: Floats, weight: Floats, label: Floats) -> float:
    """Return the height at t = 0 of the parabola fitted to points in −1 < t < 1."""
    size = np.abs(t)
    rest = 1 - size * size * size
    kernel = rest * rest * rest
    k = kernel * weight
    total = k.sum()
    mean, level = (k * t).sum() / total, (kernel * label).sum() / total
    u = t - mean
    residual = kernel * (label - weight * level)
    ku2 = k * u * u
    square = ku2.sum()
    if len(t) < 2 or square <= FLAT**2 * (k * t * t).sum():
        return float(level)
    line = level - (residual * u).sum() / square * mean
    skew, spread = (ku2 * u).sum() / square, square / total
    bend = u * u - skew * u - spread
    left = (k * bend * bend).sum()
    if len(t) < 3 or left <= FLAT**2 * (ku2 * u * u).sum():
        return float(line)
    return float(line + (residual * bend).sum() / left * (mean * mean + skew * mean - spread))
