"""Proper scores: Brier and log loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueup.engines.base import Floats
from trueup.estimators.base import Estimator
from trueup.forecasts import Forecasts
from trueup.results import Estimate


@dataclass(frozen=True, repr=False)
class Brier(Estimator):
    r"""Mean squared distance between predictions and labels; lower is better.

    :math:`\frac1n\sum_i (p_i - y_i)^2` for 1-D probabilities and two columns,
    :math:`\frac1n\sum_i \sum_k (p_{ik} - y_{ik})^2` for more (scikit-learn's convention).
    Proper: the true probabilities minimise it. Measures calibration and sharpness together.

    References
    ----------
    Brier 1950, "Verification of forecasts expressed in terms of probability".

    Examples
    --------
    >>> round(Brier()([0.2, 0.9], [0, 1]), 6)
    0.025
    """

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        total = 0.0
        for where in forecasts.blocks():
            difference = forecasts.rows(where) - forecasts.one_hot(where)
            if forecasts.n_classes == 2:
                difference = difference[:, 1:]
            total += _weighted(np.einsum("ij,ij->i", difference, difference), forecasts, where)
        value = total / _weight(forecasts)
        return Estimate(value, value)


@dataclass(frozen=True, repr=False)
class LogLoss(Estimator):
    r"""Mean negative log-probability of the label; lower is better.

    :math:`-\frac1n\sum_i \log p_{i,y_i}`. Proper, and unbounded: one confident mistake can
    outweigh everything else. A probability of 0 is clipped at the smallest normal number of its
    type, and `measure` notes how many rows were; logits need no clipping.

    Examples
    --------
    >>> round(LogLoss()([0.2, 0.9], [0, 1]), 6)
    0.164252
    """

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Return the estimate for checked data."""
        total, clipped = 0.0, 0
        for where in forecasts.blocks():
            labels = forecasts.one_hot(where)
            if forecasts.log_probs_exact:
                log_probs = forecasts.log_probs(where)
            else:
                rows = forecasts.rows(where)
                low = (rows < forecasts.tiny) & (labels > 0)
                clipped += int(low.any(axis=1).sum())
                log_probs = np.log(np.maximum(rows, forecasts.tiny))
            total -= _weighted(np.einsum("ij,ij->i", labels, log_probs), forecasts, where)
        value = total / _weight(forecasts)
        return Estimate(value, value, notes={"clipped": clipped})


def _weighted(terms: Floats, forecasts: Forecasts, where: slice) -> float:
    return float(np.sum(terms if forecasts.weights is None else terms * forecasts.weights[where]))


def _weight(forecasts: Forecasts) -> float:
    return float(forecasts.n if forecasts.weights is None else forecasts.weights.sum())
