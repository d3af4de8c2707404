"""Sums over rows, smoothed along the score: a fixed grid and its cosine transform.

Rows are spread onto the points j/GRID of [0, 1] (`Engine.spread`: cubic B-splines, reflected at
both ends); the grid is then smoothed, whatever the number of rows. With infinitely many reflections
at 0 and 1, sums on a grid are a series of cosines cos(πkx), and smoothing by an even kernel with
all its reflections multiplies each cosine by a number.

The B-splines also smooth, with a variance of 1/(3·GRID²). This variance is subtracted from that of
a Gaussian kernel, which keeps densities positive down to widths of one step; for a triweight
kernel, the effect of the B-splines is divided out. The remaining error for a kernel of width σ is
of order (GRID·σ)⁻⁴. With 2¹⁴ points, σ = 0.01 is 164 steps; the width of SmoothECE for a million
calibrated rows, 0.003, is 49 steps. The table of sums stays in the second-level cache, and its
transform takes 0.15 ms; with more points, the grid would cost more time than the rows.
"""

from __future__ import annotations

import math

import numpy as np

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.engines.types import Spread
from trueup.lens import Pairs
from trueup.tables import Curve

GRID = 1 << 14
SPLINE_VARIANCE = 1 / (3 * GRID**2)
NOTHING = 2.9  # exp(−(2.9π)²/2) is below 1e-18
VANISHING = 1e-9  # a density this small, relative to its largest value, is rounding
FEWEST_STEPS, MOST_STEPS = 1 << 8, 1 << 10  # of a curve that is shown


def spread(pairs: Pairs) -> Spread:
    """Return sums of w, wy and w(p − y) on the grid, divided by Σw."""
    sums, total = engine.grid.spread(pairs.p, pairs.y, pairs.w, GRID), _weight(pairs)
    return Spread(*(column / total for column in sums))


def spread_residual(pairs: Pairs) -> Floats:
    """Return sums of w(p − y) on the grid, divided by Σw, bit-for-bit identical to `spread`."""
    return engine.grid.spread_residual(pairs.p, pairs.y, pairs.w, GRID) / _weight(pairs)


def _weight(pairs: Pairs) -> float:
    return float(len(pairs) if pairs.w is None else pairs.w.sum())


def cosines(sums: Floats) -> Floats:
    """Return Σ_j s_j cos(πkj/GRID) for k = 0 … GRID, from sums on the grid."""
    from scipy.fft import dct

    mirrored = sums.copy()
    mirrored[[0, -1]] *= 2  # the ends are their own mirror images
    coefficients: Floats = dct(mirrored, type=1)
    coefficients *= 0.5
    return coefficients


def heights(coefficients: Floats) -> Floats:
    """Return values at j/m, j = 0 … m, of the series c_0 + 2 Σ_k c_k cos(πkx), from c_0 … c_m.

    For sums on the grid these are densities. The first few coefficients give fewer points, with the
    same values if the other coefficients are negligible.
    """
    from scipy.fft import dct

    values: Floats = dct(coefficients, type=1)
    return values


def gaussian(width: float, size: int) -> Floats:
    """Return factors of the cosines 0 … size for a Gaussian with this standard deviation."""
    narrowed = math.sqrt(max(width * width - SPLINE_VARIANCE, 0.0))
    last = size if size * narrowed < NOTHING else int(NOTHING / narrowed)
    exponent = (math.pi * narrowed) * np.arange(last + 1)
    factors = np.zeros(size + 1)
    np.exp(-0.5 * exponent * exponent, out=factors[: last + 1])
    return factors


def triweight(width: float) -> Floats:
    """Return factors of all cosines for a triweight kernel of this standard deviation (≥ 4/GRID).

    The effect of the B-splines on each cosine is divided out. A narrower triweight kernel combined
    with them would have the right variance but, unlike a Gaussian, not the right shape. Below four
    steps the result would oscillate.
    """
    reach = 3 * width
    distance = np.arange(GRID + 1) / GRID
    kernel = np.zeros(GRID + 1)
    folds = math.ceil((reach + 1) / 2)
    for fold in range(-folds, folds + 1):
        kernel += np.maximum(1 - ((distance + 2 * fold) / reach) ** 2, 0) ** 3
    kernel[[0, -1]] *= 0.5  # half of each lies beyond the end
    factors = cosines(kernel)
    factors /= factors[0] * np.sinc(distance / 2) ** 4
    return factors


def curve(width: float, density: Floats, label: Floats, **others: Floats) -> Curve:
    """Return heights at even steps as a curve of 257 to 1025 points, more for small widths.

    ``mean_label`` is NaN if no score is near, because it would be a ratio of rounding errors.
    """
    size = len(density) - 1
    wanted = min(max(math.ceil(1 / max(width, 1 / GRID)), FEWEST_STEPS), MOST_STEPS)
    some = slice(None, None, max(1, size >> (wanted - 1).bit_length()))
    density, label = np.maximum(density[some], 0), label[some]
    mean_label = np.full(len(density), np.nan)
    np.divide(label, density, out=mean_label, where=density > VANISHING * density.max())
    columns = {
        "score": np.arange(len(density)) / (len(density) - 1),
        "density": density,
        "mean_label": np.clip(mean_label, 0, 1),
    }
    return Curve(columns | {name: column[some] for name, column in others.items()})
