"""Features that come to a recalibrator: beside X, inside a Forecasts, or in the columns of X."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.engines.base import Floats, Ints
from trueup.errors import Words, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_floats, as_numpy, describe_shape
from trueup.local.features import read_features, some_columns


def split_columns(X: object, features: object, n_score_columns: int | None) -> tuple[Any, Any]:
    """Return scores and features: as given, or the first columns of X and its others."""
    if isinstance(X, Forecasts):
        if features is not None:
            raise must_be("X", "given alone when it is a Forecasts", Words("features beside it"))
        return X, X.features
    if n_score_columns is None:
        return X, features
    if features is not None:
        rule = "left out where X holds them, as `n_score_columns` says"
        raise must_be("features", rule, Words("features"))
    array = as_numpy("X", X)
    if array.ndim != 2 or array.shape[1] <= n_score_columns:
        rule = f"a matrix of {n_score_columns} columns of scores, then features"
        raise must_be("X", rule, describe_shape(array))
    array = as_floats("X", array)
    return array[:, :n_score_columns], array[:, n_score_columns:]


def checked_features(features: object, kept: Ints | None, n: int) -> Floats:
    """Check features of the n rows that were read; ``kept`` are their numbers, None for all."""
    if kept is None:
        return read_features(features, n, "X")
    array = as_numpy("features", features)
    if kept.size and len(array) <= kept[-1]:
        raise must_be("features", "as long as X", describe_shape(array))
    return some_columns(read_features(array, len(array), "X")[kept])


def rows_of_weight(X: object, sample_weight: object) -> Ints | None:
    """Numbers of the rows that weights do not leave out; None where all are used."""
    if isinstance(X, Forecasts) or sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    return None if weights.ndim == 0 or weights.all() else np.flatnonzero(weights)
