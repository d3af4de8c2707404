"""Calibration error by kernel density estimates (Zhang et al. 2020), on a fixed grid."""

from __future__ import annotations

import math

import numpy as np

from .arithmetic import Floats, float_weights, same_shape


def triweight(distance: np.ndarray, h: float) -> np.ndarray:
    """The triweight density of standard deviation h: 35/32 (1 - u^2)^3 / (3h), u = d / (3h)."""
    u = distance / (3.0 * h)
    return np.where(np.abs(u) < 1.0, 35.0 / 32.0 * (1.0 - u * u) ** 3 / (3.0 * h), 0.0)


def folded_triweight(x: np.ndarray, p: float, h: float) -> np.ndarray:
    """The kernel around p and around each of its mirror images in 0 and 1, at points x."""
    reach = math.ceil((3.0 * h + 1.0) / 2.0)
    total = np.zeros(len(x))
    for m in range(-reach, reach + 1):
        total += triweight(x - (2 * m + p), h) + triweight(x - (2 * m - p), h)
    return total


def weighted_std(p: Floats, w: Floats) -> float:
    """Population standard deviation; exactly 0 where all rows of positive weight tie."""
    rows = [i for i in range(len(p)) if w[i] > 0]
    if len({float(p[i]) for i in rows}) < 2:
        return 0.0
    mass = math.fsum(w[i] for i in rows)
    mean = math.fsum(w[i] * float(p[i]) for i in rows) / mass
    return math.sqrt(math.fsum(w[i] * (float(p[i]) - mean) ** 2 for i in rows) / mass)


def kde_bandwidth(p: Floats, y: Floats, weights: Floats | None = None) -> float:
    """Spread of the positives (else of all scores) times (2n)^(-1/5); 0 if the scores all tie."""
    w = float_weights(weights, len(p))
    n = math.fsum(w) ** 2 / math.fsum(v * v for v in w)
    spread = weighted_std(p, [w[i] * float(y[i]) for i in range(len(p))])
    if spread == 0.0:
        spread = weighted_std(p, w)
    return spread * (2.0 * n) ** -0.2


def ece_kde(
    p: Floats,
    y: Floats,
    norm: float = 1,
    weights: Floats | None = None,
    bandwidth: float | None = None,
    grid: int = 16384,
) -> float:
    """(integral of |x - g/f|^norm f / integral of f)^(1/norm), trapezoid rule on j / grid.

    f is the density of the scores, g the share of positives times the density of theirs. A
    label between 0 and 1 is that share of a positive. Where f = 0 nothing is added.
    """
    same_shape(p, y)
    w = float_weights(weights, len(p))
    mass = math.fsum(w)
    rule = kde_bandwidth(p, y, weights)
    if bandwidth is None and rule == 0.0:
        return abs(float(p[0]) - math.fsum(w[i] * float(y[i]) for i in range(len(p))) / mass)
    h = max(rule if bandwidth is None else float(bandwidth), 4.0 / grid)
    x = np.arange(grid + 1) / grid
    f, g = np.zeros(grid + 1), np.zeros(grid + 1)
    for i in range(len(p)):
        bump = folded_triweight(x, float(p[i]), h) * (w[i] / mass)
        f += bump
        g += bump * float(y[i])
    gaps, heights = [], []
    for j in range(grid + 1):
        step = (0.5 if j in (0, grid) else 1.0) / grid
        if f[j] > 0.0:
            if norm == 1:
                gaps.append(step * abs(x[j] * f[j] - g[j]))
            else:
                gaps.append(step * abs(x[j] - g[j] / f[j]) ** norm * f[j])
            heights.append(step * f[j])
    return (math.fsum(gaps) / math.fsum(heights)) ** (1.0 / norm)
