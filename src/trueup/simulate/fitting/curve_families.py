"""Calibration curves by maximum likelihood: the twelve families of Roelofs et al., App. A.

A family is a link, a transform of the score and which of b0 and b1 are free; P(Y = 1) is
link⁻¹(b0 + b1·transform(c)). A row whose score is exactly 0 or 1 has an infinite transform. Such a
score lies within half a rounding step of that end, and its P(Y = 1) is the curve averaged over this
interval with the fitted Beta distribution. With a log or logflip link, b0 + b1·t is below 0 at
every score of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.estimators.logistic_fit import both_sides
from trueup.newton import Maximum, Terms, climb
from trueup.notebook import named_values
from trueup.simulate.fitting.beta import reads_0, reads_1
from trueup.simulate.fitting.rounding import Rounding
from trueup.simulate.worlds.calibration_curves import Curve

LEAST = 1e-150  # a probability is cut here; its square is still a normal number
EDGE = 1e-12  # how far inside the limit a curve that touches it is kept
SEPARATED = 1e-6  # minus a log-likelihood this small: the curve is a step without a best slope
VAGUE = 1e3  # a standard error this many times its parameter: no best value
NODES = 32  # points that a score at an end is spread over
LOG_TINY = math.log(np.finfo(np.float64).tiny)


class End(NamedTuple):
    """Rows with scores of 0 or 1: their possible scores with weights, and counts of outcomes."""

    rows: NDArray[np.bool_]  # whether each row of the data is one of them
    log_score: Floats
    log_complement: Floats
    share: Floats
    right: float
    wrong: float


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Rows strictly inside (0, 1), and the ends."""

    log_score: Floats
    log_complement: Floats
    label: Floats
    weight: Floats
    ends: tuple[End, ...]

    @cached_property
    def rate(self) -> float:
        """Fraction of positives among all rows."""
        right = float(self.weight @ self.label) + sum(end.right for end in self.ends)
        return right / (float(self.weight.sum()) + sum(e.right + e.wrong for e in self.ends))


class Family(NamedTuple):
    """A link, a transform and the free parameters; the others are 0."""

    link: str
    transform: str
    free: str

    @property
    def name(self) -> str:
        """The name of the family in Roelofs et al."""
        return f"{self.link}_{self.transform}_{self.free}"


SCALES = (("logit", "logit"), ("logit", "logflip"), ("logflip", "logflip"), ("log", "log"))
FAMILIES = tuple(Family(*scales, free) for scales in SCALES for free in ("b0_b1", "b1", "b0"))


class FamilyFit(NamedTuple):
    """One row of the AIC table. Errors are 0 for a parameter that is not free."""

    family: str
    aic: float
    b0: float
    b1: float
    n_parameters: int
    converged: bool
    b0_error: float
    b1_error: float

    def __repr__(self) -> str:
        """Print its values with few digits."""
        return named_values(self)


def fit_family(family: Family, outcomes: Outcomes) -> FamilyFit:
    """Return the maximum-likelihood parameters and the AIC."""
    problem = _Problem(family, outcomes)
    if family.free == "b0_b1":
        b0, b1, best, errors = _both(problem)
    elif family.free == "b1":
        best = problem.climb(np.array([problem.start_slope()]), constant=False)
        b0, b1, errors = 0.0, float(best.point[0]), (0.0, float(best.errors[0]))
    else:
        best = problem.climb(np.array([problem.start()]), slope=False)
        b0, b1, errors = float(best.point[0]), 0.0, (float(best.errors[0]), 0.0)
    k = len(family.free.split("_"))
    value = best.terms.value
    vague = any(e > VAGUE * (1 + abs(b)) for e, b in zip(errors, (b0, b1), strict=True))
    converged = best.converged and value < -SEPARATED and not vague
    return FamilyFit(family.name, 2 * k - 2 * value, b0, b1, k, converged, *errors)


def _both(problem: _Problem) -> tuple[float, float, Maximum, tuple[float, float]]:
    """Fit both parameters: inside the range that the link allows, or on its edge if necessary."""
    inside = [problem.climb(np.array([problem.start(), 0.0]))]
    if problem.outcomes.ends:  # the likelihood of an end is not concave
        slope = problem.start_slope()
        offset = 0.0 if problem.family.link == "logit" else -0.1
        inside.append(problem.climb(np.array([offset, slope])))
    best = max(inside, key=lambda end: end.terms.value)
    b0, b1 = (float(b) for b in best.point)
    errors = (float(best.errors[0]), float(best.errors[1]))
    if best.converged or problem.family.link == "logit":
        return b0, b1, best, errors
    for at, slope in ((problem.highest, 1e-3), (problem.lowest, -1e-3)):
        edge = problem.climb(np.array([slope]), at, constant=False)
        if edge.terms.value >= best.terms.value:
            best, b1 = edge, float(edge.point[0])
            b0 = -b1 * at - EDGE
            errors = (math.nan, float(edge.errors[0]))
    return b0, b1, best, errors


class _Problem:
    """The likelihood of one link and transform as a function of its free parameters."""

    def __init__(self, family: Family, outcomes: Outcomes) -> None:
        self.family, self.outcomes = family, outcomes
        self.t = _transformed(family.transform, outcomes)
        self.end_t = [_transformed(family.transform, end) for end in outcomes.ends]
        every = [x for x in (self.t, *self.end_t) if len(x)]
        self.lowest = min(float(x.min()) for x in every)
        self.highest = max(float(x.max()) for x in every)

    def start(self) -> float:
        """Return the constant that gives the rate of positives."""
        right, wrong = math.log(self.outcomes.rate), math.log1p(-self.outcomes.rate)
        return {"logit": right - wrong, "log": right, "logflip": wrong}[self.family.link]

    def start_slope(self) -> float:
        """Return a slope for about the rate of positives, with the sign that the link requires."""
        if self.family.link == "logit":
            return 0.0
        mean = float(np.mean(np.concatenate([self.t, *self.end_t])))
        return min(max(self.start() / mean, 1e-6), 1e6) if mean < 0 else 1e-3

    def climb(
        self,
        start: Floats,
        touching: float | None = None,
        *,
        constant: bool = True,
        slope: bool = True,
    ) -> Maximum:
        """Maximize over a constant, a slope or both, or over slopes at the limit."""
        origin, offset = (0.0, 0.0) if touching is None else (touching, -EDGE)

        def design(t: Floats) -> Floats:
            return np.stack([np.ones_like(t)] * constant + [t - origin] * slope)

        rows, ends = design(self.t), [design(t) for t in self.end_t]
        limits = design(np.array([self.lowest, self.highest]))

        def room(point: Floats, step: Floats) -> float:
            if self.family.link == "logit":
                return math.inf
            gap, pace = -(offset + point @ limits), step @ limits
            nearer = pace > 0
            return float(np.min(gap[nearer] / pace[nearer], initial=np.inf))

        def terms(point: Floats) -> Terms:
            return self._terms(offset, point, rows, ends)

        return climb(terms, start, room)

    def _terms(self, offset: float, point: Floats, rows: Floats, ends: list[Floats]) -> Terms:
        o = self.outcomes
        # Plain sums: the threads of a matrix product cost more than they save here.
        eta = offset + sum(b * x for b, x in zip(point, rows, strict=True))
        value, first, second = ROWS[self.family.link](eta, o.label, o.weight)
        gradient = (rows * first).sum(axis=1)
        hessian = np.stack([(rows * (x * second)).sum(axis=1) for x in rows])
        for end, columns in zip(o.ends, ends, strict=True):
            right, wrong, d1, d2 = _curve(self.family.link, offset + point @ columns)
            p, q = max(float(end.share @ right), LEAST), max(float(end.share @ wrong), LEAST)
            slope = columns @ (end.share * d1)
            pull = end.right / p - end.wrong / q
            value += end.right * math.log(p) + end.wrong * math.log(q)
            gradient = gradient + pull * slope
            hessian = hessian + pull * ((columns * (end.share * d2)) @ columns.T)
            hessian -= (end.right / p**2 + end.wrong / q**2) * np.outer(slope, slope)
        return Terms(value, gradient, hessian)


def _transformed(transform: str, data: Outcomes | End) -> Floats:
    if transform == "log":
        return data.log_score
    if transform == "logflip":
        return data.log_complement
    return data.log_score - data.log_complement


def _logit_rows(eta: Floats, y: Floats, w: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood of rows with a logit link, and its derivatives in eta."""
    small = np.exp(-np.abs(eta))
    p = np.where(eta >= 0, 1.0, small) / (1 + small)
    value = (w * (y * eta - np.maximum(eta, 0) - np.log1p(small))).sum()
    return float(value), w * (y - p), -w * small / (1 + small) ** 2


def _log_rows(eta: Floats, y: Floats, w: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood of rows with a log link, and its derivatives in eta."""
    eta = np.minimum(eta, -LEAST)
    wrong = (1 - y) * w
    with np.errstate(over="ignore"):
        odds = 1 / np.expm1(-eta)
    value = (w * y * eta + wrong * np.log(-np.expm1(eta))).sum()
    return float(value), w * y - wrong * odds, -wrong * odds * (1 + odds)


ROWS: dict[str, Callable[[Floats, Floats, Floats], tuple[float, Floats, Floats]]] = {
    "logit": _logit_rows,
    "log": _log_rows,
    "logflip": lambda eta, y, w: _log_rows(eta, 1 - y, w),
}


def _curve(link: str, eta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return P(Y = 1), P(Y = 0), and the first two derivatives of the former in eta."""
    if link == "logit":
        p, q = both_sides(eta)
        return p, q, p * q, p * q * (q - p)
    eta = np.minimum(eta, 0)
    inside, rest = np.exp(eta), -np.expm1(eta)
    if link == "log":
        return inside, rest, inside, inside
    return rest, inside, -inside, -inside


def outcomes_of(
    score: Floats, label: Floats, weight: Floats, rounding: Rounding, shapes: tuple[float, float]
) -> Outcomes:
    """Return the rows for a curve; ``shapes`` (alpha, beta) are those of the fitted scores."""
    alpha, beta = shapes
    at_0, at_1 = reads_0(score, rounding), reads_1(score, rounding)
    low = (at_0, alpha, beta, rounding.log_step_at_0)
    high = (at_1, beta, alpha, rounding.log_step_at_1)  # shapes change places
    ends = []
    for rows, a, b, log_step in (low, high):
        if rows.any():
            near, far, share = _spread(a, b, log_step)
            logs = (near, far) if rows is at_0 else (far, near)
            y, w = label[rows], weight[rows]
            right, wrong = float((w * y).sum()), float((w * (1 - y)).sum())
            ends.append(End(rows, *logs, share, right, wrong))
    inside = ~(at_0 | at_1)
    c = score[inside]
    return Outcomes(np.log(c), np.log1p(-c), label[inside], weight[inside], tuple(ends))


def rate_of_rows(curve: Curve, score: Floats, outcomes: Outcomes) -> Floats:
    """Return P(Y = 1) of each row by a curve; rows at an end get its average there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = curve(score, 1 - score)
    for end in outcomes.ends:
        rate[end.rows] = end.share @ curve(np.exp(end.log_score), np.exp(end.log_complement))
    return rate


def _spread(a: float, b: float, log_x: float) -> tuple[Floats, Floats, Floats]:
    """Return quadrature points t below x as log(t) and log(1 − t), with weights under Beta(a, b).

    If v = (t/x)^a is uniform, the remaining factor of the density is (1 − t)^(b − 1), which is
    smooth.
    """
    at, width = np.polynomial.legendre.leggauss(NODES)
    log_t = log_x + np.log((at + 1) / 2) / a
    log_share = np.log(width) + (b - 1) * np.log1p(-np.exp(log_t))
    share = np.exp(log_share - log_share.max())
    # Kept off 0, where a log link has no likelihood.
    return log_t, np.log1p(-np.exp(np.maximum(log_t, LOG_TINY))), share / share.sum()
