"""Features that come to a recalibrator: beside X, inside a Forecasts, or in the columns of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.checks import is_number
from trueup.errors import Argument, InputError, conflict, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy, describe
from trueup.local.features import read_features, some_columns


def split_columns(X: object, features: object, n_score_columns: int | None) -> tuple[Any, Any]:
    """Return scores and features: as given, or the first columns of X and its others."""
    if isinstance(X, Forecasts):
        if features is not None:
            raise InputError("features", ("cannot be used if ", Argument("X"), " is a Forecasts"))
        return X, X.features
    if n_score_columns is None:
        return X, features
    if features is not None:
        hint = ("X contains the features if ", Argument("n_score_columns"), " is set")
        raise conflict("features", "n_score_columns", hint=hint)
    array = as_numpy("X", X)
    if array.ndim != 2 or array.shape[1] <= n_score_columns:
        rule = f"a matrix with features in the columns after the first {n_score_columns}"
        raise must_be("X", rule, describe(array))
    array = as_floats("X", array)
    return array[:, :n_score_columns], array[:, n_score_columns:]


def checked_features(features: object, kept: NDArray[np.bool_] | None, n: int) -> Floats:
    """Check features of the n rows that were read, or of more, of which n are ``kept``."""
    if kept is None:
        return read_features(features, n, "X")
    return some_columns(read_features(features, len(kept), "X")[kept])


def rows_of_weight(X: object, sample_weight: object) -> NDArray[np.bool_] | None:
    """Whether each row is one that weights do not leave out; None where all are used."""
    if isinstance(X, Forecasts) or sample_weight is None:
        return None
    if is_number(sample_weight) or getattr(sample_weight, "ndim", 1) == 0:  # one for all rows
        return None
    kept = as_numpy("sample_weight", sample_weight) != 0
    return None if kept.all() else kept
