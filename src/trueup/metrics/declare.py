"""One declaration of a named metric: the function users call and the estimator behind it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from trueup.calls.hints import hinted
from trueup.estimators.base import Estimator

NAMED: dict[str, Any] = {}
"""Every named metric by its name, in the order of declaration."""

DATA = (
    Parameter("probs", Parameter.POSITIONAL_OR_KEYWORD, annotation="object"),
    Parameter("labels", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="object"),
)
BESIDE = (
    Parameter("weights", Parameter.KEYWORD_ONLY, default=None, annotation="object"),
    Parameter("logits", Parameter.KEYWORD_ONLY, default=False, annotation="bool"),
)


def metric(compose: Callable[..., Estimator]) -> Any:
    """Make a named metric of a function that composes its estimator from keyword options.

    The metric takes ``(probs, labels, *, <options>, weights, logits)`` and returns a float; its
    attribute ``estimator`` is `compose`: ``ece.estimator(n_bins=10)`` is what ``ece(…, n_bins=10)``
    calls. Its signature for editors and mypy stands in ``metrics/__init__.pyi``.
    """

    @hinted
    @wraps(compose)
    def measure(
        probs: object,
        labels: object = None,
        *,
        weights: object = None,
        logits: bool = False,
        **options: Any,
    ) -> float:
        return compose(**options)(probs, labels, weights=weights, logits=logits)

    options = signature(compose).parameters.values()
    own: Any = measure
    own.__signature__ = signature(compose).replace(
        parameters=[*DATA, *options, *BESIDE], return_annotation="float"
    )
    own.__annotations__ = {each.name: each.annotation for each in (*DATA, *options, *BESIDE)}
    own.__annotations__["return"] = "float"
    own.estimator = compose
    NAMED[compose.__name__] = own
    return own
