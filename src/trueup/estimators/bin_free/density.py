"""Calibration error by kernel density estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import is_number
from trueup.engines.blocks import row_blocks
from trueup.errors import must_be
from trueup.estimators.base import check_norm
from trueup.estimators.bin_free.smoothing_grid import (
    GRID,
    cosines,
    curve,
    heights,
    spread,
    triweight,
)
from trueup.estimators.pairs_estimator import PairsEstimator, Part
from trueup.lens import Pairs
from trueup.tables import Curve

NARROWEST = 4 / GRID
PRESENT = 1e-6  # of the largest density: the worst gap is sought among scores that occur


@dataclass(frozen=True, repr=False)
class DensityError(PairsEstimator):
    r"""Calibration error from kernel density estimates (Zhang, Kailkhura & Han 2020).

    :math:`(\int_0^1 |x - g(x)/f(x)|^p f(x)\,dx \,/ \int_0^1 f(x)\,dx)^{1/p}`, where f is the
    density of the scores and g the density of the positive rows times their fraction. So g/f is the
    rate of positives near x, and for p = 1 the error is :math:`\int |x f - g|`. The kernel is
    triweight with standard deviation h (it ends 3h away), reflected at 0 and 1. Integrals use the
    trapezoid rule on the points j/2¹⁴.

    Parameters
    ----------
    lens : Lens, optional
        The part of a prediction to measure. The default is `Binary` for 1-D probabilities
        and `TopLabel` for a matrix. With `ClassWise` every class has its own bandwidth.
    norm : float, default 1
        p ≥ 1, or ``math.inf`` for the largest |x − g/f| where f is above a millionth of its largest
        value.
    bandwidth : float, optional
        h, above 0 and at most 1. The default is the rule of the authors: the (population) standard
        deviation of the scores of positive rows times (2n)^(-1/5), where n is the number of rows,
        or (Σw)²/Σw² with weights. If it is 0, the standard deviation of all scores is used. If that
        is 0 too, all scores are equal, and the error is their distance to the mean label.

    Notes
    -----
    Use it to compare with published numbers. It is not 0 for a calibrated model: smoothing bends
    the curve, most of all at 0 and 1, and sampling noise adds to it. The bandwidth rule is made for
    bell-shaped scores and oversmooths concentrated ones. In the ten simulated models that Roelofs
    et al. fitted to networks, the L1 error is too low by 0.3 to 1 percentage points for 800 rows or
    more, and more rows hardly help. From 3,200 rows on, it is less accurate than `ece` and
    `ece_sweep` in each of them.

    In resnet110_c10 (true error 5.84 points) the biases for n = 200, 800, 3200 and 10,000 are −0.2,
    −0.3, −0.3, −0.3. The biases of `ece` are +0.5, +0.25, +0.1 and 0.0, and those of `ece_sweep`
    are 0.0. The L2 biases (true error 10.71) are +1.8, +0.2, −0.5 and −0.9. Their absolute values
    are always larger than for `rmsce_sweep`, and from 800 rows on smaller than for `rmsce` (−2.5
    for 10,000 rows).

    `measure` notes h (``bandwidth``), which is never below 4/2¹⁴. The table is a `Curve` of the
    ``density`` f and the ``mean_label`` g/f. Values agree with exact sums over rows to 1e-10 for h
    ≥ 0.01, to 1e-6 for h = 0.001 and to 2e-5 for the smallest h. The largest gap, often at the edge
    of a kernel where f is small, agrees to 1e-4 for h ≥ 0.01. Cost: three passes over the data and
    five transforms of a fixed size.

    References
    ----------
    Zhang, Kailkhura & Han 2020, "Mix-n-Match: ensemble and compositional methods for uncertainty
    calibration in deep learning"; Roelofs et al. 2022, §5.2.

    Examples
    --------
    >>> round(DensityError()([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1]), 4)
    0.2644
    """

    norm: float = 1
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_norm(self.norm)
        given = self.bandwidth
        if given is not None and not (is_number(given) and 0 < given <= 1):
            raise must_be("bandwidth", "a number above 0 and at most 1, or None", given)

    def measure_pairs(self, pairs: Pairs) -> Part:
        """Compare the densities of one set of pairs."""
        width = _rule_of_thumb(pairs) if self.bandwidth is None else float(self.bandwidth)
        if width == 0:
            return self._of_one_score(pairs)
        width, sums = max(width, NARROWEST), spread(pairs)
        factors = triweight(width)
        f = np.maximum(heights(cosines(sums.weight) * factors), 0)
        f[~_within_reach(sums.weight, width)] = 0
        g = np.clip(heights(cosines(sums.label) * factors), 0, f)
        return Part(_power(f, g, self.norm), curve(width, f, g), {"bandwidth": width})

    def _of_one_score(self, pairs: Pairs) -> Part:
        """Return the estimate if all scores are equal, so that there is no density."""
        score = float(pairs.p[0])
        label = float(np.average(pairs.y.astype(np.float64), weights=pairs.w))
        gap = abs(score - label)
        columns = {"score": score, "density": math.nan, "mean_label": label}
        table = Curve({name: np.array([value]) for name, value in columns.items()})
        power = gap if math.isinf(self.norm) else gap**self.norm
        return Part(power, table, {"bandwidth": 0.0})


def _within_reach(weight: Floats, width: float) -> NDArray[np.bool_]:
    """Return which points are within 3h of a score; elsewhere f is exactly 0."""
    steps, points = int(3 * width * GRID), np.arange(GRID + 1)
    taken = np.append(0, np.cumsum(weight > 0))
    up_to, before = np.minimum(points + steps, GRID) + 1, np.maximum(points - steps, 0)
    return np.asarray(taken[up_to] > taken[before])


def _power(f: Floats, g: Floats, norm: float) -> float:
    """Return ∫|x − g/f|^p f dx / ∫f dx by the trapezoid rule, or the largest |x − g/f|."""
    x = np.arange(GRID + 1) / GRID
    if math.isinf(norm):
        present = f > PRESENT * f.max()
        return float(np.abs(x[present] - g[present] / f[present]).max())
    gap = np.abs(x - g / np.where(f > 0, f, 1))
    return _trapezoid(gap**norm * f) / _trapezoid(f)


def _trapezoid(values: Floats) -> float:
    return float(values.sum() - 0.5 * (values[0] + values[-1]))


def _rule_of_thumb(pairs: Pairs) -> float:
    """Return the standard deviation of the positives' scores (if 0, of all) times (2n)^(-1/5)."""
    n = float(len(pairs))
    if pairs.w is not None:
        n = float(pairs.w.sum() ** 2 / np.square(pairs.w).sum())
    deviation = _deviation(pairs, True) or _deviation(pairs, False)
    return deviation * math.pow(2 * n, -0.2)


def _deviation(pairs: Pairs, of_positives: bool) -> float:
    """Return the population standard deviation of scores, weighted by labels on request.

    Deviations are taken from one of the scores, so that the result is exactly 0 if all are equal.
    """
    first = next((p[w > 0][0] for p, w in _blocks(pairs, of_positives) if w.any()), None)
    if first is None:
        return 0.0
    total = moment = square = 0.0
    for p, w in _blocks(pairs, of_positives):
        total += float(w.sum())
        moment += float((w * (p - first)).sum())
    for p, w in _blocks(pairs, of_positives):
        square += float((w * np.square(p - first - moment / total)).sum())
    return math.sqrt(square / total)


def _blocks(pairs: Pairs, of_positives: bool) -> Iterator[tuple[Floats, Floats]]:
    """Yield scores and weights, one block of rows at a time."""
    for part in row_blocks(len(pairs), 4):
        p = pairs.p[part].astype(np.float64)
        w = np.ones(len(p)) if pairs.w is None else pairs.w[part]
        yield p, w * pairs.y[part] if of_positives else w
