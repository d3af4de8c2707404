"""Which scores of a classifier a recalibrator is given, and in which columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import must_be
from trueup.forecasts.arrays import as_numpy, describe_shape
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.scores import LEAST, log_sum_exp


@dataclass(frozen=True)
class Response:
    """`predict_proba` for ``input="probs"``, `decision_function` for ``input="logits"``."""

    input: str

    @classmethod
    def for_both(cls, classifier: Any, recalibrator: Recalibrator) -> Response:
        """Choose what the recalibrator asks for, of what the classifier has."""
        name = type(classifier).__name__
        if recalibrator.input == "logits":
            if not hasattr(classifier, "decision_function"):
                rule = f'of input="probs", as {name} has no decision_function'
                raise must_be("recalibrator", rule, recalibrator)
            return cls("logits")
        if hasattr(classifier, "predict_proba"):
            return cls("probs")
        if hasattr(classifier, "decision_function"):
            return cls("logits")
        rule = "a classifier with predict_proba or decision_function"
        raise must_be("classifier", rule, classifier)

    def of(self, classifier: Any, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """Return (n, K) scores, or (n,) of the second of two, in the order of ``classes``.

        Classes that the classifier does not know get probability 0, or the logit of next to 0.
        """
        are_logits = self.input == "logits"
        answer = classifier.decision_function(X) if are_logits else classifier.predict_proba(X)
        values = as_numpy("X", answer)
        known = np.asarray(classifier.classes_)
        if values.ndim == 1 and len(known) == 2 and len(classes) > 2:
            values = np.column_stack([np.zeros(len(values)), values])
        columns = 2 if values.ndim == 1 else values.shape[1]
        if columns != len(known):
            rule = f"give a score for each of its {len(known)} classes"
            hint = 'decision_function_shape="ovr" gives them, in scikit-learn'
            raise must_be("classifier", rule, describe_shape(values), hint=hint)
        if len(known) == len(classes):
            return values
        filled = np.zeros((len(values), len(classes)))
        if are_logits:
            filled += (log_sum_exp(values) + np.log(LEAST))[:, None]
        filled[:, np.searchsorted(classes, known)] = values
        return filled
