"""Venn-Abers prediction: two isotonic fits, one for each possible label of the new row."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import check_choice
from trueup.engines.select import engine
from trueup.estimators.ties import TiedScores
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.fit_input import check_counts
from trueup.recalibrate.one_vs_rest import OneVsRestRecalibrator, of_each_problem
from trueup.recalibrate.score_forms import FitData, Scores


@with_parameters
class VennAbers(OneVsRestRecalibrator):
    r"""Inductive Venn-Abers predictor: a probability interval and a point prediction per row.

    For a new score s, the isotonic fit is made twice, with (s, 0) and with (s, 1) added to the
    rows; :math:`p_0 \le p_1` are its values at s. If the rows and the new row are exchangeable, the
    value that belongs to the true label is perfectly calibrated, for any number of rows.
    `predict_interval` returns both. `predict_proba` returns the point with the smallest worst-case
    regret: for log loss :math:`p_1 / (1 - p_0 + p_1)`, for the Brier score :math:`p_1 + p_0^2/2 -
    p_1^2/2`.

    Use it instead of `IsotonicCalibration` with few rows, if log loss matters (its points are never
    0 or 1), or if you need the width :math:`p_1 - p_0`, which shows how uncertain the output is. It
    has the same steps as the isotonic fit. With more than two classes, each class has a predictor
    against the rest, and rows of points are divided by their sum; the guarantee is for each class
    separately. Cost: a sort of each column, and a search for each new score.

    Parameters
    ----------
    loss : {"log", "squared"}
        The loss for which the point is optimal: log loss, or squared error (the Brier score).
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    maps_
        For each class (for two classes, only for the second) two step functions of the score.
        :math:`p_1` is ``high[j]`` up to the score ``high_to[j]``, and the last value beyond.
        :math:`p_0` is ``low[j + 1]`` from the score ``low_from[j]`` on, and the first value below.

    Notes
    -----
    A weight of 3 counts as three rows; the new row has weight 1. That row shrinks points toward the
    middle, so log loss on the fit data can increase if scores were confident and correct;
    ``notes_`` then says so.

    References
    ----------
    Vovk, Petej & Fedorova 2015, "Large-scale probabilistic predictors with and without guarantees
    of validity".

    Examples
    --------
    >>> model = VennAbers().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1])
    >>> model.predict_interval([0.35]).round(3).tolist()
    [[0.333, 0.667]]
    >>> model.predict_proba([0.35]).round(3).tolist()
    [[0.5, 0.5]]
    """

    use: ClassVar[str] = (
        "Any increasing shape with an interval for each row, and no output of 0 or 1."
    )
    instead: ClassVar[str] = (
        "IsotonicCalibration for a single probability; BetaCalibration for few rows."
    )

    monotone: ClassVar[bool] = True
    why_worse: ClassVar[str] = (
        "the hypothetical extra row shrinks confident, correct scores toward the middle"
    )

    loss: str = "log"

    def predict_interval(self, X: object) -> Floats:
        """Return the probability interval of each row: p0 and p1.

        Parameters
        ----------
        X : array-like or Forecasts
            Probabilities or logits, as in `fit`.

        Returns
        -------
        ndarray
            Shape (n, 2) for two classes: the ends for the second class. Shape (n, K, 2) for more:
            each class against the rest, before rows are normalized.

        Examples
        --------
        >>> VennAbers().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1]).predict_interval([0.35]).round(3)
        array([[0.333, 0.667]])
        """
        scores = self._read_scores(X).as_probs()
        maps = self.maps_
        intervals = of_each_problem(
            lambda k: np.column_stack(_ends(maps[k], scores.problem(k))), scores.n_problems
        )
        return intervals[0] if scores.n_classes == 2 else np.stack(intervals, axis=1)

    def _check(self) -> None:
        check_choice("loss", self.loss, "log", "squared")

    def _fit(self, data: FitData) -> None:
        check_counts(data.weights)
        super()._fit(data.as_probs())

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        groups = TiedScores.of(data.pairs(number))
        weight, hits = _counted(groups.weight), _counted(groups.label)
        mass, joined = engine.isotonic.pool_added(weight, hits)
        high = np.append(joined / mass, 1.0)  # a positive row above all scores stays alone
        # Seen from the other end, with labels exchanged, the row of label 0 is a positive one.
        mass, joined = engine.isotonic.pool_added(weight[::-1], (weight - hits)[::-1])
        low = np.append(0.0, ((mass - joined) / mass)[::-1])
        if mass.dtype != np.int64:  # sums of floats, added in another order, may dip
            low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)
            low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
        rises, ends = np.flatnonzero(low[1:] != low[:-1]), np.flatnonzero(high[1:] != high[:-1])
        return {
            "low_from": groups.value[rises],
            "low": low[np.append(0, rises + 1)],
            "high_to": groups.value[ends],
            "high": high[np.append(ends, len(high) - 1)],
        }

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        low, high = _ends(learned, scores.problem(number))
        # Both in forms that never fall as the ends rise, not by rounding either.
        if self.loss == "log":
            # Where `high` is nearly 0 the ratio is infinite, and the result is 0, as it should be.
            with np.errstate(over="ignore", divide="ignore"):
                return np.asarray(1 / (1 + (1 - low) / high))
        return np.asarray((1 - (1 - high) ** 2 + low**2) / 2)

    def _probs_of(self, scores: Scores) -> Floats:
        return super()._probs_of(scores.as_probs())


def _counted(total: NDArray[Any]) -> NDArray[Any]:
    """Return sums of weights, in whole numbers if possible, so that comparisons are exact."""
    if total.dtype.kind == "f" and np.all(total == np.rint(total)) and total.sum() < 2**53:
        return total.astype(np.int64)
    return total


def _ends(learned: dict[str, Any], scores: Floats) -> tuple[Floats, Floats]:
    """Return p0 and p1 of each score."""
    at_or_above = engine.bins.find_bins(scores, np.nextafter(learned["low_from"], -1))
    above = engine.bins.find_bins(scores, learned["high_to"])
    return learned["low"][at_or_above], learned["high"][above]
