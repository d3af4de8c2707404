"""Numbers in a column: what texts and objects hold, and what to say where they hold none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Verbatim
from trueup.io.file_errors import Place, bad_column

# What programs write where a number is missing. Compared in lower case, without spaces.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", ".", "#n/a", "missing"})
WHOLE_FLOATS = 2.0**53  # beyond it, not every whole number is a float64
PERCENT = re.compile(r"\s*[+-]?[\d.,]+\s*%\s*")
COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")


def missing_text(text: str | None) -> bool:
    """Whether a text stands for a missing number."""
    return text is None or text.strip().lower() in MISSING


def number_in(text: str) -> float | None:
    """The number a text is, or None; as Python reads it, but without 1_000."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def from_texts(texts: NDArray[Any]) -> NDArray[Any]:
    """Texts (None for missing) as numbers, NaN for missing, if all are; else as they are."""
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        number = np.nan if missing_text(text) else number_in(text)
        if number is None:
            return texts
        numbers[row] = number
    return whole(numbers)


def whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same as int64 where every number is whole and none missing; else as they are."""
    if len(numbers) == 0 or numbers[0] != np.floor(numbers[0]):
        return numbers
    with np.errstate(invalid="ignore"):
        if not bool(np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < WHOLE_FLOATS))):
            return numbers
    return numbers.astype(np.int64)


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """An array whose masked entries are NaN, or None in what is not numbers."""
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
    """Rows that are lists of one length as a matrix; anything else as it is."""
    if array.dtype != object:
        return array
    first = next((item for item in array if item is not None), None)
    if not isinstance(first, list | tuple | np.ndarray):
        return array
    for row, item in enumerate(array):
        if not isinstance(item, list | tuple | np.ndarray) or len(item) != len(first):
            got = Verbatim("no list" if not hasattr(item, "__len__") else f"{len(item)} entries")
            raise bad_column(table, name, f"must hold lists of {len(first)} numbers", got, row=row)
    try:
        matrix = np.array([np.ma.filled(item, np.nan) for item in array])
    except (TypeError, ValueError):
        matrix = np.array(array.tolist(), dtype=object)
    if matrix.dtype.kind not in "fiub":
        matrix = _floats(table, name, matrix)
    return matrix


def _floats(table: Place, name: str, matrix: NDArray[Any]) -> NDArray[Any]:
    floats = np.empty(matrix.shape)
    for place, item in np.ndenumerate(matrix):
        if isinstance(item, str | bytes | list | dict):
            raise not_a_number(table, name, place[0], item)
        floats[place] = np.nan if item is None else item
    return floats


def as_numbers(table: Place, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of a column, NaN where missing; raise InputError for other entries."""
    if array.dtype.kind in "fiub":
        return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.dtype.kind not in "OU" or array.ndim != 1:
        raise bad_column(table, name, "must hold numbers", Verbatim(f"{array.dtype}"))
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
            try:
                floats[row] = item
            except (TypeError, ValueError):
                raise not_a_number(table, name, row, item) from None
    return floats


def not_a_number(table: Place, name: str, row: int, item: object) -> Exception:
    """Build the error about an entry that is no number."""
    return bad_column(table, name, "must hold numbers", item, row=row, hint=_advice(item))


def _advice(item: object) -> str:
    if not isinstance(item, str):
        return ""
    if PERCENT.fullmatch(item):
        return "write 50% as 0.5: take the signs away and divide by 100"
    if COMMA.fullmatch(item):
        return "write decimals with a point, not a comma"
    if number_in(item) is not None:
        return "write numbers without quotation marks"
    return ""
