"""Datasets of calibrated models, and a short way to run a test on them by its name."""

from __future__ import annotations

import numpy as np

from trueup.forecasts import Forecasts
from trueup.inference.hypothesis_tests.named_tests import TESTS
from trueup.results import CalibrationTestResult

# Those of a lens or of an estimator of their own, in place of any statistic.
NAMED = [name for name in TESTS if not name.startswith(("consistency", "cluster"))]
# The p-value of the other one is a bound and no share of anything.
RESAMPLED = [name for name in NAMED if name != "skce-distribution-free"]


def scores(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform scores, scores concentrated near 1, or few distinct ones."""
    if kind == "uniform":
        return rng.random(n)
    if kind == "piled":
        return rng.beta(2.8, 0.05, n)
    return rng.choice([0.1, 0.3, 0.5, 0.8, 0.95], n)


def calibrated(kind: str, n: int, seed: int | list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a kind, with labels that follow them."""
    rng = np.random.default_rng(seed)
    p = scores(kind, n, rng)
    return p, rng.random(n) < p


def simplex(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distributions over k classes, with labels that follow them."""
    rng = np.random.default_rng(seed)
    g = rng.dirichlet(np.ones(k), n)
    return g, (rng.random(n)[:, None] > np.cumsum(g, axis=1)).sum(axis=1)


def run(
    name: str, probs: object, labels: object, rng: int = 0, **options: object
) -> CalibrationTestResult:
    """What a named test finds."""
    weights = options.pop("weights", None)
    asked = {"statistic": None, "n_resamples": 999, "rng": rng} | options
    return TESTS[name](Forecasts.from_arrays(probs, labels, weights=weights), **asked)
