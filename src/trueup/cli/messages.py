"""The library's errors worded for the command line: options in place of arguments."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection

from trueup.errors import Argument, InputError

__all__ = ["shell_word", "typed", "typed_option"]

# Arguments of functions whose options have other names.
NAMES = {
    "correct": "labels",
    "n_bins": "bins",
    "n_draws": "draws",
    "n_resamples": "resamples",
    "rng": "seed",
}


def typed(error: InputError, options: Collection[str]) -> str:
    """Return the message for a command with these ``options``; drop hints about other options.

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
        name = NAMES.get(name, name)
        return typed_option(name, argument.value) if typed_option(name) in options else None

    return error.told(tell)


def typed_option(name: str, value: object = None) -> str:
    """Return the option for an argument, followed by its value, as a user types them.

    >>> typed_option("probs", "p_*"), typed_option("classes", ["no", "yes"])
    ("--probs 'p_*'", '--classes no,yes')
    >>> typed_option("drop_missing", True)
    '--drop-missing'
    """
    option = f"--{name.replace('_', '-')}"
    if value is None or isinstance(value, bool):
        return option
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{option} {shell_word(text)}"


def shell_word(text: str) -> str:
    r"""Return a text as a user types it in a shell, with escapes for control characters.

    >>> print(shell_word("p.csv"), shell_word("my file.csv"), shell_word("\x1b[31m's.csv"))
    p.csv 'my file.csv' $'\x1b[31m\'s.csv'
    """
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{''.join(sign if sign.isprintable() else _escape(sign) for sign in escaped)}'"


def _escape(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))
