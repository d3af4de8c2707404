"""Errors that store their parts in fields and build the message when they are printed."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import isfunction
from typing import Any, Self

# A rule that begins with one of these follows "must": "must sum to 1". Others follow "must be".
VERBS = "accept come contain cover differ give have hold match name not return select sum use yield"
RAISE = "TRUEUP_RAISE_INTERNAL_ERRORS"
"""Environment variable: if it is set, internal errors are raised, not reported (for tests)."""

LONGEST_MESSAGE = 1000  # names in files may have any length


class Verbatim(str):
    """A description that is printed without quotes, unlike a plain string."""


@dataclass(frozen=True)
class Argument:
    """An argument in a message, which each caller may print with its own name."""

    name: str  # in Python
    value: object = None  # what to pass, where the message proposes a value
    to: str = ""  # the function that takes it, if that is not the one that was called

    def __str__(self) -> str:
        """Return its Python form."""
        name = self.name if self.name.startswith("-") else f"`{self.name}`"
        shown = name if self.value is None else f"{self.name}={short(self.value)}"
        return f"{shown} to {self.to}" if self.to else shown


Parts = tuple[str | Argument, ...]
Text = str | Parts
"""Part of a message; arguments that it mentions are stored separately from the other words."""


class InputError(ValueError):
    """Raised for invalid data or arguments; the message says where and how to fix it.

    ``rule`` and ``hint`` are stored as tuples of texts and of each `Argument` that they mention, so
    that a caller such as the command line can print its own names.

    Parameters
    ----------
    argument : str or None
        Name of the argument.
    rule : str or tuple
        What the argument must satisfy: the text after its name in the message, or a sentence that
        mentions it.
    got : object
        The offending value; empty if the rule says everything.
    row : int or str, optional
        Row in which the value was found.
    column : int or str, optional
        Column in which the value was found.
    file : str, optional
        File in which the value was found.
    hint : str or tuple
        What to do.

    Examples
    --------
    >>> print(InputError("n_bins", "must be a whole number of at least 1", 0, hint="try 15"))
    `n_bins` must be a whole number of at least 1; got 0. Hint: try 15.
    """

    def __init__(
        self,
        argument: str | None,
        rule: Text,
        got: object = Verbatim(),
        row: int | str | None = None,
        column: int | str | None = None,
        file: str | None = None,
        hint: Text = (),
    ) -> None:
        self.argument = argument
        self.rule = (rule,) if isinstance(rule, str) else rule
        self.got = Verbatim(short(got))  # in words: a value may be large, or impossible to pickle
        self.row = row
        self.column = column
        self.file = file
        self.hint = (hint,) if isinstance(hint, str) and hint else tuple(hint)
        super().__init__(*self._fields().values())

    def __str__(self) -> str:
        """Return the message with Python names."""
        return self.told(str)

    def __repr__(self) -> str:
        """Return the class and the message."""
        return f"{type(self).__name__}({str(self)!r})"

    def told(self, tell: Callable[[Argument], str | None]) -> str:
        """Return the message with the name that ``tell`` gives to each argument.

        A hint is omitted if ``tell`` has no name for an argument that it mentions.

        Parameters
        ----------
        tell : callable
            Function of an `Argument` that returns its name, or None.

        Returns
        -------
        str
            The message.
        """

        def said(part: str | Argument) -> str | None:
            if isinstance(part, str):
                return part
            # A file is read by the function that was called: options are its own.
            return tell(part if self.file is None else Argument(part.name, part.value))

        rule, hint = [said(part) or str(part) for part in self.rule], list(map(said, self.hint))
        if isinstance(self.column, str):
            rule.insert(0, f"column {self.column!r} ")
        elif self.argument is not None and self.argument not in _names(self.rule):
            about = Argument(self.argument)
            rule.insert(0, f"{said(about) or about} ")
        if self.got:
            rule.append(f"; got {self.got}")
        if self.row is not None:
            rule.append(f" in {self.row}" if isinstance(self.row, str) else f" in row {self.row}")
        text = _sentence("".join(rule))
        if hint and None not in hint:
            text = f"{text} Hint: {_sentence(''.join(map(str, hint)))}"
        return shortened(printable(text if self.file is None else f"{self.file}: {text}"))

    def mentions(self, name: str) -> bool:
        """Return whether the message mentions an argument.

        Parameters
        ----------
        name : str
            Name of the argument.

        Returns
        -------
        bool
            True if the argument, the rule or the hint has this name.
        """
        return name in (self.argument, *_names(self.rule), *_names(self.hint))

    def about(self, name: str, *, instead_of: str | None = None) -> Self:
        """Return the same error about another argument name.

        Parameters
        ----------
        name : str
            The new name.
        instead_of : str, optional
            The name to replace wherever it is mentioned (default: the name of the argument).

        Returns
        -------
        InputError
            A new error.
        """
        old = instead_of or self.argument
        if old is None or not self.mentions(old):
            return self

        def renamed(text: Parts) -> Parts:
            return tuple(
                part if isinstance(part, str) or part.name != old else replace(part, name=name)
                for part in text
            )

        argument = name if self.argument == old else self.argument
        return self.replace(argument=argument, rule=renamed(self.rule), hint=renamed(self.hint))

    def replace(self, **fields: Any) -> Self:
        """Return the same error with some fields changed.

        Parameters
        ----------
        **fields : object
            New values of the fields, by name.

        Returns
        -------
        InputError
            A new error.
        """
        return type(self)(**{**self._fields(), **fields})

    def propose_own(self, arguments: Collection[str]) -> None:
        """Let the hint propose arguments of the function that was called as its own.

        Parameters
        ----------
        arguments : collection of str
            Names of the arguments of that function.
        """
        self.hint = tuple(
            replace(part, to="") if isinstance(part, Argument) and part.name in arguments else part
            for part in self.hint
        )
        self.args = tuple(self._fields().values())  # what pickle keeps

    def _fields(self) -> dict[str, Any]:
        names = ("argument", "rule", "got", "row", "column", "file", "hint")
        return {name: getattr(self, name) for name in names}


class CapabilityError(RuntimeError):
    """Raised when an optional package, a compiler or enough rows are missing.

    The message names what is missing and how to get it.

    Examples
    --------
    >>> issubclass(CapabilityError, RuntimeError)
    True
    """


def must_be(
    name: str, rule: Text, got: object, *, row: int | None = None, hint: Text = ()
) -> InputError:
    """Build the error to raise when the argument ``name`` breaks ``rule``.

    >>> print(must_be("probs", "between 0 and 1", 1.5, row=3, hint="clip rounding errors"))
    `probs` must be between 0 and 1; got 1.5 in row 3. Hint: clip rounding errors.
    >>> print(must_be("probs", "have at least one row", Verbatim("none")))
    `probs` must have at least one row; got none.
    """
    parts = (rule,) if isinstance(rule, str) else rule
    first = parts[0].split(" ", 1)[0] if isinstance(parts[0], str) else ""
    return InputError(
        name, ("must " if first in VERBS.split() else "must be ", *parts), got, row, hint=hint
    )


def required(name: str, hint: Text = ()) -> InputError:
    """Build the error to raise when the argument ``name`` is missing.

    >>> print(required("labels", "call f(probs, labels)"))
    `labels` is required. Hint: call f(probs, labels).
    """
    return InputError(name, "is required", hint=hint)


def conflict(one: str, other: str, hint: Text = ()) -> InputError:
    """Build the error to raise when two arguments exclude each other.

    >>> print(conflict("probs", "models"))
    Pass either `probs` or `models`, not both.
    """
    rule = ("Pass either ", Argument(one), " or ", Argument(other), ", not both")
    return InputError(one, rule, hint=hint)


@contextmanager
def called(names: Mapping[str, str]) -> Iterator[None]:
    """Rename arguments in errors that are raised inside.

    >>> with called({"probs": "probs_a"}):
    ...     raise must_be("probs", "between 0 and 1", 2)
    Traceback (most recent call last):
    trueup.errors.InputError: `probs_a` must be between 0 and 1; got 2.
    """
    try:
        yield
    except InputError as error:
        for name, other in names.items():
            error = error.about(other, instead_of=name)
        raise error from None


def internal_error(where: str, error: Exception) -> str:
    """Return a description of a bug in one part of a result whose other parts are correct.

    Raise it instead in the test suite, and if it is not a bug, such as too little memory or a
    missing package.
    """
    if os.environ.get(RAISE) or isinstance(error, CapabilityError | MemoryError):
        raise error
    return f"internal error in {where}, please report it ({type(error).__name__}: {error})"


def printable(text: str, keep: str = "") -> str:
    r"""Return a text without control characters, which could manipulate a terminal.

    Line ends are removed too, unless ``keep`` contains them. Spaces of any kind become plain ones.

    >>> printable("two\nlines"), printable("two\nlines", keep="\n")
    ('two?lines', 'two\nlines')
    >>> printable("\x1b[31mred\u3000text")
    '?[31mred text'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in keep else _printable_sign(sign) for sign in text)


def _printable_sign(sign: str) -> str:
    if sign.isprintable():
        return sign
    return " " if unicodedata.category(sign) == "Zs" else "?"


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Shorten a long text in the middle.

    >>> shortened("a very long name", most=9)
    'a ver…ame'
    """
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def _names(text: Parts) -> list[str]:
    return [part.name for part in text if isinstance(part, Argument)]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def short(got: object) -> str:
    """Return a value in readable form, at most one line long."""
    if isinstance(got, Verbatim):
        return str(got)
    if isinstance(got, type):
        return f"the class {got.__name__}"
    if isfunction(got) and not got.__name__.startswith("<"):
        return f"the function {got.__name__}"  # its repr has an address, which means nothing
    if getattr(got, "size", 2) == 1 and hasattr(got, "item"):
        # A float in its own precision: 1.1 as float32 is 1.1, not 1.100000023841858.
        dtype = getattr(got, "dtype", None)
        is_float = dtype is not None and dtype.kind == "f"
        text = str(got.reshape(())) if is_float else repr(got.item())  # type: ignore[attr-defined]
    else:
        text = " ".join(repr(got).split())
    return text if len(text) <= 80 else text[:77] + "..."
