"""The loss of σ(intercept + Σ slope · covariate) for given targets, with its derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import Floats
from trueup.newton import Terms
from trueup.recalibrate.scores import sigmoid


@dataclass(frozen=True, eq=False)
class SigmoidProblem:
    """Covariates that grow with the score, one for each slope, and outcomes with weights.

    Points are slopes with the intercept behind them, which stays 0 if there is none to fit. Slopes
    of 1 and an intercept of 0 give ``log_odds``, those of the score.
    """

    covariates: Floats
    has_intercept: bool
    log_odds: Floats
    outcomes: NDArray[np.bool_]
    weights: Floats | None

    @cached_property
    def weight(self) -> Floats | float:
        """Weights that sum to 1."""
        if self.weights is None:
            return 1 / len(self.outcomes)
        return np.asarray(self.weights / self.weights.sum())

    @property
    def labels(self) -> Floats:
        """Outcomes as targets."""
        return self.outcomes.astype(np.float64)

    def smoothed(self) -> Floats:
        """(N₊ + 1)/(N₊ + 2) for positive outcomes and 1/(N₋ + 2) for others (Platt 1999)."""
        weights = np.ones(len(self.outcomes)) if self.weights is None else self.weights
        positive, negative = weights[self.outcomes].sum(), weights[~self.outcomes].sum()
        high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
        return np.where(self.outcomes, float(high), float(low))

    def rows(self, step: int) -> SigmoidProblem:
        """Every so many-th row."""
        return replace(
            self,
            covariates=self.covariates[:, ::step],
            log_odds=self.log_odds[::step],
            outcomes=self.outcomes[::step],
            weights=None if self.weights is None else self.weights[::step],
        )

    def mean(self, values: Floats) -> float:
        """Weighted mean."""
        # A plain sum, not a product of arrays, which may round differently on more threads.
        return float((self.weight * values).sum())

    def constant(self, targets: Floats) -> Floats:
        """Return the best point with all slopes 0, whatever the loss."""
        point = np.zeros(len(self.covariates) + 1)
        if self.has_intercept:
            point[-1] = math.log(self.mean(targets)) - math.log(self.mean(1 - targets))
        return point

    def line(self, point: Floats) -> Floats:
        """Log-odds of every row."""
        terms = zip(point[:-1], self.covariates, strict=True)
        first, *others = (slope * row for slope, row in terms)
        for other in others:
            first += other
        first += point[-1]
        return np.asarray(first)

    def value(self, targets: Floats, point: Floats, *, squared: bool) -> float:
        """Minus the mean loss."""
        line = self.line(point)
        if squared:
            return -self.mean((targets - sigmoid(line)) ** 2)
        return self._log_likelihood(targets, line, np.exp(-np.abs(line)))

    def terms(self, targets: Floats, point: Floats, *, squared: bool) -> Terms:
        """Minus the mean loss, with its derivatives by slopes and intercept."""
        line = self.line(point)
        small = np.exp(-np.abs(line))
        p = np.where(line >= 0, 1.0, small)
        whole = 1 + small
        p /= whole
        residual, spread = targets - p, small / (whole * whole)
        if squared:
            value = -self.mean(residual * residual)
            first = 2 * self.weight * residual * spread
            second = 2 * self.weight * spread * (spread - residual * (1 - 2 * p))
        else:
            value = self._log_likelihood(targets, line, small)
            first, second = self.weight * residual, self.weight * spread
        x = self.covariates
        gradient = np.append([(first * row).sum() for row in x], first.sum())
        hessian = np.empty((len(point), len(point)))
        for j, row in enumerate(x):
            bent = second * row
            hessian[j, :-1] = [-(bent * other).sum() for other in x]
            hessian[j, -1] = hessian[-1, j] = -bent.sum()
        hessian[-1, -1] = -second.sum()
        return Terms(value, gradient, hessian)

    def _log_likelihood(self, targets: Floats, line: Floats, small: Floats) -> float:
        return self.mean(targets * line - np.maximum(line, 0) - np.log1p(small))
