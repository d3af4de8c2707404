"""Sums of kernel(distance) · ⟨residual, residual⟩ over pairs of rows.

Pairs are processed in blocks, so memory does not grow with their number. Blocks depend on the
number of rows alone and their sums are added exactly, so the result is bit-for-bit identical on
any number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.engines.blocks import ENTRIES, steps
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.estimators.kernel_errors.residuals import RowResiduals, ScoreResiduals

BLOCK_ROWS = 256
GAUSSIAN_REACH = 39  # exp(−39²/2) is 0


@dataclass(frozen=True)
class Kernel:
    """Kernel of the distance: exp(−d/γ), or exp(−d²/(2γ²))."""

    name: str
    bandwidth: float

    def of(self, distance: Floats) -> Floats:
        """Write the value of the kernel over each distance."""
        with np.errstate(over="ignore"):  # a tiny bandwidth: exp(−inf) is 0
            distance /= -self.bandwidth
            if self.name == "gaussian":
                distance *= distance
                distance *= -0.5
        return np.exp(distance, out=distance)


class PairSum(NamedTuple):
    """Sums over ordered pairs i ≠ j: of the terms and of the weights, and the number of pairs."""

    total: float
    weight: float
    pairs: int


def score_total(scores: ScoreResiduals, kernel: Kernel) -> float:
    """Return Σ r_g r_h k(v_g, v_h) over all distinct scores g and h."""
    if kernel.name == "laplacian":
        return engine.pairs.laplace_total(scores.value, scores.residual, kernel.bandwidth)
    return float(np.sum(scores.residual**2)) + 2 * score_cross(scores, kernel)


def score_cross(scores: ScoreResiduals, kernel: Kernel) -> float:
    """Return Σ r_g r_h k(v_g, v_h) over pairs g < h of distinct scores."""
    if kernel.name == "laplacian":
        return engine.pairs.laplace_cross(scores.value, scores.residual, kernel.bandwidth)
    value, residual = scores.value, scores.residual

    def one(start: int, stop: int) -> float:
        reach = value[stop - 1] + GAUSSIAN_REACH * kernel.bandwidth
        parts = []
        for first in range(start, int(np.searchsorted(value, reach, side="right")), BLOCK_ROWS):
            here = slice(first, first + BLOCK_ROWS)
            values = kernel.of(np.abs(value[here] - value[start:stop, None]))
            if first == start:
                values = np.triu(values, 1)
            smoothed = np.einsum("ij,j->i", values, residual[here])
            parts.append(float(np.sum(residual[start:stop] * smoothed)))
        return math.fsum(parts)

    return math.fsum(run(one, steps(len(value), BLOCK_ROWS)))


def row_sums(rows: RowResiduals, kernel: Kernel, total_variation: bool) -> tuple[float, float]:
    """Return Σ|r_i|², and Σ⟨r_i, r_j⟩ k(g_i, g_j) over pairs i < j, of weighted residuals."""

    def one(start: int, stop: int) -> tuple[float, float]:
        points, residuals = rows.weighted(start, stop)
        parts = []
        for first, last in steps(rows.n, BLOCK_ROWS)[start // BLOCK_ROWS :]:
            same = first == start
            others = (points, residuals) if same else rows.weighted(first, last)
            values = kernel.of(engine.pairs.pair_distances(points, others[0], total_variation))
            if same:
                values = np.triu(values, 1)
            products = engine.pairs.pair_products(residuals, others[1])
            parts.append(float(np.einsum("ij,ij->", values, products)))
        return float(np.einsum("ij,ij->", residuals, residuals)), math.fsum(parts)

    own, cross = zip(*run(one, steps(rows.n, BLOCK_ROWS)), strict=True)
    return math.fsum(own), math.fsum(cross)


def block_sum(rows: RowResiduals, kernel: Kernel, total_variation: bool, size: int) -> PairSum:
    """Sum over the pairs of rows inside consecutive blocks of ``size`` rows.

    An incomplete last block is dropped. Pairs of rows ``apart`` rows from each other are computed
    for all blocks at once.
    """

    def some(start: int, stop: int) -> tuple[float, float]:
        points, residuals = rows.weighted(start * size, stop * size)
        points, residuals = (x.reshape(-1, size, rows.m) for x in (points, residuals))
        weights = None if rows.w is None else rows.w[start * size : stop * size].reshape(-1, size)
        total, weight = [], []
        for apart in range(1, size):
            distance = lengths(points[:, apart:] - points[:, :-apart], total_variation)
            products = np.einsum("bik,bik->bi", residuals[:, apart:], residuals[:, :-apart])
            total.append(float(np.sum(kernel.of(distance) * products)))
            if weights is not None:
                weight.append(float(np.sum(weights[:, apart:] * weights[:, :-apart])))
        return math.fsum(total), math.fsum(weight)

    blocks = rows.n // size
    pairs = blocks * size * (size - 1) // 2
    if pairs == 0:
        return PairSum(0.0, 0.0, 0)
    found = run(some, steps(blocks, max(1, ENTRIES // (size * rows.m))))
    total, weight = (2 * math.fsum(part) for part in zip(*found, strict=True))
    return PairSum(total, 2.0 * pairs if rows.w is None else weight, pairs)


def lengths(away: Floats, total_variation: bool) -> Floats:
    """Return the Euclidean length of each difference of two points, or its total variation."""
    if away.shape[-1] == 1:  # scores
        return np.abs(away[..., 0])
    if total_variation:
        return np.asarray(np.abs(away).sum(axis=-1) / 2)
    return np.asarray(np.sqrt(np.einsum("...k,...k->...", away, away)))
