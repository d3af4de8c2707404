"""The input of recalibrators: the common checks and scikit-learn's bookkeeping."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import check_flag
from trueup.engines.blocks import cut
from trueup.engines.threads import run
from trueup.errors import Argument, InputError, Verbatim, must_be, required
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy, describe, is_missing
from trueup.forecasts.labels import class_numbers, plain_labels, sorted_classes
from trueup.forecasts.policy import FURTHEST, Policy
from trueup.forecasts.probs import Given, checked_values, half_precision_of
from trueup.forecasts.sample_data import names_of, same_length, weights_of
from trueup.recalibrate.score_forms import FitData, Scores

CHECKED_ENTRIES = 1 << 17  # they stay in a cache from the first look at them to the second
MOST_COUNTED = 1e12  # beyond it, likelihoods of counts are lost in rounding


def policy_of(estimator: Any) -> Policy:
    """Return a policy with scikit-learn's argument names and rules."""
    return Policy("X", "y", "sample_weight", to=type(estimator).__name__, scikit_learn=True)


def read_scores(estimator: Any, X: object, *, reset: bool) -> Scores:
    """Check ``X`` by the options of an estimator; `fit` stores what later calls must match.

    Sets ``n_features_in_`` and ``feature_names_in_`` as scikit-learn does; 1-D ``X`` is one
    column, the score of the positive class.
    """
    if isinstance(X, Forecasts):
        X = _values_of(X, estimator.logits)
    array = _array_of(X)
    values = _validated(estimator, X, array, reset)
    if values.shape[1] == 1:
        values = np.ascontiguousarray(values[:, 0])
    half = half_precision_of(X) or half_precision_of(array)
    given = Given(values, bool(estimator.logits), policy_of(estimator), half)
    if not (given.are_logits and _are_logits(values)):
        values = checked_values(given, estimator.normalize)
    return Scores(values, given.are_logits)


def read_fit(estimator: Any, X: object, y: object, sample_weight: object) -> FitData:
    """Check the input of `fit`, and set ``classes_``. Rows of weight 0 are dropped."""
    policy, classes = policy_of(estimator), estimator.classes
    if isinstance(X, Forecasts):
        classes = _classes_of(X, classes)
        X, y, sample_weight = _parts_of(estimator, X, y, sample_weight)
    if y is None:
        words = "requires y to be passed, but the target y is None"  # scikit-learn looks for them
        raise required("y", f"call fit(X, y): {policy.to} {words}")
    labels = _labels_of(y, policy)
    scores = read_scores(estimator, X, reset=True)
    same_length("y", labels, scores.n, "X")
    k = scores.n_classes
    names = sorted_classes(labels, k, policy) if classes is None else np.asarray(classes)
    known = names_of(None if names is None else names.tolist(), k)
    numbers = class_numbers(labels, k, known, None, policy).astype(np.int64)
    _check_targets(labels)
    estimator.classes_ = np.arange(k).astype(labels.dtype) if names is None else names
    weights = weights_of(sample_weight, scores.n, policy)
    data = FitData(scores, numbers, weights)
    if weights is None or weights.all():
        return data
    return replace(data.take(np.flatnonzero(weights)), kept=weights != 0)


def check_options(estimator: Any) -> None:
    """Raise InputError unless options are True or False."""
    check_flag("logits", estimator.logits)
    check_flag("normalize", estimator.normalize)


def check_counts(weights: Floats | None) -> None:
    """Raise InputError for weights that are too large for a method that counts them as rows."""
    if weights is not None and not (total := weights.sum()) <= MOST_COUNTED:
        rule, hint = f"sum to at most {MOST_COUNTED:g}", "a weight counts rows: divide by the mean"
        raise must_be("sample_weight", rule, total, hint=hint)


def _labels_of(y: object, policy: Policy) -> NDArray[Any]:
    from sklearn.utils.validation import column_or_1d

    labels = as_numpy("y", y)
    if labels.shape[1:] == (1,):
        labels = np.asarray(column_or_1d(labels, warn=True))
    _refuse_complex("y", labels)
    return plain_labels(labels, None, policy)


def _check_targets(labels: NDArray[Any]) -> None:
    from sklearn.utils.multiclass import check_classification_targets

    with warnings.catch_warnings():  # many classes in few rows are no regression here
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        check_classification_targets(labels)


def _array_of(X: object) -> NDArray[Any]:
    """Read X by the common rules, with the types of errors that scikit-learn requires.

    Its checks of third-party estimators require a TypeError for a sparse matrix and for objects
    that are neither numbers nor text, and the words "Complex data not supported".
    """
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    if issparse(X):
        check_array(X, input_name="X")
    array = as_numpy("X", X)
    _refuse_complex("X", array)
    try:
        return as_floats("X", array)
    except InputError:
        if array.dtype.kind == "O":
            with suppress(ValueError, OverflowError):
                for item in array.flat:
                    if not is_missing(item):
                        float(item)
        raise


def _refuse_complex(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind == "c":
        hint = "Complex data not supported"
        raise must_be(name, "real numbers", Verbatim("complex ones"), hint=hint)


def _validated(estimator: Any, X: object, array: NDArray[Any], reset: bool) -> NDArray[Any]:
    """Return (n, columns) floats; store or compare the number of columns and their names."""
    from sklearn.utils import check_array
    from sklearn.utils.validation import validate_data

    _check_shape(array, 1 if reset else estimator.n_features_in_)
    columns = array.reshape(len(array), -1)
    named = X if array.ndim == 2 and hasattr(X, "shape") else columns  # only frames have names
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    # Finiteness is checked later, with the number of the row.
    values: NDArray[Any] = check_array(
        columns, dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    return values


def _check_shape(array: NDArray[Any], columns: int) -> None:
    """Raise InputError unless the shape is (n, K), or (n,) for one column.

    scikit-learn looks for the words "Reshape your data" and for its own message about missing
    features.
    """
    if array.ndim > 2:
        raise must_be("X", "have shape (n,) or (n, K)", describe(array))
    if len(array) == 0:
        raise must_be("X", "have at least one row", describe(array))
    if array.ndim == 1 and columns != 1:
        every = "both" if columns == 2 else f"all {columns}"
        hint = f"pass {every} columns, one row per sample"
        if len(array) == columns:
            hint = "Reshape your data with X.reshape(1, -1) if it is one row"
        rule = f"have shape (n, {columns}), as in `fit`"
        raise must_be("X", rule, describe(array), hint=hint)
    if array.size == 0:
        words = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        raise must_be("X", "have at least one column", Verbatim(words))


def _values_of(forecasts: Forecasts, logits: bool) -> NDArray[Any]:
    """Return the probabilities of all rows, or the logits if the forecasts came as logits."""
    every = slice(0, forecasts.n)
    if not logits:
        return forecasts.rows(every) if forecasts.is_matrix else forecasts.scores
    if not forecasts.log_probs_exact:
        rule = ("must come from logits for ", Argument("logits", True))
        raise InputError("X", rule, Verbatim("probabilities"))
    log_probs = forecasts.log_probs(every)
    return log_probs if forecasts.is_matrix else log_probs[:, 1] - log_probs[:, 0]


def _classes_of(forecasts: Forecasts, given: Any) -> Any:
    """Return the column names, which the forecasts store as names of classes."""
    known = forecasts.classes
    if known is not None and given is not None and tuple(given) != tuple(known):
        rule = "None, or those of the Forecasts in the same order"
        raise must_be("classes", rule, given)
    return given if known is None else known


def _parts_of(
    estimator: Any, forecasts: Forecasts, y: object, sample_weight: object
) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
    if y is not None or sample_weight is not None:
        rule = ("If ", Argument("X"), " is a Forecasts, pass no other data")
        raise InputError("X", rule, hint="pass labels and weights to Forecasts.from_arrays")
    if forecasts.soft:
        raise must_be("labels", "classes, to fit a recalibrator", Verbatim("probabilities"))
    labels = forecasts.labels.astype(np.int64)
    if forecasts.classes is not None:
        labels = np.asarray(forecasts.classes)[labels]
    return _values_of(forecasts, estimator.logits), labels, forecasts.weights


def _are_logits(values: NDArray[Any]) -> bool:
    """Return whether all numbers are valid logits, checked in parts by several threads."""

    def good(start: int, stop: int) -> bool:
        # NaN is the least and the largest where there is one.
        part = values[start:stop]
        return float(part.min()) >= -FURTHEST and float(part.max()) <= FURTHEST

    smallest = max(1, CHECKED_ENTRIES * len(values) // values.size)
    return all(run(good, cut(len(values), smallest)))
