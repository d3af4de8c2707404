"""Labels that follow a given calibration function ρ, in place of the predictions themselves.

Predictions g stay what a statistic compares labels with; labels are drawn from ρ(g).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import ismethod
from typing import Any

import numpy as np

from trueup._typing import Floats
from trueup.errors import InputError, Verbatim, must_be
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_numpy
from trueup.lens import Lens

CalibrationFunction = Callable[[Any], Any]

NAME = "calibration_function"
ROUNDING = 1e-9  # by which a probability may leave [0, 1]
OF_SUMS = 1e-6  # times the number of classes: by which a row may miss 1, as for predictions


def check_calibration_function(function: object, method: str) -> dict[str, Any]:
    """Return the option of a test; raise InputError unless the test draws labels from it."""
    if function is None:
        return {}
    if not callable(function):
        raise must_be(NAME, "a function of the predictions", function)
    if not method.startswith("consistency"):
        got = Verbatim(f"method={method!r}")
        hint = 'omit the method, or pass method="consistency"'
        raise InputError(NAME, "can only be used with the consistency test", got, hint=hint)
    return {NAME: function}


def followed(forecasts: Forecasts, function: CalibrationFunction) -> Forecasts:
    """Return the forecasts with ρ(g) in place of the predictions g; raise InputError if invalid."""
    matrix = forecasts.is_matrix
    given = forecasts.rows(slice(None)) if matrix else forecasts.scores.astype(np.float64)
    shape = given.shape
    found = as_numpy(NAME, function(given))
    both = not matrix and found.shape == (forecasts.n, 2)  # as recalibrators return
    if found.shape != shape and not both:
        rule = f"return an array of the shape of the predictions, {shape}"
        raise must_be(NAME, rule, Verbatim(f"shape {found.shape}"))
    if found.dtype.kind not in "fiub":
        raise must_be(NAME, "return numbers", Verbatim(f"type {found.dtype}"))
    probs = found.astype(np.float64)
    _refuse("return values in [0, 1]", probs, ~((probs >= -ROUNDING) & (probs <= 1 + ROUNDING)))
    if matrix or both:
        total = probs.sum(axis=1)
        off = np.abs(total - 1) > OF_SUMS * probs.shape[1]
        _refuse("return rows that sum to 1", total, off)
    return forecasts.with_probs(np.clip(probs[:, 1] if both else probs, 0.0, 1.0))


def _refuse(rule: str, values: Floats, bad: Any) -> None:
    """Raise InputError for the first bad value."""
    places = np.argwhere(bad)
    if len(places):
        got = float(values[tuple(places[0])])
        raise must_be(NAME, rule, got, row=int(places[0][0]))


def of_outcomes(lens: Lens, forecasts: Forecasts, law: Forecasts) -> Floats:
    """Return the probability that the outcome of each row is 1, for a lens with one outcome.

    It is Σ ρ_k(g) over the classes k for which the outcome is 1.
    """
    kept: Any = slice(None)
    if lens.where is not None:
        kept = lens.inside(lens.everywhere.problem(forecasts).p)
    total = np.zeros(forecasts.n)[kept]
    for k in range(forecasts.n_classes):
        labels = np.full(forecasts.n, k, forecasts.labels.dtype)
        outcome = lens.problem(forecasts.with_labels(labels)).y.astype(bool)
        total[outcome] += _of_class(law, k)[kept][outcome]
    return np.asarray(np.minimum(total, 1.0))


def _of_class(law: Forecasts, k: int) -> Floats:
    if law.is_matrix:
        return np.asarray(law.columns(k, k + 1)[0])
    p = law.scores
    return np.asarray(p if k == 1 else 1 - p)


def name_of(function: CalibrationFunction) -> str:
    """Return the name of a function, with its class if it is a method, or that of its class."""
    if ismethod(function):
        return f"{type(function.__self__).__name__}.{function.__name__}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))
