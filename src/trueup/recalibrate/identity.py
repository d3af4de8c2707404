"""The baseline for every recalibrator, which leaves probabilities unchanged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trueup._typing import Floats
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.score_forms import FitData, Scores


class IdentityCalibration(Recalibrator):
    """Identity baseline: unchanged probabilities, or the softmax of logits.

    It is the baseline of `AutoCalibration`, and a placeholder in a pipeline or a grid search.

    Parameters
    ----------
    logits, normalize, classes : bool, bool, sequence or None
        Whether X holds logits; whether to divide rows of probabilities by their sum; names of the
        classes in the order of the columns.

    Examples
    --------
    >>> IdentityCalibration().fit([0.2, 0.9], [0, 1]).predict_proba([0.25])
    array([[0.75, 0.25]])
    """

    use: ClassVar[str] = "A baseline that every recalibrator must beat."
    instead: ClassVar[str] = "AutoCalibration, which includes it."

    preserves_argmax: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def _fit(self, data: FitData) -> None:
        """Nothing is learned."""

    def _probs_of(self, scores: Scores) -> Floats:
        rows = scores.probs()
        total = rows.sum(axis=1, keepdims=True)
        # float32 rows sum to 1 only in float32; rows that do are given back bit for bit
        return rows if np.abs(total - 1).max() < 1e-13 else rows / total
