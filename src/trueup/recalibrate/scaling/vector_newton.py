"""Newton's method for softmax(w∘z + b): conjugate gradients, preconditioned class by class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.recalibrate.scaling.inverse_temperature import LossCurve

MOST_STEPS = 200
MOST_PRODUCTS = 500  # in one step
LOOSEST = 0.1  # of a step's equations, relative
ROUNDING = 1e-14  # of the value, relative: smaller falls cannot be seen
LONGEST_MOVE = 10.0  # of the logits of a class in one step, in the mean square
STILL = 1e-2  # the same, of the last step to a true minimum
PATIENCE = 4  # steps beyond a small gradient, in which a true minimum would be reached
LIFT = 1e-8  # of diagonals, relative: a column that never changes has a block without inverse
LEAST_CURVATURE = 1e-14  # relative to that of the other classes
SHORTEST = 1e-9  # share of a step


class Penalty(NamedTuple):
    """shift·Σb² + scale·Σ(w − target)², added to the mean log loss."""

    shift: float
    scale: float
    target: float

    def value(self, point: Floats) -> float:
        """Its value at (b, w)."""
        return float(np.sum(self.amount * self._away(point) ** 2))

    def gradient(self, point: Floats) -> Floats:
        """Its derivatives by (b, w)."""
        return np.asarray(2 * self.amount * self._away(point))

    @property
    def amount(self) -> Floats:
        """(2, 1): the factors of both kinds of parameters."""
        return np.array([[self.shift], [self.scale]])

    def _away(self, point: Floats) -> Floats:
        return np.asarray(point - np.array([[0.0], [self.target]]))


class Here(NamedTuple):
    """The objective at one point (b, w), (2, K)."""

    point: Floats
    loss: float  # mean log loss alone
    value: float
    gradient: Floats
    blocks: Floats  # (4, K): each class's own second derivatives and their determinant
    log_total: Floats

    @property
    def norm(self) -> float:
        """Norm of the gradient."""
        return math.sqrt(_dot(self.gradient, self.gradient))

    def solve(self, right: Floats) -> Floats:
        """Solve for every class by its own second derivatives."""
        h0, h1, h2, size = self.blocks
        return np.stack(
            [(h2 * right[0] - h1 * right[1]) / size, (h0 * right[1] - h1 * right[0]) / size]
        )

    def moved(self, step: Floats) -> float:
        """Root of the mean square by which a step moves the logits of the class it moves most."""
        h0, h1, h2, _ = self.blocks
        square = h0 * step[0] ** 2 + 2 * h1 * step[0] * step[1] + h2 * step[1] ** 2
        return math.sqrt(max(0.0, float(np.max(square / h0))))


@dataclass(frozen=True, eq=False)
class ScalingObjective:
    """Mean log loss of softmax(w∘z + b) plus a penalty, on the rows of a curve."""

    curve: LossCurve
    penalty: Penalty

    def at(self, point: Floats) -> Here:
        """Value and derivatives at (b, w)."""
        rows, total = self.curve, self.curve.total_weight
        sums = engine.softmax.scaled_sums(
            rows.logits, rows.labels, rows.weights, point[1], point[0]
        )
        loss = rows.mean(sums.loss)
        gradient = sums.gradient / total + self.penalty.gradient(point)
        value = loss + self.penalty.value(point)
        blocks = self._blocks(*sums.curvature / total)
        return Here(point, loss, value, gradient, blocks, sums.log_total)

    def product(self, here: Here, direction: Floats) -> Floats:
        """Second derivatives times a direction."""
        shift, scale = here.point
        product = engine.softmax.scaled_product(
            self.curve.logits, self.curve.weights, here.log_total, scale, shift, direction
        )
        return product / self.curve.total_weight + 2 * self.penalty.amount * direction

    def _blocks(self, h0: Floats, h1: Floats, h2: Floats) -> Floats:
        """Second derivatives of each class with the penalty, and their determinants."""
        h0, h2 = _lifted(h0), _lifted(h2)
        shift, scale = 2 * self.penalty.shift, 2 * self.penalty.scale
        size = h0 * h2 - h1 * h1 + (shift * h2 + scale * h0 + shift * scale)
        return np.stack([h0 + shift, h1, h2 + scale, size])


class Minimum(NamedTuple):
    """Where the descent ended: at a minimum, on the way to infinity, or nowhere in particular."""

    here: Here
    converged: bool
    endless: bool


def minimise(objective: ScalingObjective, start: Floats, tolerance: float) -> Minimum:
    """Descend until the gradient is small and steps no longer move the logits."""
    here, patience = objective.at(start), PATIENCE
    for _ in range(MOST_STEPS):
        if here.norm <= tolerance:
            if here.moved(here.solve(here.gradient)) <= STILL:
                return Minimum(here, True, False)
            patience -= 1
            if patience < 0:
                return Minimum(here, False, True)
        there = _next(objective, here, tolerance)
        if there is None:  # the gradient is as small as rounding lets it be
            break
        here = there
    return Minimum(here, here.norm <= tolerance, False)


def _next(objective: ScalingObjective, here: Here, tolerance: float) -> Here | None:
    """A step downhill; None where there is none."""
    step = _direction(objective, here, tolerance)
    share = min(1.0, LONGEST_MOVE / max(here.moved(step), 1e-300))
    promise = -_dot(here.gradient, step)
    slack = ROUNDING * (1 + abs(here.value))
    while share > SHORTEST:
        there = objective.at(here.point + share * step)
        if there.value <= here.value - 1e-4 * share * promise + slack:
            seen = share * promise > slack
            return there if seen or there.norm < here.norm else None
        share /= 2
    return None


def _direction(objective: ScalingObjective, here: Here, tolerance: float) -> Floats:
    """Newton's step, the more exact the nearer the minimum is, but no more than is needed."""
    step, residual = np.zeros_like(here.gradient), -here.gradient
    solved = here.solve(residual)
    path, square = solved, _dot(residual, solved)
    enough = min(LOOSEST**2, here.norm) * square
    for _ in range(MOST_PRODUCTS):
        image = objective.product(here, path)
        bend = _dot(path, image)
        if bend <= 0:
            break
        step = step + square / bend * path
        residual = residual - square / bend * image
        solved = here.solve(residual)
        square, before = _dot(residual, solved), square
        if square <= enough or _dot(residual, residual) <= (tolerance / 4) ** 2:
            break
        path = solved + square / before * path
    return step


def _lifted(diagonal: Floats) -> Floats:
    """A diagonal away from 0, so that every block has an inverse."""
    least = LEAST_CURVATURE * float(diagonal.max())
    return np.maximum(diagonal * (1 + LIFT), least if least > 0 else 1.0)


def _dot(a: Floats, b: Floats) -> float:
    return float(np.sum(a * b))
