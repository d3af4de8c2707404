"""Recalibrators: time to fit, compared with one pass over the input or the fastest peer."""

from __future__ import annotations

import numpy as np

import trueup as tu
from benchmarks.timing import Task

ROWS, CLASSES = 25_000, 1_000
BINNED_ROWS, BINNED_CLASSES = 50_000, 100
MATRIX_ROWS = 5_000


def tasks() -> list[Task]:
    """Temperature and vector scaling of 1,000 classes, matrix scaling of 100, one-vs-rest maps."""
    rng = np.random.default_rng(0)
    z, y = _logits(rng, ROWS, CLASSES)
    few, few_labels = _logits(rng, MATRIX_ROWS, BINNED_CLASSES)
    many, many_labels = _logits(rng, BINNED_ROWS, BINNED_CLASSES)
    probs = np.exp(many - many.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    temperature = tu.TemperatureScaling(logits=True).fit(z, y)
    read = f"sum of {ROWS} x {CLASSES}"
    found = [
        Task(
            "temperature, 25,000 x 1,000 float32 logits",
            lambda: tu.TemperatureScaling(logits=True).fit(z, y),
            "torch L-BFGS",
            lambda: _torch_temperature(z, y),
            1 / 5,
            rounds=3,
        ),
        Task(
            "its predict_proba",
            lambda: temperature.predict_proba(z),
            read,
            z.sum,
            3,
            rounds=7,
        ),
        Task(
            "vector, 25,000 x 1,000",
            lambda: tu.VectorScaling(logits=True).fit(z, y),
            read,
            z.sum,
            rounds=3,
            seconds_at_most=3,
        ),
        Task(
            "matrix, 5,000 x 100",
            lambda: tu.MatrixScaling(logits=True).fit(few, few_labels),
            "sum of 5,000 x 100",
            few.sum,
            rounds=1,
            seconds_at_most=3,
        ),
    ]
    for make in (tu.IsotonicCalibration, tu.HistogramBinning, tu.ScalingBinning):
        found.append(
            Task(
                f"{make.__name__}, 50,000 x 100",
                lambda make=make: make().fit(probs, many_labels),  # type: ignore[misc]
                "np.sort of the columns",
                lambda: np.sort(probs, axis=0),
                rounds=3,
                seconds_at_most=1,
            )
        )
    return found


def _logits(rng: np.random.Generator, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits of an overconfident network: right two times in three."""
    z = rng.normal(size=(n, classes)).astype(np.float32)
    y = rng.integers(classes, size=n)
    z[np.arange(n), y] += np.where(rng.random(n) < 0.7, 8, 1).astype(np.float32)
    return 2 * z, y


def _torch_temperature(z: np.ndarray, y: np.ndarray) -> float:
    """What most users run: L-BFGS with a strong Wolfe search on one log-temperature."""
    import torch

    logits, labels = torch.from_numpy(z), torch.from_numpy(y)
    log_t = torch.zeros(1, requires_grad=True)
    step = torch.optim.LBFGS([log_t], lr=1, max_iter=50, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        step.zero_grad()
        value = torch.nn.functional.cross_entropy(logits / log_t.exp(), labels)
        value.backward()
        return value

    step.step(loss)
    return float(log_t.detach().exp())
