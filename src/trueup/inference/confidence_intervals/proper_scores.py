"""Intervals of proper scores, which are means over rows or, for dependent rows, over clusters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.estimators.proper_scores import total_weight, weighted_sum
from trueup.forecasts import Forecasts

SURE = 1e-12  # what a row leaves to its other labels is not taken as less


class Losses(NamedTuple):
    """Losses of rows with their labels, and of one hypothetical additional row.

    ``near`` is the mean loss if every label is the predicted class. ``far`` is the mean loss if no
    label is, with the other classes drawn from the predictions.
    """

    each: Floats
    near: float
    far: float


def losses_of(score: Any, forecasts: Forecasts) -> Losses:
    """Return the losses of all rows, whose weighted mean is the score."""
    each, near, far = np.empty(forecasts.n), [], []
    for where in forecasts.blocks():
        rows = forecasts.rows(where)
        possible = score.possible_losses(forecasts, rows, where)
        each[where] = score.row_losses(forecasts, possible, where)
        top, every = rows.argmax(axis=1), np.arange(len(rows))
        near.append(weighted_sum(possible[every, top], forecasts, where))
        rows = np.maximum(rows, SURE)
        rows[every, top] = 0
        others = np.einsum("ij,ij->i", rows, possible) / rows.sum(axis=1)
        far.append(weighted_sum(others, forecasts, where))
    total = total_weight(forecasts)
    return Losses(each, math.fsum(near) / total, math.fsum(far) / total)


def mean_ends(score: Any, forecasts: Forecasts, level: float) -> Ends:
    """Return mean ± t·sd, with Student's t for one degree of freedom less than units.

    Rows with equal losses would have sd 0, although the next row may differ. So each end is
    computed with one additional row, whose loss is as far on that side as a label can make it
    (`Losses`). A single unit has no sd; the ends are then the range of the score.
    """
    from scipy.special import stdtrit

    losses, total = losses_of(score, forecasts), total_weight(forecasts)
    number = None
    if forecasts.clusters is not None:
        number = np.unique(forecasts.clusters, return_inverse=True)[1].reshape(-1)
    units = forecasts.n if number is None else int(number.max()) + 1
    lowest, highest = score.bounds(forecasts)
    if units < 2:
        return Ends(lowest, highest)
    t = float(stdtrit(units - 1, (1 + level) / 2))
    weights = forecasts.weights
    known = float(np.average(losses.each, weights=weights))
    share = 1 / (units + 1)  # of the row to come

    def end(one_more: float, side: float) -> float:
        mean = known + share * (one_more - known)
        away: Floats = losses.each - mean
        away *= (1 - share) / total if weights is None else weights * ((1 - share) / total)
        if number is not None:
            away = np.bincount(number, away).astype(np.float64, copy=False)
        away *= away
        squares = float(np.sum(away)) + (share * (one_more - mean)) ** 2
        return mean + side * t * math.sqrt((units + 1) / units * squares)

    return Ends(max(lowest, end(losses.near, -1)), min(highest, end(losses.far, 1)))
