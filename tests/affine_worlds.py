"""Worlds whose true map is a matrix, for matrix scaling and Dirichlet calibration."""

from __future__ import annotations

import numpy as np


def world(n, k, seed=0, scale=2.0, noise=0.1):
    """Logits and labels whose true map is a matrix near half the identity."""
    rng = np.random.default_rng(seed)
    logits = scale * rng.normal(size=(n, k))
    matrix = 0.5 * np.eye(k) + noise * rng.normal(size=(k, k))
    truth = logits @ matrix.T + 0.3 * rng.normal(size=k)
    return logits, (truth + rng.gumbel(size=(n, k))).argmax(axis=1)


def theta_of(model):
    return np.concatenate([model.coefficients_.ravel(), model.intercept_])
