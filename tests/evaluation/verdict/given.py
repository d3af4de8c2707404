"""What a scenario gives to `evaluate`, and the small recipes that scenarios are drawn with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import trueup as tu

BESIDE = ("weights", "groups", "clusters", "classes")
FAST: dict[str, Any] = {"n_resamples": 199, "recalibrate": False, "advice": False}
PLAIN: dict[str, Any] = {"metrics": []}
"""No metric but the headline: enough where no other test matters."""
NEVER_REJECTS: dict[str, float] = {
    "deciding_test.MOST_ROWS_DRAWN": 0,
    "deciding_test.FEWEST_RESAMPLES": 15,
}
"""With 15 draws the smallest p-value is 1/16, so that the omnibus test rejects nothing."""


FEW_PLANS: dict[str, Any] = {"recommendations.ERRORS_OF_INTEREST": (0.05,)}
ALL_PLANS: dict[str, Any] = {"recommendations.ERRORS_OF_INTEREST": (0.005, 0.01, 0.02, 0.05, 0.1)}
"""For which errors the number of rows is computed, which takes most of the time of a scenario."""


@dataclass(frozen=True)
class Given:
    """The data of one scenario, the options of `evaluate`, and constants that are lowered for it.

    ``models`` are probabilities by name in place of ``probs``; labels that are probabilities are
    ``soft``.
    """

    probs: Any
    labels: Any
    options: dict[str, Any] = field(default_factory=dict)
    soft: bool = False
    models: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def lowered(self) -> Iterator[None]:
        """Lower the constants while the block runs."""
        with ExitStack() as stack:
            for name, value in (FEW_PLANS | self.constants).items():
                stack.enter_context(patch(f"trueup.evaluation.{name}", value))
            yield

    def evaluation(self) -> tu.Evaluation:
        """Evaluate the data."""
        options = FAST | self.options
        with self.lowered():
            if self.models:
                return tu.evaluate(labels=self.labels, models=self.models, **options)
            if self.soft:
                beside = {k: options.pop(k) for k in BESIDE if k in options}
                data = tu.Forecasts.from_arrays(self.probs, self.labels, soft_labels=True, **beside)
                return tu.evaluate(data, **options)
            return tu.evaluate(self.probs, self.labels, **options)


Truth = Callable[[np.ndarray], np.ndarray]


def logistic(z: np.ndarray) -> np.ndarray:
    """Logistic function."""
    return 1 / (1 + np.exp(-z))


def logit(p: np.ndarray) -> np.ndarray:
    """Log odds."""
    return np.log(p) - np.log1p(-p)


def binary(n: int, truth: Truth, seed: int, low: float = 0.001, high: float = 0.999) -> Any:
    """Return uniform scores, and labels that are 1 with the probability ``truth`` gives them."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(low, high, n)
    return p, (rng.random(n) < truth(p)).astype(int)


def calibrated(p: np.ndarray) -> np.ndarray:
    """Return scores as they are."""
    return p


def matrix(n: int, k: int, truth: Truth, seed: int, alpha: float = 1.0) -> Any:
    """Return Dirichlet rows, and labels drawn from the rows that ``truth`` makes of them."""
    rng = np.random.default_rng(seed)
    g = rng.dirichlet(np.full(k, alpha), n)
    return g, labels_of(truth(g), rng)


def labels_of(g: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a label from each row."""
    return np.minimum(
        (rng.random(len(g))[:, None] > np.cumsum(g, axis=1)).sum(axis=1), g.shape[1] - 1
    )


def powered(power: float) -> Truth:
    """Return the truth of a model that is wrong by a temperature."""

    def truth(g: np.ndarray) -> np.ndarray:
        raised = g**power
        return raised / raised.sum(axis=1, keepdims=True)

    return truth
