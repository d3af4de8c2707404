"""Intervals of proper scores: a mean over rows, and by cluster where rows depend on each other."""

from __future__ import annotations

import math

import numpy as np

from trueup.engines.base import Floats
from trueup.estimators import Brier
from trueup.estimators.decomposition import ProperScore
from trueup.forecasts import Forecasts
from trueup.inference.binned_intervals import Ends

__all__ = ["mean_ends", "row_losses"]


def row_losses(score: ProperScore, forecasts: Forecasts) -> Floats:
    """Return the loss of every row, whose weighted mean is the score."""
    losses = np.empty(forecasts.n)
    for where in forecasts.blocks():
        labels = forecasts.one_hot(where)
        if isinstance(score, Brier):
            difference = forecasts.rows(where) - labels
            if forecasts.n_classes == 2:
                difference = difference[:, 1:]
            losses[where] = np.einsum("ij,ij->i", difference, difference)
        else:
            if forecasts.log_probs_exact:
                log_probs = forecasts.log_probs(where)
            else:
                log_probs = np.log(np.maximum(forecasts.rows(where), forecasts.tiny))
            losses[where] = -np.einsum("ij,ij->i", labels, log_probs)
    return losses


def mean_ends(score: ProperScore, forecasts: Forecasts, level: float) -> Ends:
    """Return mean ± t·sd, with the t of one degree of freedom less than there are units."""
    from scipy.special import stdtrit

    losses = row_losses(score, forecasts)
    weights = np.ones(forecasts.n) if forecasts.weights is None else forecasts.weights
    weights = weights / weights.sum()
    mean = float(np.sum(weights * losses))
    away = weights * (losses - mean)
    if forecasts.clusters is not None:
        _, number = np.unique(forecasts.clusters, return_inverse=True)
        away = np.bincount(number.reshape(-1), away)
    units = len(away)
    if units < 2:
        return Ends(0.0, math.inf)
    sd = math.sqrt(units / (units - 1) * float(np.sum(away**2)))
    half = float(stdtrit(units - 1, (1 + level) / 2)) * sd
    return Ends(max(0.0, mean - half), mean + half)
