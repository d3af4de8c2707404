"""Conversion of columns of text or objects to numbers, and errors for other values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, Verbatim
from trueup.forecasts.percentages import PERCENT, PercentageError, as_fractions
from trueup.io.file_errors import Place, bad_column

# What programs write where a number is missing. Compared in lower case, without spaces.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", ".", "#n/a", "missing"})
WHOLE_FLOATS = 2.0**53  # beyond it, not every whole number is a float64
PERCENT_NAME = re.compile(r"(?i)percent|(?<![a-z])(?:pct|perc)(?![a-z])|%")
PERCENT_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*%\s*")
COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")


def missing_text(text: str | None) -> bool:
    """Return whether a text stands for a missing number."""
    return text is None or text.strip().lower() in MISSING


def number_in(text: str) -> float | None:
    """Return the number that a text spells, or None; 1_000, which Python reads, is rejected."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def from_texts(texts: NDArray[Any]) -> NDArray[Any]:
    """Return texts as numbers (NaN if missing) if all are numbers; else return them unchanged."""
    numbers = floats_in(texts)
    return texts if numbers is None else whole(numbers)


def floats_in(texts: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return texts as floats (NaN if missing), or None if one of them is not a number."""
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        number = np.nan if missing_text(text) else number_in(text)
        if number is None:
            return None
        numbers[row] = number
    return numbers


def whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all are whole and none is missing; else unchanged."""
    if len(numbers) == 0 or numbers[0] != np.floor(numbers[0]):
        return numbers
    with np.errstate(invalid="ignore"):
        if not bool(np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < WHOLE_FLOATS))):
            return numbers
    return numbers.astype(np.int64)


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with masked entries replaced by NaN, or by None if it is not numeric."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.getmaskarray(array).any():
        return np.asarray(array.data)
    if array.dtype.kind == "f":
        return np.asarray(array.filled(np.nan))
    if array.dtype.kind in "iu":
        return np.where(np.ma.getmaskarray(array), np.nan, array.data)
    objects = array.data.astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects


def unnested(table: Place, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return rows that are lists of equal length as a matrix; return other arrays unchanged."""
    if array.dtype != object:
        return array
    first = next((item for item in array if item is not None), None)
    if not _is_list(first):
        return array
    for row, item in enumerate(array):
        if not _is_list(item) or len(item) != len(first):
            got = Verbatim(f"a list of {len(item)}" if hasattr(item, "__len__") else "no list")
            raise bad_column(table, name, f"must hold lists of {len(first)} numbers", got, row=row)
    try:
        matrix = np.array([np.ma.filled(item, np.nan) for item in array])
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass  # found below, with its row
    else:
        if matrix.dtype.kind in "fiub" and matrix.ndim == 2:
            return matrix
    return _floats(table, name, array, len(first))


def _is_list(item: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(item, list | tuple) or (isinstance(item, np.ndarray) and item.ndim > 0)


def _floats(table: Place, name: str, lists: NDArray[Any], length: int) -> NDArray[Any]:
    floats = np.empty((len(lists), length))
    for row, items in enumerate(lists):
        for k, item in enumerate(np.ma.filled(items, np.nan) if np.ma.isMA(items) else items):
            if item is None:
                floats[row, k] = np.nan
            elif isinstance(item, str | bytes):  # NumPy would read "0.5" as a number
                raise not_a_number(table, name, row, item)
            else:
                floats[row, k] = _number(table, name, row, item)
    return floats


def _number(table: Place, name: str, row: int, item: Any) -> float:
    try:
        return float(item)
    except OverflowError:
        raise bad_column(table, name, "must fit into 64-bit floats", item, row=row) from None
    except (TypeError, ValueError):
        if _is_list(item):
            rule = "must hold a number or a list of numbers per row"
            raise bad_column(table, name, rule, Verbatim("lists of lists"), row=row) from None
        raise not_a_number(table, name, row, item) from None


def holds_numbers(array: NDArray[Any]) -> bool:
    """Return whether the first non-missing entry is a number, a percentage or a numeric text."""
    if array.dtype.kind in "fiub":
        return True
    if array.dtype.kind not in "OU" or array.ndim != 1:
        return False
    present = (item for item in array if item is not None and not _is_missing_text(item))
    first = next(present, None)
    if isinstance(first, str):
        return number_in(first) is not None or PERCENT.fullmatch(first) is not None
    return first is None or hasattr(first, "__float__")


def _is_missing_text(item: object) -> bool:
    return isinstance(item, str) and missing_text(item)


def fractions_in(table: Place, name: str, array: NDArray[Any]) -> NDArray[Any] | None:
    """Return the percentages in a column of text as fractions, or None if it holds none."""
    if array.dtype.kind not in "OU" or array.ndim != 1:
        return None
    try:
        return as_fractions(array)
    except PercentageError as wrong:
        missing = [_is_missing_text(item) for item in array.tolist()]
        if any(missing):
            present = array.astype(object)
            present[missing] = None  # which is not read as a text
            return fractions_in(table, name, present)
        raise bad_column(table, name, f"must {wrong.rule}", wrong.item, row=wrong.row) from None


def fractions_by_name(
    table: Place, names: Sequence[str], values: NDArray[Any], guessed: bool
) -> NDArray[Any]:
    """Divide columns that are named as percentages by 100 if a number exceeds 1.

    If no number exceeds 1, an inferred column raises InputError, because all risks may be
    below 1%.
    """
    if not all(PERCENT_NAME.search(name) for name in names) or set(names) & table.percentages:
        return values
    if values.dtype.kind not in "fiu" or not len(values) or np.isnan(values).all():
        return values
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if 1 < high <= 100 and low >= 0:
        table.percentages.update(names)
        return values / 100
    if guessed and high <= 1:
        rule = "is called a percentage, but none of its numbers exceeds 1"
        hint = ("pass ", Argument("probs", ",".join(names)), " to read them as fractions")
        raise bad_column(table, names[0], rule, hint=hint)
    return values


def as_numbers(table: Place, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of a column, NaN if missing; raise InputError for other entries."""
    if array.dtype.kind in "fiub":
        return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.dtype.kind not in "OU" or array.ndim != 1:
        raise bad_column(table, name, "must hold numbers", Verbatim(f"{array.dtype}"))
    fractions = fractions_in(table, name, array)
    if fractions is not None:
        table.percentages.add(name)
        return fractions
    floats = np.empty(len(array))
    for row, item in enumerate(array):
        if item is None or (isinstance(item, str) and missing_text(item)):
            floats[row] = np.nan
        elif isinstance(item, str):
            number = number_in(item) if table.texts_are_numbers else None
            if number is None:
                raise not_a_number(table, name, row, item)
            floats[row] = number
        else:
            floats[row] = _number(table, name, row, item)
    return floats


def not_a_number(table: Place, name: str, row: int, item: object) -> Exception:
    """Build the error about an entry that is not a number."""
    item = str(item) if isinstance(item, str) else item  # not as NumPy writes its texts
    return bad_column(table, name, "must hold numbers", item, row=row, hint=_advice(item))


def _advice(item: object) -> str:
    if not isinstance(item, str):
        return ""
    if PERCENT_WITH_COMMA.fullmatch(item):
        return "write decimals with a point, not a comma"
    if COMMA.fullmatch(item):
        return "write decimals with a point, not a comma"
    if number_in(item) is not None:
        return "write numbers without quotation marks"
    return ""
