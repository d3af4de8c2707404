"""A binary recalibrator used for many classes: for each class, or for the predicted class only."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats, Ints
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.one_vs_rest import MarginalRecalibrator
from trueup.recalibrate.score_forms import FitData, Scores

OUTCOMES = np.arange(2)
"""The classes of a copy: whether its class occurs."""


@with_parameters
class OneVsRestCalibration(MarginalRecalibrator):
    r"""Recalibrate each class one-vs-rest, then normalize the rows.

    :math:`q_k(x) = g_k(p_k)`, row :math:`q / \sum_j q_j`, each :math:`g_k` a copy of the
    recalibrator fitted to "is it class k?". With logits, each copy gets the log-odds of its class,
    :math:`z_k - \log\sum_{j\ne k} e^{z_j}`.

    Use it to fit each class separately with a method that treats all classes alike, such as
    `TemperatureScaling`. It needs enough rows *of every class*, and may change the predicted class.
    Dividing by the sum undoes some of the calibration of single classes; `predict_marginals`
    returns the outputs before that. If normalized rows have a larger log loss on the fit data than
    the original rows, the original rows are kept, and ``notes_`` says so. Cost: K fits of n rows.

    Parameters
    ----------
    recalibrator : Recalibrator
        The recalibrator to copy; it is not changed.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    maps_
        ``{"recalibrator": copy}`` for every class; for two classes, only for the second.

    References
    ----------
    Zadrozny & Elkan 2002, "Transforming classifier scores into accurate multiclass probability
    estimates".

    Examples
    --------
    >>> from trueup.recalibrate.identity import IdentityCalibration
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]
    >>> model = OneVsRestCalibration(IdentityCalibration()).fit(probs, [0, 1, 2])
    >>> model.predict_proba([[0.5, 0.3, 0.2]])
    array([[0.5, 0.3, 0.2]])
    """

    use: ClassVar[str] = "A binary recalibrator for many classes."
    instead: ClassVar[str] = "TemperatureScaling or VectorScaling, which fit all classes together."

    recalibrator: Recalibrator = field(kw_only=False)

    def _check(self) -> None:
        self._check_inner(self.recalibrator)

    def _fit(self, data: FitData) -> None:
        super()._fit(data)
        self._note_problems([each["recalibrator"].notes_ for each in self.maps_])
        if self._is_worse(data):
            same = IdentityCalibration()._fitted_copy(data.one_vs_rest(0), OUTCOMES, induced=True)
            self.maps_ = [{"recalibrator": same} for _ in self.maps_]
            self.notes_ = ["normalized rows were worse than the original rows, so those were kept"]

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        problem = data.one_vs_rest(number)
        return {"recalibrator": self.recalibrator._fitted_copy(problem, OUTCOMES, induced=True)}

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        copy: Recalibrator = learned["recalibrator"]
        return np.ascontiguousarray(copy._probs_of(scores.one_vs_rest(number))[:, 1])


@with_parameters
class TopLabelCalibration(Recalibrator):
    r"""Recalibrate only the top-label probability, as a binary problem.

    With t the largest probability of a row, :math:`t' = g(t)`, g a copy of the recalibrator fitted
    to "was the prediction right?"; the other probabilities are multiplied by :math:`(1 - t')/(1 -
    t)`. With logits, g gets the log-odds of the predicted class.

    Use it if only the confidence of the predicted class matters, or with few rows for many classes,
    because all rows fit one map. `predict` keeps the original class even if another class now has
    the largest probability. The log loss changes by exactly the change in the binary problem. Cost:
    one fit of n rows.

    Parameters
    ----------
    recalibrator : Recalibrator
        The recalibrator to copy; it is not changed.
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns. The first two also hold for the inner recalibrators.

    Attributes
    ----------
    recalibrator_
        The fitted copy.

    References
    ----------
    Gupta & Ramdas 2022, "Top-label calibration and multiclass-to-binary reductions".

    Examples
    --------
    >>> from trueup.recalibrate.identity import IdentityCalibration
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]
    >>> TopLabelCalibration(IdentityCalibration()).fit(probs, [0, 1, 2]).predict([[0.5, 0.3, 0.2]])
    array([0])
    """

    use: ClassVar[str] = "Confidence in the predicted class only."
    instead: ClassVar[str] = "TemperatureScaling, which keeps all probabilities consistent."

    recalibrator: Recalibrator = field(kw_only=False)

    def _check(self) -> None:
        self._check_inner(self.recalibrator)

    def _fit(self, data: FitData) -> None:
        self.recalibrator_ = self.recalibrator._fitted_copy(
            data.top_label(), OUTCOMES, induced=True
        )
        self.notes_ = list(self.recalibrator_.notes_)

    def _probs_of(self, scores: Scores) -> Floats:
        top_class, top = scores.top_label()
        new_top = self.recalibrator_._probs_of(Scores(top, scores.are_logits))[:, 1]
        return scores.rescaled(top_class, new_top)

    def _top_of(self, scores: Scores) -> Ints:
        return scores.top_label()[0]
