"""Checks of single arguments, which raise InputError for invalid values."""

from __future__ import annotations

import numpy as np

from trueup.errors import InputError, must_be

BOOLEANS = (bool, np.bool_)  # a tuple: a union would be made again at every call


def check_choice(name: str, value: object, *choices: str) -> None:
    """Raise InputError unless a value is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        *first, last = (f'"{choice}"' for choice in choices)
        raise must_be(name, f"{', '.join(first)} or {last}", value)


def check_flag(name: str, value: object) -> None:
    """Raise InputError unless a value is True or False."""
    if not isinstance(value, BOOLEANS):
        raise must_be(name, "True or False", value)


def check_finite(value: object, *names: str) -> None:
    """Raise InputError unless some fields of a value are finite numbers."""
    for name in names:
        field = getattr(value, name)
        if not is_number(field) or not np.isfinite(field):
            raise must_be(name, "a finite number", field)


def check_schema(name: str, found: object, schema: int, again: str) -> None:
    """Raise InputError unless stored data have the supported version of their format."""
    if type(found) is int and found == schema:
        return
    newer = type(found) is int and found > schema
    rule = f"was written by {'a newer' if newer else 'an earlier'} version of trueup"
    raise InputError(name, rule, hint="upgrade trueup" if newer else again)


def is_number(value: object) -> bool:
    """Return whether a value is a real number of Python or NumPy, but not a boolean."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: object, least: int) -> bool:
    """Return whether a value is a whole number of Python or NumPy, of at least ``least``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and int(value) >= least  # type: ignore[call-overload]


def check_whole(name: str, value: object, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least ``least``."""
    if not is_whole(value, least):
        raise must_be(name, f"a whole number of at least {least}", value)


def check_inside(name: str, value: object, hint: str = "") -> float:
    """Return a number above 0 and below 1; raise InputError for anything else."""
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        raise must_be(name, "a number above 0 and below 1", value, hint=hint)
    return float(value)  # type: ignore[arg-type]
