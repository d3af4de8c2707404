"""Overview of the data: rows, classes, mean predictions and outcomes."""

from __future__ import annotations

import numpy as np

from trueup.evaluation.sections import Overview
from trueup.forecasts import Forecasts
from trueup.lens import chosen_lens


def overview_of(forecasts: Forecasts) -> Overview:
    """Count rows and classes, and average predictions and outcomes."""
    pairs = chosen_lens(None, forecasts).problem(forecasts)
    score = float(np.average(pairs.p, weights=pairs.w))
    label = float(np.average(pairs.y, weights=pairs.w))
    accuracy: float | None = None
    if forecasts.is_matrix:
        accuracy = None if forecasts.soft else label
    elif not forecasts.soft:
        accuracy = float(np.average((pairs.p > 0.5) == (pairs.y > 0.5), weights=pairs.w))
    clusters = None if forecasts.clusters is None else len(np.unique(forecasts.clusters))
    return Overview(
        forecasts.n,
        forecasts.n_classes,
        "multiclass" if forecasts.is_matrix else "binary",
        forecasts.classes,
        accuracy,
        score,
        label,
        forecasts.weights is not None,
        forecasts.soft,
        clusters,
        len(np.unique(pairs.p)),
        0 if forecasts.soft or forecasts.log_probs_exact else _impossible(forecasts),
    )


def _impossible(forecasts: Forecasts) -> int:
    """Count rows whose label had a predicted probability of 0."""
    found = 0
    for where in forecasts.blocks():
        zero = forecasts.rows(where) == 0
        found += int(np.count_nonzero(zero & (forecasts.one_hot(where) > 0)))
    return found
