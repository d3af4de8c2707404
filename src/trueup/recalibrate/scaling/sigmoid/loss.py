"""The loss of σ(intercept + Σ slope · covariate) for given targets, with its derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.newton import Terms


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
    def weight(self) -> Floats | None:
        """Weights that sum to 1; None where all are the same."""
        return None if self.weights is None else np.asarray(self.weights / self.weights.sum())

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
        if self.weight is None:
            return float(values.sum()) / len(values)
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
        return self.terms(targets, point, squared=squared).value

    def terms(self, targets: Floats, point: Floats, *, squared: bool) -> Terms:
        """Minus the mean loss, with its derivatives by slopes and intercept."""
        sums = engine.sigmoid.sigmoid_sums(self.covariates, targets, self.weight, point, squared)
        whole = -(len(targets) if self.weight is None else 1.0)
        return Terms(sums.loss / whole, sums.gradient / whole, sums.hessian / whole)
