"""Sums over pairs of rows, and the median gap of scores."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats


def laplace_cross(value: Floats, residual: Floats, bandwidth: float) -> float:
    """Return Σ r_i r_j exp(−(v_j − v_i)/bandwidth) over pairs i < j of non-decreasing values.

    The state s_i = r_i + d_i s_{i−1}, where d_i is the decay from one value to the next, covers all
    values up to i. It is computed by doubling: after k rounds it covers the last 2^k of them.
    """
    with np.errstate(over="ignore"):  # a tiny bandwidth: exp(−inf) is 0
        decay = np.exp(-np.diff(value, prepend=value[:1]) / bandwidth)
    state, carried, step = residual.copy(), decay.copy(), 1
    carried[0] = 0
    while step < len(value) and carried.any():
        state[step:] += carried[step:] * state[:-step]
        carried[step:] *= carried[:-step].copy()
        step *= 2
    return float(np.sum(residual[1:] * decay[1:] * state[:-1]))


def laplace_total(value: Floats, residual: Floats, bandwidth: float) -> float:
    """Return Σ r_i r_j exp(−|v_i − v_j|/bandwidth) over all i and j, for non-decreasing values."""
    return float(np.sum(residual * residual)) + 2 * laplace_cross(value, residual, bandwidth)


def median_gap(value: Floats) -> float:
    """Return the median of the positive differences of non-decreasing values; 0 without any."""
    gaps = (value - value[:, None])[np.triu_indices(len(value), 1)]
    gaps = gaps[gaps > 0]
    return float(np.median(gaps)) if len(gaps) else 0.0


def pair_distances(a: Floats, b: Floats, total_variation: bool) -> Floats:
    """Return the distances of the rows of ``a`` and ``b``: ½ Σ|a − b|, or the Euclidean one.

    They are computed from differences of coordinates: |a|² + |b|² − 2ab would lose the distance of
    rows that are nearly equal.
    """
    from scipy.spatial.distance import cdist

    if total_variation:
        return np.asarray(cdist(a, b, "cityblock") / 2)
    return np.asarray(cdist(a, b, "euclidean"))


def pair_products(a: Floats, b: Floats) -> Floats:
    """Return the inner products of every row of ``a`` with every row of ``b``."""
    return np.asarray(a @ b.T)
