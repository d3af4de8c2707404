"""Fit of softmax(Wz + b) that never increases the log loss and always returns a result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.recalibrate.scaling.affine.exact_newton import (
    Settled,
    finite_optimum,
    is_affordable,
    is_exact,
    settle,
)
from trueup.recalibrate.scaling.affine.objective import AffineObjective, Penalty
from trueup.recalibrate.scaling.affine.trust_region import MOST_IN_STEP, Limits, Minimum, minimise
from trueup.recalibrate.score_forms import SMALLEST_LOGIT, FitData

TOLERANCE = 1e-8
RIDGE = 1e-4
SLIGHT_RIDGE = 1e-6
LARGEST_START = 8.0  # of 1/T, for logits of unit size
FEW_ROWS = 30  # for each class
EXACT_WORK = 4e9  # of exact steps in a fit that is only compared
WORK = 4e12  # multiplications and additions of a fit: a minute or two
ROUGH = 1e-4  # gradient, for logits of unit size: the ridge has done what it is needed for
STILL = 0.1  # the last step to a true optimum moves no log-odds by more


@dataclass(frozen=True, eq=False)
class AffineData:
    """Features divided by their size, with a column of ones; classes; weights that sum to 1."""

    x: Floats
    labels: Ints
    weight: Floats
    size: float
    start: float

    @classmethod
    def of(cls, features: Floats, data: FitData) -> AffineData:
        """Scale (n, K) features to unit size, which prevents overflow for any logits."""
        weight = data.weight() / data.weight().sum()
        spread = features - features.mean(axis=1, keepdims=True)
        size = math.sqrt(float(weight @ np.mean(spread * spread, axis=1)))
        largest = float(np.abs(features).max())
        if size <= 1e-6 * largest:  # rounding errors of what all classes have in common
            size = largest
        if largest < SMALLEST_LOGIT:
            size = 1.0
        x = np.column_stack([features / size, np.ones(len(features))])
        return cls(x, data.labels, weight, size, _start(x[:, :-1], data.labels, weight, size))

    @property
    def n_classes(self) -> int:
        """Number of classes, which equals that of the features."""
        return int(self.x.shape[1]) - 1

    def take(self, rows: Ints) -> AffineData:
        """Return some of the rows, with the scale and the starting point of all rows."""
        weight = self.weight[rows]
        return AffineData(
            self.x[rows], self.labels[rows], weight / weight.sum(), self.size, self.start
        )

    def diagonal(self, value: float) -> Floats:
        """Return (K, K + 1) parameters: ``value`` times the identity, and intercepts of 0."""
        return np.eye(self.n_classes, self.n_classes + 1) * value

    def norm(self, gradient: Floats) -> float:
        """Return the norm of a gradient in the units of the original features."""
        own = np.linalg.norm(gradient[:, :-1]) * self.size
        return float(np.hypot(own, np.linalg.norm(gradient[:, -1])))

    def tolerance(self) -> float:
        """The gradient norm to reach; larger only if the rounding of large logits requires it."""
        return max(TOLERANCE, 1e-13 * self.size * float(np.abs(self.x).max()))

    def products(self, work: float) -> int:
        """Return the number of products with the Hessian in an amount of work."""
        rows, columns = self.x.shape  # and the preconditioner costs as many rows as columns
        return max(20, int(work / (4 * (rows + columns) * columns * self.n_classes)))

    def loss(self, point: Floats) -> float:
        """Mean log loss, without any penalty."""
        nothing = Penalty(np.zeros_like(point), np.zeros_like(point))
        return AffineObjective(self.x, self.labels, self.weight, nothing).at(point).value


class AffineFit(NamedTuple):
    """Coefficients and intercepts for the original features, and information on the fit."""

    coefficients: Floats
    intercept: Floats
    gradient_norm: float
    converged: bool
    notes: list[str]


def penalty_amount(data: AffineData, kind: str | None, off_diagonal: float, mu: float) -> Floats:
    """Return (K, K + 1) penalty factors of θ in units of scaled features, from λ and μ.

    For ``"odir"`` they are λ/(K(K − 1)) off the diagonal, 0 on it, and μ/K for intercepts. For
    ``"l2"`` all are λ/(K(K + 1)).
    """
    k = data.n_classes
    amount = np.zeros((k, k + 1))
    if kind == "l2":
        amount[:] = off_diagonal / (k * (k + 1))
    elif kind == "odir":
        amount[:] = off_diagonal / (k * (k - 1))
        amount[np.arange(k), np.arange(k)] = 0
        amount[:, -1] = mu / k
    amount[:, :-1] /= data.size**2
    return amount


def fit_affine(data: AffineData, kind: str | None, strength: float, mu: float) -> AffineFit:
    """Minimize log loss and penalty; see `MatrixScaling` for fits without an optimum."""
    amount = penalty_amount(data, kind, strength, mu)
    limits = Limits(data.tolerance(), data.products(WORK))
    notes: list[str] = []
    if kind == "l2" and strength > 0:
        identity = data.diagonal(data.size)
        objective = _objective(data, Penalty(amount, identity))
        warm = data.diagonal(data.start)
        begin = min(identity, warm, key=lambda point: objective.at(point).value)
        found = minimise(objective, begin, data.norm, limits)
        best = _settled_minimum(data, objective, found, limits)
    else:
        best = _with_ridge_if_needed(data, amount, limits, notes)
    point = _settled(best.point, Penalty(amount, data.diagonal(data.size)))
    return AffineFit(
        point[:, :-1] / data.size, point[:, -1].copy(), best.norm, best.converged, notes
    )


def fit_roughly(
    data: AffineData, amount: Floats, target: float, begin: Floats, limits: Limits
) -> Floats:
    """Return θ of a fit that is only compared with others; a ridge keeps it finite."""
    objective = _objective(data, Penalty(amount + SLIGHT_RIDGE, data.diagonal(target)))
    point = minimise(objective, begin, data.norm, limits).point
    # Few rows are often nearly separable: then a small gradient leaves open where the fit ends, and
    # rounding errors would decide which strength is best.
    few = len(data.x) <= FEW_ROWS * data.n_classes
    if few and is_affordable(objective, data.products(EXACT_WORK)):
        return settle(objective, point).point
    return point


def _with_ridge_if_needed(
    data: AffineData, amount: Floats, limits: Limits, notes: list[str]
) -> Minimum:
    """Fit without a ridge if that has a finite optimum, starting from a fit with a weak ridge."""
    start = data.diagonal(data.start)
    rough = ROUGH * max(1.0, data.size)

    def endless(norms: list[float]) -> bool:
        return norms[-1] < rough and _falls_by_e(norms)

    reason, begin = _why_unbounded(data, amount, None), start
    if not reason:
        slight = _objective(data, Penalty(amount + SLIGHT_RIDGE, start))
        held = minimise(slight, start, data.norm, limits._replace(gradient=rough))
        reason, begin = _why_unbounded(data, amount, held), held.point
    if not reason:
        free = _objective(data, Penalty(amount, start))
        best = minimise(free, begin, data.norm, limits, endless)
        lost = endless(best.norms) or not best.converged or _keeps_moving(data, free, best)
        if is_affordable(free, limits.products, in_doubt=lost):
            optimum = finite_optimum(free, start, begin, best.point)
            if optimum is not None:
                return _moved_to(data, best, optimum, limits)
        elif best.spent or not lost:
            return best
        reason = "some classes are perfectly separated"
    notes.append(
        f"{reason}, so no finite optimum exists, or only a huge one; a ridge penalty of {RIDGE:g} "
        "(for logits of unit size) was added; set a stronger penalty for smaller coefficients"
    )
    ridged = _objective(data, Penalty(amount + RIDGE, start))
    begin = min(start, begin, key=lambda point: ridged.at(point).value)
    return _settled_minimum(data, ridged, minimise(ridged, begin, data.norm, limits), limits)


def _settled_minimum(
    data: AffineData, objective: AffineObjective, best: Minimum, limits: Limits
) -> Minimum:
    """Compute the optimum to full precision if that is affordable."""
    if is_exact(objective, best.here) or not is_affordable(objective, limits.products):
        return best
    return _moved_to(data, best, settle(objective, best.point), limits)


def _moved_to(data: AffineData, best: Minimum, optimum: Settled, limits: Limits) -> Minimum:
    """Return the end of the descent, moved to the optimum."""
    norm = data.norm(optimum.here.gradient)
    norms = [*best.norms, norm]
    return best._replace(
        point=optimum.point, here=optimum.here, norms=norms, converged=norm <= limits.gradient
    )


def _falls_by_e(norms: list[float]) -> bool:
    """Return whether three Newton steps divided the gradient by e each, as without an optimum."""
    last = np.array(norms[-4:])
    ratios = last[1:] / last[:-1]
    return len(last) == 4 and bool((np.abs(ratios - 1 / math.e) < 0.02).all())


def _keeps_moving(data: AffineData, objective: AffineObjective, best: Minimum) -> bool:
    """Return whether steps stay large although the gradient is small, as without an optimum."""
    if not best.converged or objective.moved(best.last) <= STILL:
        return False
    after = minimise(objective, best.point, data.norm, Limits(0.0, MOST_IN_STEP, 2))
    return objective.moved(after.last) > STILL


def _why_unbounded(data: AffineData, amount: Floats, held: Minimum | None) -> str:
    """Return the reason why no finite optimum exists, or an empty string."""
    if amount.any():
        return ""
    present = np.bincount(data.labels, minlength=data.n_classes) > 0
    if not present.all():
        return f"{(~present).sum()} of {len(present)} classes are not among the labels"
    if held is None:
        return ""
    rows = np.arange(len(data.labels))
    others = held.here.probs.copy()
    others[rows, data.labels] = -1
    if (held.here.probs[rows, data.labels] > others.max(axis=1)).all():
        return "every row can be classified correctly"
    return ""


def _settled(point: Floats, penalty: Penalty) -> Floats:
    """Return, among all θ with the same probabilities, the one with the smallest penalty.

    Without a penalty, the off-diagonal entries of each column sum to 0, and the intercepts sum to
    0. This is the limit of ODIR, and it keeps the identity.
    """
    k = len(point)
    limit = np.ones_like(point)
    limit[np.arange(k), np.arange(k)] = 0
    free = penalty.amount.sum(axis=0) == 0
    amount = np.where(free, limit, penalty.amount)
    return Penalty(amount, np.where(free, 0, penalty.target)).settled(point)


def _objective(data: AffineData, penalty: Penalty) -> AffineObjective:
    return AffineObjective(data.x, data.labels, data.weight, penalty)


def _start(features: Floats, labels: Ints, weight: Floats, identity: float) -> float:
    """Return 1/T of the best temperature for scaled features; the identity is allowed."""
    from scipy.optimize import brentq

    held = [np.ascontiguousarray(features)]

    def slope(inverse: float) -> float:
        rows = engine.softmax.temper(held[0], labels, inverse)
        return float(np.sum(weight * (rows.first / rows.total + rows.gap)))

    largest = max(LARGEST_START, identity)
    if slope(0.0) >= 0:
        return 0.0
    if slope(largest) <= 0:
        return largest
    try:
        return float(brentq(slope, 0.0, largest, xtol=1e-13, rtol=1e-13, maxiter=1000))
    finally:
        held.clear()  # SciPy's wrapper of a function refers to itself, and lives on for a while
