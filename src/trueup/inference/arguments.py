"""Checks of the arguments of inference: levels and resamples."""

from __future__ import annotations

import math

from trueup.checks import is_number, is_whole
from trueup.errors import must_be


def check_inside(name: str, value: object, hint: str = "") -> float:
    """Return a number above 0 and below 1; refuse all else."""
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        raise must_be(name, "a number above 0 and below 1", value, hint=hint)
    return float(value)  # type: ignore[arg-type]


def check_level(confidence_level: object) -> float:
    """Return a confidence level; refuse a percentage and all else that is none."""
    return check_inside("confidence_level", confidence_level, "0.95 stands for 95 %")


def check_resamples(n_resamples: object, level: float | None = None) -> int:
    """Return a number of resamples; it must reach the tails of a level, where one is given."""
    least = 1 if level is None else max(1, math.ceil(2 / (1 - level) - 1e-6) - 1)
    if not is_whole(n_resamples, least):
        hint = "" if level is None else f"a level of {level:g} takes so many"
        rule = f"a whole number of at least {least}"
        raise must_be("n_resamples", rule, n_resamples, hint=hint)
    return int(n_resamples)  # type: ignore[call-overload, no-any-return]
