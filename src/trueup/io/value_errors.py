"""Errors in the values of a table, with the column, the row and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, InputError, Text
from trueup.io.column_choice import Chosen
from trueup.io.file_errors import Place, bad_column, refusal, spanned

SIGMOID = "these look like sigmoid scores"
DROP: Text = ("drop such rows with ", Argument("drop_missing", True))


def missing_rows(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows lack a value; in a matrix, a row with any missing value counts."""
    bad: NDArray[np.bool_]
    if column.dtype.kind == "f":
        bad = np.isnan(column)
    elif column.dtype.kind == "O":
        bad = np.array([item is None or item != item for item in column.flat], bool)
        bad = bad.reshape(column.shape)
    else:
        bad = np.zeros(column.shape, bool)
    return bad if bad.ndim == 1 else np.asarray(bad.any(axis=1))


def refuse_missing(place: Place, name: str, column: NDArray[Any]) -> None:
    """Raise InputError for a column in which a value is missing."""
    bad = missing_rows(column)
    if bad.any():
        raise _missing(place, name, bad, DROP)


def refuse_nested(place: Place, name: str, column: NDArray[Any]) -> None:
    """Raise an error unless the entries of a column are single values, such as numbers or texts."""
    if column.dtype != object or column.ndim != 1:
        return
    kinds = {kind for kind in set(map(type, column)) if kind.__hash__ is None or kind is bytes}
    if kinds:
        row = next(row for row, item in enumerate(column) if type(item) in kinds)
        raise bad_column(place, name, "must hold numbers or texts", column[row], row=row)


def fault(
    place: Place,
    chosen: Chosen,
    values: NDArray[Any],
    labels: NDArray[Any] | None,
    problem: InputError,
) -> InputError:
    """Return the error for data that failed validation, with names of the file and its columns.

    If values are missing, the error counts their rows. Otherwise it is ``problem``, which the
    validation of the arrays found.
    """
    bad = missing_rows(values)
    every = bad if labels is None else bad | missing_rows(labels)
    if every.any():
        row = int(np.argmax(every))
        at = int(np.argmax(np.isnan(np.atleast_1d(values[row]))))
        name = _named(chosen, at) if bad[row] or chosen.labels is None else chosen.labels
        return _missing(place, name, every, "drop such rows first" if labels is None else DROP)
    column = problem.column
    if isinstance(column, int):
        column = _named(chosen, column)
    elif problem.argument in ("labels", "weights", "clusters"):
        column = getattr(chosen, problem.argument)
    elif problem.argument == "groups" and len(chosen.groups) == 1:
        column = chosen.groups[0]
    hint = problem.hint
    if len(chosen.probs) > 1 and problem.mentions("normalize"):
        columns = f"; if the columns {spanned(chosen.probs)} are not the classes of one model, "
        hint = (*hint, columns, "choose them with ", Argument("probs"))
    if len(chosen.probs) > 1 and problem.mentions("logits") and str(hint[0]).startswith(SIGMOID):
        one = ("evaluate each column separately, such as ", Argument("probs", chosen.probs[-1]))
        or_logits = ("; or, for raw scores, pass ", Argument("logits", True))
        hint = (f"{SIGMOID}: ", *one, " with labels of 0 and 1", *or_logits)
    if problem.argument == "labels" and problem.mentions("soft_labels"):
        hint = ("if labels are one-hot, write the number or name of the class into one column",)
    where = place.where(problem.row) if isinstance(problem.row, int) else None
    return problem.replace(file=place.shown, column=column, row=where, hint=hint)


def _missing(place: Place, name: str, bad: NDArray[np.bool_], hint: Text) -> InputError:
    first = place.where(int(np.argmax(bad)))
    n = int(bad.sum())
    count = f"{n} of {len(bad)} rows have" if n > 1 else f"1 of {len(bad)} rows has"
    told = f"{count} missing values, the first in column {name!r}, {first}"
    return refusal(place.shown, told, hint=hint)


def _named(chosen: Chosen, column: int) -> str:
    return chosen.probs[column] if len(chosen.probs) > 1 else chosen.probs[0]
