"""Copies of a recalibrator that another one fits on parts of what it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from trueup.errors import Argument, InputError, must_be
from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.score_forms import FitData


def check_inner(owner: Recalibrator, inner: object, name: str = "recalibrator") -> None:
    """Refuse what is no recalibrator, or says of X something else than its owner does."""
    if not isinstance(inner, Recalibrator):
        raise must_be(name, "a recalibrator, such as TemperatureScaling()", inner)
    outer = type(owner).__name__
    for option in ("logits", "normalize", "classes"):
        if getattr(inner, option) not in (False, None, getattr(owner, option)):
            rule = ("Set ", Argument(option), f" on {outer}, not on the inner recalibrator")
            raise InputError(option, rule)
    inner._check()


def fitted_copy(inner: Recalibrator, data: FitData, classes: NDArray[Any]) -> Recalibrator:
    """Fit a clone on data that were read before; ``classes`` are the names of its columns."""
    names = None if np.array_equal(classes, np.arange(data.n_classes)) else classes.tolist()
    copy: Recalibrator = clone(inner).set_params(logits=data.scores.are_logits, classes=names)
    return copy.fit(data.scores.values, classes[data.labels], data.weights)


def fitted_part(inner: Recalibrator, data: FitData) -> Recalibrator:
    """Fit a clone on data that were read before, past the door and without a record of the fit.

    Its classes are numbers. Much cheaper than `fitted_copy` where fits are small and many.
    """
    if type(inner).fit is not Recalibrator.fit:
        return fitted_copy(inner, data, np.arange(data.n_classes))
    part: Recalibrator = clone(inner).set_params(logits=data.scores.are_logits)
    part.classes_, part.n_features_in_ = np.arange(data.n_classes), data.scores.n_columns
    part.notes_, part.fit_ = [], {}
    part._fit(data)
    return part
