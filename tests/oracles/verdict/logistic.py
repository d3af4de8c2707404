"""Cox's recalibration by `scipy.optimize`: slope, intercept, in the large, and their joint test."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import chi2, f

from oracles.verdict.formulas import Array, quantile

EPS = float(np.finfo(np.float64).eps)


class Recalibrated(NamedTuple):
    """Value with its ends; NaN where there is no maximum of the likelihood."""

    slope: tuple[float, float, float]
    in_the_large: tuple[float, float, float]
    joint_pvalue: float


NONE = (math.nan, math.nan, math.nan)


def cox(
    p: Array, y: Array, w: Array, robust: bool, clusters: Array | None, level: float
) -> Recalibrated:
    """Fit both lines; ``robust`` asks for sandwich errors and a Wald test."""
    limit = math.log1p(-EPS) - math.log(EPS)
    with np.errstate(divide="ignore"):
        x = np.clip(np.log(p) - np.log1p(-p), -limit, limit)
    w = w / w.mean()
    unit = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    z = quantile(level, None if unit is None else int(unit.max()) + 1)
    one_label, one_score = y.max() <= 0 or y.min() >= 1, x.min() == x.max()
    level_ = NONE
    if not one_label:
        level_ = _in_the_large(x, y, w, robust, unit, z)
    ones, zeros = x[y > 0], x[y < 1]
    ordered = one_label or ones.min() >= zeros.max() or ones.max() <= zeros.min()
    if ordered or one_score:
        joint = math.nan if robust else _without_maximum(x, y, w, one_label)
        return Recalibrated(NONE, level_, joint)
    center, scale = np.average(x, weights=w), math.sqrt(np.cov(x, aweights=w, ddof=0))
    design = np.c_[np.ones(len(x)), (x - center) / scale]
    best = _maximum(design, y, w)
    covariance = _covariance(design, y, w, expit(design @ best), robust, unit)
    back = np.array([[1, -center / scale], [0, 1 / scale]])
    line, covariance = back @ best, back @ covariance @ back.T
    half = z * math.sqrt(covariance[1, 1])
    away = line - [0, 1]
    if not robust:
        gained = 2 * (_likelihood(design @ best, y, w) - _likelihood(x, y, w))
        joint = float(chi2.sf(gained, 2))
    else:
        wald = float(away @ np.linalg.solve(covariance, away))
        joint = float(chi2.sf(wald, 2))
        if unit is not None:
            many = int(unit.max()) + 1
            joint = math.nan
            if many > 2:
                joint = float(f.sf(wald * (many - 2) / (2 * (many - 1)), 2, many - 2))
    return Recalibrated((line[1], line[1] - half, line[1] + half), level_, joint)


def _likelihood(eta: Array, y: Array, w: Array) -> float:
    return float(w @ (y * eta - np.logaddexp(0, eta)))


def _maximum(design: Array, y: Array, w: Array) -> Array:
    total = w.sum()

    def loss(beta: Array) -> tuple[float, Array]:
        eta = design @ beta
        return -_likelihood(eta, y, w) / total, -design.T @ (w * (y - expit(eta))) / total

    def curve(beta: Array) -> Array:
        fit = expit(design @ beta)
        return (design * (w * fit * (1 - fit))[:, None]).T @ design / total

    found = minimize(
        loss,
        np.zeros(design.shape[1]),
        jac=True,
        hess=curve,
        method="trust-exact",
        options={"gtol": 1e-13},
    )
    return np.asarray(found.x)


def _covariance(
    design: Array, y: Array, w: Array, fit: Array, robust: bool, unit: Array | None
) -> Array:
    inverse = np.linalg.inv((design * (w * fit * (1 - fit))[:, None]).T @ design)
    if not robust:
        return inverse
    scores, factor = design * (w * (y - fit))[:, None], 1.0
    if unit is not None:
        scores = np.stack([np.bincount(unit, each) for each in scores.T], axis=1)
        factor = len(scores) / (len(scores) - 1)
    return factor * inverse @ (scores.T @ scores) @ inverse


def _in_the_large(
    x: Array, y: Array, w: Array, robust: bool, unit: Array | None, z: float
) -> tuple[float, float, float]:
    """The intercept with the slope held at 1: the root of the mean residual."""
    value = float(brentq(lambda a: w @ (y - expit(a + x)), -90, 90, xtol=1e-13))
    fit = expit(value + x)
    error = math.sqrt(_covariance(np.ones((len(x), 1)), y, w, fit, robust, unit)[0, 0])
    return value, value - z * error, value + z * error


def _without_maximum(x: Array, y: Array, w: Array, one_label: bool) -> float:
    """The likelihood ratio of the limit that lines approach: here of one score or one label."""
    reached = 0.0
    if not one_label and x.min() == x.max():
        rate = np.average(y, weights=w)
        reached = float(w.sum() * (rate * math.log(rate) + (1 - rate) * math.log1p(-rate)))
    gained = max(0.0, 2 * (reached - _likelihood(x, y, w)))
    return float(chi2.sf(gained, 2 if x.min() < x.max() else 1))
