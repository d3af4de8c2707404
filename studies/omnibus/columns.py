"""Scores of one column, errors of their probabilities, and p-values of the test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

from trueup.engines import set_threads
from trueup.forecasts import Forecasts
from trueup.inference import calibration_test

DRAWS = 999
Scores = Callable[[np.random.Generator, int], np.ndarray]

SCORES: dict[str, Scores] = {
    "spread": lambda rng, n: expit(rng.normal(0, 1.5, n)),
    "confident": lambda rng, n: rng.beta(4, 1, n),
    "cifar100": lambda rng, n: rng.beta(1.18, 0.108, n),
    "uniform": lambda rng, n: rng.random(n),
    "1% prevalence": lambda rng, n: expit(rng.normal(-5, 1, n)),
    "five values": lambda rng, n: rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], n),
}


def shift(s: np.ndarray, a: float) -> np.ndarray:
    """Logits off by a constant."""
    return expit(logit(s) + a)


def temperature(s: np.ndarray, a: float) -> np.ndarray:
    """Logits divided by a constant."""
    return expit(logit(s) * np.exp(-a))


def decile(s: np.ndarray, a: float) -> np.ndarray:
    """One tenth of the rows, next to each other by score, is off."""
    rank = ranks(s)
    return moved(s, a * ((rank >= 0.2) & (rank < 0.3)))


def group(s: np.ndarray, a: float) -> np.ndarray:
    """A tenth of the rows is off, most of them with scores near each other."""
    rank = ranks(s)
    share = np.exp(-0.5 * ((rank - 0.4) / 0.08) ** 2)
    return moved(s, a * share)


def wiggle(s: np.ndarray, a: float) -> np.ndarray:
    """Four waves over the rows in the order of their scores."""
    return moved(s, a * np.sin(8 * np.pi * ranks(s)))


ERRORS = {error.__name__: error for error in (shift, temperature, decile, group, wiggle)}
MOST = {"shift": 2.0, "temperature": 2.0, "decile": 0.6, "group": 0.6, "wiggle": 0.6}


def ranks(s: np.ndarray) -> np.ndarray:
    """Return the place of each score among all, from 0 to 1."""
    return np.argsort(np.argsort(s)) / len(s)


def moved(s: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Move scores towards ½ where there is no room on the other side."""
    return np.clip(s + np.where(s > 0.5, -by, by), 0, 1)


def pvalues(
    world: str, n: int, weighted: bool, error: str, size: float, sets: tuple[int, int]
) -> np.ndarray:
    """Return p-values of the omnibus test and of its parts, a row per dataset."""
    set_threads(1)
    found = []
    for number in range(*sets):
        rng = np.random.default_rng([number, n])
        s = SCORES[world](rng, n)
        true = ERRORS[error](s, size) if error else s
        labels = (rng.random(n) < true).astype(np.int64)
        weights = rng.lognormal(0, 1, n) if weighted else None
        data = Forecasts.from_arrays(s, labels, weights=weights)
        test = calibration_test(data, method="omnibus", n_resamples=DRAWS, rng=number)
        found.append([test.pvalue, *test.notes["parts"].values()])
    return np.array(found)


def best_single(rejected: np.ndarray) -> float:
    """Return the power of the best of the statistics."""
    return float(rejected[:, 1:].mean(axis=0).max())
