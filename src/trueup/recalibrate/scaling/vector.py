"""Vector scaling: a factor and a shift for every class."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import is_number
from trueup.engines.blocks import row_blocks
from trueup.engines.select import engine
from trueup.errors import must_be
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.scaling.temperature import (
    InverseTemperature,
    LossCurve,
    fit_inverse_temperature,
)
from trueup.recalibrate.score_forms import SMALLEST_LOGIT, FitData, Scores

TOLERANCE = 1e-9
ROUNDING = 1e-13  # of the gradient, for logits of size 1
PULL = 0.1
MOST_STEPS = 200
MOST_PRODUCTS = 500  # in one step
LOOSEST = 0.1  # of a step's equations, relative
HIDDEN = 1e-14  # of the value, relative: smaller falls cannot be seen
LONGEST_MOVE = 10.0  # of the logits of a class in one step, in the mean square
STILL = 1e-2  # the same, of the last step to a true minimum
PATIENCE = 4  # steps beyond a small gradient, in which a true minimum would be reached
LIFT = 1e-8  # of diagonals, relative: a column that never changes has a block without inverse
LEAST_CURVATURE = 1e-14  # relative to that of the other classes
SHORTEST = 1e-9  # share of a step


@with_parameters
class VectorScaling(Recalibrator):
    r"""Vector scaling: a slope and an intercept per class logit.

    :math:`\mathrm{softmax}(w \circ z + b)` with the w and b that minimize log loss on the fit data;
    for probabilities, z are their logarithms. Use it if some classes are predicted too often or too
    confidently and others are not. Its 2K parameters need about fifty rows per class. It can change
    the predicted class.

    Parameters
    ----------
    strength : float
        λ ≥ 0: adds :math:`\frac{λ}{2K}\sum_k (w_k - 1)^2 + b_k^2` to the mean log loss.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    coefficients_, intercept_
        w and b, shape (K,); b sums to 0.
    gradient_norm_
        Norm of the gradient of the minimized mean loss with respect to w and b.

    Notes
    -----
    The loss is convex: Newton's method starts at the best temperature and solves for each step
    by conjugate gradients, with each class's own second derivatives as preconditioner. A step costs
    a few passes over the logits; the Hessian is never built.

    No optimal w and b exist if a class is not among the labels, or if classes are perfectly
    separated. Then a penalty toward the best temperature is added,
    :math:`\frac{0.1}{2n} \sum_k (T w_k - 1)^2 + b_k^2` where n is the total weight, and T is at
    most the largest logit. It corresponds to a normal prior with standard deviation 3.2. No
    probability goes to 0, and `notes_` says so.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, "On calibration of modern neural networks".
    Nixon, Dusenberry, Jerfel, Nguyen, Liu, Zhang & Tran 2019, "Measuring calibration in deep
    learning".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(5000, 3))
    >>> true = logits * [2.0, 1.0, 0.5] + [1.0, 0.0, -1.0]
    >>> labels = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    >>> scaling = VectorScaling(logits=True).fit(logits, labels)
    >>> scaling.coefficients_.round(1), scaling.intercept_.round(1)
    (array([2.1, 1. , 0.5]), array([ 1.,  0., -1.]))
    """

    use: ClassVar[str] = "Many classes, of which some are predicted too often."
    instead: ClassVar[str] = (
        "TemperatureScaling for few rows; DirichletCalibration if classes are confused."
    )

    strength: float = 0.0

    def _check(self) -> None:
        if not is_number(self.strength) or not 0 <= self.strength < math.inf:
            raise must_be("strength", "a finite number of at least 0", self.strength)

    def _fit(self, data: FitData) -> tuple[float, float]:
        if data.scores.are_logits and np.abs(data.scores.values).max() < SMALLEST_LOGIT:
            data = replace(data, scores=replace(data.scores, values=0 * data.scores.values))
        curve = LossCurve.of(data)
        start = fit_inverse_temperature(curve)
        if self.strength > 0:
            found = _penalised(curve, start, self.strength / (2 * data.n_classes))
        else:
            found, note = _free(curve, start)
            self.notes_.extend([note] if note else [])
        best = found.here
        if not found.converged:
            self._stopped_early(f"the fit stopped early, with a gradient of {best.norm:.1e}")
        shift, self.coefficients_ = best.point
        self.intercept_ = shift - shift.mean()
        self.gradient_norm_ = best.norm
        return start.before, best.loss

    def _probs_of(self, scores: Scores) -> Floats:
        return engine.softmax.scaled_probs(scores.logits(), self.coefficients_, self.intercept_)


def _penalised(curve: LossCurve, start: InverseTemperature, amount: float) -> Minimum:
    """Minimize with the requested penalty, from the better of identity and temperature."""
    penalty = Penalty(amount, amount, 1.0)
    same, warm = _scaled(curve, 1.0), _scaled(curve, start.best.inverse)
    better = start.best.loss + penalty.value(warm) < start.before
    return _minimise(curve, penalty, warm if better else same)


def _free(curve: LossCurve, start: InverseTemperature) -> tuple[Minimum, str]:
    """Minimize the log loss, with an added penalty and a note if it has no minimum."""
    warm = _scaled(curve, start.best.inverse)
    why = _no_minimum(curve)
    if not why:
        found = _minimise(curve, Penalty(0.0, 0.0, 0.0), warm)
        if not found.endless and not _all_right(curve, found.here.point):
            return found, ""
        why = "some classes are perfectly separated"
    amount = PULL / (2 * curve.total_weight)
    # Near chance T can be huge and says nothing about the size of weights.
    unit = max(start.best.inverse, 1 / curve.largest if curve.largest > 0 else 1.0)
    pull = Penalty(amount, amount / unit**2, start.best.inverse)
    note = f"{why}, so no finite optimum exists; weights and intercepts were shrunk toward "
    return _minimise(curve, pull, warm), note + "those of the best temperature"


def _minimise(curve: LossCurve, penalty: Penalty, begin: Floats) -> Minimum:
    tolerance = max(TOLERANCE, ROUNDING * curve.largest)
    return _descend(ScalingObjective(curve, penalty), begin, tolerance)


def _all_right(curve: LossCurve, point: Floats) -> bool:
    """Return whether every row is classified correctly: larger weights are then better."""
    shift, weights = point
    for rows in row_blocks(*curve.logits.shape):
        line = curve.logits[rows] * weights + shift
        place = (np.arange(len(line)), curve.labels[rows])
        own = line[place].copy()
        line[place] = -np.inf
        if not (own > line.max(axis=1)).all():
            return False
    return True


def _scaled(curve: LossCurve, inverse: float) -> Floats:
    """Return (2, K) parameters: no shift, and the same factor for all classes."""
    columns = curve.logits.shape[1]
    return np.stack([np.zeros(columns), np.full(columns, inverse)])


def _no_minimum(curve: LossCurve) -> str:
    """Return the reason why the log loss has no minimum, or an empty string."""
    columns = curve.logits.shape[1]
    count = np.bincount(curve.labels, minlength=columns)
    if missing := int((count == 0).sum()):
        return f"{missing} of {columns} classes are not among the labels"
    if separated := int(_separated(curve.logits, curve.labels).sum()):
        return f"{separated} of {columns} classes are perfectly separated by their own logits"
    return ""


def _separated(logits: NDArray[Any], labels: Ints) -> NDArray[np.bool_]:
    """Return whether the logits of each class are all above, or all below, in its own rows."""
    columns = logits.shape[1]
    ends = np.full((4, columns), np.inf)  # least and −largest: of rows of the class, of the others
    for rows in row_blocks(*logits.shape):
        block = logits[rows].astype(np.float64)
        place = (np.arange(len(block)), labels[rows])
        own = block[place].copy()
        np.minimum.at(ends[0], labels[rows], own)
        np.minimum.at(ends[1], labels[rows], -own)
        block[place] = np.inf
        np.minimum(ends[2], block.min(axis=0), out=ends[2])
        block[place] = -np.inf
        np.minimum(ends[3], -block.max(axis=0), out=ends[3])
    low, high, other_low, other_high = ends[0], -ends[1], ends[2], -ends[3]
    varies = np.minimum(low, other_low) < np.maximum(high, other_high)
    return np.asarray(varies & ((low >= other_high) | (high <= other_low)))


class Penalty(NamedTuple):
    """Penalty shift·Σb² + scale·Σ(w − target)², added to the mean log loss."""

    shift: float
    scale: float
    target: float

    def value(self, point: Floats) -> float:
        """Return its value at (b, w)."""
        return float(np.sum(self.amount * self._away(point) ** 2))

    def gradient(self, point: Floats) -> Floats:
        """Return its derivatives with respect to (b, w)."""
        return np.asarray(2 * self.amount * self._away(point))

    @property
    def amount(self) -> Floats:
        """(2, 1): the factors of both kinds of parameters."""
        return np.array([[self.shift], [self.scale]])

    def _away(self, point: Floats) -> Floats:
        return np.asarray(point - np.array([[0.0], [self.target]]))


class Here(NamedTuple):
    """The objective at one point (b, w), (2, K)."""

    point: Floats
    loss: float  # mean log loss alone
    value: float
    gradient: Floats
    blocks: Floats  # (4, K): each class's own second derivatives and their determinant
    log_total: Floats

    @property
    def norm(self) -> float:
        """Norm of the gradient."""
        return math.sqrt(_dot(self.gradient, self.gradient))

    def solve(self, right: Floats) -> Floats:
        """Solve for every class with its own second derivatives."""
        h0, h1, h2, size = self.blocks
        return np.stack(
            [(h2 * right[0] - h1 * right[1]) / size, (h0 * right[1] - h1 * right[0]) / size]
        )

    def moved(self, step: Floats) -> float:
        """Return the largest root-mean-square change of a class's logits by a step."""
        h0, h1, h2, _ = self.blocks
        # Squares of an enormous step would overflow; a power of 2 leaves every digit as it is.
        power = math.frexp(float(np.abs(step).max()))[1]
        shift, scale = np.ldexp(step, -power)
        square = h0 * shift**2 + 2 * h1 * shift * scale + h2 * scale**2
        with np.errstate(over="ignore"):
            return float(np.ldexp(math.sqrt(max(0.0, float(np.max(square / h0)))), power))


@dataclass(frozen=True, eq=False)
class ScalingObjective:
    """Mean log loss of softmax(w∘z + b) plus a penalty, on the rows of a curve."""

    curve: LossCurve
    penalty: Penalty

    def at(self, point: Floats) -> Here:
        """Return value and derivatives at (b, w)."""
        rows, total = self.curve, self.curve.total_weight
        sums = engine.softmax.scaled_sums(
            rows.logits, rows.labels, rows.weights, point[1], point[0]
        )
        loss = rows.mean(sums.loss)
        gradient = sums.gradient / total + self.penalty.gradient(point)
        value = loss + self.penalty.value(point)
        blocks = self._blocks(*sums.curvature / total)
        return Here(point, loss, value, gradient, blocks, sums.log_total)

    def product(self, here: Here, direction: Floats) -> Floats:
        """Return the Hessian times a direction."""
        shift, scale = here.point
        product = engine.softmax.scaled_product(
            self.curve.logits, self.curve.weights, here.log_total, scale, shift, direction
        )
        return product / self.curve.total_weight + 2 * self.penalty.amount * direction

    def _blocks(self, h0: Floats, h1: Floats, h2: Floats) -> Floats:
        """Return second derivatives of each class with the penalty, and their determinants."""
        h0, h2 = _lifted(h0), _lifted(h2)
        shift, scale = 2 * self.penalty.shift, 2 * self.penalty.scale
        size = h0 * h2 - h1 * h1 + (shift * h2 + scale * h0 + shift * scale)
        return np.stack([h0 + shift, h1, h2 + scale, size])


class Minimum(NamedTuple):
    """The end of the descent: at a minimum, on the way to infinity, or elsewhere."""

    here: Here
    converged: bool
    endless: bool


def _descend(objective: ScalingObjective, start: Floats, tolerance: float) -> Minimum:
    """Descend until the gradient is small and steps no longer change the logits."""
    here, patience = objective.at(start), PATIENCE
    for _ in range(MOST_STEPS):
        if here.norm <= tolerance:
            if here.moved(here.solve(here.gradient)) <= STILL:
                return Minimum(here, True, False)
            patience -= 1
            if patience < 0:
                return Minimum(here, False, True)
        there = _next(objective, here, tolerance)
        if there is None:  # the gradient is as small as rounding lets it be
            break
        here = there
    return Minimum(here, here.norm <= tolerance, False)


def _next(objective: ScalingObjective, here: Here, tolerance: float) -> Here | None:
    """Return a step that decreases the value; None if there is none."""
    step = _direction(objective, here, tolerance)
    share = min(1.0, LONGEST_MOVE / max(here.moved(step), 1e-300))
    promise = -_dot(here.gradient, step)
    slack = HIDDEN * (1 + abs(here.value))
    while share > SHORTEST:
        there = objective.at(here.point + share * step)
        if there.value <= here.value - 1e-4 * share * promise + slack:
            seen = share * promise > slack
            return there if seen or there.norm < here.norm else None
        share /= 2
    return None


def _direction(objective: ScalingObjective, here: Here, tolerance: float) -> Floats:
    """Return Newton's step, with an accuracy that increases near the minimum."""
    step, residual = np.zeros_like(here.gradient), -here.gradient
    solved = here.solve(residual)
    path, square = solved, _dot(residual, solved)
    enough = min(LOOSEST**2, here.norm) * square
    for _ in range(MOST_PRODUCTS):
        image = objective.product(here, path)
        bend = _dot(path, image)
        if bend <= 0:
            break
        step = step + square / bend * path
        residual = residual - square / bend * image
        solved = here.solve(residual)
        square, before = _dot(residual, solved), square
        if square <= enough or _dot(residual, residual) <= (tolerance / 4) ** 2:
            break
        path = solved + square / before * path
    return step


def _lifted(diagonal: Floats) -> Floats:
    """Keep a diagonal away from 0, so that every block has an inverse."""
    least = LEAST_CURVATURE * float(diagonal.max())
    return np.maximum(diagonal * (1 + LIFT), least if least > 0 else 1.0)


def _dot(a: Floats, b: Floats) -> float:
    return float(np.sum(a * b))
