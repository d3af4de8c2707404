"""Temperature scaling: one number for all logits; the log loss is convex in its inverse β."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.engines.types import Tempered
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.score_forms import FitData, Scores

TOLERANCE = 1e-10  # of the derivative of the mean log loss by log β
MOST_STEPS = 100
LARGEST_FACTOR = 10.0  # by which β changes without a look at the size of logits
MOST_BEND = 100.0  # of a parabola: its root is trusted to be this near
ROUNDED_AWAY = 1e-7  # points so near to each other say nothing about the bend
SMALLEST_SPREAD = 1e-150  # of logits: squares of smaller ones are 0
LEAST_SPREAD = 1e-3  # standard deviation of the logits of a row that β may leave
STARTING_ENTRIES = 1 << 20  # of a larger matrix, some rows say where to start
ALL_BUT_INFINITE = 1e200  # times any difference of logits: its exponential is 0

SAME_SCORES = "the scores within each row are equal, so every temperature gives the same output"
ALL_RIGHT = (
    "every prediction is correct, so log loss keeps decreasing as the temperature goes to 0; it "
    "was lowered until the mean log loss was log((n + 2)/(n + 1)), with n the total weight"
)
ALL_RIGHT_AS_IT_IS = (
    "every prediction is correct, so log loss keeps decreasing as the temperature goes to 0; it "
    "was left at 1, where the mean log loss is already below log((n + 2)/(n + 1)), with n the "
    "total weight"
)
NOT_BETTER = (
    "the scores are no better than chance, so log loss keeps decreasing as the temperature grows; "
    "it was raised until the root mean square of the standard deviation of the logits of a row was "
    f"at most {LEAST_SPREAD:g}"
)


class TemperatureScaling(Recalibrator):
    r"""Temperature scaling: divide all logits by one temperature.

    :math:`\mathrm{softmax}(z/T)` with the T > 0 that minimizes log loss on the fit data; for
    probabilities, z are their logarithms. Try it first on a neural network: a single parameter
    needs a few hundred rows and hardly overfits. It keeps the order of classes in every row, so
    accuracy does not change, and it corrects only a confidence that is too high or too low
    everywhere.

    Parameters
    ----------
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    temperature_
        T. If it is above 1, the predictions were overconfident.
    gradient_norm_
        Absolute derivative of the mean log loss with respect to log T, at T: at most 1e-10 unless
        `notes_` says that there is no minimum.

    Notes
    -----
    The log loss is convex in 1/T. Newton's method is kept between a point where the loss decreases
    and one where it increases. It needs no learning rate and finds the minimum in four or five
    passes over the logits. For a large matrix, a fit to some of the rows gives the starting point.
    There is no minimum

    * if every prediction is right: T would go to 0. It is lowered until the mean log loss is
      log((n+2)/(n+1)), the loss by Laplace's rule of succession, or stays 1 if the loss is below
      that.
    * if the logits of labels are on average not larger than those of other classes: T would go to
      infinity. It is raised until the logits of a row have a standard deviation of 0.001.

    Outputs are float64 for any input, so that rows sum to 1 to 1e-12. `predict` uses the original
    scores, because rounding can make probabilities equal whose scores differ.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, "On calibration of modern neural networks".

    Examples
    --------
    >>> logits = [[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]]
    >>> scaling = TemperatureScaling(logits=True).fit(logits, [0, 1, 0, 0])
    >>> round(scaling.temperature_, 4)  # three of four are right: 4/T = log 3
    3.641
    >>> scaling.predict_proba([[4.0, 0.0]]).round(4)
    array([[0.75, 0.25]])
    """

    use: ClassVar[str] = "Overconfident networks with any number of classes; it learns one number."
    instead: ClassVar[str] = (
        "VectorScaling if some classes are predicted too often; PlattScaling for one column."
    )

    preserves_argmax: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def _fit(self, data: FitData) -> tuple[float, float]:
        found = fit_inverse_temperature(LossCurve.of(data))
        self.temperature_ = 1 / found.best.inverse
        self.gradient_norm_ = found.best.gradient
        if found.note:
            self.notes_.append(found.note)
        return found.before, found.best.loss

    def _probs_of(self, scores: Scores) -> Floats:
        return engine.softmax.tempered_probs(scores.logits(), 1 / self.temperature_)


class Point(NamedTuple):
    """The mean log loss at one β, its derivatives, and whether every prediction is right."""

    inverse: float
    loss: float
    slope: float
    curvature: float
    all_right: bool

    @property
    def gradient(self) -> float:
        """Absolute derivative with respect to log β, which has no unit."""
        return abs(self.inverse * self.slope)


class InverseTemperature(NamedTuple):
    """The end of the search, its starting point, and a note if it is not a minimum."""

    best: Point
    before: float  # mean log loss at β = 1
    note: str = ""


class LossCurve:
    """Mean log loss of softmax(βz) as a function of β, on rows of fit data."""

    def __init__(self, logits: NDArray[Any], labels: Ints, weights: Floats | None) -> None:
        self.logits, self.labels, self.weights = logits, labels, weights

    @classmethod
    def of(cls, data: FitData) -> LossCurve:
        """Return the curve of all rows."""
        return cls(data.scores.logits(), data.labels, data.weights)

    def at(self, inverse: float) -> Point:
        """Return loss and derivatives at one β."""
        return self.point(self.rows(inverse), inverse)

    def rows(self, inverse: float) -> Tempered:
        """Return the sums over the classes of each row at one β."""
        return engine.softmax.temper(self.logits, self.labels, inverse)

    def point(self, rows: Tempered, inverse: float) -> Point:
        """Return loss and derivatives from the sums of rows."""
        mean = rows.first / rows.total
        return Point(
            inverse,
            self.mean(np.log(rows.total) + inverse * rows.gap),
            self.mean(mean + rows.gap),
            self.mean(rows.second / rows.total - mean * mean),
            not rows.gap.any(),
        )

    def mean(self, values: Floats) -> float:
        """Weighted mean over rows."""
        if self.weights is None:
            return float(np.sum(values)) / len(values)
        return float(np.sum(self.weights * values)) / self.total_weight

    @cached_property
    def total_weight(self) -> float:
        """Σw, or the number of rows without weights."""
        return float(len(self.labels) if self.weights is None else np.sum(self.weights))

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the logits of a row, as root mean square over rows."""
        variance = np.concatenate(
            [
                np.var(self.logits[rows], axis=1, dtype=np.float64)
                for rows in row_blocks(*self.logits.shape)
            ]
        )
        return max(math.sqrt(self.mean(variance)), SMALLEST_SPREAD)

    @cached_property
    def largest(self) -> float:
        """Largest absolute value of a logit."""
        return max(float(self.logits.max()), -float(self.logits.min()))

    @property
    def least(self) -> float:
        """Smallest β that is considered; at most 1."""
        return LEAST_SPREAD / max(LEAST_SPREAD, self.spread)

    def some(self) -> LossCurve | None:
        """Return the curve of some evenly spaced rows; None if there are few rows."""
        step = self.logits.size // STARTING_ENTRIES
        if step < 2:
            return None
        weights = None if self.weights is None else self.weights[::step]
        return LossCurve(np.ascontiguousarray(self.logits[::step]), self.labels[::step], weights)


def fit_inverse_temperature(curve: LossCurve) -> InverseTemperature:
    """Find the β > 0 with the lowest mean log loss, or the bound if there is no minimum."""
    one = curve.at(1.0)
    if one.all_right:
        return _without_errors(curve, one)
    best, _ = _descend(curve, *_start(curve, one))
    if best.gradient <= TOLERANCE or best.slope < 0 or best.inverse > curve.least:
        return InverseTemperature(best, one.loss)
    return InverseTemperature(best, one.loss, NOT_BETTER)


def _start(curve: LossCurve, one: Point) -> tuple[Point, float]:
    """Return a point near the minimum from some of the rows, and the third derivative there."""
    few = curve.some()
    if few is None or (first := few.at(1.0)).all_right:
        return one, 0.0
    found, bend = _descend(few, first, 0.0)
    return curve.at(found.inverse), bend


def _descend(curve: LossCurve, here: Point, bend: float) -> tuple[Point, float]:
    """Run Newton's method between a point where the loss decreases and one where it increases.

    ``bend`` is an estimate of the third derivative. Return the point and its third derivative.
    """
    low, high = 0.0, math.inf
    for _ in range(MOST_STEPS):
        if here.gradient <= TOLERANCE:
            break
        low, high = (here.inverse, high) if here.slope < 0 else (low, here.inverse)
        inverse = _further(curve, here, here.inverse + _step(here, bend))
        if not low < inverse < high:
            inverse = math.sqrt(low) * math.sqrt(high)
        if not low < inverse < high:
            break  # the bound, or two neighboring numbers
        before, here = here, curve.at(inverse)
        apart = here.inverse - before.inverse
        if abs(apart) > ROUNDED_AWAY * here.inverse:
            bend = (here.curvature - before.curvature) / apart
    return here, bend


def _step(here: Point, bend: float) -> float:
    """Return the step to slope 0, using curvature and third derivative."""
    if here.curvature <= 0:
        return -math.copysign(math.inf, here.slope)
    newton = here.slope / here.curvature
    root = 1 - 2 * newton * (bend / here.curvature)
    return -2 * newton / (1 + math.sqrt(min(max(root, 0.0), MOST_BEND)))


def _further(curve: LossCurve, here: Point, inverse: float) -> float:
    """Return the next point: the proposed one, unless it is too far away or below the bound."""
    if inverse > here.inverse * LARGEST_FACTOR:
        return min(inverse, max(here.inverse * LARGEST_FACTOR, 1 / curve.spread))
    if inverse < here.inverse / LARGEST_FACTOR:  # only then is the bound worth a pass
        inverse = max(inverse, math.sqrt(curve.least * here.inverse))
        return inverse if inverse > curve.least * LARGEST_FACTOR else curve.least
    return inverse


def _without_errors(curve: LossCurve, one: Point) -> InverseTemperature:
    """Return the fit if every prediction is right; the rule of succession gives its loss."""
    from scipy.optimize import brentq

    ties = curve.rows(ALL_BUT_INFINITE).total
    if (ties == curve.logits.shape[1]).all():
        return InverseTemperature(one, one.loss, SAME_SCORES)
    target = curve.mean(np.log(ties)) + math.log1p(1 / (1 + curve.total_weight))
    if one.loss <= target:
        return InverseTemperature(one, one.loss, ALL_RIGHT_AS_IT_IS)
    enough = 1.0
    while curve.at(enough).loss > target:
        enough *= LARGEST_FACTOR

    def excess(log_inverse: float) -> float:
        return curve.at(math.exp(log_inverse)).loss - target

    log_inverse = brentq(excess, 0.0, math.log(enough), xtol=1e-12)
    return InverseTemperature(curve.at(math.exp(log_inverse)), one.loss, ALL_RIGHT)
