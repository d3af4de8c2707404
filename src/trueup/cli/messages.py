"""Errors of the library in the words of the command line: options in place of arguments."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from trueup.errors import Argument, InputError

__all__ = ["typed"]

# Arguments of functions that the command line calls otherwise.
NAMES = {
    "correct": "labels",
    "n_bins": "bins",
    "n_resamples": "resamples",
    "rng": "seed",
}


def typed(error: InputError, options: Collection[str]) -> str:
    """Return the message for those who type ``options``; hints to use others are left out.

    >>> from trueup.errors import must_be
    >>> hint = ("pass ", Argument("normalize", True, to="Forecasts.from_arrays"))
    >>> typed(must_be("n_bins", "1", 0, hint=hint), ["--bins", "--normalize"])
    '--bins must be 1; got 0. Hint: pass --normalize.'
    >>> typed(must_be("n_bins", "1", 0, hint=hint), ["--bins"])
    '--bins must be 1; got 0.'
    """

    def tell(argument: Argument) -> str | None:
        name = argument.name
        if name.startswith("-"):
            return name
        option = f"--{NAMES.get(name, name).replace('_', '-')}"
        if option not in options:
            return None
        if argument.value is None or isinstance(argument.value, bool):
            return option
        return f"{option} {_typed_value(argument.value)}"

    return error.told(tell)


def _typed_value(value: object) -> str:
    """A value as one types it behind an option.

    >>> _typed_value("p_*"), _typed_value(["no", "yes"])
    ("'p_*'", 'no,yes')
    """
    listed = isinstance(value, list | tuple)
    return shlex.quote(",".join(map(str, value)) if listed else str(value))  # type: ignore[call-overload]
