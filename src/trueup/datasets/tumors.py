"""A binary classifier whose probabilities are too extreme in both directions."""

from __future__ import annotations

import numpy as np

from trueup.checks import check_whole
from trueup.datasets.dataset import Dataset, with_truth
from trueup.datasets.draws import Draws, logistic, logit
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable

N_TUMORS = 1000
TEMPERATURE = 2.0
DESCRIPTION = (
    "Probability that a tumor is malignant, for 1,000 tumors, and which of them are. "
    f"The probabilities are too extreme: the true logit is logit(probability) / {TEMPERATURE:g}."
)


def tumors(*, seed: int = 0) -> Dataset:
    """Return the predictions of a binary classifier with a known temperature.

    Its probabilities are too extreme, as those of naive Bayes often are. Use it to try
    recalibration of one column.

    Parameters
    ----------
    seed : int
        Seed of the tumors (default 0). Other seeds give other tumors of the same kind.

    Returns
    -------
    Dataset
        Probabilities and labels: 1 for malignant. ``known`` has ``"temperature"``, ``"slope"``
        (1 / temperature), ``"oe_ratio"`` and the mean (L1) and root mean squared (L2)
        calibration error of these probabilities.

    Examples
    --------
    >>> import trueup as tu
    >>> data = tu.datasets.tumors()
    >>> scaling = tu.TemperatureScaling().fit(data)
    >>> data.known["temperature"], round(scaling.temperature_, 2)
    (2.0, 1.92)
    """
    check_whole("seed", seed, 0)
    draws = Draws("tumors", seed)
    x = TEMPERATURE * (-0.4 + 1.8 * draws.normal(N_TUMORS))
    p = np.clip(np.round(logistic(x), 4), 0.0005, 0.9995)
    true = logistic(logit(p) / TEMPERATURE)
    malignant = draws.labels(true)
    return with_truth(
        Forecasts.from_arrays(p, malignant),
        name="tumors",
        description=DESCRIPTION,
        true_probs=true,
        known={
            "temperature": TEMPERATURE,
            "slope": 1 / TEMPERATURE,
            "oe_ratio": float(true.sum() / p.sum()),
            "l1_error": float(np.abs(true - p).mean()),
            "l2_error": float(np.sqrt(((true - p) ** 2).mean())),
        },
        table=ResultTable({"probability": p, "malignant": malignant}),
    )
