"""Copies of a recalibrator that another one fits on parts of what it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from trueup.errors import Words, must_be
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.scores import FitData


def check_inner(owner: Recalibrator, inner: object, name: str = "recalibrator") -> None:
    """Refuse what is no recalibrator, or says of X something else than its owner does."""
    if not isinstance(inner, Recalibrator):
        raise must_be(name, "a recalibrator, such as TemperatureScaling()", inner)
    outer = type(owner).__name__
    if inner.input not in ("probs", owner.input):
        rule = f"left at its own `input`: {outer} says what X is"
        hint = f"pass input={inner.input!r} to {outer}"
        raise must_be(name, rule, Words(f"input={inner.input!r}"), hint=hint)
    if inner.classes is not None:
        rule, hint = f"without `classes`: {outer} names them", f"pass classes= to {outer}"
        raise must_be(name, rule, inner.classes, hint=hint)
    inner._check()


def fitted_copy(inner: Recalibrator, data: FitData, classes: NDArray[Any]) -> Recalibrator:
    """Fit a clone on data that were read before; ``classes`` are the names of its columns."""
    names = None if np.array_equal(classes, np.arange(data.n_classes)) else classes.tolist()
    copy: Recalibrator = clone(inner).set_params(input=data.scores.kind, classes=names)
    return copy.fit(data.scores.values, classes[data.labels], data.weights)


def fitted_part(inner: Recalibrator, data: FitData) -> Recalibrator:
    """Fit a clone on data that were read before, past the door and without a record of the fit.

    Its classes are numbers. Much cheaper than `fitted_copy` where fits are small and many.
    """
    if type(inner).fit is not Recalibrator.fit:
        return fitted_copy(inner, data, np.arange(data.n_classes))
    part: Recalibrator = clone(inner).set_params(input=data.scores.kind)
    part.classes_, part.n_features_in_ = np.arange(data.n_classes), data.scores.n_columns
    part.notes_, part.fit_ = [], {}
    part._fit(data)
    return part
