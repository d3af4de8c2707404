r"""Distribution of the extremes of Brownian motion W, the limit of running sums of score − label.

In a calibrated model the terms of such a sum are independent with mean 0. If time is the fraction t
of the variance V of the whole sum, it behaves like :math:`\sqrt V W(t)`. The last value is random,
unlike that of a Brownian bridge.
"""

from __future__ import annotations

import math

from scipy.special import ndtr

NEGLIGIBLE = 9.0  # a normal variable beyond this adds less than 1e-18
CERTAIN_DISTANCE, CERTAIN_RANGE = 0.15, 0.3  # below these, both tails differ from 1 by under 1e-20


def tail_of_distance(x: float) -> float:
    r"""Return P(max \|W\| ≥ x).

    By the reflection principle it is :math:`4 \sum_{k \ge 0} (-1)^k P(Z \ge (2k + 1) x)`.

    >>> round(tail_of_distance(2.2414), 4)
    0.05
    """
    if x < CERTAIN_DISTANCE:
        return 1.0
    last = int(NEGLIGIBLE / x)
    odd = range(1, last + 3, 2)
    terms = [(-1) ** (k // 2) * float(ndtr(-k * x)) for k in odd]
    return min(1.0, 4 * math.fsum(terms))


def tail_of_range(x: float) -> float:
    r"""Return P(max W − min W ≥ x), from the density of Feller 1951.

    It is :math:`8 \sum_{k \ge 1} (-1)^{k - 1} k P(Z \ge k x)`.

    >>> round(tail_of_range(2.4977), 4)
    0.05
    """
    if x < CERTAIN_RANGE:
        return 1.0
    last = int(NEGLIGIBLE / x)
    terms = [(-1) ** (k - 1) * k * float(ndtr(-k * x)) for k in range(1, last + 2)]
    return min(1.0, 8 * math.fsum(terms))
