r"""Tails of weighted sums of chi-squares, the limit of kernel statistics of calibrated models.

With :math:`T = \sum_k \lambda_k (Z_k^2 - 1) + \sigma Z_0` the log of :math:`E\,e^{sT}` is
:math:`K(s) = \sum_k [-\tfrac12 \log(1 - 2 \lambda_k s) - \lambda_k s] + \tfrac12 \sigma^2 s^2` and
:math:`P(T \ge t) = \frac{1}{2 \pi i} \int e^{K(s) - st} \frac{ds}{s}` along any path that crosses
the real axis between 0 and the first pole. If the path goes through the saddle point, where K'(s) =
t, the integrand is largest there and decreases in both directions. Nothing cancels then, however
small the tail probability is.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from trueup._typing import Floats

STEPS = 500  # of the upper half of the path
FARTHEST = 12.0  # its end is sinh of this, in units of the width of the peak
LEAST = 0.3  # distance of the crossing from the pole at 0, in units of the standard deviation


def tail_of_form(values: Floats, t: float, variance: float = 0.0) -> float:
    """Return P(T ≥ t) for the weights ``values`` and a normal part of this variance.

    >>> round(tail_of_form(np.ones(3), 7.814728 - 3), 6)
    0.05
    """
    values = values[values != 0]
    deviation = math.sqrt(2 * float(np.sum(values**2)) + variance)
    if deviation == 0:
        return 1.0 if t <= 0 else 0.0
    values, t, variance = values / deviation, t / deviation, variance / deviation**2
    if variance == 0:
        form = t + float(values.sum())  # what Σ λ Z² must reach
        if form <= 0:
            return 1.0 - _tail(-values, -t, 0.0) if (values < 0).any() else 1.0
        if not (values > 0).any():
            return 0.0
    return _tail(values, t, variance)


def leading_distance(values: Floats, t: float, variance: float = 0.0) -> float:
    """Return the typical size of the normal variable of the largest weight, given T ≥ t.

    It is the root of the mean of its square under the measure that is tilted to t.
    """
    deviation = math.sqrt(2 * float(np.sum(values**2)) + variance)
    largest = float(values.max(initial=0.0))
    if t <= 0 or largest <= 0:
        return 0.0
    s = _saddle(values / deviation, t / deviation, variance / deviation**2)
    return 1 / math.sqrt(1 - 2 * largest / deviation * s)


def _tail(values: Floats, t: float, variance: float) -> float:
    """Return P(T ≥ t) if T has standard deviation 1 and takes values on both sides of t."""
    crossing = max(LEAST, _saddle(values, t, variance))
    shrunk = values / (1 - 2 * values * crossing)
    second = 2 * float(np.sum(shrunk**2)) + variance
    third = 8 * float(np.sum(shrunk**3))
    # The path of steepest descent bends to the right, where exp(−st) decreases. With a normal part
    # it stays upright, because exp(σ²s²/2) increases to the right.
    bend = max(0.0, third / (6 * second)) if variance == 0 else 0.0
    u = np.linspace(0, FARTHEST, STEPS)
    width = 1 / math.sqrt(second)
    y, slope = width * np.sinh(u), width * np.cosh(u)
    s = crossing + bend * y**2 + 1j * y
    exponent = variance * s**2 / 2 - s * t
    for value in values:
        exponent -= np.log(1 - 2 * value * s) / 2 + value * s
    with np.errstate(under="ignore"):
        terms = (np.exp(exponent) / s * (2 * bend * y + 1j) * slope).imag
    total = float(terms.sum() - terms[0] / 2) * float(u[1])
    return min(1.0, max(0.0, total / math.pi))


def _saddle(values: Floats, t: float, variance: float) -> float:
    """Return the s at which K'(s) = t, or 0 if it is not positive."""

    def away(s: float) -> float:
        return float(np.sum(values * (1 / (1 - 2 * values * s) - 1))) + variance * s - t

    if t <= 0:
        return 0.0
    largest = float(values.max(initial=0.0))
    high = (1 - 1e-13) / (2 * largest) if largest > 0 else 1.0
    while largest <= 0 and away(high) < 0:
        high *= 2
    return float(brentq(away, 0.0, high)) if away(high) > 0 else high
