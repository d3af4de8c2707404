"""What a classifier says to a recalibrator: which scores, and of rows it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from trueup._typing import Ints
from trueup.errors import Argument, InputError, must_be
from trueup.forecasts.arrays import as_numpy, describe
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.model.fit_metadata import Metadata
from trueup.recalibrate.score_forms import LEAST, log_sum_exp


@dataclass(frozen=True)
class Response:
    """`predict_proba`, or `decision_function` for a recalibrator of logits."""

    logits: bool

    @classmethod
    def for_both(cls, classifier: Any, recalibrator: Recalibrator) -> Response:
        """Choose what the recalibrator asks for, of what the classifier has."""
        gives_logits = hasattr(classifier, "decision_function")
        if recalibrator.logits and not gives_logits:
            rule = (f"takes logits, but {type(classifier).__name__} has no decision_function",)
            hint = ("leave out ", Argument("logits", True))
            raise InputError("recalibrator", rule, hint=hint)
        if not recalibrator.logits and hasattr(classifier, "predict_proba"):
            return cls(False)
        if gives_logits:
            return cls(True)
        raise must_be("classifier", "have predict_proba or decision_function", classifier)

    def of(self, classifier: Any, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """Return (n, K) scores, or (n,) of the second of two, in the order of ``classes``.

        Classes that the classifier does not know get probability 0, or the logit of next to 0.
        """
        answer = classifier.decision_function(X) if self.logits else classifier.predict_proba(X)
        values = as_numpy("X", answer)
        known = np.asarray(classifier.classes_)
        if values.ndim == 1 and len(known) == 2 and len(classes) > 2:
            values = np.column_stack([np.zeros(len(values)), values])
        columns = 2 if values.ndim == 1 else values.shape[1]
        if columns != len(known):
            rule = f"give a score for each of its {len(known)} classes"
            hint = 'decision_function_shape="ovr" gives them, in scikit-learn'
            raise must_be("classifier", rule, describe(values), hint=hint)
        if len(known) == len(classes):
            return values
        filled = np.zeros((len(values), len(classes)))
        if self.logits:
            filled += (log_sum_exp(values) + np.log(LEAST))[:, None]
        filled[:, np.searchsorted(classes, known)] = values
        return filled


@dataclass(frozen=True, eq=False)
class Fold:
    """Scores of the ``rows`` of a fold, and the classifier they come from.

    Rows of a class that the classifier does not know are not among them, but in ``left_out``.
    """

    classifier: Any
    rows: Ints
    left_out: Ints
    scores: NDArray[Any]


def cross_fitted(
    classifier: Any,
    response: Response,
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    beside: Metadata,
    cv: Any,
    n_jobs: int | None,
) -> list[Fold]:
    """Fit a clone of the classifier on all folds but one, and let it score that one; for each."""
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing
    from sklearn.utils.parallel import Parallel, delayed

    def fold(train: Ints, test: Ints) -> Fold:
        copy = clone(classifier)
        copy.fit(_safe_indexing(X, train), labels[train], **beside.classifier(train))
        known = np.isin(labels[test], copy.classes_)
        rows, left_out = test[known], test[~known]
        if not len(rows):
            return Fold(copy, rows, left_out, np.empty((0, len(classes))))
        return Fold(copy, rows, left_out, response.of(copy, _safe_indexing(X, rows), classes))

    splits = check_cv(cv, labels, classifier=True).split(X, labels, **beside.for_splitter)
    return list(Parallel(n_jobs=n_jobs)(delayed(fold)(train, test) for train, test in splits))
