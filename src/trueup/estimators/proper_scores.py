"""Proper scores: Brier and log loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.estimators.base import Ends
from trueup.estimators.decomposition import Inside, ProperScore, ScoreSums
from trueup.forecasts import Forecasts
from trueup.lens import Pairs


@dataclass(frozen=True, repr=False)
class Brier(ProperScore):
    r"""Mean squared distance between predictions and labels; lower is better.

    :math:`\frac1n\sum_i (p_i - y_i)^2` for 1-D probabilities and two columns,
    :math:`\frac1n\sum_i \sum_k (p_{ik} - y_{ik})^2` for more (scikit-learn's convention). It is a
    proper score: the true probabilities minimize it. It measures calibration and sharpness
    together.

    References
    ----------
    Brier 1950, "Verification of forecasts expressed in terms of probability".

    Examples
    --------
    >>> round(Brier()([0.2, 0.9], [0, 1]), 6)
    0.025
    """

    score_name: ClassVar[str] = "Brier score"
    sums_over_classes: ClassVar[bool] = True

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and the largest squared distance: 1 for two classes, else 2."""
        return Ends(0.0, 1.0 if forecasts.n_classes == 2 else 2.0)

    def possible_losses(self, forecasts: Forecasts, rows: Floats, where: slice) -> Floats:
        """Return the squared distance of each row to each class."""
        if forecasts.n_classes == 2:
            return np.asarray((1 - rows) ** 2)
        return np.asarray(np.einsum("ij,ij->i", rows, rows)[:, None] + 1 - 2 * rows)

    def row_losses(self, forecasts: Forecasts, possible: Floats, where: slice) -> Floats:
        """Return squared distances; for soft labels they are not means over hard labels."""
        if not forecasts.soft:
            return super().row_losses(forecasts, possible, where)
        return _squared_distances(forecasts, where)

    def statistics(self, forecasts: Forecasts) -> ScoreSums:
        """Return the sum of squared distances and of weights."""
        total = 0.0
        for where in forecasts.blocks():
            total += weighted_sum(_squared_distances(forecasts, where), forecasts, where)
        return ScoreSums(total, total_weight(forecasts))

    def losses(
        self, score: Floats, label: NDArray[Any], tiny: float
    ) -> tuple[Floats, dict[str, int]]:
        """Compute squared differences; the notes are empty."""
        difference = score - label
        return difference * difference, {}

    def divergence(self, rate: Floats, score: Floats, rest: Floats, tiny: float) -> Floats:
        """Return the squared difference."""
        return (score - rate) ** 2

    def uncertainty(self, base_rate: float, pairs: Pairs) -> float:
        """Return the variance of the labels."""
        if not pairs.soft:
            return base_rate * (1 - base_rate)
        return float(np.average((pairs.y - base_rate) ** 2, weights=pairs.w))

    def within(self, inside: Inside, remainder: float) -> tuple[float, dict[str, float]]:
        """Return the two extra terms of Stephenson et al. 2008, which leave no remainder."""
        names = ("within_bin_variance", "within_bin_covariance")
        terms = dict(zip(names, (inside.variance, inside.covariance), strict=True))
        return inside.variance - inside.covariance, terms


@dataclass(frozen=True, repr=False)
class LogLoss(ProperScore):
    r"""Mean negative log-probability of the label; lower is better.

    :math:`-\frac1n\sum_i \log p_{i,y_i}`. It is a proper score, and unbounded: one confident
    mistake can outweigh all other rows. A probability of 0 is clipped at the smallest normal number
    of its type, so that its row has a loss of 708 (87 for float32); logits need no clipping.
    `measure` notes how many rows were clipped (``clipped``). Intervals, tests, comparisons,
    decompositions and recalibrators clip in the same way and note it too.

    Examples
    --------
    >>> round(LogLoss()([0.2, 0.9], [0, 1]), 6)
    0.164252
    """

    score_name: ClassVar[str] = "log loss"

    def bounds(self, forecasts: Forecasts) -> Ends:
        """Return 0 and no upper bound."""
        return Ends(0.0, math.inf)

    def possible_losses(self, forecasts: Forecasts, rows: Floats, where: slice) -> Floats:
        """Return −log of each probability."""
        if forecasts.log_probs_exact:
            return -forecasts.log_probs(where)
        return np.asarray(-np.log(np.maximum(rows, forecasts.tiny)))

    def statistics(self, forecasts: Forecasts) -> ScoreSums:
        """Return the sum of losses and of weights, and how many rows were clipped."""
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
            total -= weighted_sum(np.einsum("ij,ij->i", labels, log_probs), forecasts, where)
        return ScoreSums(total, total_weight(forecasts), {"clipped": clipped})

    def losses(
        self, score: Floats, label: NDArray[Any], tiny: float
    ) -> tuple[Floats, dict[str, int]]:
        """Compute −log of the probability of the label; note how many were clipped."""
        if label.dtype.kind != "f":
            given = np.where(label, score, 1 - score)
            clipped = int(np.count_nonzero(given < tiny))
            return -np.log(np.maximum(given, tiny)), {"clipped": clipped}
        rest = 1 - score
        low = ((score < tiny) & (label > 0)) | ((rest < tiny) & (label < 1))
        loss = label * np.log(np.maximum(score, tiny)) + (1 - label) * np.log(
            np.maximum(rest, tiny)
        )
        return -loss, {"clipped": int(np.count_nonzero(low))}

    def divergence(self, rate: Floats, score: Floats, rest: Floats, tiny: float) -> Floats:
        """Return the Kullback-Leibler divergence of the score from the rate."""
        return _surprise(rate, score, tiny) + _surprise(1 - rate, rest, tiny)

    def uncertainty(self, base_rate: float, pairs: Pairs) -> float:
        """Return the entropy of the base rate."""
        return -math.fsum(rate * math.log(rate) for rate in (base_rate, 1 - base_rate) if rate > 0)


def _squared_distances(forecasts: Forecasts, where: slice) -> Floats:
    difference = forecasts.rows(where) - forecasts.one_hot(where)
    if forecasts.n_classes == 2:
        difference = difference[:, 1:]
    return np.asarray(np.einsum("ij,ij->i", difference, difference))


def weighted_sum(terms: Floats, forecasts: Forecasts, where: slice) -> float:
    """Return the sum over some rows, each with its weight."""
    return float(np.sum(terms if forecasts.weights is None else terms * forecasts.weights[where]))


def total_weight(forecasts: Forecasts) -> float:
    """Return the total weight of the rows, which is their number if there are no weights."""
    return float(forecasts.n if forecasts.weights is None else forecasts.weights.sum())


def _surprise(rate: Floats, score: Floats, tiny: float) -> Floats:
    """Return rate · log(rate / score), which is 0 if the rate is 0."""
    happens = rate > 0
    return rate * np.log(np.where(happens, rate, 1) / np.where(happens, np.maximum(score, tiny), 1))
