"""Sums of kernel(distance) · ⟨residual, residual⟩ over pairs of rows, for many draws of outcomes.

Distances and kernel values depend on predictions alone and are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._typing import Floats, Ints
from trueup.engines.blocks import steps
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.estimators.kernel_errors.pair_sums import BLOCK_ROWS, Kernel, lengths, score_cross
from trueup.estimators.kernel_errors.residuals import PairMass, ScoreResiduals, unit_weights
from trueup.inference.hypothesis_tests.null_distribution import NullPairs, NullRows, Outcomes


def score_totals(rows: NullPairs, kernel: Kernel, y: Outcomes) -> Floats:
    """Σ w_i w_j k_ij r_i r_j over i ≠ j of sorted scores, for (resamples, n) outcomes."""
    start = np.flatnonzero(np.r_[True, rows.p[1:] != rows.p[:-1]])
    value, none = rows.p[start], np.empty(0)
    residual = rows.residuals(y)
    own = np.einsum("ri,ri->r", residual, residual)
    sums = np.add.reduceat(residual, start, axis=1)
    mass = PairMass(len(rows.p), 0.0, 0.0)  # a sum needs none
    count = np.diff(np.r_[start, len(rows.p)])
    cross = [
        score_cross(ScoreResiduals(value, count, none, none, each, 0.0, mass), kernel)
        for each in sums
    ]
    return np.asarray(np.einsum("rg,rg->r", sums, sums) - own + 2 * np.array(cross))


def row_totals(rows: NullRows, kernel: Kernel, total_variation: bool, y: Any) -> Floats:
    """Σ w_i w_j k_ij ⟨r_i, r_j⟩ over i ≠ j of points of a simplex, for (resamples, n) outcomes."""
    n, m = rows.g.shape
    w = None if rows.w is None else unit_weights(rows.w)

    def one(start: int, stop: int) -> Floats:
        total = np.zeros(len(y))
        here = slice(start, stop)
        for first, last in steps(n, BLOCK_ROWS)[start // BLOCK_ROWS :]:
            there = slice(first, last)
            distance = engine.pairs.pair_distances(rows.g[here], rows.g[there], total_variation)
            values = kernel.of(distance)
            if w is not None:
                values *= w[here, None] * w[there]
            if first == start:
                values = np.triu(values, 1)
            for k in range(m):
                left = rows.g[here, k] - (y[:, here] == k)
                right = rows.g[there, k] - (y[:, there] == k)
                total += 2 * np.einsum("rj,rj->r", left @ values, right)
        return total

    return np.asarray(np.sum(run(one, steps(n, BLOCK_ROWS)), axis=0))


@dataclass(frozen=True, eq=False)
class BlockPairs:
    """Pairs of rows inside consecutive blocks, with w_i w_j k_ij of each pair."""

    rows: NullPairs | NullRows
    first: Ints
    second: Ints
    factor: Floats
    weight: float  # Σ w_i w_j of the pairs
    variance: float  # of the sum over pairs of factor · ⟨r, r⟩, under the predictions
    largest: float  # what no block's sum is above

    @classmethod
    def of(
        cls, rows: NullPairs | NullRows, kernel: Kernel, total_variation: bool, size: int
    ) -> BlockPairs:
        """Compute the pairs of all complete blocks of ``size`` rows."""
        blocks = np.arange(len(rows.y) // size)[:, None] * size
        i, j = np.triu_indices(size, 1)
        first, second = (blocks + i).reshape(-1), (blocks + j).reshape(-1)
        if isinstance(rows, NullPairs):
            distance = np.abs(rows.p[first] - rows.p[second])
            spread, bound = (rows.p * (1 - rows.p)), 1.0
            variances = spread[first] * spread[second]
        else:
            distance = lengths(rows.g[first] - rows.g[second], total_variation)
            variances, bound = _product_variances(rows.g[first], rows.g[second]), 2.0
        factor = kernel.of(distance)
        weight = float(len(first))
        if rows.w is not None:
            w = unit_weights(rows.w)
            factor = factor * w[first] * w[second]
            weight = float(np.sum(w[first] * w[second]))
        sums = factor.reshape(len(blocks), len(i)).sum(axis=1)
        variance = float(np.sum(factor**2 * variances))
        largest = bound * float(sums.max(initial=0.0))
        return cls(rows, first, second, factor, weight, variance, largest)

    def totals(self, y: Any) -> Floats:
        """Return the sum over pairs, for (resamples, n) outcomes."""
        i, j = self.first, self.second
        if isinstance(self.rows, NullPairs):
            residual = np.where(y, self.rows.p - 1, self.rows.p)
            products = residual[:, i] * residual[:, j]
            return np.asarray(np.einsum("p,rp->r", self.factor, products))
        g = self.rows.g
        left, right = y[:, i], y[:, j]
        products = np.einsum("ij,ij->i", g[i], g[j]) - g[i, right] - g[j, left] + (left == right)
        return np.asarray(np.einsum("p,rp->r", self.factor, products))


def _product_variances(a: Floats, b: Floats) -> Floats:
    """Return tr(C_a C_b) of each pair of rows, with covariances C = diag(g) − g gᵀ."""
    product = np.einsum("ij,ij->i", a, b)
    crossed = np.einsum("ij,ij,ij->i", a, a, b) + np.einsum("ij,ij,ij->i", a, b, b)
    return np.asarray(np.maximum(product - crossed + product**2, 0.0))
