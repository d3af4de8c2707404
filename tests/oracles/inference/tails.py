"""Slow versions of asymptotic tails: the dual series, quadrature, Imhof's integral, simulation."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm


def distance_below(x: float) -> float:
    """P(max |W| < x) of Brownian motion on [0, 1], by the eigenfunctions of an interval."""
    terms = []
    for k in range(400):
        odd = 2 * k + 1
        terms.append((-1) ** k / odd * math.exp(-((odd * math.pi / x) ** 2) / 8))
    return 4 / math.pi * math.fsum(terms)


def range_above(x: float) -> float:
    """P(max W − min W ≥ x), by quadrature of the density of Feller 1951."""

    def density(r: float) -> float:
        return 8 * math.fsum((-1) ** (k - 1) * k * k * norm.pdf(k * r) for k in range(1, 40))

    return float(quad(density, x, x + 12, epsabs=1e-14, limit=400)[0])


def form_above(values: np.ndarray, t: float, variance: float = 0.0) -> float:
    """P(Σ λ (Z² − 1) + σ Z₀ ≥ t), by the integral of Imhof 1961."""
    x = t + float(values.sum())

    def integrand(u: float) -> float:
        angle = 0.5 * float(np.arctan(values * u).sum()) - 0.5 * x * u
        log_size = 0.25 * float(np.log1p((values * u) ** 2).sum()) + variance * u * u / 8
        return math.sin(angle) / u * math.exp(-log_size)

    whole = quad(integrand, 0, np.inf, limit=2000, epsabs=1e-11)[0]
    return float(0.5 + whole / math.pi)


def pair_variance(p: np.ndarray, kernel: np.ndarray, w: np.ndarray) -> float:
    """Variance of the sum over i ≠ j of w w k r r: twice the squares, for independent residuals."""
    v = w**2 * p * (1 - p)
    terms = [
        2 * kernel[i, j] ** 2 * v[i] * v[j] for i in range(len(p)) for j in range(len(p)) if i != j
    ]
    return math.fsum(terms)


def sum_above(p: np.ndarray, factor: np.ndarray, b: float) -> float:
    """P(|Σ factor · (p − y)| ≥ b), over all outcomes."""
    n, total = len(p), 0.0
    for number in range(2**n):
        y = np.array([(number >> i) & 1 for i in range(n)])
        if abs(float(np.sum(factor * (p - y)))) >= b:
            total += float(np.prod(np.where(y == 1, p, 1 - p)))
    return total
