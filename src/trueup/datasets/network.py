"""Logits of a neural network for ten classes, overconfident by a temperature."""

from __future__ import annotations

import numpy as np

from trueup.checks import check_whole
from trueup.datasets.dataset import Dataset, with_truth
from trueup.datasets.draws import DIGITS, Draws
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable

N_IMAGES, N_CLASSES = 2000, 10
TEMPERATURE = 1.8
DESCRIPTION = (
    f"Logits of a network for {N_IMAGES:,} images of {N_CLASSES} classes, and their classes. "
    f"The network is overconfident: dividing its logits by {TEMPERATURE} gives the true "
    "probabilities."
)


def network(*, seed: int = 0) -> Dataset:
    """Return the logits of an overconfident network of ten classes, with a known temperature.

    Use it to try methods for a matrix of probabilities or logits.

    Parameters
    ----------
    seed : int
        Seed of the images (default 0). Other seeds give other images of the same kind.

    Returns
    -------
    Dataset
        Probabilities of ten classes, their ``logits`` and labels. ``known`` has
        ``"temperature"``, the expected ``"accuracy"`` and the mean ``"confidence"``.

    Examples
    --------
    >>> import trueup as tu
    >>> data = tu.datasets.network()
    >>> scaling = tu.TemperatureScaling(logits=True).fit(data.logits, data.labels)
    >>> data.known["temperature"], round(scaling.temperature_, 2)
    (1.8, 1.79)
    """
    check_whole("seed", seed, 0)
    draws = Draws("network", seed)
    x = 1.4 * np.stack([draws.normal(N_IMAGES) for _ in range(N_CLASSES)], axis=1)
    shown = draws.choice([1 / N_CLASSES] * N_CLASSES, N_IMAGES)
    x[np.arange(N_IMAGES), shown] += 4.0
    logits = np.round(TEMPERATURE * x, 3)
    odds = np.exp(logits / TEMPERATURE)
    true = np.round(odds / odds.sum(axis=1, keepdims=True), DIGITS)
    labels = draws.labels(true)
    forecasts = Forecasts.from_arrays(logits, labels, logits=True)
    confidence, predicted = forecasts.top
    return with_truth(
        forecasts,
        name="network",
        description=DESCRIPTION,
        true_probs=true,
        known={
            "temperature": TEMPERATURE,
            "accuracy": float(true[np.arange(N_IMAGES), predicted].mean()),
            "confidence": float(np.mean(confidence)),
        },
        table=ResultTable({"logits": logits, "label": labels}),
        logits=logits,
    )
