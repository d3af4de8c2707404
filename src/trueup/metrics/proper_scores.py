"""Named proper scores."""

from __future__ import annotations

from trueup.estimators import Brier, LogLoss
from trueup.metrics.declare import metric


@metric(
    use="Compare the predictions of models on the same rows; it rewards calibration and sharpness.",
    instead="Brier().decompose for the part that is miscalibration.",
)
def brier() -> Brier:
    r"""Brier score: mean squared distance between predictions and labels.

    :math:`\frac1n\sum_i (p_i - y_i)^2` for 1-D ``probs`` and two columns; summed over classes for
    more columns. Use it to compare models: as a proper score, it rewards both calibration and
    sharpness. It does not measure calibration alone. Cost: one pass over the data.

    References
    ----------
    Brier 1950.

    Examples
    --------
    >>> round(brier([0.2, 0.9], [0, 1]), 6)
    0.025
    """
    return Brier()


@metric(
    use="Compare the predictions of models on the same rows; confident mistakes count most.",
    instead="brier if single mistakes must not dominate; LogLoss().decompose for the parts.",
)
def log_loss() -> LogLoss:
    r"""Log loss: mean negative log-probability of the label.

    :math:`-\frac1n\sum_i \log p_{i,y_i}`, with probabilities clipped at the smallest normal number
    of their type (`LogLoss.measure` notes how many rows were clipped). Use it to compare models: it
    is a proper score, dominated by confident mistakes. Cost: one pass over the data.

    Examples
    --------
    >>> round(log_loss([0.2, 0.9], [0, 1]), 6)
    0.164252
    """
    return LogLoss()
