"""Random data with the traps in it: ties, zeros and ones, scores on edges, missing classes."""

from __future__ import annotations

from dataclasses import dataclass

import hypothesis.strategies as st
import numpy as np


@dataclass(frozen=True)
class Sample:
    """Predictions, labels and weights (or None) of one random dataset."""

    probs: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


KINDS = ("smooth", "rounded", "coarse", "certain", "near_one", "constant", "edges")


def scores(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Scores in [0, 1] of a kind that has made a calibration library wrong before."""
    uniform = rng.random(n)
    if kind == "rounded":
        return np.round(uniform, 2)
    if kind == "coarse":
        return np.round(uniform * 4) / 4
    if kind == "certain":
        return np.where(uniform < 0.3, 0.0, np.where(uniform < 0.7, 1.0, uniform))
    if kind == "near_one":
        return 1 - rng.integers(0, 5, n) * 1e-12
    if kind == "constant":
        return np.full(n, uniform[0])
    if kind == "edges":
        exact = rng.integers(0, 16, n) / 15
        return np.clip(np.nextafter(exact, rng.choice([-1.0, 2.0], n)), 0, 1) * (uniform > 0.5) + (
            exact * (uniform <= 0.5)
        )
    return uniform


def weights_of(rng: np.random.Generator, n: int, kind: str) -> np.ndarray | None:
    """No weights, whole ones, or multiples of 1/8: sums of all of them are exact."""
    if kind == "none":
        return None
    whole = rng.integers(1, 6, n).astype(float)
    return whole if kind == "whole" else rng.integers(1, 40, n) / 8


def draw_binary(seed: int, n: int, kind: str, weighting: str = "none") -> Sample:
    """Binary data; labels follow the scores loosely."""
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    p = scores(rng, n, kind)
    y = (rng.random(n) < 0.7 * p + 0.15).astype(np.int64)
    return Sample(p, y, weights_of(rng, n, weighting))


def draw_matrix(seed: int, n: int, k: int, kind: str, weighting: str = "none") -> Sample:
    """Rows over k classes, some of which may never occur; sharp, flat, tied or one-hot rows."""
    rng = np.random.default_rng([seed, n, k, KINDS.index(kind)])
    if kind == "coarse":
        counts = rng.multinomial(8, np.full(k, 1 / k), n)
        probs = counts / 8
    elif kind == "certain":
        probs = np.eye(k)[rng.integers(0, k, n)]
    elif kind == "constant":
        probs = np.tile(rng.dirichlet(np.ones(k)), (n, 1))
    else:
        probs = rng.dirichlet(np.full(k, 0.3 if kind == "near_one" else 1.0), n)
    labels = rng.integers(0, max(1, k - 1), n)
    hit = rng.random(n) < 0.6
    labels[hit] = probs.argmax(axis=1)[hit]
    return Sample(probs, labels, weights_of(rng, n, weighting))


weightings = st.sampled_from(["none", "whole", "eighths"])
binary_samples = st.builds(
    draw_binary, st.integers(0, 10**6), st.integers(1, 60), st.sampled_from(KINDS), weightings
)
matrix_samples = st.builds(
    draw_matrix,
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(2, 6),
    st.sampled_from(KINDS),
    weightings,
)


def world(n, k, seed=0, scale=2.0, noise=0.1):
    """Logits and labels whose true map is a matrix near half the identity."""
    rng = np.random.default_rng(seed)
    logits = scale * rng.normal(size=(n, k))
    matrix = 0.5 * np.eye(k) + noise * rng.normal(size=(k, k))
    truth = logits @ matrix.T + 0.3 * rng.normal(size=k)
    return logits, (truth + rng.gumbel(size=(n, k))).argmax(axis=1)


def theta_of(model):
    return np.concatenate([model.coefficients_.ravel(), model.intercept_])
