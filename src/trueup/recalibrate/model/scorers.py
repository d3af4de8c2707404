"""Scorers of named metrics for scikit-learn's ``scoring=``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from trueup._typing import Ints
from trueup.calls.hints import hinted
from trueup.errors import CapabilityError, InputError, Verbatim, must_be
from trueup.estimators.base import Metric, known_estimator
from trueup.forecasts.arrays import as_numpy
from trueup.metrics.declare import NAMED

__all__ = ["SCORERS", "CalibrationScorer", "make_scorer"]


@dataclass(eq=False, repr=False)
class CalibrationScorer:
    """Scorer made by `make_scorer`; scikit-learn calls it with a fitted classifier, X and y.

    It returns the metric with its sign changed, because scikit-learn regards larger scores as
    better.
    """

    metric: Callable[..., float]
    words: str
    _request: bool | str | None = field(default=None, init=False)

    def __call__(self, estimator: Any, X: object, y: object, sample_weight: object = None) -> float:
        """Return the negated metric of ``estimator.predict_proba(X)`` and ``y``."""
        if not hasattr(estimator, "predict_proba"):
            got = Verbatim(f"a {type(estimator).__name__}, which has none")
            hint = "CalibratedModel gives it one"
            raise must_be("estimator", "have predict_proba", got, hint=hint)
        probs = as_numpy("predict_proba", estimator.predict_proba(X))
        if probs.ndim == 2 and probs.shape[1] == 2:
            probs = np.ascontiguousarray(probs[:, 1])
        labels = _numbers(estimator.classes_, as_numpy("y", y))
        return -float(self.metric(probs, labels, weights=sample_weight))

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request ``sample_weight`` in scikit-learn's metadata routing, by this or another name."""
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            hint = "call sklearn.set_config(enable_metadata_routing=True) first"
            raise CapabilityError(f"set_score_request needs metadata routing. Hint: {hint}.")
        self._request = sample_weight
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata requests for scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._request)
        return request

    def __repr__(self) -> str:
        return f"make_scorer({self.words})"


@hinted
def make_scorer(metric: str | Metric, **options: Any) -> CalibrationScorer:
    """Make a scorer of a named metric, or of an estimator, for scikit-learn's ``scoring=``.

    Use it in `cross_validate`, `GridSearchCV`, `permutation_importance` and other functions that
    take a callable. Class names are those of ``estimator.classes_``, even if a fold of y lacks
    some. For a classifier with two classes, the probability of the second class is scored; for more
    classes, the metric's default lens is used.

    Parameters
    ----------
    metric : callable, str or Estimator
        A metric of `trueup` or its name, such as ``tu.ece`` or ``"log_loss"``, or an estimator,
        such as ``BinnedError(norm=2)``.
    **options : dict
        Passed to the named metric, such as ``n_bins=10``.

    Returns
    -------
    CalibrationScorer
        Callable ``scorer(estimator, X, y)``: the metric with its sign changed.

    Notes
    -----
    Select models by a proper score (``"log_loss"``, ``"brier"``): calibration errors are 0 for a
    model that always predicts the base rate, and plug-in errors rank models partly by chance.

    A string alone, as in ``scoring="ece"``, is looked up in a table of scikit-learn that other
    libraries cannot extend: write ``scoring=make_scorer("ece")``, or ``scoring={"ece":
    make_scorer("ece"), "log": "neg_log_loss"}``.

    ``sample_weight`` is passed on by metadata routing: ``make_scorer("ece").set_score_request(
    sample_weight=True)``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(200, random_state=0)
    >>> result = cross_validate(GaussianNB(), X, y, cv=2, scoring={"ece": make_scorer("ece")})
    >>> bool((result["test_ece"] <= 0).all())
    True
    """
    if (isinstance(metric, str) and metric in NAMED) or metric in NAMED.values():
        name = metric if isinstance(metric, str) else metric.__name__
        shown = [repr(name), *(f"{key}={value!r}" for key, value in options.items())]
        named = NAMED[name]
        return CalibrationScorer(partial(named, **options) if options else named, ", ".join(shown))
    estimator = known_estimator(metric, "metric")
    if estimator is None:
        rule = f"an estimator, a named metric or one of {', '.join(sorted(NAMED))}"
        raise must_be("metric", rule, metric)
    if options:
        raise InputError("options", "cannot be used with an estimator, which has its own", options)
    return CalibrationScorer(estimator, repr(estimator))


SCORERS = MappingProxyType({name: make_scorer(name) for name in sorted(NAMED)})
"""A scorer for every named metric, by its name; `ici`, `e50` and `e90` are for two classes."""


def _numbers(classes: Any, labels: Any) -> Ints:
    """Return the column numbers of the labels."""
    if isinstance(classes, list):
        raise must_be("estimator", "a classifier of one label", Verbatim("one of several outputs"))
    place = {name: number for number, name in enumerate(np.asarray(classes).tolist())}
    numbers = np.array([place.get(name, -1) for name in labels.reshape(-1).tolist()], np.int64)
    if (numbers < 0).any():
        row = int(np.argmin(numbers))
        rule = "among the classes that the estimator was fitted on"
        raise must_be("y", rule, labels.reshape(-1)[row], row=row)
    return numbers
