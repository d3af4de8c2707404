"""SmoothECE: residuals are smoothed until their mean absolute value equals the kernel width."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.estimators.bin_free.smoothing_grid import (
    FEWEST_STEPS,
    GRID,
    NOTHING,
    cosines,
    curve,
    gaussian,
    heights,
    spread,
    spread_residual,
)
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.estimators.ties import TiedScores
from trueup.lens import Pairs

ROUGH_SIZES = (1 << 9, 1 << 12)
ROUGHLY = 1e-3  # of the width: a start for the fine grid
CLOSELY = 1e-13
NOISE = 0.5  # minus the power of the width by which smoothed noise falls
RESOLVED = 8  # steps of a grid to the width of a kernel: enough for a start
FINE = 64  # enough for areas right to 1e-10
FINE_TO_COMPARE, CLOSE_TO_COMPARE = 16, 1e-7  # enough where resamples are compared


@dataclass(frozen=True, repr=False)
class SmoothError(PairsEstimator):
    r"""Smooth calibration error: no bins, no tuning parameters (Błasiok & Nakkiran 2023).

    The error is the only :math:`\sigma` with
    :math:`\int_0^1 |\frac1W\sum_i w_i K_\sigma(t, p_i)(p_i - y_i)|\,dt = \sigma`, where K is the
    Gaussian of width σ, reflected at 0 and 1. The left side never increases with σ.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own width, and the widths
        are averaged.

    Notes
    -----
    Use it if scores change a little from run to run: unlike a binned error, it never jumps. It
    measures a distance to calibration, not an average of |p − P(y = 1 | p)|: errors of opposite
    sign within σ of each other cancel. Sampling noise biases it upward, to about 0.3 n^(-1/3) for
    calibrated uniform scores (0.066 for n = 100, 0.014 for 10,000, 0.003 for a million).

    `measure` notes σ (``bandwidth``). The table is a `Curve` of the ``density`` of scores, the
    ``mean_label`` (NaN if no score is near) and the ``gap``, all smoothed by σ. The gap is the
    smoothed sum of w (y − p) divided by Σw: it is below 0 where the model overpredicts.

    Rows are spread over a grid of 2¹⁴ steps. The value is within 1e-10 of the exact one if it is
    0.01 or more, within 1e-8 for 0.001, 1e-6 for 0.0001, and 1e-5 for smaller values. Residuals
    that cancel at every point give 0. Cost: one pass over the data and about fifteen transforms of
    a fixed size.

    References
    ----------
    Błasiok & Nakkiran 2023, "Smooth ECE: principled reliability diagrams via kernel smoothing".

    Examples
    --------
    >>> round(SmoothError()([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    """

    of_residuals: ClassVar[bool] = True

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Find the width that fits one set of pairs."""
        sums = spread(pairs)
        residual, width = _coefficients_and_width(sums.residual)
        size = _steps(max(FEWEST_STEPS, NOTHING / max(width, 1 / GRID)))
        factors = gaussian(width, size)
        parts = (cosines(sums.weight), cosines(sums.label), residual)
        density, label, left = (heights(part[: size + 1] * factors) for part in parts)
        table = curve(width, density, label, gap=0.0 - left)  # a difference, so that no gap is −0.0
        return Part(width, table, {"bandwidth": width})

    def power_of_pairs(self, pairs: Pairs) -> float:
        """Find the width alone, which needs a third of the additions and no curve."""
        return _coefficients_and_width(spread_residual(pairs))[1]

    def power_of_ties(self, ties: TiedScores) -> float:
        """Find the width alone, to six digits."""
        residual = engine.grid.spread_terms(ties.value, ties.count_residual, GRID, ties.room)
        residual /= float(ties.total)
        most = float(np.abs(residual).sum())
        return fixed_point(cosines(residual), most, FINE_TO_COMPARE, CLOSE_TO_COMPARE)


def _coefficients_and_width(residual: Floats) -> tuple[Floats, float]:
    coefficients = cosines(residual)
    return coefficients, fixed_point(coefficients, float(np.abs(residual).sum()))


def fixed_point(residual: Floats, most: float, fine: float = FINE, closely: float = 0.0) -> float:
    """Return the kernel width that equals the absolute area left after smoothing with it.

    ``residual`` holds the cosine coefficients of the residuals. The area is at most ``most``, the
    area without smoothing, and at least the absolute value of the total. A wide kernel removes the
    higher cosines, so that a coarse grid is sufficient; coarse grids also provide the starting
    value for a fine one.
    """
    least = min(abs(float(residual[0])), most)

    @cache  # the fine grid starts where a coarse one ended, and may be the same
    def area(size: int, width: float) -> float:
        return engine.grid.absolute_area(heights(residual[: size + 1] * gaussian(width, size)))

    width = least
    for size in ROUGH_SIZES:
        width = meeting_point(partial(area, size), width, least, most, ROUGHLY)
        if size * width >= RESOLVED:
            break
    finest = _steps(fine / max(width, 1 / GRID))
    return meeting_point(partial(area, finest), width, least, most, closely)


def meeting_point(
    falling: Callable[[float], float], x: float, least: float, most: float, roughly: float = 0.0
) -> float:
    """Return the x with falling(x) = x, for a positive function that never increases.

    The solution lies between x and falling(x), which bound the error. Between two points the
    function is approximated by a power of x; for pure noise it is one, with exponent −1/2. If a
    step does not halve the bracket, the next one does.
    """
    exponent, value = NOISE, falling(x)
    while abs(value - x) > (within := CLOSELY + roughly * x):
        before = most - least
        least, most = max(least, min(x, value)), min(most, max(x, value))
        if most - least <= within:
            return 0.5 * (least + most)
        following = 0.0
        if x > 0 and value > 0:
            following = x * (value / x) ** (1 / (1 + exponent))
        inside = least <= following <= most and following != x
        if not inside or most - least > 0.5 * before:
            following = 0.5 * (least + most)
        next_value = falling(following)
        if min(x, value, next_value) > 0 and value != next_value:
            exponent = max(0.0, -math.log(next_value / value) / math.log(following / x))
        x, value = following, next_value
    return x


def _steps(wanted: float) -> int:
    """Return the smallest power of two that is at least a number of steps, within the grid."""
    return min(GRID, 1 << math.ceil(math.log2(wanted)))
