"""Clinical measures: Cox slope and intercept, observed over expected, loess curve and ICI."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from scipy.stats import chi2, f, norm, t

from .arithmetic import Floats, Ints, float_weights, same_shape, sigmoid


class Cox(NamedTuple):
    """P(y = 1) = sigmoid(intercept + slope * logit(p))."""

    slope: float
    intercept: float


def logits(p: ArrayLike) -> list[float]:
    """log p - log(1 - p), each side clipped from below as in log loss."""
    given = np.asarray(p)
    floor = float(np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).tiny)
    return [math.log(max(float(v), floor)) - math.log(max(1.0 - float(v), floor)) for v in given]


def cox(p: ArrayLike, y: Ints, weights: Floats | None = None) -> Cox:
    """Maximum likelihood of both; refused where labels are separable, so that it is at infinity."""
    x = logits(p)
    same_shape(x, y)
    w = float_weights(weights, len(x))
    positive = [x[i] for i in range(len(x)) if y[i] == 1]
    negative = [x[i] for i in range(len(x)) if y[i] == 0]
    if not positive or not negative:
        raise ValueError("no finite fit: one label only")
    if min(positive) >= max(negative) or max(positive) <= min(negative):
        raise ValueError("no finite fit: the scores separate the labels")
    # Newton on centered and scaled logits: the same fit, better conditioned.
    centre = math.fsum(w[i] * v for i, v in enumerate(x)) / math.fsum(w)
    spread = math.sqrt(math.fsum(w[i] * (v - centre) ** 2 for i, v in enumerate(x)) / math.fsum(w))
    z = [[1.0, (v - centre) / spread] for v in x]
    a, b = _maximise(z, [0.0] * len(x), y, w)
    return Cox(slope=b / spread, intercept=a - b * centre / spread)


def intercept_at_slope_one(p: ArrayLike, y: Ints, weights: Floats | None = None) -> float:
    """Calibration in the large: logit(p) is an offset, the intercept alone is fitted."""
    x = logits(p)
    same_shape(x, y)
    if len({int(v) for v in y}) == 1:
        raise ValueError("no finite fit: one label only")
    return _maximise([[1.0]] * len(x), x, y, float_weights(weights, len(x)))[0]


def _maximise(z: list[list[float]], offset: list[float], y: Ints, w: list[float]) -> list[float]:
    """Logistic coefficients by Newton steps, halved while the likelihood falls."""
    total, columns = math.fsum(w), range(len(z[0]))

    def predictors(beta: list[float]) -> list[float]:
        return [
            offset[i] + math.fsum(v * c for v, c in zip(row, beta, strict=True))
            for i, row in enumerate(z)
        ]

    def loss(beta: list[float]) -> float:
        signed = [-eta if y[i] == 1 else eta for i, eta in enumerate(predictors(beta))]
        terms = [max(s, 0.0) + math.log1p(math.exp(-abs(s))) for s in signed]
        return math.fsum(w[i] * t for i, t in enumerate(terms)) / total

    beta = [0.0 for _ in columns]
    for _ in range(500):
        fit = sigmoid(predictors(beta))
        gap = [w[i] * (float(y[i]) - fit[i]) / total for i in range(len(y))]
        slope = [math.fsum(gap[i] * z[i][j] for i in range(len(y))) for j in columns]
        curve = [w[i] * fit[i] * (1.0 - fit[i]) / total for i in range(len(y))]
        hessian = [
            [math.fsum(curve[i] * z[i][j] * z[i][k] for i in range(len(y))) for k in columns]
            for j in columns
        ]
        step = [float(v) for v in np.linalg.lstsq(hessian, slope, rcond=None)[0]]
        here, scale = loss(beta), 1.0
        moved = [c + s for c, s in zip(beta, step, strict=True)]
        # The slack lets the last steps, whose gain is below rounding, go through whole.
        while loss(moved) > here + 1e-14 and scale > 1e-9:
            scale *= 0.5
            moved = [c + scale * s for c, s in zip(beta, step, strict=True)]
        if max(abs(v) for v in slope) < 1e-12 and max(abs(v) for v in step) < 1e-10:
            return moved
        beta = moved
    raise ArithmeticError("Newton's method did not converge")


def oe_ratio(p: Floats, y: Floats, weights: Floats | None = None) -> float:
    """Sum of w y over sum of w p."""
    same_shape(p, y)
    w = float_weights(weights, len(p))
    expected = math.fsum(w[i] * float(p[i]) for i in range(len(p)))
    return math.fsum(w[i] * float(y[i]) for i in range(len(y))) / expected


def likelihood_ratio(p: ArrayLike, y: Ints) -> tuple[float, float]:
    """Twice the gain of the best line over slope 1 and intercept 0, and its p-value.

    The maximum is searched from several starts, so that its limit is found where it is at infinity.
    """
    x = np.array(logits(p))
    outcome = np.asarray(y, dtype=float)

    def loss(line: Floats) -> float:
        eta = line[0] + line[1] * x
        return math.fsum(np.logaddexp(0, eta) - outcome * eta)

    centre, spread = float(x.mean()), float(x.std()) or 1.0
    found = []
    for slope in (-300.0, -3.0, 0.0, 1.0, 3.0, 300.0):
        for level in (-30.0, 0.0, 30.0):
            start = np.array([level - slope * centre / spread, slope / spread])
            first = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 600})
            found.append(minimize(loss, first.x, method="BFGS").fun)
    statistic = 2 * (loss(np.array([0.0, 1.0])) - min(found))
    return statistic, float(chi2.sf(statistic, 2 if x.min() < x.max() else 1))


def sandwich(
    p: ArrayLike,
    y: Floats,
    line: tuple[float, float],
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> Floats:
    """Covariance of (intercept, slope): sums over rows, or over the rows of each cluster first."""
    x = logits(p)
    w = float_weights(weights, len(x))
    own = list(range(len(x))) if clusters is None else [int(c) for c in clusters]
    fit = sigmoid([line[0] + line[1] * v for v in x])
    information, scores = np.zeros((2, 2)), {c: np.zeros(2) for c in own}
    for i, v in enumerate(x):
        design = np.array([1.0, v])
        information += w[i] * fit[i] * (1 - fit[i]) * np.outer(design, design)
        scores[own[i]] += w[i] * (float(y[i]) - fit[i]) * design
    inverse = np.linalg.inv(information)
    meat = sum((np.outer(score, score) for score in scores.values()), np.zeros((2, 2)))
    factor = 1.0 if clusters is None else len(scores) / (len(scores) - 1)
    return np.asarray(factor * inverse @ meat @ inverse)


def wald(line: tuple[float, float], covariance: Floats, n_clusters: int = 0) -> tuple[float, float]:
    """Squared distance of (intercept, slope) from (0, 1), and its p-value."""
    away = np.array([line[0], line[1] - 1.0])
    statistic = float(away @ np.linalg.inv(covariance) @ away)
    if not n_clusters:
        return statistic, float(chi2.sf(statistic, 2))
    scaled = statistic * (n_clusters - 2) / (2 * (n_clusters - 1))
    return statistic, float(f.sf(scaled, 2, n_clusters - 2))


def oe_ends(
    p: Floats,
    y: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Wilson's ends as the roots of its equation, at the number of rows that is effective."""
    w = float_weights(weights, len(p))
    total = math.fsum(w)
    ratio = oe_ratio(p, y, w)
    rate = math.fsum(w[i] * float(y[i]) for i in range(len(p))) / total
    score = math.fsum(w[i] * float(p[i]) for i in range(len(p))) / total
    own = list(range(len(p))) if clusters is None else [int(c) for c in clusters]
    residual, size = dict.fromkeys(own, 0.0), dict.fromkeys(own, 0.0)
    for i, c in enumerate(own):
        residual[c] += w[i] * (float(y[i]) - ratio * float(p[i]))
        size[c] += w[i]
    squares = math.fsum(s * s for s in size.values())
    count = total * total / squares
    if 1e-12 < rate < 1 - 1e-12:
        one_more = rate * (1 - rate) * squares / len(size)
        variance = (math.fsum(r * r for r in residual.values()) + one_more) / total**2
        count = rate * (1 - rate) / variance
    middle = (1 + level) / 2
    z = norm.ppf(middle) if clusters is None else t.ppf(middle, len(size) - 1)

    def away(truth: float) -> float:
        return float((rate - truth) ** 2 - z * z * truth * (1 - truth) / count)

    far = z * z / (count + z * z)  # the other root where the rate itself is one
    if rate < 1e-12:
        return 0.0, far / score
    if rate > 1 - 1e-12:
        return (1 - far) / score, 1 / score
    low, high = brentq(away, 0, rate, xtol=1e-15), brentq(away, rate, 1, xtol=1e-15)
    return low / score, high / score


def loess_at(
    x: float, p: Floats, y: Floats, span: float = 0.75, weights: Floats | None = None
) -> float:
    """Local quadratic at x, tricube weights, as R's loess(degree = 2, surface = "direct").

    The bandwidth is the distance of the q-th nearest row, q = floor(n span + 1e-5), span <= 1;
    weights multiply the tricube's and do not change q. A bandwidth of 0, which R refuses,
    leaves the mean label of the rows at x.
    """
    same_shape(p, y)
    w = float_weights(weights, len(p))
    away = [abs(float(v) - x) for v in p]
    bandwidth = sorted(away)[max(1, math.floor(len(p) * span + 1e-5)) - 1]
    if bandwidth == 0.0:
        rows = [i for i in range(len(p)) if away[i] == 0.0]
        return math.fsum(w[i] * float(y[i]) for i in rows) / math.fsum(w[i] for i in rows)
    design, target = [], []
    for i in range(len(p)):
        if away[i] < bandwidth:
            root = math.sqrt(w[i] * (1.0 - (away[i] / bandwidth) ** 3) ** 3)
            u = (float(p[i]) - x) / bandwidth
            design.append([root, root * u, root * u * u])
            target.append(root * float(y[i]))
    columns = np.array(design)
    norms = np.sqrt((columns**2).sum(axis=0))
    norms[norms == 0.0] = 1.0
    # Too few distinct scores: the least-norm solution, whose value at a row's own score is unique.
    solution = np.linalg.lstsq(columns / norms, np.array(target), rcond=100 * 2.0**-52)[0]
    return float(solution[0] / norms[0])


def loess_curve(
    p: Floats, y: Floats, span: float = 0.75, weights: Floats | None = None
) -> list[float]:
    """The loess fit at every row's own score, not limited to [0, 1]."""
    return [loess_at(float(v), p, y, span, weights) for v in p]


def curve_errors(
    p: Floats, y: Floats, span: float = 0.75, weights: Floats | None = None
) -> list[float]:
    """|p - curve(p)| per row."""
    curve = loess_curve(p, y, span, weights)
    return [abs(float(v) - c) for v, c in zip(p, curve, strict=True)]


def ici(p: Floats, y: Floats, span: float = 0.75, weights: Floats | None = None) -> float:
    """Integrated calibration index: the (weighted) mean error."""
    w = float_weights(weights, len(p))
    errors = curve_errors(p, y, span, weights)
    return math.fsum(w[i] * e for i, e in enumerate(errors)) / math.fsum(w)


def curve_error_quantile(p: Floats, y: Floats, level: float, span: float = 0.75) -> float:
    """E50, E90 and Emax are levels 0.5, 0.9 and 1: linear between order statistics (type 7)."""
    errors = sorted(curve_errors(p, y, span))
    rank = (len(errors) - 1) * level
    below = math.floor(rank)
    above = min(below + 1, len(errors) - 1)
    return errors[below] + (rank - below) * (errors[above] - errors[below])
