"""Joint test of slope 1 and intercept 0: whether Cox's line is the diagonal."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueup.estimators.logistic_fit import Line, Outcomes, log_likelihood

TINY = float(np.finfo(np.float64).tiny)


class JointTest(NamedTuple):
    """A statistic with its p-value; both are NaN if this ``kind`` of test does not exist here."""

    statistic: float
    pvalue: float
    kind: str


def joint_test(data: Outcomes, line: Line) -> JointTest:
    """Compare the fitted line with slope 1 and intercept 0.

    Independent, unweighted rows with hard labels have a likelihood, so the likelihood ratio test is
    used. Otherwise Wald's test with the sandwich covariance is used.
    """
    return _wald(data, line) if data.robust else _likelihood_ratio(data, line)


def _likelihood_ratio(data: Outcomes, line: Line) -> JointTest:
    """Return twice the gain in log-likelihood; it is finite even if the line is not."""
    gained = line.log_likelihood - log_likelihood(data, 0.0, 1.0)
    statistic = max(0.0, 2 * gained)  # rounding may leave a little less than 0
    if data.x.min() < data.x.max():
        pvalue = math.exp(-statistic / 2)  # chi-square, two degrees of freedom
    else:  # one score: slope and intercept are one parameter
        pvalue = math.erfc(math.sqrt(statistic / 2))
    return JointTest(statistic, max(TINY, pvalue), "likelihood ratio")


def _wald(data: Outcomes, line: Line) -> JointTest:
    """Return the squared distance from (0, 1) in units of the sandwich covariance.

    With G clusters it is Hotelling's statistic of G means, whose distribution is that of 2 (G −
    1)/(G − 2) · F(2, G − 2). It approaches the chi-square distribution as G grows.
    """
    unknown = JointTest(math.nan, math.nan, "Wald")
    count = None if data.clusters is None else int(data.clusters.max()) + 1
    if not line.converged or line.covariance is None or (count is not None and count < 3):
        return unknown
    away = np.array([line.intercept, line.slope - 1])
    scale = np.sqrt(np.diag(line.covariance))
    if not np.all(scale > 0):  # also NaN
        return unknown
    try:
        solved = np.linalg.solve(line.covariance / np.outer(scale, scale), away / scale)
    except np.linalg.LinAlgError:
        return unknown
    statistic = float(solved @ (away / scale))
    if not 0 <= statistic < math.inf:
        return unknown
    if count is None:
        pvalue = math.exp(-statistic / 2)
    else:
        pvalue = math.exp(-(count - 2) / 2 * math.log1p(statistic / (count - 1)))
    return JointTest(statistic, max(TINY, pvalue), "Wald")
