"""Penalized log loss of softmax(Wz + b), its derivatives, and approximate inverse Hessians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import cut
from trueup.engines.sums import added
from trueup.engines.threads import run

Solve = Callable[[Floats], Floats]
"""(K, d) gradients to steps: a symmetric positive matrix for each class, times its row."""

MOST_BLOCK_ENTRIES = 1 << 24  # K blocks of (K + 1)² numbers: up to 255 classes
SMALL = 1e-3  # rows of less curvature than this share of the largest are taken together
JITTER = 1e-6  # share of a block's mean curvature that keeps its inverse in bounds
NOTHING = 1e-13  # rounding errors of it
MANY_CLASSES = 32  # from here on blocks are summed in single precision, at half the cost
FEWEST_ROWS = 256  # of a chunk: smaller products of matrices waste their overhead


@dataclass(frozen=True, eq=False)
class Penalty:
    """Invariant penalty Σ a_kj (θ_kj − t_kj)² on coefficients and intercepts.

    Adding the same number to a whole column of θ changes no probability. The penalty is the minimum
    over all such additions, so it does not depend on them either; `settled` makes the addition.
    ``amount`` is a, and ``target`` is t; both are (K, d).
    """

    amount: Floats
    target: Floats

    @cached_property
    def _share(self) -> Floats:
        """Weight of each class in the best addition: a_kj / Σ_k a_kj, or 0 if all are free."""
        total = self.amount.sum(axis=0)
        return np.asarray(self.amount / np.where(total > 0, total, 1))

    def _least(self, difference: Floats) -> Floats:
        return np.asarray(difference - (self._share * difference).sum(axis=0))

    def value(self, point: Floats) -> float:
        """Penalty of θ."""
        return float((self.amount * self._least(point - self.target) ** 2).sum())

    def slope(self, direction: Floats) -> Floats:
        """Return half the Hessian times ``direction``; for θ − t this is half the gradient."""
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
    chunks that depend only on their number.
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
        """Return value, gradient and the probabilities for Hessian products."""
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
        return Here(loss, added([part[1] for part in parts]) + slope, probs)

    def product(self, probs: Floats, direction: Floats) -> Floats:
        """Return the Hessian for rows with ``probs``, times a direction."""

        def one(first: int, last: int) -> Floats:
            x, p = self.x[first:last], probs[first:last]
            change = x @ direction.T
            change -= np.einsum("ij,ij->i", change, p)[:, None]
            change *= p
            change *= self.weight[first:last, None]
            return np.asarray(change.T @ x)

        return added(run(one, self._chunks)) + 2 * self.penalty.slope(direction)

    def moved(self, direction: Floats) -> float:
        """Return the largest change of any log-odds in any row that a step makes."""

        def one(first: int, last: int) -> float:
            return float(np.ptp(self.x[first:last] @ direction.T, axis=1).max())

        return max(run(one, self._chunks))

    def preconditioner(self, probs: Floats) -> Solve:
        """Return an approximate inverse of the Hessian for rows with ``probs``.

        Second derivatives between two classes are ignored. Each class has its own matrix if the K
        inverse matrices fit into memory; otherwise all classes share one.
        """
        k, d = self.penalty.amount.shape
        half = self.x * np.sqrt(self.weight)[:, None]
        gram = np.asarray(half.T @ half)
        kind = _by_class if k * d * d <= MOST_BLOCK_ENTRIES else _shared
        solve = kind(self, probs, gram)

        def apply(gradient: Floats) -> Floats:
            # The same addition to all classes changes nothing: it is taken out on both sides.
            answer = solve(gradient - gradient.mean(axis=0))
            return np.asarray(answer - answer.mean(axis=0))

        return apply


def _by_class(of: AffineObjective, probs: Floats, gram: Floats) -> Solve:
    """An inverse matrix for each class."""
    amount = of.penalty.amount
    k, d = amount.shape
    inverse = np.empty((k, d, d))
    diagonal = np.arange(d)
    kind: type[np.floating[Any]] = np.float32 if k >= MANY_CLASSES else np.float64
    x = of.x.astype(kind)

    def one(first: int, last: int) -> None:
        for number in range(first, last):
            p = probs[:, number]
            curvature = p * (1 - p) * of.weight
            rows = np.flatnonzero(curvature > SMALL * curvature.max())
            half = x[rows]
            half *= np.sqrt(curvature[rows])[:, None]
            block = (half.T @ half).astype(np.float64)
            block += max(curvature.sum() - curvature[rows].sum(), 0) * gram
            block[diagonal, diagonal] += 2 * amount[number]
            inverse[number] = _inverse(block, exact=k < MANY_CLASSES)

    run(one, [(number, number + 1) for number in range(k)])
    return lambda gradient: np.matmul(inverse, gradient[:, :, None])[:, :, 0]


def _inverse(block: Floats, exact: bool) -> Floats:
    """Return a symmetric matrix's inverse on directions with curvature, or a fast finite one."""
    diagonal = np.arange(len(block))
    mean = max(float(block[diagonal, diagonal].mean()), np.finfo(float).tiny)
    if exact:
        size, axes = np.linalg.eigh(block / mean)
        kept = size > NOTHING
        return np.asarray((axes[:, kept] / size[kept]) @ axes[:, kept].T / mean)
    more = JITTER * mean
    while True:  # rounding errors of single precision may leave a direction below 0
        block[diagonal, diagonal] += more
        try:
            np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            more *= 100
        else:
            return np.asarray(np.linalg.inv(block))


def _shared(of: AffineObjective, probs: Floats, gram: Floats) -> Solve:
    """Inverses of one matrix shared by all classes, times the mean curvature of each class."""
    amount = of.penalty.amount
    k = len(amount)
    curvature = of.weight @ (probs * (1 - probs))
    size, axes = np.linalg.eigh(gram)
    kept = size > NOTHING * size[-1]
    size, axes = size[kept], axes[:, kept]
    usual = 2 * float(np.median(amount))
    least = max(JITTER * float(curvature.mean() * size.mean()), np.finfo(float).tiny)
    denominator = curvature[:, None] * size + usual + least

    def solve(gradient: Floats) -> Floats:
        along = gradient @ axes
        answer = (along / denominator) @ axes.T
        if usual > 0:  # where rows say nothing the penalty still does
            answer += (gradient - along @ axes.T) / (usual + least)
        return np.asarray(answer)

    every = np.arange(k)
    last = np.full(k, amount.shape[1] - 1)
    intercepts = _with_less(solve, last, usual - 2 * amount[:, -1])
    return _with_less(intercepts, every, usual - 2 * amount[every, every])


def _with_less(solve: Solve, column: Ints, less: Floats) -> Solve:
    """Inverses after ``less`` is subtracted from one diagonal entry of the matrix of each class.

    The entry is that of a ``column``; the inverse changes by rank one (Sherman & Morrison 1950).
    """
    if not less.any():
        return solve
    classes = np.arange(len(column))
    unit = np.zeros((len(column), len(column) + 1))
    unit[classes, column] = 1
    image = solve(unit)
    left = np.maximum(1 - less * image[classes, column], JITTER)

    def corrected(gradient: Floats) -> Floats:
        answer = solve(gradient)
        return np.asarray(answer + image * (less * answer[classes, column] / left)[:, None])

    return corrected
