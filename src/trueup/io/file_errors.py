"""Errors in files, each one sentence with the file, the column, the row and the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from trueup.errors import InputError, Text, Verbatim, printable, shortened

MOST_NAMED = 12
LONGEST_NAME = 60
TOO_LARGE = "The data do not fit into memory"

Call = ParamSpec("Call")
Result = TypeVar("Result")


class Place(Protocol):
    """A file as messages describe it."""

    @property
    def shown(self) -> str:
        """Name of the file in messages."""

    @property
    def texts_are_numbers(self) -> bool:
        """Whether the file stores numbers as text, such as 0.5 in a CSV file."""

    @property
    def percentages(self) -> set[str]:
        """Columns that have been read as percentages so far."""

    def where(self, row: int) -> str:
        """Return the name of a row, counted from 0, in messages."""


def refusal(
    shown: str, problem: Text, got: object = Verbatim(), *, row: str | None = None, hint: Text = ""
) -> InputError:
    """Build the error about the file that messages call ``shown``.

    >>> print(refusal("p.csv", "has no rows below its header", hint="was it cut short?"))
    p.csv: has no rows below its header. Hint: was it cut short?
    """
    return InputError(None, problem, got, row, file=shown, hint=hint)


def bad_column(
    place: Place,
    column: str,
    rule: str,
    got: object = Verbatim(),
    *,
    row: int | None = None,
    hint: Text = "",
) -> InputError:
    """Build the error about a column of a file.

    >>> class File:
    ...     shown = "p.csv"
    >>> print(bad_column(File(), "p", "must hold numbers", "x", hint="was it cut short?"))
    p.csv: column 'p' must hold numbers; got 'x'. Hint: was it cut short?
    """
    where = None if row is None else place.where(row)
    return InputError(None, rule, got, where, column, place.shown, hint)


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return names joined by commas, only the first few if there are many.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, … (3 in all)'
    """
    told = ", ".join(shortened(name, LONGEST_NAME) for name in names[:most])
    return told if len(names) <= most else f"{told}, … ({len(names)} in all)"


def spanned(names: Sequence[str]) -> str:
    """Return the names of the columns of a matrix, only the first and last if there are many.

    >>> spanned([f"p_{k}" for k in range(10)])
    'p_0 … p_9'
    """
    if len(names) <= 4:
        return listed(names)
    return " … ".join(shortened(name, LONGEST_NAME) for name in (names[0], names[-1]))


def told_by(problem: Exception) -> str:
    """Return the first line of another library's error message about a file."""
    lines = str(problem).splitlines() or [type(problem).__name__]
    return printable(lines[0]).rstrip(".")


def names_its_file(function: Callable[Call, Result]) -> Callable[Call, Result]:
    """Make a function name the file in the error if there is too little memory to read it."""

    @wraps(function)
    def called(*args: Call.args, **kwargs: Call.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except MemoryError as problem:
            path: Any = args[0] if args else kwargs["path"]
            shown = getattr(path, "shown", getattr(path, "name", path))
            if TOO_LARGE in str(problem):  # a function inside this one has said it
                raise
            told = "standard input" if shown == "-" else shown
            raise MemoryError(printable(f"{told}: {TOO_LARGE}.")) from problem

    return called
