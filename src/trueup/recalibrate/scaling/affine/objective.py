"""Penalised log loss of softmax(Wz + b), with all its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import cut
from trueup.engines.threads import run
from trueup.recalibrate.scaling.affine.preconditioner import Curvature, Solve, preconditioner

FEWEST_ROWS = 256  # of a chunk: smaller products of matrices waste their overhead


@dataclass(frozen=True, eq=False)
class Penalty:
    """Σ a_kj (θ_kj − t_kj)² over coefficients and intercepts, made invariant.

    Adding the same number to a whole column of θ changes no probability. The penalty is the
    least over all such additions, so that it does not depend on them either; `settled` makes the
    addition. ``amount`` a and ``target`` t are (K, d).
    """

    amount: Floats
    target: Floats

    @cached_property
    def _share(self) -> Floats:
        """a_kj / Σ_k a_kj: what each class has of the best addition; 0 where all are free."""
        total = self.amount.sum(axis=0)
        return np.asarray(self.amount / np.where(total > 0, total, 1))

    def _least(self, difference: Floats) -> Floats:
        return np.asarray(difference - (self._share * difference).sum(axis=0))

    def value(self, point: Floats) -> float:
        """Penalty of θ."""
        return float((self.amount * self._least(point - self.target) ** 2).sum())

    def slope(self, direction: Floats) -> Floats:
        """Half the second derivative times ``direction``; of θ − t, half the gradient."""
        return np.asarray(self.amount * self._least(direction))

    def settled(self, point: Floats) -> Floats:
        """Return the θ of the same probabilities with the smallest Σ a_kj (θ_kj − t_kj)²."""
        return np.asarray(point - (self._share * (point - self.target)).sum(axis=0))


class Here(NamedTuple):
    """The objective at one point."""

    value: float
    gradient: Floats
    probs: Floats


@dataclass(frozen=True, eq=False)
class AffineObjective:
    """Mean log loss of softmax(θx) plus a penalty, over (K, d) matrices θ.

    Rows ``x`` are (n, d), with a last column of ones; ``weight`` sums to 1. Rows are summed in
    chunks that depend on their number alone.
    """

    x: Floats
    labels: Ints
    weight: Floats
    penalty: Penalty

    @cached_property
    def _chunks(self) -> list[tuple[int, int]]:
        # Each chunk's (K, d) sum is held until all are there, so chunks are no smaller than it.
        return cut(len(self.x), max(FEWEST_ROWS, 2 * self.x.shape[1]))

    def at(self, point: Floats) -> Here:
        """Value, gradient and the probabilities that products need."""
        probs = np.empty((len(self.x), len(point)))

        def one(first: int, last: int) -> tuple[float, Floats]:
            x, weight = self.x[first:last], self.weight[first:last]
            chosen = np.arange(last - first), self.labels[first:last]
            eta = np.matmul(x, point.T, out=probs[first:last])
            eta -= eta.max(axis=1, keepdims=True)
            own = eta[chosen]
            np.exp(eta, out=eta)
            total = eta.sum(axis=1)
            eta /= total[:, None]
            residual = eta * weight[:, None]
            # p − 1 of a sure and right row would lose its digits; minus the others' sum does not.
            residual[chosen] = 0
            residual[chosen] = -residual.sum(axis=1)
            return float(weight @ (np.log(total) - own)), residual.T @ x

        parts = run(one, self._chunks)
        loss = sum(part[0] for part in parts) + self.penalty.value(point)
        slope = 2 * self.penalty.slope(point - self.penalty.target)
        return Here(loss, _added([part[1] for part in parts]) + slope, probs)

    def product(self, probs: Floats, direction: Floats) -> Floats:
        """Second derivative where the rows have ``probs``, times a direction."""

        def one(first: int, last: int) -> Floats:
            x, p = self.x[first:last], probs[first:last]
            change = x @ direction.T
            change -= np.einsum("ij,ij->i", change, p)[:, None]
            change *= p
            change *= self.weight[first:last, None]
            return np.asarray(change.T @ x)

        return _added(run(one, self._chunks)) + 2 * self.penalty.slope(direction)

    def moved(self, direction: Floats) -> float:
        """Largest change of any log-odds between two classes that a step makes in any row."""

        def one(first: int, last: int) -> float:
            return float(np.ptp(self.x[first:last] @ direction.T, axis=1).max())

        return max(run(one, self._chunks))

    def preconditioner(self, probs: Floats) -> Solve:
        """Roughly the inverse of the second derivative where the rows have ``probs``."""
        return preconditioner(Curvature(self.x, self.weight, probs, self.penalty.amount))


def _added(parts: list[Floats]) -> Floats:
    """Sum in the order of the chunks."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
