"""Names of groups from one column or several, in the order that people expect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Ints
from trueup.errors import Verbatim, must_be
from trueup.forecasts.arrays import FRAMES, as_numpy, describe, is_missing

BETWEEN = " / "
DIGITS = re.compile(r"(\d+)")
SEPARATORS = ("/", "__", "_", ".", "-")
MOST_COLUMNS = 8
"""Columns of a grid that a page has room for."""
MANY_ROWS, SHORT = 100_000, 8
NAME = "group"
"""What a column of groups is called that has no name of its own."""


class GroupName(str):
    """The name of a group that several columns define: ``"gpt-4o / boolq"``.

    It is an ordinary string; ``parts`` holds the values of the columns.
    """

    __slots__ = ("parts",)
    parts: tuple[Any, ...]

    def __new__(cls, text: str, parts: tuple[Any, ...] = ()) -> GroupName:
        """Make a string that stores its parts."""
        name = super().__new__(cls, text)
        name.parts = parts
        return name

    def __reduce__(self) -> tuple[type[GroupName], tuple[str, tuple[Any, ...]]]:
        """Return the call that makes the name, for pickle and copy."""
        return GroupName, (str(self), self.parts)


def group_columns(groups: object, n: int) -> dict[str, NDArray[Any]]:
    """Return the columns of groups by name: one array, or several in a mapping, frame or list.

    >>> sorted(group_columns({"model": ["a", "b"], "task": ["x", "x"]}, 2))
    ['model', 'task']
    >>> list(group_columns([("a", "x"), ("b", "x"), ("b", "y")], 3))
    ['group_1', 'group_2']
    """
    named: Mapping[Any, object] | None = groups if isinstance(groups, Mapping) else None
    if named is None and _is_frame(groups):
        named = {name: groups[name] for name in _columns_of(groups)}  # type: ignore[index]
    if named is not None:
        columns = {str(name): as_numpy("groups", column) for name, column in named.items()}
        if len(columns) < len(named) or not columns:
            raise must_be("groups", "columns with different names", Verbatim(f"{list(named)}"))
    elif _is_list_of_columns(groups, n):
        assert isinstance(groups, list | tuple)
        columns = {}
        for number, column in enumerate(groups, 1):
            name = _own_name(column) or (f"{NAME}_{number}" if len(groups) > 1 else NAME)
            name = name if name not in columns else f"{NAME}_{number}"
            columns[name] = as_numpy("groups", column)
    else:
        array = as_numpy("groups", groups)
        if array.ndim > 2:
            raise must_be("groups", "one name or number per row", describe(array))
        if array.ndim == 1:
            columns = {_own_name(groups) or NAME: array}
        else:
            many = array.shape[1] > 1
            columns = {
                f"{NAME}_{k + 1}" if many else NAME: array[:, k] for k in range(array.shape[1])
            }
    return {name: _with_days(column) for name, column in columns.items()}


def joined(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return one column of names that differ wherever any of the columns differs.

    A row in which a value is missing has no name: it is None.

    >>> joined([np.array(["a", "b"]), np.array([1, 1])]).tolist()
    ['a / 1', 'b / 1']
    >>> joined([np.array(["a / b", "a"]), np.array(["c", "b / c"])]).tolist()
    ["'a / b' / 'c'", "'a' / 'b / c'"]
    """
    if len(columns) == 1:
        return columns[0]
    found = [numbered(column) for column in columns]
    codes = found[0][1]
    for names, code in found[1:]:
        # Numbered again each time, so that the numbers stay below the number of rows.
        codes = np.unique(codes * len(names) + code, return_inverse=True)[1].reshape(-1)
    first = np.unique(codes, return_index=True)[1]
    parts = [tuple(names[code[row]] for names, code in found) for row in first.tolist()]
    texts = [BETWEEN.join(map(str, each)) for each in parts]
    alike = {text for text, times in Counter(texts).items() if times > 1}
    names_of_groups = np.empty(len(parts), object)
    for k, (text, each) in enumerate(zip(texts, parts, strict=True)):
        if not any(map(is_missing, each)):
            shown = BETWEEN.join(map(repr, each)) if text in alike else text
            names_of_groups[k] = GroupName(shown, each)
    return names_of_groups[codes]


def numbered(column: NDArray[Any]) -> tuple[list[Any], Ints]:
    """Return the distinct values of a column, and for each row the index of its value."""
    if column.dtype.kind in "iubf":
        values, codes = np.unique(column, return_inverse=True)
        return values.tolist(), codes.reshape(-1)
    starts = _starts_of_runs(column)
    firsts = column if starts is None else column[starts]
    seen: dict[Any, int] = {}
    new = seen.setdefault
    # One pass without a list of the rows of each: there may be very many rows.
    items = firsts if firsts.dtype == object else firsts.tolist()
    codes = np.fromiter((new(item, len(seen)) for item in items), np.int64, len(firsts))
    if starts is not None:
        codes = np.repeat(codes, np.diff(starts, append=len(column)))
    return list(seen), codes


def _starts_of_runs(column: NDArray[Any]) -> Ints | None:
    """Return the starts of runs of equal values, as in a column of files; None if short."""
    if len(column) < MANY_ROWS:
        return None
    try:
        starts = np.flatnonzero(np.asarray(column[1:] != column[:-1], bool)) + 1
    except (TypeError, ValueError):  # values that cannot be compared
        return None
    return np.append(0, starts) if len(starts) < len(column) / SHORT else None


def in_order(names: Sequence[Any]) -> list[Any]:
    """Return names in natural order: 2 before 10, days by date; mixed types stay in place.

    >>> in_order(["day 10", "day 9"]), in_order([2, 1]), in_order(["b", 1])
    (['day 9', 'day 10'], [1, 2], ['b', 1])
    """
    try:
        return sorted(names, key=_key)
    except TypeError:
        return list(names)


def have_order(names: Sequence[Any]) -> bool:
    """Return whether names are numbers, dates, or texts that differ only in the numbers in them.

    >>> have_order(["2024-01-31", "2024-02-01"]), have_order(["Bay", "North"]), have_order([1, 2])
    (True, False, True)
    """
    if all(isinstance(name, date | int | float) for name in names):
        return True
    if not all(isinstance(name, str) for name in names):
        return False
    return len({DIGITS.sub("0", name) for name in names}) == 1


class Grid(NamedTuple):
    """Groups arranged in rows and columns, such as models and tasks; ``places`` has their cells."""

    rows: list[Any]
    columns: list[Any]
    places: list[tuple[Any, Any]]
    turned: bool = False  # rows are the second parts


def grid_of(names: Sequence[Any], columns: Sequence[Sequence[Any]] = ()) -> Grid | None:
    """Return the rows and columns of groups whose names have two parts, else None.

    The parts are those of two ``columns``, or what a separator splits each name into, if the names
    are all pairs of a row and a column.

    >>> grid = grid_of(["a_x", "a_y", "b_x", "b_y"])
    >>> grid.rows, grid.columns, grid.places[1]
    (['a', 'b'], ['x', 'y'], ('a', 'y'))
    """
    names = list(names)
    if len(columns) == 2:
        return _grid(list(zip(*columns, strict=True)), full=False)
    if not all(isinstance(name, str) for name in names) or have_order(names):
        return None
    for sign in SEPARATORS:
        for split in (str.partition, str.rpartition):
            parts = [split(name, sign)[::2] for name in names]
            grid = _grid(parts, full=True) if all(sign in name for name in names) else None
            if grid is not None:
                return grid
    return None


def _grid(parts: list[tuple[Any, ...]], *, full: bool) -> Grid | None:
    rows, columns = (in_order(list(dict.fromkeys(side))) for side in zip(*parts, strict=True))
    turned = len(columns) > MOST_COLUMNS >= len(rows)
    if turned:
        rows, columns, parts = columns, rows, [(b, a) for a, b in parts]
    few = min(len(rows), len(columns)) < 2 or len(columns) > MOST_COLUMNS
    if few or (full and len(parts) != len(rows) * len(columns)):
        return None
    return Grid(rows, columns, parts, turned)


def _key(name: Any) -> Any:
    if isinstance(name, GroupName):
        return tuple(_key(part) for part in name.parts)
    if not isinstance(name, str):
        return name
    pieces: list[Any] = DIGITS.split(name)
    for k in range(1, len(pieces), 2):  # numbers are compared by length first: no size is too large
        digits = pieces[k].lstrip("0")
        pieces[k] = (len(digits), digits)
    return pieces, str(name)


def _with_days(column: NDArray[Any]) -> NDArray[Any]:
    """Return times as Python datetimes, or as dates if all are at midnight."""
    if column.dtype.kind != "M":
        return column
    days = column.astype("datetime64[D]")
    midnight = bool(np.all((days == column) | np.isnat(column)))
    return (days if midnight else column.astype("datetime64[us]")).astype(object)


def _is_frame(value: object) -> bool:
    homes = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    return bool(homes & FRAMES) and len(getattr(value, "shape", ())) == 2


def _columns_of(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", None) or frame.columns)


def _is_list_of_columns(value: object, n: int) -> bool:
    """Return whether a list holds columns, rather than one name for each row."""
    if not isinstance(value, list | tuple) or not value:
        return False
    if any(isinstance(item, str | bytes) or not hasattr(item, "__len__") for item in value):
        return False
    return all(len(item) == n for item in value) and (len(value) != n or hasattr(value[0], "dtype"))


def _own_name(column: object) -> str:
    name = getattr(column, "name", None)
    return name if isinstance(name, str) else ""
