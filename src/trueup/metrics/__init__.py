"""The glossary: every named metric, each a one-line composition.

All take ``(probs, labels)`` or one `Forecasts`. 1-D ``probs`` are the probability of the
positive class (or stored confidences, with "was it right" as labels); (n, K) rows are whole
predictions. Where nothing else is said a metric looks at the positive class of 1-D data, and at
the predicted class ("top label") or at every class of a matrix.
"""

from trueup.metrics.bin_free import ece_kde, ks_error, kuiper, mmce, psce, skce, smooth_ece
from trueup.metrics.binned import (
    ace,
    ece,
    ece_debiased,
    ece_sweep,
    marginal_error,
    marginal_error_debiased,
    mce,
    rmsce,
    rmsce_debiased,
    rmsce_sweep,
    sce,
    tace,
)
from trueup.metrics.clinical import e50, e90, ici
from trueup.metrics.scores import brier, log_loss

__all__ = [
    "ace",
    "brier",
    "e50",
    "e90",
    "ece",
    "ece_debiased",
    "ece_kde",
    "ece_sweep",
    "ici",
    "ks_error",
    "kuiper",
    "log_loss",
    "marginal_error",
    "marginal_error_debiased",
    "mce",
    "mmce",
    "psce",
    "rmsce",
    "rmsce_debiased",
    "rmsce_sweep",
    "sce",
    "skce",
    "smooth_ece",
    "tace",
]
