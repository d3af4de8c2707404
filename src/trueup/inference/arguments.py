"""Checks of the arguments of inference: levels, resamples and tails."""

from __future__ import annotations

import math

from trueup.checks import check_choice, check_inside, is_whole
from trueup.errors import Argument, InputError, must_be

__all__ = ["check_inside", "check_level", "check_resamples", "check_tail"]

WITH_TAIL = ("ks", "skce")  # tests whose statistic has a known distribution for many rows


def check_level(confidence_level: object) -> float:
    """Return a confidence level; raise InputError for a percentage or any other value."""
    return check_inside("confidence_level", confidence_level, "0.95 stands for 95%")


def check_resamples(n_resamples: object, level: float | None = None) -> int:
    """Return a number of resamples; it must reach the tails of the level, if one is given."""
    least = 1 if level is None else max(1, math.ceil(2 / (1 - level) - 1e-6) - 1)
    if not is_whole(n_resamples, least):
        hint = "" if level is None else f"a confidence level of {level:g} needs that many"
        rule = f"a whole number of at least {least}"
        raise must_be("n_resamples", rule, n_resamples, hint=hint)
    return int(n_resamples)  # type: ignore[call-overload, no-any-return]


def check_tail(tail: object, method: str) -> bool:
    """Return whether the tail is asymptotic; raise InputError if the method has no such tail."""
    check_choice("tail", tail, "resampling", "asymptotic")
    if tail == "asymptotic" and method not in WITH_TAIL:
        told = (Argument("tail", tail), " is not available for ", Argument("method", method))
        raise InputError("tail", told, hint='use method="ks" or "skce"')
    return tail == "asymptotic"
