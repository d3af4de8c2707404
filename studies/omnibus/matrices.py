"""Probabilities of ten classes, errors of them, and p-values of the test and of its parts."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, softmax

from studies.omnibus.columns import ranks
from trueup.engines import set_threads
from trueup.engines.draw_keys import keys_of
from trueup.forecasts import Forecasts
from trueup.inference.omnibus.matrices import MatrixColumns
from trueup.inference.omnibus.omnibus import WEIGHTS, pvalues_of_blocks
from trueup.inference.omnibus.pooled_pvalues import pooled_pvalues
from trueup.seeds import seed_of

CLASSES = 10
DRAWS = (999, 1999, 3999)
BLOCKS = ("top label", "sum over classes", "worst class")


def one_class_shifted(p: np.ndarray, a: float) -> np.ndarray:
    """Logits of the first class off by a constant."""
    return softmax(np.log(p) + a * np.eye(CLASSES)[0], axis=1)


def one_class_wiggle(p: np.ndarray, a: float) -> np.ndarray:
    """Four waves in the logit of the first class over the rows in the order of its probability."""
    return with_probability(p, 0, expit(logit(p[:, 0]) + a * np.sin(8 * np.pi * ranks(p[:, 0]))))


def temperature(p: np.ndarray, a: float) -> np.ndarray:
    """Logits divided by a constant."""
    return softmax(np.log(p) * np.exp(-a), axis=1)


def top_label_decile(p: np.ndarray, a: float) -> np.ndarray:
    """In one tenth of the rows, by confidence, the predicted class is too confident."""
    top, rank = p.max(axis=1), ranks(p.max(axis=1))
    off = np.where((rank >= 0.2) & (rank < 0.3), np.maximum(top - a, 0), top)
    return with_probability(p, p.argmax(axis=1), off)


def two_classes(p: np.ndarray, a: float) -> np.ndarray:
    """Logits of two classes off by a constant, in opposite directions."""
    return softmax(np.log(p) + a * (np.eye(CLASSES)[0] - np.eye(CLASSES)[1]), axis=1)


ERRORS = {
    "one class shifted": one_class_shifted,
    "one class, wiggle": one_class_wiggle,
    "temperature": temperature,
    "decile of top label": top_label_decile,
    "two classes ±": two_classes,
}
MOST = {name: 0.4 if "decile" in name else 1.6 for name in ERRORS}


def with_probability(p: np.ndarray, k: int | np.ndarray, value: np.ndarray) -> np.ndarray:
    """Give one class of each row this probability; the others share the rest as before."""
    rows = np.arange(len(p))
    out = p * ((1 - value) / (1 - p[rows, k]))[:, None]
    out[rows, k] = value
    return out


def probabilities(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return softmax of normal logits with standard deviation 1.5."""
    return softmax(1.5 * rng.normal(size=(n, CLASSES)), axis=1)


def pvalues(
    n: int, draws: tuple[int, ...], error: str, size: float, sets: tuple[int, int]
) -> np.ndarray:
    """Return p-values of the test and of the single statistics of each block, by number of draws.

    A row per dataset, (sets, draws, 1 + 18); fewer draws are the first of those of the most.
    """
    set_threads(1)
    found = []
    for number in range(*sets):
        rng = np.random.default_rng([number, n, CLASSES])
        p = probabilities(rng, n)
        true = ERRORS[error](p, size) if error else p
        upto = np.cumsum(true, axis=1)[:, :-1]
        data = Forecasts.from_arrays(p, (rng.random((n, 1)) >= upto).sum(axis=1))
        top, classes = MatrixColumns(data).values(keys_of(seed_of(number), max(draws)))
        found.append([pvalues_of_pool(top[: 1 + few], classes[: 1 + few]) for few in draws])
    return np.array(found)


def pvalues_of_pool(top: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the p-value of the omnibus test, and of six statistics of each of three blocks."""
    of_blocks, ranked = pvalues_of_blocks(top, classes)
    combined = np.sum(WEIGHTS / ranked, axis=1)
    by_class = of_blocks[2].reshape(classes.shape)
    worst = pooled_pvalues(-by_class.min(axis=1))
    test = pooled_pvalues(combined[:, None])
    return np.concatenate([test[0], of_blocks[0][0], of_blocks[1][0], worst[0]])
