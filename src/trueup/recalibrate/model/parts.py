"""Inputs of the parts of a model: weights, groups, scores, and folds of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from trueup._typing import Ints
from trueup.errors import Argument, InputError, Verbatim, must_be
from trueup.forecasts.arrays import as_numpy, describe
from trueup.forecasts.sample_data import same_length, weights_of
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.fit_input import policy_of
from trueup.recalibrate.score_forms import LEAST, log_sum_exp

ByRow = dict[str, Any]
"""Keyword arguments; what has an entry for each row is cut as the rows are."""


@dataclass(frozen=True, eq=False)
class Metadata:
    """Keyword arguments of the parts of a model; those of the classifier may be of any kind."""

    for_classifier: ByRow
    for_splitter: ByRow
    for_recalibrator: ByRow

    @classmethod
    def of(
        cls, model: Any, n: int, sample_weight: object, groups: object, of_fit: dict[str, Any]
    ) -> Metadata:
        """Check arguments and assign them to the parts, by metadata routing if it is enabled.

        ``of_fit`` contains further parameters for the ``fit`` of the classifier.
        """
        if of_fit and model.is_frozen:
            name = next(iter(of_fit))
            raise InputError(name, "cannot be used, because the classifier is not fitted again")
        given: ByRow = {}
        if (weights := weights_of(sample_weight, n, policy_of(model))) is not None:
            given["sample_weight"] = weights
        if groups is not None:
            given["groups"] = as_numpy("groups", groups)
            same_length("groups", given["groups"], n, "X")
        learns = dict(given)
        if not has_fit_parameter(model.chosen_recalibrator, "groups"):
            learns.pop("groups", None)
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(model, "fit", **given, **of_fit)
            fits = routed.get("classifier", {"fit": {}})["fit"]
            return cls(dict(fits), dict(routed.splitter.split), learns)
        return cls(_fits(model, given) | of_fit, _splits(model, given), learns)


def at(rows: Ints, given: ByRow, n: int) -> ByRow:
    """Return arguments for some of n rows; those without one entry per row are left unchanged."""
    return {
        name: _safe_indexing(value, rows) if _is_by_row(value, n) else value
        for name, value in given.items()
    }


def _is_by_row(value: Any, n: int) -> bool:
    """Return whether a value has one entry per row, by scikit-learn's rules."""
    if isinstance(value, (str, bytes, dict)):
        return False
    try:
        return int(_num_samples(value)) == n
    except TypeError:
        return False


def _fits(model: Any, given: ByRow) -> ByRow:
    if "sample_weight" not in given or model.is_frozen:
        return {}
    if not has_fit_parameter(model.classifier, "sample_weight"):
        name = type(model.classifier).__name__
        rule = (f"{name}.fit does not support ", Argument("sample_weight"))
        hint = "use metadata routing to pass weights to the recalibrator only"
        raise InputError("sample_weight", rule, hint=hint)
    return {"sample_weight": given["sample_weight"]}


def _splits(model: Any, given: ByRow) -> ByRow:
    if "groups" not in given:
        return {}
    splitter = None if model.is_frozen else model.cv
    # A splitter that says nothing about metadata may want them: those of scikit-learn all do.
    silent = hasattr(splitter, "split") and not hasattr(splitter, "get_metadata_routing")
    if silent or get_routing_for_object(splitter).consumes("split", {"groups"}):
        return {"groups": given["groups"]}
    if not has_fit_parameter(model.chosen_recalibrator, "groups"):
        rule = "cannot be used: neither the folds nor the recalibrator take them"
        hint = "pass cv=GroupKFold() to keep groups together"
        raise InputError("groups", rule, hint=hint)
    return {}


def takes_logits(classifier: Any, recalibrator: Recalibrator) -> bool:
    """Return whether the recalibrator gets `decision_function` instead of `predict_proba`.

    This depends on its option ``logits`` and on the methods of the classifier.
    """
    gives_logits = hasattr(classifier, "decision_function")
    if recalibrator.logits and not gives_logits:
        rule = (f"takes logits, but {type(classifier).__name__} has no decision_function",)
        hint = ("leave out ", Argument("logits", True))
        raise InputError("recalibrator", rule, hint=hint)
    if not recalibrator.logits and hasattr(classifier, "predict_proba"):
        return False
    if gives_logits:
        return True
    raise must_be("classifier", "have predict_proba or decision_function", classifier)


def scores_of(classifier: Any, X: Any, classes: NDArray[Any], *, logits: bool) -> NDArray[Any]:
    """Return (n, K) scores, or (n,) of the second of two classes, in the order of ``classes``.

    Classes that the classifier was not trained on get probability 0, or the logit of a probability
    near 0.
    """
    answer = classifier.decision_function(X) if logits else classifier.predict_proba(X)
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
    if logits:
        filled += (log_sum_exp(values) + np.log(LEAST))[:, None]
    filled[:, np.searchsorted(classes, known)] = values
    return filled


@dataclass(frozen=True, eq=False)
class Fold:
    """Return the scores of the ``rows`` of a fold, and the classifier that gave them.

    Rows of a class that the classifier was not trained on are in ``left_out`` instead.
    """

    classifier: Any
    rows: Ints
    left_out: Ints
    scores: NDArray[Any]


def cross_fitted(
    model: Any, X: Any, labels: NDArray[Any], beside: Metadata, *, logits: bool
) -> list[Fold]:
    """For each fold, fit a clone of the classifier on the other folds and score this fold."""
    from sklearn.model_selection import check_cv
    from sklearn.utils.parallel import Parallel, delayed

    classifier, classes = model.classifier, model.classes_

    def fold(train: Ints, test: Ints) -> Fold:
        copy = clone(classifier)
        given = at(train, beside.for_classifier, len(labels))
        copy.fit(_safe_indexing(X, train), labels[train], **given)
        known = np.isin(labels[test], copy.classes_)
        rows, left_out = test[known], test[~known]
        if not len(rows):
            return Fold(copy, rows, left_out, np.empty((0, len(classes))))
        scores = scores_of(copy, _safe_indexing(X, rows), classes, logits=logits)
        return Fold(copy, rows, left_out, scores)

    cv = check_cv(model.cv, labels, classifier=True)
    splits = list(cv.split(X, labels, **beside.for_splitter))
    _refuse_single_rows([test for _, test in splits])
    return list(Parallel(n_jobs=model.n_jobs)(delayed(fold)(train, test) for train, test in splits))


def _refuse_single_rows(tests: list[Ints]) -> None:
    """Raise InputError if a test fold is one row, as scikit-learn does for LeaveOneOut."""
    single = sum(np.size(test) == 1 for test in tests)
    if single:
        rule = "have at least two rows in every test fold, because one row has only one class"
        got = Verbatim(f"{single} of {len(tests)} folds with one row")
        raise must_be("cv", rule, got, hint="use fewer folds, such as cv=5")
