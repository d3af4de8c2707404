"""Rows for fitting a curve, where those that read 0 or 1 are spread over where they may be.

Their transform is infinite as they stand. Given the fitted Beta, such a score lies anywhere
between that end and half a rounding step, and its P(Y = 1) is the curve averaged over that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.simulate.fitting.beta import reads_0, reads_1
from trueup.simulate.fitting.rounding import Rounding
from trueup.simulate.worlds.calibration_curves import Curve

NODES = 32
LOG_TINY = math.log(np.finfo(np.float64).tiny)


class End(NamedTuple):
    """Rows that read 0 or 1: where they may be, with shares, and how many were right or wrong."""

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
        """Share of positives among all rows."""
        right = float(self.weight @ self.label) + sum(end.right for end in self.ends)
        return right / (float(self.weight.sum()) + sum(e.right + e.wrong for e in self.ends))


def outcomes_of(
    score: Floats, label: Floats, weight: Floats, rounding: Rounding, shapes: tuple[float, float]
) -> Outcomes:
    """Return the rows for a curve; ``shapes`` (alpha, beta) are those of the fitted scores."""
    alpha, beta = shapes
    at_0, at_1 = reads_0(score, rounding), reads_1(score, rounding)
    ends = []
    if at_0.any():
        near, far, share = _spread(alpha, beta, rounding.log_step_at_0)
        ends.append(End(near, far, share, *_right_and_wrong(label[at_0], weight[at_0])))
    if at_1.any():
        near, far, share = _spread(beta, alpha, rounding.log_step_at_1)
        ends.append(End(far, near, share, *_right_and_wrong(label[at_1], weight[at_1])))
    inside = ~(at_0 | at_1)
    c = score[inside]
    return Outcomes(np.log(c), np.log1p(-c), label[inside], weight[inside], tuple(ends))


def rate_of_rows(curve: Curve, score: Floats, rounding: Rounding, outcomes: Outcomes) -> Floats:
    """P(Y = 1) of each row by a curve; averaged over where a row at an end may be."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = curve(score, 1 - score)
    both = (reads_0(score, rounding), reads_1(score, rounding))
    for rows, end in zip([r for r in both if r.any()], outcomes.ends, strict=True):
        rate[rows] = end.share @ curve(np.exp(end.log_score), np.exp(end.log_complement))
    return rate


def end_nodes(a: float, b: float, log_x: float) -> tuple[Floats, Floats]:
    """Logarithms of points below x and their shares: quadrature over Beta(a, b) given < x.

    With v = (t/x)^a uniform, what is left of the density is (1 − t)^(b − 1), which is smooth.
    """
    at, width = np.polynomial.legendre.leggauss(NODES)
    log_t = log_x + np.log((at + 1) / 2) / a
    log_share = np.log(width) + (b - 1) * np.log1p(-np.exp(log_t))
    share = np.exp(log_share - log_share.max())
    return log_t, share / share.sum()


def _spread(a: float, b: float, log_x: float) -> tuple[Floats, Floats, Floats]:
    """Nodes as log(t) and log(1 − t), with shares."""
    log_t, share = end_nodes(a, b, log_x)
    # Kept off 0, where a log link has no likelihood.
    return log_t, np.log1p(-np.exp(np.maximum(log_t, LOG_TINY))), share


def _right_and_wrong(label: Floats, weight: Floats) -> tuple[float, float]:
    return float((weight * label).sum()), float((weight * (1 - label)).sum())
