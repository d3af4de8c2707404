"""What is wrong with a file, said in one sentence: the file, the column, the row, the value."""

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
    """Return the name of a file in messages."""

    @property
    def shown(self) -> str:
        """What messages call the file."""

    @property
    def texts_are_numbers(self) -> bool:
        """Whether the text 0.5 is how the file writes the number."""

    @property
    def percentages(self) -> set[str]:
        """Columns that were read as percentages so far."""

    def where(self, row: int) -> str:
        """Say a row, counted from 0."""


def refusal(
    shown: str, problem: Text, got: object = Verbatim(), *, row: str | None = None, hint: Text = ""
) -> InputError:
    """Build the error to raise about the file that messages call ``shown``.

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
    """Build the error to raise about a column of a file.

    >>> class File:
    ...     shown = "p.csv"
    >>> print(bad_column(File(), "p", "must hold numbers", "x", hint="was it cut short?"))
    p.csv: column 'p' must hold numbers; got 'x'. Hint: was it cut short?
    """
    where = None if row is None else place.where(row)
    return InputError(None, rule, got, where, column, place.shown, hint)


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Name things in a row, the first few of many.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, … (3 in all)'
    """
    told = ", ".join(shortened(name, LONGEST_NAME) for name in names[:most])
    return told if len(names) <= most else f"{told}, … ({len(names)} in all)"


def spanned(names: Sequence[str]) -> str:
    """Name the columns of a matrix: all of a few, the first and the last of many.

    >>> spanned([f"p_{k}" for k in range(10)])
    'p_0 … p_9'
    """
    if len(names) <= 4:
        return listed(names)
    return " … ".join(shortened(name, LONGEST_NAME) for name in (names[0], names[-1]))


def told_by(problem: Exception) -> str:
    """The first line of what another library says of a file."""
    lines = str(problem).splitlines() or [type(problem).__name__]
    return printable(lines[0]).rstrip(".")


def names_its_file(function: Callable[Call, Result]) -> Callable[Call, Result]:
    """Have a function say which file it was, where there is too little memory for it."""

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
