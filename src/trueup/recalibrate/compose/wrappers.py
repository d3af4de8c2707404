"""A recalibrator of two classes used for many: class by class, or for the predicted class alone."""

from __future__ import annotations

from dataclasses import field
from typing import Any

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
    r"""Recalibrate every class against the rest with a binary copy, then normalize rows.

    :math:`q_k(x) = g_k(p_k)`, row :math:`q / \sum_j q_j`, each :math:`g_k` a copy of the
    recalibrator fitted to "is it class k?". With logits, each copy gets the log-odds of its class,
    :math:`z_k - \log\sum_{j\ne k} e^{z_j}`.

    Use it to give a method of one shape for all classes, such as `TemperatureScaling`, a shape
    for each. It needs enough rows *of every class*, and may change the predicted class. Dividing
    by the sum undoes some of the calibration of single classes: `predict_marginals` has it as
    fitted. If normalized rows have a larger log loss on the fit data than the original ones, those
    are kept, and ``notes_`` says so. Cost: K fits of n rows.

    Parameters
    ----------
    recalibrator
        What is copied; it stays as it is.
    logits, normalize, classes
        As for every `Recalibrator`; the first two hold for the inner recalibrators too.

    Attributes
    ----------
    maps_
        ``{"recalibrator": copy}`` for every class; for two classes one, of the second.

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

    recalibrator: Recalibrator = field(kw_only=False)

    def _check(self) -> None:
        self._check_inner(self.recalibrator)

    def _fit(self, data: FitData) -> None:
        super()._fit(data)
        self._note_problems([each["recalibrator"].notes_ for each in self.maps_])
        if self._is_worse(data):
            same = IdentityCalibration()._fitted_copy(data.one_vs_rest(0), OUTCOMES, induced=True)
            self.maps_ = [{"recalibrator": same} for _ in self.maps_]
            self.notes_ = ["normalized rows were worse than the original ones, which were kept"]

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        problem = data.one_vs_rest(number)
        return {"recalibrator": self.recalibrator._fitted_copy(problem, OUTCOMES, induced=True)}

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        copy: Recalibrator = learned["recalibrator"]
        return np.ascontiguousarray(copy._probs_of(scores.one_vs_rest(number))[:, 1])


@with_parameters
class TopLabelCalibration(Recalibrator):
    r"""Recalibrate the probability of the predicted class as a binary problem.

    With t the largest probability of a row, :math:`t' = g(t)`, g a copy of the recalibrator fitted
    to "was the prediction right?"; the others are multiplied by :math:`(1 - t')/(1 - t)`. With
    logits, g gets the log-odds of the predicted class.

    Use it when only the confidence of the answer counts, and with few rows for many classes: all
    rows fit one map. `predict` keeps the original class even where rescaling moved the largest
    probability. Log loss changes by that of the binary problem, no more. Cost: one fit of n rows.

    Parameters
    ----------
    recalibrator
        What is copied; it stays as it is.
    logits, normalize, classes
        As for every `Recalibrator`; the first two hold for the inner recalibrators too.

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
