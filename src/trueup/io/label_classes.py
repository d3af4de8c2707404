"""Labels of a file as classes: texts matched to column names, or pairs such as yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import Argument, InputError, Text, Verbatim, must_be, short
from trueup.io.column_patterns import remainders
from trueup.io.file_errors import Place, bad_column, listed, spanned

# (negative, positive) in lower case: pairs without any doubt which is which.
PAIRS = (
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
    ("wrong", "right"),
    ("incorrect", "correct"),
    ("0", "1"),
)
# Names of a column of the negative class, except letters that may mean anything.
NEGATIVE = {negative for negative, _ in PAIRS} - {"n", "f"}
NUMBERED = re.compile(r"^(?:p|prob|proba|probability|class|pred)(\d+)$")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Labels with the names of their classes, and a remark for the user."""

    labels: NDArray[Any]
    classes: tuple[Any, ...] | None = None
    remark: str = ""


def outcomes_of(
    table: Place,
    name: str,
    labels: NDArray[Any],
    columns: Sequence[str],
    n_classes: int | None,
    classes: Sequence[Any] | None,
    ignore_label: object = None,
    listed_in_order: bool = False,
) -> Outcomes:
    """Read the column ``name`` of labels for predictions in ``columns``.

    ``n_classes`` is None if there is one probability per row. ``listed_in_order`` tells whether
    the caller named the columns one by one, so that class numbers refer to their order.
    """
    if labels.ndim != 1:
        return Outcomes(labels, None if classes is None else tuple(classes))
    labels = _booleans(labels)
    if classes is not None:
        return Outcomes(labels, _as_labels(classes, labels))
    if n_classes is None:
        return _binary(table, name, labels, columns[0], ignore_label)
    if len(columns) == 1:
        if labels.dtype == object:
            rule = f"must hold class numbers from 0 to {n_classes - 1}"
            names = Argument("classes", ("first", "second", "…"))
            hint = ("pass ", names, " in the order of the columns")
            raise bad_column(table, name, rule, labels[0], row=0, hint=hint)
        return Outcomes(labels)
    return _by_columns(table, name, labels, columns, ignore_label, listed_in_order)


def _by_columns(
    table: Place,
    name: str,
    labels: NDArray[Any],
    columns: Sequence[str],
    ignore_label: object,
    listed_in_order: bool,
) -> Outcomes:
    rests = remainders(columns)
    if labels.dtype != object:
        if not all(rest.isdecimal() for rest in rests):
            if not listed_in_order:
                raise _numbers_beside_names(table, name, columns, rests)
            order = ", ".join(f"{k} = {rest}" for k, rest in enumerate(rests[:4]))
            more = ", …" if len(rests) > 4 else ""
            return Outcomes(labels, tuple(rests), f"classes in the order of columns, {order}{more}")
        numbers = tuple(int(rest) for rest in rests)
        if numbers == tuple(range(len(numbers))):
            return Outcomes(labels)
        _refuse_unknown(table, name, labels, numbers, columns, ignore_label)
        return Outcomes(labels, numbers)
    present = _present(labels, ignore_label)
    for names in (tuple(rests), tuple(columns)):
        if present <= set(names):
            return Outcomes(labels, names)
    _refuse_unknown(table, name, labels, tuple(rests), columns, ignore_label)
    return Outcomes(labels, tuple(rests))


def _numbers_beside_names(
    table: Place, name: str, columns: Sequence[str], rests: Sequence[str]
) -> InputError:
    """Build the error about class numbers if columns have names, so that their order is unclear."""
    order = ",".join(rests if len(rests) <= 4 else [*rests[:3], "…"])
    listing = ",".join(columns if len(columns) <= 4 else [*columns[:3], "…"])
    hint = (
        "pass the classes in the order of the columns, ",
        Argument("classes", order),
        f" if 0 is {rests[0]}, or the columns in the order of the numbers, ",
        Argument("probs", listing),
    )
    return bad_column(
        table, name, f"holds numbers, and columns {spanned(columns)} hold names", hint=hint
    )


def _present(labels: NDArray[Any], ignore_label: object) -> set[Any]:
    """Return the distinct labels, without missing and ignored ones."""
    return {x for x in labels.tolist() if x is not None and x == x and x != ignore_label}


def _refuse_unknown(
    table: Place,
    name: str,
    labels: NDArray[Any],
    classes: tuple[Any, ...],
    columns: Sequence[str],
    ignore_label: object,
) -> None:
    unknown = _present(labels, ignore_label) - set(classes)
    if not unknown:
        return
    row = next(row for row, label in enumerate(labels.tolist()) if label in unknown)
    rule = f"must name classes as the columns {spanned(columns)} do"
    known = listed([str(x) for x in classes], 6)
    hint = (f"the classes are {known}; name others with ", Argument("classes"))
    raise bad_column(table, name, rule, item(labels[row]), row=row, hint=hint)


def _binary(
    table: Place, name: str, labels: NDArray[Any], column: str, ignore_label: object
) -> Outcomes:
    own = remainders([column])[0]
    signs = labels.dtype.kind in "if" and ignore_label is None and _is_signs(labels)
    if labels.dtype != object and (NUMBERED.sub(r"\1", own.lower()) in NEGATIVE):
        names = Argument("classes", f"1,{-1 if signs else 0}")
        after = " if it is (its class goes last); if it is not, rename the column"
        rule = "looks like the probability of the negative class"
        raise bad_column(table, column, rule, hint=("pass ", names, after))
    if signs:
        return Outcomes(labels, (-1, 1), "1 against -1")
    if labels.dtype != object:
        return Outcomes(labels)
    if all(label is None for label in labels):
        return Outcomes(labels)
    present = sorted(_present(labels, ignore_label), key=str)
    texts = {str(label).strip().lower(): label for label in present}
    mine = texts.get(own.lower())
    if len(present) == 2 and len(texts) == 2 and mine is not None:
        other = present[1] if present[0] == mine else present[0]
        return Outcomes(labels, (other, mine), f"{mine} counts as 1")
    for negative, positive in PAIRS:
        if set(texts) <= {negative, positive} and len(texts) == len(present) > 0:
            pair = (texts.get(negative, negative), texts.get(positive, positive))
            return Outcomes(labels, pair, f"{pair[1]} counts as 1")
    hint: Text = ("name the column of the predicted class with ", Argument("prediction"))
    if len(present) == 2:
        pair_said = Argument("classes", f"{present[0]},{present[1]}")
        hint = ("name both classes with ", pair_said, ", the positive one last")
    rule = f"must hold 0 and 1, as {column!r} is the only column of probabilities"
    got = Verbatim(listed([short(label) for label in present], 5))
    raise bad_column(table, name, rule, got, hint=hint)


def _is_signs(labels: NDArray[Any]) -> bool:
    return bool(np.all((labels == 1) | (labels == -1)) and np.any(labels == -1))


def _booleans(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the texts True and False as booleans; return other labels unchanged."""
    if labels.dtype != object or len(labels) == 0:
        return labels
    known = {"true": True, "false": False}
    present = set(labels)
    if not all(isinstance(text, str) and text.strip().lower() in known for text in present):
        return labels
    return np.array([known[label.strip().lower()] for label in labels], bool)


def _as_labels(classes: Sequence[Any], labels: NDArray[Any]) -> tuple[Any, ...]:
    """Return class names from one text or a list, as integers if the labels are numbers."""
    names = [name.strip() for name in classes.split(",")] if isinstance(classes, str) else classes
    try:
        names = tuple(names)
    except TypeError:
        raise must_be("classes", "a list of names", classes) from None
    if labels.dtype == object or not all(isinstance(name, str) for name in names):
        return names
    try:
        return tuple(int(name) for name in names)
    except ValueError:
        return names


def item(value: Any) -> Any:
    """Return a NumPy scalar as a plain Python value, for messages."""
    return value.item() if isinstance(value, np.generic) else value
