"""A temperature fitted to log loss and kernel calibration error."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup.checks import is_number
from trueup.errors import must_be
from trueup.estimators import MMCE
from trueup.lens import Pairs
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.scaling.temperature import (
    NOT_BETTER,
    InverseTemperature,
    LossCurve,
    TemperatureScaling,
    fit_inverse_temperature,
)
from trueup.recalibrate.score_forms import FitData

GRID = 16
PRECISION = 1e-8  # of log T
FURTHEST = 60  # doublings


@with_parameters
class MMCEScaling(TemperatureScaling):
    r"""Temperature scaling fitted to log loss plus λ·MMCE.

    :math:`\mathrm{softmax}(z/T)` with the T > 0 that minimizes log loss :math:`+\,λ\,\mathrm{MMCE}`
    on the fit data. MMCE is the maximum mean calibration error of the predicted class (`MMCE`,
    Laplacian kernel). Kumar, Sarawagi & Jain train networks with this sum; Luo et al. use it as a
    baseline of recalibration. Like `TemperatureScaling` it keeps the order of classes, needs a few
    hundred rows and corrects only a confidence that is too high or too low everywhere; the outputs
    of both are usually very similar. Use it if the confidence of the predicted class matters more
    than the log loss.

    Parameters
    ----------
    mmce_weight : float
        λ ≥ 0. The default 1 is trueup's choice; Luo et al. do not state theirs. With 0 it
        is `TemperatureScaling`.
    bandwidth : float
        Bandwidth of the kernel (default 0.4, as in the paper).
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    temperature_
        T.
    mmce_
        MMCE on the fit data, at T.

    Notes
    -----
    MMCE is biased upward by about :math:`0.4\,n^{-1/2}`, whatever T is. The sum is not convex in T.
    The log loss is convex in 1/T, and MMCE is not negative. At the minimum of the sum, the log loss
    therefore exceeds its own minimum by at most λ times the MMCE at the best temperature by log
    loss. Values of T whose log loss is above that of T = 1 are excluded as well. The remaining
    range is searched on a grid and then around its best point, with fifty to eighty passes over the
    logits in total. The best temperature by log loss alone is among the candidates. If there is
    none, the notes and bounds are those of `TemperatureScaling`.

    References
    ----------
    Kumar, Sarawagi & Jain 2018, "Trainable calibration measures for neural networks from kernel
    mean embeddings".
    Luo, Bhatnagar, Bai, Zhao, Wang, Xiong, Savarese, Ermon, Schmerling & Pavone 2022, "Local
    calibration: metrics and recalibration".

    Examples
    --------
    >>> logits = [[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]]
    >>> scaling = MMCEScaling(logits=True).fit(logits, [0, 1, 0, 0])
    >>> round(scaling.temperature_, 4), round(scaling.mmce_, 4)
    (3.641, 0.0)
    """

    use: ClassVar[str] = (
        "Temperature scaling with weight on the calibration of the predicted class."
    )
    instead: ClassVar[str] = "TemperatureScaling, which optimizes log loss alone."

    mmce_weight: float = 1.0
    bandwidth: float = 0.4

    def _check(self) -> None:
        if not is_number(self.mmce_weight) or not 0 <= self.mmce_weight < math.inf:
            raise must_be("mmce_weight", "a finite number of at least 0", self.mmce_weight)
        MMCE(bandwidth=self.bandwidth)  # which says what a bandwidth must be

    def _fit(self, data: FitData) -> tuple[float, float]:
        curve = LossCurve.of(data)
        start = fit_inverse_temperature(curve)
        right = np.asarray(data.scores.top() == data.labels)
        search = _Search(curve, right, float(self.mmce_weight), MMCE(bandwidth=self.bandwidth))
        best = search.best(start)
        self.temperature_ = 1 / best.inverse
        self.mmce_ = best.mmce
        self.notes_.extend([start.note] if start.note else [])
        return start.before, best.loss


class _Sum(NamedTuple):
    """The two terms at one inverse temperature, and their sum."""

    value: float
    inverse: float
    loss: float
    mmce: float


class _Search:
    """Search for the minimum of the sum of both terms over inverse temperatures."""

    def __init__(
        self, curve: LossCurve, right: NDArray[np.bool_], weight: float, mmce: MMCE
    ) -> None:
        self.curve, self.right, self.weight, self.mmce = curve, right, weight, mmce

    def best(self, start: InverseTemperature) -> _Sum:
        from scipy.optimize import minimize_scalar

        first = self.at(start.best.inverse)
        if self.weight == 0 or start.best.curvature <= 0:
            return first
        most = min(start.before, first.value)  # of the log loss, at the minimum of the sum
        low = self.edge(start, most, 0.5) if start.note != NOT_BETTER else start.best.inverse
        high = self.edge(start, most, 2.0) if not start.best.all_right else start.best.inverse
        grid = np.linspace(math.log(low), math.log(high), GRID + 1)
        tried = [first, *(self.at(math.exp(x)) for x in grid)]
        allowed = min(sum_ for sum_ in tried if sum_.loss <= most)
        x, step = math.log(allowed.inverse), grid[1] - grid[0]

        def value(x: float) -> float:
            tried.append(self.at(math.exp(x)))
            # Beyond what is allowed the sum goes on, steeper, so that the search turns back.
            beyond = max(0.0, tried[-1].loss - most)
            return tried[-1].value + 2 * self.weight * math.sqrt(beyond)

        bounds = (max(x - step, grid[0]), min(x + step, grid[-1]))
        if bounds[0] < bounds[1]:
            minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": PRECISION})
        return min(sum_ for sum_ in tried if sum_.loss <= most)

    def at(self, inverse: float) -> _Sum:
        rows = self.curve.rows(inverse)
        loss = self.curve.point(rows, inverse).loss
        pairs = Pairs(1 / rows.total, self.right, self.curve.weights)
        mmce = math.sqrt(self.mmce.power_of_pairs(pairs))
        return _Sum(loss + self.weight * mmce, inverse, loss, mmce)

    def edge(self, start: InverseTemperature, most: float, factor: float) -> float:
        """Move up or down from the minimum of the log loss until it is above ``most``."""
        inverse = start.best.inverse
        for _ in range(FURTHEST):
            inverse *= factor
            if self.curve.at(inverse).loss > most:
                break
        return inverse
