"""The base of Platt scaling and beta calibration: log-odds that are linear in a few covariates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.recalibrate.one_vs_rest import OneVsRestRecalibrator
from trueup.recalibrate.scaling.sigmoid.fit import SigmoidProblem, fit_sigmoid
from trueup.recalibrate.score_forms import FitData, Scores, sigmoid

WORSE = "rows of the fitted classes have a larger log loss than the original ones, which were kept"


class SigmoidRecalibrator(OneVsRestRecalibrator):
    """Probabilities σ(intercept + Σ slope · covariate), with slopes that are not negative.

    A subclass gives the covariates of a problem in `_covariates`, each of which grows with the
    score; slopes of 1 and an intercept of 0 must give the score back.
    """

    monotone: ClassVar[bool] = True

    def _covariates(self, scores: Scores, number: int) -> Floats:
        """Return (slopes, n) covariates of one problem."""
        raise NotImplementedError

    def _with_intercept(self) -> bool:
        """Whether there is an intercept to fit."""
        return True

    def _asked(self) -> tuple[bool, bool]:
        """Whether labels are smoothed and whether the loss is squared."""
        return False, False

    def _fit(self, data: FitData) -> None:
        super()._fit(data)
        found = [[learned["note"]] if learned["note"] else [] for learned in self.maps_]
        self.notes_ += self._class_notes(found)
        binary = data.n_classes == 2 and not data.scores.are_logits  # what is best is no worse
        if binary or self._asked() != (False, False):
            return
        if self._is_worse(data):
            slopes = len(self.maps_[0]["slopes"])
            same = {"slopes": np.ones(slopes), "intercept": 0.0, "gradient": 0.0, "note": ""}
            self.maps_ = [dict(same) for _ in self.maps_]
            self.notes_ = [WORSE]

    def _fit_problem(self, data: FitData, number: int) -> dict[str, Any]:
        smooth, squared = self._asked()
        problem = SigmoidProblem(
            self._covariates(data.scores, number),
            self._with_intercept(),
            data.scores.log_odds(number),
            data.outcomes(number),
            data.weights,
        )
        point, gradient, note = fit_sigmoid(problem, smooth=smooth, squared=squared)
        slopes, intercept = point[:-1], float(point[-1])
        return {"slopes": slopes, "intercept": intercept, "gradient": gradient, "note": note}

    def _map(self, learned: dict[str, Any], scores: Scores, number: int) -> Floats:
        covariates = self._covariates(scores, number)
        terms = zip(learned["slopes"], covariates, strict=True)
        return sigmoid(np.asarray(learned["intercept"] + sum(a * x for a, x in terms)))
