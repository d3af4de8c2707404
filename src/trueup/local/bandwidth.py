"""The bandwidth γ of a local error, which sets the size of a neighborhood."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueup.checks import is_number
from trueup.errors import must_be

WITHIN = np.finfo(np.float64)

KERNELS = ("laplacian", "gaussian")
FEW, MANY = 3, 50
NARROW, WIDE = 0.2, 0.4


def default_bandwidth(n_dims: int, kernel: str = "laplacian") -> float:
    r"""Return a bandwidth between the individual and the global error, for standardized features.

    Luo et al. 2022 read 0.2 for 3-D and 0.4 for 50-D features off a plot of the largest error
    against γ, in the middle between its two limits. Here it is 0.2 up to 3 dimensions, 0.4 from 50
    on, and linear in log d between them (trueup's choice):
    :math:`0.2 + 0.2\,\log(d/3) / \log(50/3)`. The Laplacian divides distances by d·γ; the Gaussian
    divides by γ alone, and gets this number times √d. Use it as a starting value, and see
    `mlce_over_bandwidths`.

    >>> [round(default_bandwidth(d), 3) for d in (1, 2, 3, 20, 50, 2048)]
    [0.2, 0.2, 0.2, 0.335, 0.4, 0.4]
    """
    inside = min(max(n_dims, FEW), MANY)
    rule = NARROW + (WIDE - NARROW) * math.log(inside / FEW) / math.log(MANY / FEW)
    return rule * math.sqrt(n_dims) if kernel == "gaussian" else rule


def scale_of(bandwidth: float, n_dims: int, kernel: str) -> float:
    """Return the divisor of distances: d·γ for the Laplacian, γ for the Gaussian kernel."""
    return bandwidth if kernel == "gaussian" else n_dims * bandwidth


def check_bandwidth(bandwidth: object) -> None:
    """Raise InputError unless a value is a number above 0, infinity included, or None."""
    known = is_number(bandwidth)
    if bandwidth is not None and not (known and bandwidth > 0):  # type: ignore[operator]
        raise must_be("bandwidth", "a number above 0, or None", bandwidth)


def checked_bandwidths(bandwidths: Any, or_none: bool = False) -> list[Any]:
    """Return a list of numbers above 0, some of which may be None if that is allowed."""
    try:
        found = [] if isinstance(bandwidths, str) else list(bandwidths)
    except TypeError:
        found = []
    good = [one is None if or_none and one is None else is_number(one) and one > 0 for one in found]
    if not found or not all(good):
        rule = "a list of numbers above 0" + (", or None for the rule of thumb" if or_none else "")
        raise must_be("bandwidths", rule, bandwidths)
    return found


def steepness(scale: float, kernel: str) -> float:
    """Return 1/h of the Laplacian or 1/(2γ²) of the Gaussian kernel.

    It is never 0 or infinite, however large or small the scale, so 0 times it is 0, and infinity
    times it is infinite.
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        exact = np.float64(0.5) / scale / scale if kernel == "gaussian" else 1 / np.float64(scale)
    return float(min(max(exact, WITHIN.tiny), WITHIN.max))
