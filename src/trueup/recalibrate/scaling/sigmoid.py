"""The base of Platt scaling and beta calibration: a fit of σ(intercept + Σ slope · covariate)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.newton import Maximum, Terms, climb
from trueup.recalibrate.one_vs_rest import OneVsRestRecalibrator
from trueup.recalibrate.score_forms import FitData, Scores, sigmoid

POLISH = 4
ENOUGH = 1e-13  # of the gradient of the mean loss
STEP_FUNCTION = 1e-5  # all rows nearer than this to 0 or 1: the slope has run away
ROUNDED = 1e-12  # of the range of the scores: no further apart, they could as well be the same
MANY_ROWS = 1 << 13  # above it some of the rows are fitted first, to start from there
SOME_ROWS = 1 << 11
NEXT_TO_ONE = 2.0**-53  # a smoothed label of enormous weight would round to 1

ONE_CLASS = "all outcomes are the same, and the intercept has no finite optimum"
SEPARATED = "the scores separate the outcomes perfectly, and the slope has no finite optimum"
STEEP = "the squared error keeps decreasing as the slope grows"
SMOOTHED = "so Platt's smoothed labels were fitted"
KEPT = "so the scores were kept: they fit better than Platt's smoothed labels would"
SAME_SCORE = "all scores are the same, so the slope cannot be estimated and was left at 1"
STRETCHED = "all scores are the same, so one slope was fitted to give them the mean outcome"
BACKWARDS = "positive outcomes are not more frequent at higher scores, so the output is constant"
WORSE = "normalized rows have a larger log loss than the original rows, so those were kept"


class SigmoidRecalibrator(OneVsRestRecalibrator):
    """Recalibrator with σ(intercept + Σ slope · covariate), whose slopes are not negative.

    A subclass returns the covariates of a problem in `_covariates`. Each of them increases with the
    score; slopes of 1 and an intercept of 0 must return the score.
    """

    monotone: ClassVar[bool] = True

    def _covariates(self, scores: Scores, number: int) -> Floats:
        """Return (slopes, n) covariates of one problem."""
        raise NotImplementedError

    def _with_intercept(self) -> bool:
        """Whether an intercept is fitted."""
        return True

    def _asked(self) -> tuple[bool, bool]:
        """Whether labels are smoothed and whether the loss is squared."""
        return False, False

    def _fit(self, data: FitData) -> None:
        super()._fit(data)
        found = [[learned["note"]] if learned["note"] else [] for learned in self.maps_]
        self._note_problems(found)
        binary = data.n_classes == 2 and not data.scores.are_logits  # what is best is no worse
        if binary or self._asked() != (False, False):
            return
        if self._is_worse(data):
            slopes = len(self.maps_[0]["slopes"])
            same = {"slopes": np.ones(slopes), "intercept": 0.0, "gradient": 0.0, "note": ""}
            self.maps_ = [dict(same) for _ in self.maps_]
            self.notes_ = [WORSE]

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        smooth, squared = self._asked()
        problem = SigmoidProblem(
            self._covariates(data.scores, number),
            self._with_intercept(),
            data.scores.log_odds(number),
            data.outcomes(number),
            data.weights,
        )
        point, gradient, note = fit_sigmoid(problem, smooth=smooth, squared=squared)
        slopes, intercept = point[:-1], float(point[-1])
        return {"slopes": slopes, "intercept": intercept, "gradient": gradient, "note": note}

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        covariates = self._covariates(scores, number)
        terms = zip(learned["slopes"], covariates, strict=True)
        return sigmoid(np.asarray(learned["intercept"] + sum(a * x for a, x in terms)))


@dataclass(frozen=True, eq=False)
class SigmoidProblem:
    """Covariates that increase with the score, one for each slope, and outcomes with weights.

    Points are the slopes followed by the intercept, which stays 0 if it is not fitted. Slopes of 1
    and an intercept of 0 give ``log_odds``, the log-odds of the score.
    """

    covariates: Floats
    has_intercept: bool
    log_odds: Floats
    outcomes: NDArray[np.bool_]
    weights: Floats | None

    @cached_property
    def weight(self) -> Floats | None:
        """Weights that sum to 1; None if all are equal."""
        return None if self.weights is None else np.asarray(self.weights / self.weights.sum())

    @property
    def labels(self) -> Floats:
        """Outcomes as targets."""
        return self.outcomes.astype(np.float64)

    def smoothed(self) -> Floats:
        """Return (N₊ + 1)/(N₊ + 2) for positive outcomes and 1/(N₋ + 2) for others (Platt 1999)."""
        weights = np.ones(len(self.outcomes)) if self.weights is None else self.weights
        positive, negative = weights[self.outcomes].sum(), weights[~self.outcomes].sum()
        high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
        high, low = min(float(high), 1 - NEXT_TO_ONE), float(low)
        return np.where(self.outcomes, high, low)

    def rows(self, step: int) -> SigmoidProblem:
        """Return every ``step``-th row."""
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
        """Return the best point with all slopes 0, for either loss."""
        point = np.zeros(len(self.covariates) + 1)
        if self.has_intercept:
            means = self.mean(targets), self.mean(1 - targets)
            positive, negative = (max(mean, np.finfo(float).tiny) for mean in means)
            point[-1] = math.log(positive) - math.log(negative)
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
        """Return minus the mean loss, with its derivatives with respect to slopes and intercept."""
        sums = engine.sigmoid.sigmoid_sums(self.covariates, targets, self.weight, point, squared)
        whole = -(len(targets) if self.weight is None else 1.0)
        return Terms(sums.loss / whole, sums.gradient / whole, sums.hessian / whole)


class SigmoidFit(NamedTuple):
    """Slopes followed by the intercept, and a note for the user or an empty string.

    ``gradient`` is the largest derivative of the minimized mean loss with respect to any free
    parameter.
    """

    point: Floats
    gradient: float
    note: str = ""


def fit_sigmoid(problem: SigmoidProblem, *, smooth: bool, squared: bool) -> SigmoidFit:
    """Fit outcomes, or Platt's smoothed outcomes if requested or if the others have no best fit.

    ``squared`` selects least squares instead of log loss.
    """
    if np.ptp(problem.log_odds) == 0:
        return _shifted(problem, smooth)
    labels = problem.labels
    why = "" if smooth else _boundless(problem)
    if not smooth and not why:
        point = _best(problem, labels, squared)
        if not (squared and np.abs(problem.line(point)).min() > -math.log(STEP_FUNCTION)):
            return _fit(problem, labels, point, squared)
        why = STEEP
    targets = problem.smoothed()
    point = _best(problem, targets, squared)
    if not why:
        return _fit(problem, targets, point, squared)
    same = _identity(problem)
    if problem.value(labels, same, squared=squared) >= problem.value(
        labels, point, squared=squared
    ):
        return SigmoidFit(same, 0.0, f"{why}, {KEPT}")
    return _fit(problem, targets, point, squared)._replace(note=f"{why}, {SMOOTHED}")


def _fit(problem: SigmoidProblem, targets: Floats, point: Floats, squared: bool) -> SigmoidFit:
    free = np.append(point[:-1] > 0, problem.has_intercept)
    gradient = problem.terms(targets, point, squared=squared).gradient[free]
    largest = float(np.abs(gradient).max(initial=0.0))
    return SigmoidFit(point, largest, "" if free[:-1].any() else BACKWARDS)


def _identity(problem: SigmoidProblem) -> Floats:
    return np.append(np.ones(len(problem.covariates)), 0.0)


def _boundless(problem: SigmoidProblem) -> str:
    """Return why there is no finite optimum, or an empty string.

    Every fit increases with the score, so there is no optimum if and only if a threshold separates
    the outcomes; without an intercept the threshold is 1/2. If scores are on the wrong side only by
    rounding errors, the fit would be finite but meaningless.
    """
    positive, negative = problem.log_odds[problem.outcomes], problem.log_odds[~problem.outcomes]
    if problem.has_intercept and (len(positive) == 0 or len(negative) == 0):
        return ONE_CLASS
    above, below = positive.min(initial=math.inf), negative.max(initial=-math.inf)
    slack = ROUNDED * float(np.ptp(problem.log_odds))
    lowest, highest = (below, above) if problem.has_intercept else (0.0, 0.0)
    apart = above >= lowest - slack and below <= highest + slack
    return SEPARATED if apart else ""


def _shifted(problem: SigmoidProblem, smooth: bool) -> SigmoidFit:
    """Return slopes of 1, and the intercept that maps the only score to the mean outcome."""
    same = _identity(problem)
    if not problem.has_intercept:
        return _stretched(problem, smooth)
    one_class = _boundless(problem) == ONE_CLASS
    level = problem.constant(problem.smoothed() if smooth or one_class else problem.labels)
    point = same.copy()
    point[-1] = level[-1] - problem.log_odds[0]
    # With one score and one class, every loss decreases as the output nears the label.
    nearer = (same[-1] - point[-1]) * (1 if problem.outcomes[0] else -1) >= 0
    if one_class and not smooth and nearer:
        return SigmoidFit(same, 0.0, f"{ONE_CLASS}, {KEPT}")
    return SigmoidFit(point, 0.0, SAME_SCORE)


def _stretched(problem: SigmoidProblem, smooth: bool) -> SigmoidFit:
    """Return, without an intercept, the slope ≥ 0 that maps the only score to the mean outcome."""
    same, score = _identity(problem), float(problem.log_odds[0])
    if score == 0:
        return SigmoidFit(same, 0.0, SAME_SCORE)
    boundless = _boundless(problem)
    rate = problem.mean(problem.smoothed() if smooth or boundless else problem.labels)
    if not 0 < rate < 1:  # all outcomes are against the score: no slope is best
        return SigmoidFit(0 * same, 0.0, BACKWARDS)
    slope = max(0.0, (math.log(rate) - math.log1p(-rate)) / score)
    if boundless and not smooth and slope <= 1:
        return SigmoidFit(same, 0.0, f"{boundless}, {KEPT}")
    return SigmoidFit(slope * same, 0.0, STRETCHED)


def _best(problem: SigmoidProblem, targets: Floats, squared: bool) -> Floats:
    """Return the best slopes ≥ 0 and intercept."""
    centre, spread = _standard(problem)
    covariates = (problem.covariates - centre[:, None]) / spread[:, None]
    scaled = replace(problem, covariates=covariates)
    step, start = len(targets) // SOME_ROWS, None
    if len(targets) > MANY_ROWS and not _boundless(some := scaled.rows(step)):
        start = _by_log_loss(some, targets[::step], None)
    if start is None or not squared or not start[:-1].all():
        start = _by_log_loss(scaled, targets, start)
    point: Floats = _by_squares(scaled, targets, start) if squared else start
    point = point / np.append(spread, 1.0)
    point[-1] -= float((point[:-1] * centre).sum())
    return point


def _standard(problem: SigmoidProblem) -> tuple[Floats, Floats]:
    """Return center and scale of the covariates, which make parameters nearly uncorrelated."""
    each = problem.covariates
    centre = np.array([problem.mean(x) if problem.has_intercept else 0.0 for x in each])
    spread = np.array([math.sqrt(problem.mean(x * x)) for x in each - centre[:, None]])
    return centre, np.where(spread > 0, spread, 1.0)


def _by_log_loss(problem: SigmoidProblem, targets: Floats, start: Floats | None) -> Floats:
    """Minimize log loss, which is convex; covariates with negative slopes are dropped in turn."""
    level = problem.constant(targets)
    if (problem.terms(targets, level, squared=False).gradient[:-1] <= 0).all():
        return level
    everything = list(range(len(problem.covariates)))
    return _without_negative(problem, targets, level if start is None else start, everything)


def _without_negative(
    problem: SigmoidProblem, targets: Floats, start: Floats, free: list[int]
) -> Floats:
    """Return the best fit with a single nonzero slope.

    If only one slope is negative, it is 0 in the best fit; if both are, at least one of them is 0.
    """
    level = problem.constant(targets)
    if not free:
        return level
    moving = [*free, len(problem.covariates)] if problem.has_intercept else free
    point = _climbed(problem, targets, start, moving, squared=False)
    negative = [j for j in free if point[j] < 0]
    if not negative:
        return point
    others = ([k for k in free if k != j] for j in negative)
    fits = [_without_negative(problem, targets, level, rest) for rest in others]
    return max(fits, key=lambda fit: problem.value(targets, fit, squared=False))


def _by_squares(problem: SigmoidProblem, targets: Floats, start: Floats) -> Floats:
    """Minimize squared error from the fit by log loss, because it may have several minima."""
    level = problem.constant(targets)
    if not start[:-1].all():
        return level  # a valley of squares too
    found = _climbed(problem, targets, start, list(range(len(start))), squared=True)
    fits = [start, level] if found[:-1].min() < 0 else [found, start, level]
    return max(fits, key=lambda fit: problem.value(targets, fit, squared=True))


def _climbed(
    problem: SigmoidProblem, targets: Floats, start: Floats, moving: list[int], *, squared: bool
) -> Floats:
    """Maximize, then take full Newton steps: only rounding of the value is left there."""
    point = np.zeros(len(start))

    def at(part: Floats) -> Terms:
        point[moving] = part
        value, gradient, hessian = problem.terms(targets, point, squared=squared)
        return Terms(value, gradient[moving], hessian[moving][:, moving])

    # Where squares are not convex a step may be of any length; so it may where weights differ
    # so much that log loss is all but flat.
    longest = (2 if squared else 10) * max(1.0, float(np.abs(start).max()))
    best: Maximum = climb(at, start[moving], longest=longest)
    for _ in range(POLISH):
        if np.abs(best.terms.gradient).max() <= ENOUGH:
            break
        try:
            step = np.linalg.solve(-best.terms.hessian, best.terms.gradient)
        except np.linalg.LinAlgError:
            break
        terms = at(best.point + step)
        if not np.abs(terms.gradient).max() < np.abs(best.terms.gradient).max():
            break
        best = Maximum(best.point + step, terms, best.converged)
    point[moving] = best.point
    return point
