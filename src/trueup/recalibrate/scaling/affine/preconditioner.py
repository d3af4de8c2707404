"""Rough inverses of the second derivative of log loss of softmax(Wz + b), class by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.threads import run

Solve = Callable[[Floats], Floats]
"""(K, d) gradients to steps: a symmetric positive matrix for each class, times its row."""

MOST_BLOCK_ENTRIES = 1 << 24  # K blocks of (K + 1)² numbers: up to 255 classes
SMALL = 1e-3  # rows of less curvature than this share of the largest are taken together
JITTER = 1e-6  # share of a block's mean curvature that keeps its inverse in bounds
NOTHING = 1e-13  # rounding errors of it
MANY_CLASSES = 32  # from here on blocks are summed in single precision, at half the cost


class Curvature(NamedTuple):
    """What the second derivative is made of: rows, their weights, probabilities, the penalty."""

    x: Floats
    weight: Floats
    probs: Floats
    amount: Floats


def preconditioner(here: Curvature) -> Solve:
    """Roughly the inverse of the second derivative, in the space of directions that matter.

    What two classes have to do with each other is left out. Each class has its own matrix, as
    long as the K inverse matrices fit into memory; with more classes all share one.
    """
    k, d = here.amount.shape
    half = here.x * np.sqrt(here.weight)[:, None]
    gram = np.asarray(half.T @ half)
    solve = _by_class(here, gram) if k * d * d <= MOST_BLOCK_ENTRIES else _shared(here, gram)

    def apply(gradient: Floats) -> Floats:
        # The same addition to all classes changes nothing: it is taken out on both sides.
        answer = solve(gradient - gradient.mean(axis=0))
        return np.asarray(answer - answer.mean(axis=0))

    return apply


def _by_class(here: Curvature, gram: Floats) -> Solve:
    k, d = here.amount.shape
    inverse = np.empty((k, d, d))
    diagonal = np.arange(d)
    kind: type[np.floating[Any]] = np.float32 if k >= MANY_CLASSES else np.float64
    x = here.x.astype(kind)

    def one(first: int, last: int) -> None:
        for number in range(first, last):
            p = here.probs[:, number]
            curvature = p * (1 - p) * here.weight
            rows = np.flatnonzero(curvature > SMALL * curvature.max())
            half = x[rows]
            half *= np.sqrt(curvature[rows])[:, None]
            block = (half.T @ half).astype(np.float64)
            block += max(curvature.sum() - curvature[rows].sum(), 0) * gram
            block[diagonal, diagonal] += 2 * here.amount[number]
            inverse[number] = _inverse(block, exact=k < MANY_CLASSES)

    run(one, [(number, number + 1) for number in range(k)])
    return lambda gradient: np.matmul(inverse, gradient[:, :, None])[:, :, 0]


def _inverse(block: Floats, exact: bool) -> Floats:
    """Inverse of a symmetric matrix without directions of no curvature; or quickly, kept finite."""
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


def _shared(here: Curvature, gram: Floats) -> Solve:
    """Inverses of one matrix of all rows, times the mean curvature of each class."""
    k = len(here.amount)
    curvature = here.weight @ (here.probs * (1 - here.probs))
    size, axes = np.linalg.eigh(gram)
    kept = size > NOTHING * size[-1]
    size, axes = size[kept], axes[:, kept]
    usual = 2 * float(np.median(here.amount))
    least = max(JITTER * float(curvature.mean() * size.mean()), np.finfo(float).tiny)
    denominator = curvature[:, None] * size + usual + least

    def solve(gradient: Floats) -> Floats:
        along = gradient @ axes
        answer = (along / denominator) @ axes.T
        if usual > 0:  # where rows say nothing the penalty still does
            answer += (gradient - along @ axes.T) / (usual + least)
        return np.asarray(answer)

    every = np.arange(k)
    last = np.full(k, here.amount.shape[1] - 1)
    intercepts = _with_less(solve, last, usual - 2 * here.amount[:, -1])
    return _with_less(intercepts, every, usual - 2 * here.amount[every, every])


def _with_less(solve: Solve, column: Ints, less: Floats) -> Solve:
    """Inverses with ``less`` taken from one diagonal entry of the matrix of each class.

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
