"""Isotonic recalibration: the non-decreasing map of scores that fits the labels best."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import check_flag
from trueup.engines.blocks import cut
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.estimators.bin_free.isotonic_fit import IsotonicFit
from trueup.lens import Pairs
from trueup.recalibrate.base import with_parameters
from trueup.recalibrate.one_vs_rest import OneVsRestRecalibrator
from trueup.recalibrate.score_forms import FitData, Scores

MAPPED_AT_ONCE = 1 << 16
SLOPE = 1e-9  # of the authors' code


class WhereAccuracyIsKept:
    """Descriptor: False for the class, and ``accuracy_preserving`` for an instance."""

    def __get__(self, instance: Any, owner: type) -> bool:
        """Return whether the predicted class is always kept."""
        return instance is not None and bool(instance.accuracy_preserving)


@with_parameters
class IsotonicCalibration(OneVsRestRecalibrator):
    r"""Isotonic regression: one non-decreasing map per class, then normalized rows.

    For class k it minimizes :math:`\sum_i w_i (q_k(p_{ik}) - y_{ik})^2`, and the log loss with it,
    over all non-decreasing functions :math:`q_k`. Tied scores are pooled first, then neighbors that
    would decrease (pool adjacent violators). Between the blocks of the solution the map is linear,
    and beyond the first and the last block it is constant, as in scikit-learn. For two classes
    there is one map, for the second class.

    With ``accuracy_preserving=True``, one map is fitted to the pairs of all classes together, and a
    slope of 1e-9 is added to make it strictly increasing. This keeps the order of the classes in a
    row, and therefore `predict`.

    Use it with a few thousand rows or more, if the shape of the miscalibration is unknown. Its
    steps follow noise: they miss a smooth curve by about :math:`n^{-1/3}`, and rare classes have
    few rows to fit them. A single map for all classes needs K times fewer rows. Probabilities can
    be exactly 0 or 1, because the first and the last block often contain only one kind of label. A
    label of the other kind in new data then has the largest possible log loss, 708, at which
    `log_loss` clips it. `VennAbers` avoids such probabilities. Cost: a sort of each column.

    Parameters
    ----------
    accuracy_preserving : bool
        Whether to fit one map for all classes, which keeps the order of classes in every row.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Attributes
    ----------
    maps_
        A map for each class (a single one for two classes or with ``accuracy_preserving``):
        ``score``, the ends of its blocks, and ``answer``, its outputs there.
    preserves_argmax
        For an instance, the value of ``accuracy_preserving``.

    Notes
    -----
    Log loss on the fit data never increases; the slope of ``accuracy_preserving`` can increase it
    by at most K·1e-9. The reason is that the maps also minimize
    :math:`\sum_{ik} w_i (q_{ik} - y_{ik} \log q_{ik})`. Their rows sum to 1 on average, so by
    Jensen's inequality dividing each row by its sum does not increase the log loss. In new data a
    row of zeros keeps its original probabilities. If rounding creates a tie for the largest
    probability, ``accuracy_preserving`` adds one unit in the last place to the original class.

    References
    ----------
    Zadrozny & Elkan 2002, "Transforming classifier scores into accurate multiclass probability
    estimates"; Zhang, Kailkhura & Han 2020, "Mix-n-Match: ensemble and compositional methods for
    uncertainty calibration in deep learning" (the pooled map, IRM).

    Examples
    --------
    >>> model = IsotonicCalibration().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1])
    >>> model.predict_proba([0.2, 0.35, 0.9])[:, 1].round(3).tolist()
    [0.25, 0.5, 1.0]
    """

    use: ClassVar[str] = "Any increasing shape, with thousands of rows."
    instead: ClassVar[str] = (
        "BetaCalibration for fewer rows; VennAbers if outputs of 0 and 1 are a risk."
    )

    monotone = True
    preserves_argmax: ClassVar[bool] = WhereAccuracyIsKept()  # type: ignore[assignment]

    accuracy_preserving: bool = False

    def _check(self) -> None:
        check_flag("accuracy_preserving", self.accuracy_preserving)

    def _fit(self, data: FitData) -> None:
        data = data.as_probs()
        if self.accuracy_preserving:
            self.maps_ = [_knots(_all_classes(data))]
        else:
            super()._fit(data)

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        return _knots(data.pairs(number))

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        return _at(learned, scores.problem(number))

    def _probs_of(self, scores: Scores) -> Floats:
        if not self.accuracy_preserving:
            return super()._probs_of(scores.as_probs())
        rows = _rows(scores)
        rising = self._rising(rows)
        if scores.n_classes > 2:
            rising /= rising.sum(axis=1, keepdims=True)
            return _with_top(rising, scores.top())
        with np.errstate(divide="ignore", over="ignore"):  # a second class of probability 0
            second = 1 / (1 + rising[:, 0] / rising[:, 1])  # in this form it never falls
        return _with_top(np.column_stack([1 - second, second]), scores.top())

    def _rising(self, rows: Floats) -> Floats:
        """Return the map of all classes, including its slope."""
        flat, answer = rows.reshape(-1), np.empty(rows.size)

        def one(start: int, stop: int) -> None:
            part = flat[start:stop]
            answer[start:stop] = _at(self.maps_[0], part) + SLOPE * part

        run(one, cut(rows.size, MAPPED_AT_ONCE))
        return answer.reshape(rows.shape)


def _knots(pairs: Pairs) -> dict[str, Any]:
    """Return both ends of every block of the isotonic fit, or one if they are equal."""
    fit = IsotonicFit.of(pairs)
    score = np.column_stack([fit.low, fit.high]).reshape(-1)
    different = np.append(True, score[1:] != score[:-1])
    return {"score": score[different], "answer": np.repeat(fit.mean_label, 2)[different]}


def _at(knots: dict[str, Any], scores: Floats) -> Floats:
    """Interpolate linearly between knots, constant outside; rounding cannot make it decrease."""
    score, answer = knots["score"], knots["answer"]
    if len(score) == 1:
        return np.full(len(scores), answer[0])
    inside = np.clip(scores, score[0], score[-1])
    line = engine.bins.find_bins(inside, np.nextafter(score[1:-1], -1))  # knots at or below a score
    low, high = answer[line], answer[line + 1]
    share = (inside - score[line]) / np.diff(score)[line]
    return np.asarray(np.minimum(low + share * (high - low), high))


def _rows(scores: Scores) -> Floats:
    """Return (n, K) probabilities; for two classes, 1 − p and p of the second class."""
    if scores.n_classes > 2:
        return scores.probs()
    second = scores.problem(0)
    return np.column_stack([1 - second, second])


def _all_classes(data: FitData) -> Pairs:
    """Return the pairs of all classes, pooled."""
    rows = _rows(data.scores)
    outcomes = np.zeros(rows.shape, bool)
    outcomes[np.arange(data.n), data.labels] = True
    weights = None if data.weights is None else np.repeat(data.weights, rows.shape[1])
    return Pairs(rows.reshape(-1), outcomes.reshape(-1), weights)


def _with_top(probs: Floats, top: Ints) -> Floats:
    """Break ties for the largest probability that are due to rounding, by one unit."""
    rows = np.flatnonzero(probs.argmax(axis=1) != top)
    probs[rows, top[rows]] = np.nextafter(probs[rows].max(axis=1), 2)
    return probs
