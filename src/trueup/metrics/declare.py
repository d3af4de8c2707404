"""One declaration of a named metric: the function that users call and its estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import Any

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

# What every named metric takes and returns is documented once, here.
FIRST = """
Parameters
----------
probs : array_like or Forecasts
    Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
labels : array_like, optional
    Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
"""
LAST = """
weights : array_like, optional
    Weight of each row (default: all rows count the same).
logits : bool, default False
    Whether `probs` holds logits instead of probabilities.

Returns
-------
float
    The value of the metric.
"""


def metric(compose: Callable[..., Estimator]) -> Any:
    """Declare a named metric by a function that makes its estimator from keyword options.

    The metric takes ``(probs, labels, *, <options>, weights, logits)`` and returns a float; its
    attribute ``estimator`` is `compose`: ``ece.estimator(n_bins=10)`` is what ``ece(…, n_bins=10)``
    calls. Its signature for editors and mypy stands in ``metrics/__init__.pyi``. Its docstring is
    that of `compose`, which documents the options alone, with the other parameters added.
    """

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
    own.__doc__ = _with_shared_parameters(cleandoc(compose.__doc__ or ""))
    own.estimator = compose
    NAMED[compose.__name__] = own
    return own


def _with_shared_parameters(docstring: str) -> str:
    """Return a docstring with the parameters of all metrics around those of one."""
    paragraphs = docstring.split("\n\n")
    options = [each for each in paragraphs if each.startswith("Parameters\n---")]
    before = next(
        place
        for place, each in enumerate(paragraphs)
        if each.startswith(("Parameters\n---", "References\n---", "Examples\n---"))
    )
    own = "".join(each.split("\n", 2)[2] for each in options)
    shared = FIRST.strip() + ("\n" + own if own else "") + LAST.rstrip()
    rest = paragraphs[before + len(options) :]
    return "\n\n".join([*paragraphs[:before], shared, *rest])
