"""The declaration of named metrics: the function that users call, and its estimator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, cleandoc, signature
from typing import Any, overload

from trueup.calls.hints import hinted
from trueup.errors import InputError
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


def _refuse_scikit_learn(name: str) -> None:
    """Raise InputError if scikit-learn calls a metric: it passes labels first, or a classifier.

    With labels and predicted classes in place of probabilities and labels, the result could be a
    meaningless number.
    """
    caller = sys._getframe(3).f_globals.get("__name__", "")  # behind the metric and its hints
    if caller.partition(".")[0] == "sklearn":
        rule = "must be a scorer, because scikit-learn passes arguments in its own order"
        hint = f'pass scoring=trueup.make_scorer("{name}")'
        raise InputError("scoring", rule, hint=hint)


@overload
def metric(compose: Callable[..., Estimator]) -> Any: ...


@overload
def metric(*, use: str = "", instead: str = "") -> Callable[[Callable[..., Estimator]], Any]: ...


def metric(
    compose: Callable[..., Estimator] | None = None, *, use: str = "", instead: str = ""
) -> Any:
    """Declare a named metric by a function that makes its estimator from keyword options.

    ``use`` and ``instead`` are sentences for `trueup.explain`: the purpose of the metric, and
    alternatives for other purposes. With them, write ``@metric(use=..., instead=...)``.

    The metric takes ``(probs, labels, *, <options>, weights, logits)`` and returns a float; its
    attribute ``estimator`` is `compose`: ``ece.estimator(n_bins=10)`` is what ``ece(…, n_bins=10)``
    calls. Its signature for editors and mypy is in ``metrics/__init__.pyi``. Its docstring is that
    of `compose`, which documents only the options; the other parameters are added.
    """
    if compose is None:
        return partial(metric, use=use, instead=instead)

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
        _refuse_scikit_learn(compose.__name__)
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
    own.use, own.instead = use, instead
    NAMED[compose.__name__] = own
    return own


def _with_shared_parameters(docstring: str) -> str:
    """Return the docstring of one metric with the parameters of all metrics added."""
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
