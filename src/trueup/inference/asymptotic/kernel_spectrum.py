r"""Eigenvalues of a kernel under the predictions: weights of the limit of kernel statistics.

The sum over pairs i ≠ j of :math:`w_i w_j k_{ij} \langle r_i, r_j \rangle` has residuals r that are
independent with mean 0 and covariances C. If the residuals were normal with these covariances, the
sum would be distributed as :math:`\sum_k \lambda_k (Z_k^2 - 1)`, where λ are the eigenvalues of the
blocks :math:`w_i w_j k_{ij} C_i^{1/2} C_j^{1/2}`, with blocks of 0 for i = j. For many rows this
holds for any residuals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.engines.select import engine
from trueup.estimators.kernel_errors.pair_sums import Kernel
from trueup.estimators.kernel_errors.residuals import unit_weights
from trueup.inference.asymptotic.quadratic_forms import leading_distance, tail_of_form
from trueup.inference.asymptotic.skewed_sums import heavier_tails
from trueup.inference.hypothesis_tests.null_distribution import NullPairs, NullRows

MOST_CELLS = 1000  # of scores; more rows are merged with their neighbors
MOST_ROWS = 2000  # of a simplex; of more rows, a sample
MOST_DENSE = 1500  # rows times classes from which only the largest eigenvalues are computed
LARGEST = 120  # how many
START = 0  # of the generator that samples rows and starts the iteration


class Spectrum(NamedTuple):
    """The largest eigenvalues, and the variance that the others add to the sum.

    ``p`` and ``factor`` describe the largest eigenvalue: its normal variable is proportional to Σ
    factor · (p − y). They are empty for points of a simplex.
    """

    values: Floats
    variance: float = 0.0
    p: Floats = np.empty(0)
    factor: Floats = np.empty(0)

    def tail(self, t: float) -> float:
        """Return P(T ≥ t), with the skewness of residuals along the largest eigenvalue."""
        pvalue = tail_of_form(self.values, t, self.variance)
        if len(self.p) == 0:
            return pvalue
        z = leading_distance(self.values, t, self.variance)
        return min(1.0, pvalue * heavier_tails(self.p, self.factor, z))


def spectrum_of_scores(rows: NullPairs, kernel: Kernel) -> Spectrum:
    """Return the eigenvalues for sorted scores, merged into cells of equal variance if many."""
    v = rows.variance
    p, w, v = rows.p[v > 0], rows.weighted(np.ones(len(v)))[v > 0], v[v > 0]
    start = np.arange(len(v))
    if len(v) > MOST_CELLS:
        before = np.cumsum(v) - v
        cell = np.minimum(before * (MOST_CELLS / v.sum()), MOST_CELLS - 1).astype(np.int64)
        start = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    own = np.add.reduceat(v, start)
    score = np.add.reduceat(v * p, start) / own
    root = np.sqrt(own)
    matrix = kernel.of(np.abs(score[:, None] - score)) * root[:, None] * root
    # Rows of one cell form pairs with each other, but none with itself.
    np.fill_diagonal(matrix, own - np.add.reduceat(v**2, start) / own)
    values, vectors = np.linalg.eigh(matrix)
    along = np.repeat(vectors[:, -1] / root, np.diff(np.r_[start, len(v)]))
    return Spectrum(values, 0.0, p, w * along)


def spectrum_of_rows(rows: NullRows, kernel: Kernel, total_variation: bool) -> Spectrum:
    """Return the eigenvalues for points of a simplex, from a sample of the rows if many."""
    g = rows.g
    w = np.ones(len(g)) if rows.w is None else unit_weights(rows.w)
    part, n = 1.0, len(g)
    if n > MOST_ROWS:
        chosen = np.random.default_rng(START).permutation(n)[:MOST_ROWS]
        mass = _variances(g, w)
        part = float(mass[chosen].sum() / mass.sum())
        g, w = g[chosen], w[chosen]
    matrix = kernel.of(engine.pairs.pair_distances(g, g, total_variation)) * w[:, None] * w
    # Each row of a sample stands for several rows, which form pairs with each other.
    np.fill_diagonal(matrix, (1 - part) * w**2)
    squares = float(np.sum(matrix**2 * _product_traces(g)))
    root = np.sqrt(g)

    def product(x: Floats) -> Floats:
        """Return Bᵀ (matrix ⊗ 1) B x, with B = diag(√g) − g √gᵀ, so that B Bᵀ is the covariance."""
        each = x.reshape(g.shape)
        turned = root * each - g * np.einsum("ij,ij->i", root, each)[:, None]
        turned = matrix @ turned
        return np.asarray(
            (root * turned - root * np.einsum("ij,ij->i", g, turned)[:, None]).reshape(-1)
        )

    if g.size <= MOST_DENSE:
        values = np.linalg.eigvalsh(np.stack([product(unit) for unit in np.eye(g.size)]))
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        operator = LinearOperator((g.size, g.size), matvec=product, dtype=np.float64)
        first = np.random.default_rng(START).normal(size=g.size)
        values = eigsh(operator, LARGEST, which="LM", v0=first, return_eigenvectors=False)
    rest = 2 * max(0.0, squares - float(np.sum(values**2)))
    if g.size <= MOST_DENSE:
        rest = 0.0
    return Spectrum(values / part, rest / part**2)


def _variances(g: Floats, w: Floats) -> Floats:
    """Return w² times the trace of the covariance of the outcome of each row."""
    return np.asarray(w**2 * (1 - np.einsum("ij,ij->i", g, g)))


def _product_traces(g: Floats) -> Floats:
    """Return tr(C_i C_j) of all pairs of rows, with covariances C = diag(g) − g gᵀ."""
    product, square = g @ g.T, g**2 @ g.T
    return np.asarray(np.maximum(product - square - square.T + product**2, 0.0))
