"""SmoothECE (Blasiok and Nakkiran 2023): the width at which the smoothed residual equals itself.

The smoothed residual varies on the scale of sigma. On a panel no wider than sigma, a polynomial
through 20 Chebyshev points equals it to machine precision. Its sign changes at the real roots, and
between them its absolute value integrates exactly.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev

from .arithmetic import Floats, float_weights, same_shape

REACH = 9.0  # in sigmas: beyond it a Gaussian is below 3e-18 of its peak
NODES = 20
PANELS_AT_ONCE = 25


def smoothed_residual(
    t: float, p: Floats, y: Floats, sigma: float, weights: Floats | None = None
) -> float:
    """Sum of w K(t, p) (p - y) / sum of w, K the Gaussian folded by all reflections at 0 and 1."""
    same_shape(p, y)
    w = float_weights(weights, len(p))
    folds = math.ceil((REACH * sigma + 2.0) / 2.0)
    terms = []
    for i in range(len(p)):
        score = float(p[i])
        for m in range(-folds, folds + 1):
            for image in (2 * m + score, 2 * m - score):
                z = (t - image) / sigma
                terms.append(w[i] * (score - float(y[i])) * math.exp(-0.5 * z * z))
    return math.fsum(terms) / (sigma * math.sqrt(2.0 * math.pi) * math.fsum(w))


def residual_sums(p: Floats, y: Floats, weights: Floats | None = None) -> dict[float, float]:
    """Sum of w (p - y) / sum of all w at each distinct score; those that are 0 are left out."""
    same_shape(p, y)
    w = float_weights(weights, len(p))
    terms: dict[float, list[float]] = {}
    for i in range(len(p)):
        terms.setdefault(float(p[i]), []).append(w[i] * (float(p[i]) - float(y[i])))
    total = math.fsum(w)
    sums = {score: math.fsum(found) / total for score, found in terms.items()}
    return {score: value for score, value in sums.items() if value != 0.0}


def integrated_residual(sums: dict[float, float], sigma: float) -> float:
    """Integral over [0, 1] of the absolute smoothed residual."""
    folds = math.ceil((REACH * sigma + 2.0) / 2.0)
    images = []
    for score, value in sums.items():
        for m in range(-folds, folds + 1):
            for image in (2 * m + score, 2 * m - score):
                if -REACH * sigma <= image <= 1.0 + REACH * sigma:
                    images.append((image, value))
    images.sort()
    at = np.array([image for image, _ in images])
    height = np.array([value for _, value in images]) / (sigma * math.sqrt(2.0 * math.pi))

    count = math.ceil(1.0 / sigma)
    width = 1.0 / count
    near = math.ceil(REACH * sigma / width) + 1
    home = np.floor(at / width).astype(np.int64)
    panels = np.unique(np.concatenate([home + k for k in range(-near, near + 1)]))
    panels = panels[(panels >= 0) & (panels < count)]

    nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    to_coefficients = np.linalg.inv(chebyshev.chebvander(nodes, NODES - 1)).T
    areas: list[float] = []
    for start in range(0, len(panels), PANELS_AT_ONCE):
        block = panels[start : start + PANELS_AT_ONCE]
        t = (block[:, None] + 0.5 + 0.5 * nodes[None, :]) * width
        low, high = np.searchsorted(at, [t.min() - REACH * sigma, t.max() + REACH * sigma])
        z = (t[:, :, None] - at[None, None, low:high]) / sigma
        values = np.exp(-0.5 * z * z) @ height[low:high]
        areas.extend(_absolute_integral(c) for c in values @ to_coefficients)
    return math.fsum(areas) * width / 2.0


def _absolute_integral(c: np.ndarray) -> float:
    """Integral over [-1, 1] of |Chebyshev series c|, split at its real roots."""
    if not np.any(c):
        return 0.0
    antiderivative = chebyshev.chebint(c)
    ends = [-1.0, 1.0]
    # Otherwise the constant term outweighs all the others: no sign change.
    if abs(c[0]) <= math.fsum(abs(v) for v in c[1:]):
        roots = chebyshev.chebroots(chebyshev.chebtrim(c, 1e-15 * np.abs(c).max()))
        # A break too many costs nothing, so nearly real roots (double ones) are taken too.
        ends[1:1] = sorted(r.real for r in roots if abs(r.imag) < 1e-4 and -1 < r.real < 1)
    heights = chebyshev.chebval(np.array(ends), antiderivative)
    return math.fsum(np.abs(np.diff(heights)))


def smooth_ece(p: Floats, y: Floats, weights: Floats | None = None) -> float:
    """The sigma at which the integral equals sigma, by bisection to 1e-12.

    Smoothing more never raises the integral, so there is one such sigma. Residuals that
    cancel at every distinct score give 0.
    """
    sums = residual_sums(p, y, weights)
    if not sums:
        return 0.0
    low, high = 0.0, math.fsum(abs(v) for v in sums.values())
    while high - low > 1e-12:
        sigma = 0.5 * (low + high)
        if integrated_residual(sums, sigma) > sigma:
            low = sigma
        else:
            high = sigma
    return 0.5 * (low + high)
