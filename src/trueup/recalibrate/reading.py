"""The door of recalibrators: arrays and frames in, checked scores and class numbers out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.blocks import cut
from trueup.engines.select import engine
from trueup.engines.threads import run
from trueup.errors import Argument, InputError, Words, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy, describe_shape
from trueup.forecasts.beside import same_length
from trueup.recalibrate.outcomes import class_numbers, read_labels, read_weights
from trueup.recalibrate.scores import FitData, Scores

INPUTS = ("probs", "logits")
SUM_TOLERANCE = 1e-3
LEAVE_OUT = "leave such rows out"
CHECKED_ENTRIES = 1 << 17  # they stay in a cache from the first look at them to the second
FURTHEST = 1e100  # beyond it, differences of logits are no longer safe to multiply


def read_scores(estimator: Any, X: object, *, reset: bool) -> Scores:
    """Check ``X`` as the ``input`` of an estimator says; `fit` resets what later calls must match.

    Sets ``n_features_in_`` and ``feature_names_in_`` as scikit-learn does; 1-D ``X`` is one
    column, the score of the positive class.
    """
    if isinstance(X, Forecasts):
        X = _values_of(X, estimator.input)
    elif hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray):
        X = as_numpy("X", X)
    values = _validated(estimator, X, reset)
    are_logits = estimator.input == "logits"
    if values.shape[1] == 1:
        values = np.ascontiguousarray(values[:, 0])
    (_check_logits if are_logits else _check_probs)(values)
    if not are_logits and values.ndim == 2:
        values = _rows_that_sum(values)
    return Scores(values, are_logits)


def read_fit(estimator: Any, X: object, y: object, sample_weight: object) -> FitData:
    """Check what `fit` is given; sets ``classes_``. Rows of weight 0 are left out."""
    given = estimator.classes
    if isinstance(X, Forecasts):
        given = _classes_of(X, given)
        X, y, sample_weight = _parts_of(estimator, X, y, sample_weight)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    names = read_labels(y)
    scores = read_scores(estimator, X, reset=True)
    same_length("y", names, scores.n, "X")
    columns = "one column" if scores.n_columns == 1 else f"{scores.n_columns} columns"
    classes, labels = class_numbers(names, scores.n_classes, given, columns)
    estimator.classes_ = classes
    weights = read_weights(sample_weight, scores.n)
    data = FitData(scores, labels, weights)
    return data if weights is None or weights.all() else data.take(np.flatnonzero(weights))


def check_input(estimator: Any) -> None:
    """Refuse an ``input`` that is neither of the two words."""
    if estimator.input not in INPUTS:
        raise must_be("input", '"probs" or "logits"', estimator.input)


def _validated(estimator: Any, X: object, reset: bool) -> NDArray[Any]:
    """(n, columns) floats, checked by scikit-learn, whose errors are said in our words."""
    from sklearn.utils.validation import validate_data

    try:
        if _is_one_dimensional(X) and (reset or estimator.n_features_in_ == 1):
            X = np.asarray(X).reshape(-1, 1)
        # Finiteness is checked later, with the number of the row.
        values: NDArray[Any] = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        _explain(X, getattr(estimator, "n_features_in_", 1), error)
        raise
    return values


def _explain(X: object, columns: int, error: Exception) -> None:
    """Say what is wrong with X where we can say it better than scikit-learn did.

    Its checks of third-party estimators ask for the words "Reshape your data" and "Complex data
    not supported", and for a TypeError where objects are no numbers.
    """
    if "sparse" in str(error).lower():
        return
    array = as_numpy("X", X)
    if array.dtype.kind == "c":
        raise must_be("X", "real numbers", Words("complex ones"), hint="Complex data not supported")
    if isinstance(error, ValueError):
        as_floats("X", array)
    if len(array) == 0:
        raise must_be("X", "have at least one row", describe_shape(array)) from None
    if array.ndim > 2:
        raise must_be("X", "an array of shape (n,) or (n, K)", describe_shape(array)) from None
    if array.ndim == 1:
        rule = f"an array of shape (n, {columns}), as in `fit`"
        hint = "Reshape your data with X.reshape(1, -1) if it is one row"
        raise must_be("X", rule, describe_shape(array), hint=hint) from None


def _values_of(forecasts: Forecasts, kind: str) -> NDArray[Any]:
    """Probabilities, or logits where the forecasts came as logits, of all rows."""
    every = slice(0, forecasts.n)
    if kind == "probs":
        return forecasts.rows(every) if forecasts.is_matrix else forecasts.scores
    if not forecasts.log_probs_exact:
        got, hint = Words("probabilities"), 'leave out input="logits"'
        raise must_be("X", 'come from logits for input="logits"', got, hint=hint)
    log_probs = forecasts.log_probs(every)
    return log_probs if forecasts.is_matrix else log_probs[:, 1] - log_probs[:, 0]


def _classes_of(forecasts: Forecasts, given: Any) -> Any:
    """Return the names of the columns, which the forecasts know in the order of their columns."""
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
        raise InputError("X", rule, hint="pass labels and weights to Forecasts.of")
    if forecasts.soft:
        raise must_be("labels", "classes, to fit a recalibrator", Words("probabilities"))
    labels = forecasts.labels.astype(np.int64)
    if forecasts.classes is not None:
        labels = np.asarray(forecasts.classes)[labels]
    return _values_of(forecasts, estimator.input), labels, forecasts.weights


def _is_one_dimensional(X: Any) -> bool:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return len(shape) == 1


def _check_logits(values: NDArray[Any]) -> None:
    smallest = max(1, CHECKED_ENTRIES * len(values) // values.size)
    if all(run(lambda start, stop: _are_logits(values[start:stop]), cut(len(values), smallest))):
        return
    good = np.abs(values.astype(np.float64)) <= FURTHEST
    row = int(np.argmin(good if good.ndim == 1 else good.all(axis=1)))
    entries = np.atleast_1d(values[row])
    bad = entries[int(np.argmin(np.atleast_1d(good[row])))]
    if np.isfinite(bad):
        raise must_be("X", f"between -{FURTHEST:g} and {FURTHEST:g}", bad, row=row)
    raise must_be("X", "free of NaN and infinity", bad, row=row, hint=LEAVE_OUT)


def _are_logits(values: NDArray[Any]) -> bool:
    # NaN is the least and the largest where there is one.
    return float(values.min()) >= -FURTHEST and float(values.max()) <= FURTHEST


def _check_probs(values: NDArray[Any]) -> None:
    flat = np.ascontiguousarray(values).reshape(-1)
    bad = engine.rows.first_outside_unit(flat)
    if bad < 0:
        return
    row, value = bad // (1 if values.ndim == 1 else values.shape[1]), flat[bad]
    if not np.isfinite(value):
        raise must_be("X", "free of NaN and infinity", value, row=row, hint=LEAVE_OUT)
    hint = 'pass input="logits" for raw scores'
    raise must_be("X", "probabilities between 0 and 1", value, row=row, hint=hint)


def _rows_that_sum(values: NDArray[Any]) -> NDArray[Any]:
    """Rows divided by their sum, which must be 1 but for rounding."""
    total = values.sum(axis=1, dtype=np.float64)
    away = np.abs(total - 1)
    row = int(np.argmax(away))
    if away[row] > SUM_TOLERANCE:
        hint = 'divide each row by its sum, or pass input="logits" for raw scores'
        raise must_be("X", "sum to 1 in every row", total[row], row=row, hint=hint)
    near = away <= max(4, values.shape[1]) * np.finfo(values.dtype).eps
    if near.all():
        return values
    # Row by row, so that an answer does not depend on the rows beside it.
    return np.where(near[:, None], values, values / total[:, None])
