"""Newton's method with the full Hessian: an accurate optimum, or proof that there is none.

The descent of `trust_region` stops at a small gradient. If classes are nearly separable, a small
gradient does not determine the result: it would depend on rounding errors, and therefore on the
order of the rows. With few classes the full Hessian is small and determines it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import row_blocks
from trueup.recalibrate.scaling.affine.objective import AffineObjective, Here, Penalty

MOST_NUMBERS = 420  # K (K + 1): up to 20 classes
MOST_IN_DOUBT = 2000  # the same where the first descent left the answer open: up to 44 classes
MOST_STEPS = 100
FEW_STEPS = 10  # more than are needed where an optimum is near
WEAKER = (1e-6, 1e-8, 1e-10)  # ridges that lead to the optimum, if there is one
LEAST = WEAKER[-1]
PULLED = 0.1  # log-odds: the weakest ridge moves a finite optimum by no more
EXACT = 1e-6  # log-odds: a point so near the optimum is taken as it is
SHORTEST = 1e-9  # log-odds: the last step
ON_THE_WAY = 1e-2  # the same where the optimum is only a start for the next
ROUNDING = 1e-14  # of the value, relative


class Settled(NamedTuple):
    """A point, its probabilities and gradient, and the last step's largest change of log-odds."""

    point: Floats
    here: Here
    moved: float


def is_affordable(objective: AffineObjective, products: int, *, in_doubt: bool = False) -> bool:
    """Return whether a full descent costs at most this many products with the Hessian."""
    numbers = objective.penalty.amount.size
    most = MOST_IN_DOUBT if in_doubt else MOST_NUMBERS
    return numbers <= most and products >= MOST_STEPS * numbers / 4


def is_exact(objective: AffineObjective, here: Here) -> bool:
    """Return whether the penalty alone shows that an optimum is near."""
    least = float(objective.penalty.amount.min())
    longest = float(np.sqrt(np.einsum("ij,ij->i", objective.x, objective.x).max()))
    return longest * float(np.linalg.norm(here.gradient)) <= least * EXACT


def settle(
    objective: AffineObjective,
    point: Floats,
    steps: int = MOST_STEPS,
    shortest: float = SHORTEST,
) -> Settled:
    """Descend until a step changes no log-odds of any row; a point at the optimum is unchanged."""
    here = objective.at(point)
    for number in range(steps):
        step = -_Curvature.of(objective, here).solve(here.gradient)
        moved = objective.moved(step)
        if number == 0 and moved <= EXACT:
            break
        slope = float(np.einsum("ij,ij->", here.gradient, step))
        slack = ROUNDING * (1 + abs(here.value))
        share = 1.0
        while True:
            there = objective.at(point + share * step)
            if there.value <= here.value + 1e-4 * share * slope + slack or share < 1e-9:
                break
            share /= 2
        point, here, moved = point + share * step, there, share * moved
        if moved <= shortest:
            break
    return Settled(point, here, moved)


def finite_optimum(
    free: AffineObjective, target: Floats, held: Floats, found: Floats
) -> Settled | None:
    """Return the optimum of an objective, or None if there is no finite optimum.

    An optimum counts as finite if a ridge penalty of `LEAST` toward ``target`` would change no
    log-odds of any row by more than `PULLED`. This is a property of the optimum, which is unique;
    it depends neither on the path of the search nor on rounding errors. ``found`` is a guess that
    may replace the sequence of weaker and weaker penalties; ``held`` is a guess of the optimum with
    the first penalty.
    """
    optimum = _if_finite(free, target, settle(free, found, FEW_STEPS))
    if optimum is not None:
        return optimum
    point = held
    for amount in WEAKER:
        ridge = Penalty(free.penalty.amount + amount, target)
        point = settle(_with(free, ridge), point, shortest=ON_THE_WAY).point
    return _if_finite(free, target, settle(free, point, FEW_STEPS))


def _if_finite(free: AffineObjective, target: Floats, found: Settled) -> Settled | None:
    if found.moved > EXACT:
        return None
    weakest = Penalty(np.full_like(target, LEAST), target)
    pull = _Curvature.of(free, found.here).solve(2 * weakest.slope(found.point - target))
    return found if free.moved(pull) <= PULLED else None


def _with(objective: AffineObjective, penalty: Penalty) -> AffineObjective:
    return AffineObjective(objective.x, objective.labels, objective.weight, penalty)


class _Curvature(NamedTuple):
    """Return the Hessian with a ridge of at least `LEAST`: K (K + 1) rows and columns.

    It contains only the upper half of the symmetric matrix. The ridge is not the invariant one of
    `Penalty`; steps differ by a constant for all classes, which changes no probability.
    """

    upper: Floats

    @classmethod
    def of(cls, objective: AffineObjective, here: Here) -> _Curvature:
        from scipy.linalg.blas import dsyrk

        amount = objective.penalty.amount
        k, d = amount.shape
        matrix = np.zeros((k * d, k * d), order="F")
        for rows in row_blocks(len(objective.x), k * d):
            probs = here.probs[rows]
            half = objective.x[rows] * np.sqrt(objective.weight[rows, None])
            for number in range(k):
                block = slice(number * d, (number + 1) * d)
                matrix[block, block] += (half * probs[:, number, None]).T @ half
            joint = (probs[:, :, None] * half[:, None, :]).reshape(len(half), k * d)
            matrix = dsyrk(-1.0, joint.T, beta=1.0, c=matrix, overwrite_c=True)
        matrix[np.diag_indices(k * d)] += 2 * np.maximum(amount, LEAST).reshape(-1)
        return cls(matrix)

    def solve(self, gradient: Floats) -> Floats:
        """Return the inverse of the matrix times a gradient."""
        from scipy.linalg import cho_factor, cho_solve

        flat = gradient.reshape(-1)
        try:
            answer = cho_solve(cho_factor(self.upper, check_finite=False), flat)
        except np.linalg.LinAlgError:  # rounding errors have outgrown the least ridge
            size, axes = np.linalg.eigh(self.upper, UPLO="U")
            answer = axes @ ((axes.T @ flat) / np.maximum(size, 2 * LEAST))
        return np.asarray(answer).reshape(gradient.shape)
