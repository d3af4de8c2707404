"""Hints where a call goes wrong: names that other libraries use, a metric in another place.

A call that is right pays nothing. Where Python's TypeError says that arguments do not fit, the
error names the argument that was probably meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from trueup.errors import Argument, InputError, Text, Verbatim, must_be

P = ParamSpec("P")
R = TypeVar("R")

METRIC = ("estimator", "statistic")
"""Parameters that take a metric, which may also be passed by position, before or after the data."""

OTHER_NAMES = {
    "n_bins": "bins nbins num_bins n_bin binning",
    "binning": "strategy bins n_bins nbins num_bins",
    "probs": "p prob preds pred predictions probabilities y_prob y_pred y_score y_hat scores input",
    "probs_a": "probs a first",
    "probs_b": "b second",
    "labels": "y y_true target targets label outcome outcomes truth",
    "weights": "weight sample_weight sample_weights w",
    "logits": "from_logits is_logits raw",
    "rng": "seed random_state",
    "random_state": "seed rng",
    "confidence_level": "confidence level conf_level ci coverage alpha",
    "alpha": "level significance confidence_level",
    "n_resamples": "n_boot n_bootstrap n_bootstraps bootstrap n_permutations resamples",
    "n_datasets": "n_sets n_sims n_simulations n_resamples",
    "classifier": "base_estimator estimator model clf",
    "recalibrator": "base_estimator estimator method calibrator",
    "candidates": "method methods recalibrators",
    "cv": "folds n_folds",
    "rank_by": "score scoring",
    "estimator": "metric measure metrics",
    "statistic": "metric measure metrics estimator",
    "estimators": "metric measure metrics estimator",
    "metrics": "metric measures estimator estimators",
    "groups": "group by subgroups",
    "clusters": "cluster ids",
    "classes": "class_names names target_names",
    "true_error": "error effect effect_size max_error",
    "max_error": "error true_error tolerance",
    "debias": "debiased",
}
"""What other libraries, or other functions of trueup, call a parameter."""

ABOUT: Mapping[str, str] = {
    "prevalence": "pass scores like those you expect, or a World of trueup.simulate with that mean",
    "quick": "pass recalibrate=False and advice=False",
}
"""What to do instead of passing a parameter that there is not."""

OF_DATA = ("weights", "clusters", "features", "classes", "normalize", "soft_labels", "ignore_label")
"""Options of `Forecasts.from_arrays`, which functions that take forecasts may lack."""


class CallError(InputError, TypeError):
    """Raised where arguments do not fit a function: an InputError that is a TypeError as well."""


def hinted(function: Callable[P, R]) -> Callable[P, R]:
    """Raise an error with a suggestion if arguments do not fit a function."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        if metric:
            args, options = _metric_in_place(metric, first, args, options)  # type: ignore[assignment]
        try:
            return function(*args, **options)
        except InputError as error:
            error.propose_own(signature(call).parameters)
            raise
        except TypeError as error:
            better = misfit(call, args, options)
            if better is None:
                raise
            raise better from error

    names = list(signature(function).parameters)
    metric = next((name for name in METRIC if name in names), "")
    first = names[:1] == [metric]
    return call


def hint_at_creation(kind: type) -> None:
    """Do the same for a class of trueup whose ``__init__`` a decorator wrote."""
    owner: Any = next(base for base in kind.__mro__ if "__init__" in vars(base))
    made = owner.__init__
    if not owner.__module__.startswith("trueup.") or hasattr(made, "__wrapped__"):
        return

    @wraps(made)
    def init(self: Any, *args: Any, **options: Any) -> None:
        try:
            made(self, *args, **options)
        except TypeError as error:
            name = type(self).__name__
            better = None
            if not isinstance(error, InputError):
                better = misfit(made, (self, *args), options, name)
            if better is None:
                raise
            raise better from error

    owner.__init__ = init


def misfit(
    function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any], name: str = ""
) -> CallError | None:
    """Return what is wrong with the arguments of a call; None if they fit.

    >>> import trueup as tu
    >>> print(misfit(tu.ece, ([0.5], [1]), {"bins": 10}))
    `bins` is not an argument of ece. Hint: call it `n_bins`.
    """
    parameters = signature(function).parameters
    kinds = {each.kind for each in parameters.values()}
    shown = name or getattr(function, "__name__", "this function")
    unknown = [] if Parameter.VAR_KEYWORD in kinds else [k for k in options if k not in parameters]
    if unknown:
        rule = f"is not an argument of {shown}"
        return CallError(unknown[0], rule, hint=_instead_of(unknown[0], list(parameters), options))
    placed = [
        key
        for key, each in parameters.items()
        if each.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(args) > len(placed) and Parameter.VAR_POSITIONAL not in kinds:
        return _too_many(shown, parameters, placed, args)
    twice = [key for key in placed[: len(args)] if key in options]
    if twice:
        frame = type(args[0]).__name__ == "DataFrame" and isinstance(options[twice[0]], str)
        hint = "pass it once, by position or by name"
        if frame:
            hint = f"pass columns: {shown}(frame[{options[twice[0]]!r}], ...)"
        return CallError(twice[0], "is passed twice", hint=hint)
    given = {*placed[: len(args)], *options}
    missing = [
        key
        for key, each in parameters.items()
        if each.default is Parameter.empty
        and each.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        and key not in given
    ]
    if not missing:
        return None
    by_place = [key for key in placed if key != "self"]
    by_name = [f"{key}=..." for key in missing if key not in placed]
    example = f"call {shown}({', '.join(by_place + by_name)})"
    if name == "Forecasts":
        example = "call Forecasts.from_arrays(probs, labels), which checks them"
    return CallError(missing[0], "is required", hint=example)


def _instead_of(name: str, known: list[str], options: Mapping[str, Any]) -> Text:
    """Return a hint on what to pass instead of an unknown argument."""
    if name in ABOUT and "probs" in known:
        return ABOUT[name]
    if name == "input" and "probs" not in known:
        logits = options[name] == "logits" and "logits" in known
        return (
            ("pass ", Argument("logits", True), " if X holds logits") if logits else "leave it out"
        )
    if name in OF_DATA and known[:2] == ["probs", "labels"]:
        value = "True" if name in ("normalize", "soft_labels") else "..."
        data = f"Forecasts.from_arrays(probs, labels, {name}={value})"
        return f"pass {data} in place of probs and labels"
    if name == "groups" and known[:2] == ["probs", "labels"]:
        return "call group_errors(probs, labels, groups), or evaluate with groups="
    if name == "weights" and "probs" not in known and "classifier" not in known:
        return "pass sample_weight= to `fit`"
    free = [key for key in known if key not in options and key != "self"]
    meant = [key for key in free if name.lower() in OTHER_NAMES.get(key, "").split()]
    meant = meant or get_close_matches(name, free, 1, 0.7)
    if meant == ["binning"] and "n_bins" not in known:
        return ("pass ", Argument("binning", Verbatim("EqualWidth(10)")), " or another binning")
    if meant:
        return ("call it ", Argument(meant[0]))
    return f"the arguments are {', '.join(key for key in known if key != 'self')}"


def _too_many(
    shown: str, parameters: Mapping[str, Parameter], placed: list[str], args: tuple[Any, ...]
) -> CallError:
    """More arguments by position than there are places."""
    names = [key for key in placed if key != "self"]
    rule = f"{shown} takes {len(names)} argument{'s' * (len(names) != 1)} by position"
    if names:
        rule += f" ({', '.join(names)})"
    hint: Text = ""
    others = [key for key, each in parameters.items() if each.kind is Parameter.KEYWORD_ONLY]
    if names[:1] == ["probs"] and any(hasattr(each, "predict_proba") for each in args):
        hint = f"pass the probabilities of the model: {shown}(model.predict_proba(X), y)"
    elif names[:1] == ["table"]:
        hint = "reliability_diagram(probs, labels) makes the table and plots it"
    elif names == ["metrics"]:
        hint = f"pass one list: {shown}([...])"
    elif any(map(is_function, args)):
        hint = f"pass data alone: {shown}({', '.join(names)})"
        if "metrics" in others:
            hint = f"pass metrics by name: {shown}({', '.join(names)}, metrics=[...])"
    elif others:
        them = "the others" if names else "them"
        hint = f"name {them}: {', '.join(f'{key}=...' for key in others[:3])}"
    got = Verbatim(f"{len(args) - (len(placed) - len(names))}")
    return CallError(None, rule, got, hint=hint)


def no_metric(name: str, rule: Text, value: object) -> InputError:
    """Return the error to raise where something else is passed as a metric.

    >>> print(no_metric("estimator", "a metric", "ece"))
    `estimator` must be a metric; got 'ece'. Hint: pass the function, trueup.ece, not its name.
    """
    hint = ""
    if isinstance(value, str) and value.isidentifier():
        hint = f"pass the function, trueup.{value}, not its name"
    elif hasattr(value, "__len__") and not isinstance(value, str):
        hint = "pass the metric first, then probs and labels"
    shape = getattr(value, "shape", None)
    got = value if shape is None else Verbatim(f"an array of shape {shape}")
    return must_be(name, rule, got, hint=hint)


def is_function(value: object) -> bool:
    """Whether a value is a metric or another function, and no data."""
    return callable(value) and not hasattr(value, "__array__") and not hasattr(value, "sample")


def _metric_in_place(
    metric: str, first: bool, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Put a metric where the function takes it: before the data, or by name."""
    if metric in options:
        if not first or not args:
            return args, options
        rest = {key: value for key, value in options.items() if key != metric}
        return (options[metric], *args), rest
    places = [place for place, value in enumerate(args) if is_function(value)]
    if len(places) != 1 or (first and places == [0]):
        return args, options
    found = args[places[0]]
    data = (*args[: places[0]], *args[places[0] + 1 :])
    return ((found, *data), options) if first else (data, {**options, metric: found})
