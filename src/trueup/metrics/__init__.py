"""The named metrics, each of them a one-line composition.

All take ``(probs, labels)`` or one `Forecasts`. 1-D ``probs`` are the probability of the
positive class (or stored confidences, with labels for whether each prediction was right); (n, K)
rows are whole predictions. Unless documented otherwise, a metric measures the positive class of 1-D
data, and the predicted class ("top label") or every class of a matrix.

The estimator behind a metric is ``ece.estimator(n_bins=10)``.
"""

from trueup.metrics import bin_free, binned, clinical, declare, proper_scores  # noqa: F401
from trueup.metrics.declare import NAMED

__all__ = sorted(NAMED)
globals().update(NAMED)
