"""Logistic regression on one covariate, with a clear result if no maximum exists."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.select import engine
from trueup.newton import Maximum, Terms, climb

HALVINGS = 8  # of the range of an intercept, before Newton's method takes over
POLISH = 5
LONGEST = 10.0  # step of a parameter of a covariate that is scaled to a spread of 1
DONE = 1e-13
VAGUE = 1e3  # a standard error this many times its parameter: the likelihood is almost flat
FLAT_LINE = "the likelihood of the line is nearly flat, so slope and intercept are uncertain"
FLAT_LEVEL = "the likelihood of the intercept alone is nearly flat, so in_the_large is uncertain"


class Outcomes(NamedTuple):
    """A covariate x with labels and weights; ``robust`` requests sandwich standard errors.

    ``clusters`` are the numbers 0, 1, … of the cluster of each row: sandwich errors then add up
    the terms of a cluster before they square them.
    """

    x: Floats
    label: Floats
    weight: Floats
    robust: bool
    clusters: Ints | None = None


class Line(NamedTuple):
    """P(y = 1) = σ(intercept + slope · x); ``note`` says why there is no maximum.

    ``log_likelihood`` is the maximum, or its limit if no finite line attains it.
    ``covariance`` is that of intercept and slope, or None if there is no maximum.
    """

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float
    converged: bool
    note: str = ""
    log_likelihood: float = math.nan
    covariance: Floats | None = None


def fit_line(data: Outcomes) -> Line:
    """Fit intercept and slope."""
    x, weight = data.x, data.weight
    missing = _no_maximum(x, data.label)
    if missing is not None:
        return missing._replace(log_likelihood=_limit(data))
    # Centered and scaled, the two parameters hardly depend on each other.
    centre = float(np.average(x, weights=weight))
    spread = float(np.sqrt(np.average((x - centre) ** 2, weights=weight)))
    scaled = data._replace(x=(x - centre) / spread)
    best = _maximum(scaled, np.array([_logit_of_mean(data), 0.0]))
    back = np.array([[1, -centre / spread], [0, 1 / spread]])
    covariance = back @ _covariance(scaled, best) @ back.T
    (intercept, slope), (intercept_error, slope_error) = back @ best.point, _errors(covariance)
    found, note = _verdict(best, FLAT_LINE)
    return Line(
        float(intercept),
        float(slope),
        intercept_error,
        slope_error,
        found,
        note,
        best.terms.value,
        covariance,
    )


def fit_intercept(data: Outcomes) -> Line:
    """Fit the intercept with the slope held at 1."""
    x, label = data.x, data.label
    if (same := _same_label(label)) is not None:
        return same._replace(slope=1.0, slope_error=0.0)
    low, high = _logit_of_mean(data) - x.max(), _logit_of_mean(data) - x.min()
    for _ in range(HALVINGS):  # Newton's steps need a start where the likelihood is not flat
        middle = (low + high) / 2
        rises = _terms(data, np.array([middle])).gradient[0] > 0
        low, high = (middle, high) if rises else (low, middle)
    best = _maximum(data, np.array([(low + high) / 2]))
    (error,) = _errors(_covariance(data, best))
    return Line(float(best.point[0]), 1.0, error, 0.0, *_verdict(best, FLAT_LEVEL))


def log_likelihood(data: Outcomes, intercept: float, slope: float) -> float:
    """Return the log-likelihood of one line."""
    return _terms(data, np.array([intercept, slope])).value


def _no_maximum(x: Floats, label: Floats) -> Line | None:
    """Return the limiting line if no finite line maximizes the likelihood, else None.

    No finite line does so if and only if the scores of rows with (partial) label 0 and those with
    (partial) label 1 do not overlap (Albert & Anderson 1984).
    """
    if (same := _same_label(label)) is not None:
        return same
    nan, zeros, ones = math.nan, x[label < 1], x[label > 0]
    if x.min() == x.max():
        note = "all scores are the same, so the slope cannot be estimated"
        return Line(nan, nan, nan, nan, False, note)
    if ones.min() >= zeros.max():
        note = "the scores separate the labels perfectly, so the slope has no finite optimum"
        return Line(nan, math.inf, nan, nan, False, note)
    if ones.max() <= zeros.min():
        note = "the scores separate the labels perfectly in reverse, so the slope has no optimum"
        return Line(nan, -math.inf, nan, nan, False, note)
    return None


def _limit(data: Outcomes) -> float:
    """Return the log-likelihood that lines approach if no finite line maximizes it.

    In the limit, rows on either side of the score at which the labels change have probability 0 or
    1. Rows at that score keep its observed rate, as do all rows if there is only one score.
    """
    x, label = data.x, data.label
    ones, zeros = label > 0, label < 1
    if not (ones.any() and zeros.any()):
        return 0.0
    low, high = max(x[ones].min(), x[zeros].min()), min(x[ones].max(), x[zeros].max())
    shared = (x >= low) & (x <= high)
    if not shared.any():
        return 0.0
    weight = data.weight[shared]
    rate = float(np.average(label[shared], weights=weight))
    if rate in (0.0, 1.0):
        return 0.0
    return float(weight.sum()) * (rate * math.log(rate) + (1 - rate) * math.log1p(-rate))


def _same_label(label: Floats) -> Line | None:
    if label.max() > 0 and label.min() < 1:
        return None
    at = math.inf if label[0] == 1 else -math.inf
    note = f"all labels are {label[0]:.0f}, so the intercept has no finite optimum"
    return Line(at, math.nan, math.nan, math.nan, False, note)


def _logit_of_mean(data: Outcomes) -> float:
    rate = float(np.average(data.label, weights=data.weight))
    return math.log(rate) - math.log1p(-rate)


def _maximum(data: Outcomes, start: Floats) -> Maximum:
    """Maximize, then take full Newton steps: only rounding of the likelihood is left there."""
    # Where weights differ by much, a step from where the likelihood is all but flat has no bounds.
    best = climb(lambda point: _terms(data, point), start, longest=LONGEST)
    for _ in range(POLISH):
        try:
            step = np.linalg.solve(-best.terms.hessian, best.terms.gradient)
        except np.linalg.LinAlgError:
            break
        point = best.point + step
        best = Maximum(point, _terms(data, point), best.converged)
        if np.abs(step).max() <= DONE * (1 + np.abs(point).max()):
            break
    return best


def _verdict(best: Maximum, flat: str) -> tuple[bool, str]:
    """Return whether the maximum is clear, and a note if it is not; ``flat`` is that note."""
    vague = not np.all(best.errors <= VAGUE * (1 + np.abs(best.point)))
    return best.converged and not vague, flat if vague else ""


def _terms(data: Outcomes, point: Floats) -> Terms:
    """Log-likelihood of (intercept, slope), or of the intercept alone with slope 1."""
    free = [1, 0][: len(point)]
    at = np.array([_slope(point), point[0]])
    sums = engine.sigmoid.sigmoid_sums(data.x[None], data.label, data.weight, at, squared=False)
    return Terms(-sums.loss, -sums.gradient[free], -sums.hessian[np.ix_(free, free)])


def _slope(point: Floats) -> float:
    return float(point[1]) if len(point) == 2 else 1.0


def both_sides(eta: Floats) -> tuple[Floats, Floats]:
    """Return σ(eta) and 1 − σ(eta), without the loss of precision near 1."""
    small = np.exp(-np.abs(eta))
    high, low = 1 / (1 + small), small / (1 + small)
    return np.where(eta >= 0, high, low), np.where(eta >= 0, low, high)


def _residual(data: Outcomes, eta: Floats) -> Floats:
    """Return w (y − p)."""
    p, q = both_sides(eta)
    return np.asarray(data.weight * (data.label * q - (1 - data.label) * p))


def _covariance(data: Outcomes, best: Maximum) -> Floats:
    """Return the covariance of the parameters, by observed information or the sandwich formula."""
    try:
        inverse = np.linalg.inv(-best.terms.hessian)
    except np.linalg.LinAlgError:
        return np.full(best.terms.hessian.shape, np.nan)
    if not data.robust:
        return np.asarray(inverse)
    residual = _residual(data, best.point[0] + _slope(best.point) * data.x)
    scores = np.stack([np.ones(len(data.x)), data.x][: len(best.point)]) * residual
    factor = 1.0
    if data.clusters is not None:
        scores = np.stack([np.bincount(data.clusters, column) for column in scores])
        count = scores.shape[1]
        factor = count / (count - 1) if count > 1 else math.nan
    # Plain sums, not matrix products: those may round differently on another number of threads.
    meat = factor * np.stack([(scores * column).sum(axis=1) for column in scores])
    return np.asarray(inverse @ meat @ inverse)


def _errors(covariance: Floats) -> list[float]:
    with np.errstate(invalid="ignore"):
        return [float(error) for error in np.sqrt(np.diag(covariance))]
