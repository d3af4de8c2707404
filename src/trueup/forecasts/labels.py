"""Labels as whole numbers 0 … K−1, or as soft labels; missing and unknown ones are refused.

``rows`` are the caller's numbers of the labels that were kept (None: all), for messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Ints
from trueup.engines.select import engine
from trueup.errors import Argument, Text, Words, must_be
from trueup.forecasts.arrays import (
    describe_shape,
    first_row,
    is_missing,
    original,
    refuse,
)

SUM_TOLERANCE = 1e-3
CLASSES = Argument("classes", to="Forecasts.of")
SOFT = Argument("soft_labels", True, to="Forecasts.of")


def to_ignore(labels: NDArray[Any], ignore_label: object) -> NDArray[np.bool_]:
    """Rows whose label is ``ignore_label``; NaN stands for every kind of missing label."""
    if labels.ndim > 1:
        raise must_be("ignore_label", "None where labels have one column per class", ignore_label)
    if np.ndim(ignore_label) > 0:  # type: ignore[arg-type]
        raise must_be("ignore_label", "one label", ignore_label)
    if is_missing(ignore_label):
        return _missing(labels)
    if labels.dtype.kind == "O":
        same = [not is_missing(item) and bool(item == ignore_label) for item in labels]
        return np.array(same, bool)
    return np.asarray(labels == ignore_label, dtype=bool) & np.ones(len(labels), bool)


def class_numbers(
    labels: NDArray[Any],
    n_classes: int,
    classes: Sequence[Any] | None,
    rows: Ints | None = None,
) -> NDArray[Any]:
    """Check hard labels and return them as bool, uint8 or int64 class numbers."""
    if labels.ndim != 1:
        hint: Text = ("pass ", SOFT, " for one-hot or soft labels")
        if labels.shape[1:] == (1,):
            hint = "pass its one column as a 1-D array"
        raise must_be("labels", "one class per row", describe_shape(labels), hint=hint)
    _refuse_missing(labels, rows)
    labels = _plain(labels)
    if labels.dtype.kind == "b" and n_classes > 2:
        raise must_be(
            "labels",
            f"whole numbers from 0 to {n_classes - 1}",
            Words("booleans"),
            hint=(
                "pass 1-D confidences as ",
                Argument("probs"),
                " if these are True where the predicted class is right",
            ),
        )
    if labels.dtype.kind in "OUST" or _named_by_numbers(classes):
        return _look_up(labels, classes, rows)
    if labels.dtype.kind not in "fiub":
        rule = "whole numbers, booleans or strings"
        raise must_be("labels", rule, labels[0].item(), row=original(0, rows))
    if labels.dtype.kind == "f":
        hint = ("pass ", SOFT, " if these are probabilities")
        refuse("labels", "whole numbers", labels, labels != np.floor(labels), rows, hint)
    bad = _first_outside(labels, n_classes)
    if bad >= 0:
        raise must_be(
            "labels",
            "0 or 1" if n_classes == 2 else f"whole numbers from 0 to {n_classes - 1}",
            labels[bad],
            row=original(bad, rows),
            hint=_hint_outside(labels[bad], n_classes),
        )
    if labels.dtype == bool or labels.dtype == np.int64:
        return np.ascontiguousarray(labels)
    return labels.astype(np.uint8 if n_classes <= 256 else np.int64)


def soft_labels_of(
    labels: NDArray[Any], n_classes: int, one_dimensional: bool, rows: Ints | None = None
) -> NDArray[np.float64]:
    """Check soft or one-hot labels, numbers: (n,) in [0, 1] for 1-D predictions, or (n, K) rows."""
    n = len(labels)
    if labels.shape != (n, n_classes) and not (one_dimensional and labels.shape == (n,)):
        shape = "(n,) or (n, 2)" if one_dimensional else f"(n, {n_classes})"
        raise must_be("labels", f"soft labels of shape {shape}", describe_shape(labels))
    hint = "drop rows without a label first"
    refuse("labels", "present in every row", labels, np.isnan(labels), rows, hint)
    refuse("labels", "between 0 and 1", labels, (labels < 0) | (labels > 1), rows)
    soft = np.ascontiguousarray(labels, dtype=np.float64)
    if soft.ndim == 1:
        return soft
    total = soft.sum(axis=1)
    hint = "divide each row of labels by its sum"
    off = np.abs(total - 1)
    refuse("labels", "sum to 1 in every row", total, off > SUM_TOLERANCE, rows, hint)
    if np.any(off > 1e-15):
        soft = soft / total[:, None]
    return np.ascontiguousarray(soft[:, 1]) if one_dimensional else soft


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind == "O":
        return np.array([is_missing(item) for item in labels], bool)
    return np.zeros(labels.shape, bool)


def _refuse_missing(labels: NDArray[Any], rows: Ints | None) -> None:
    if labels.dtype.kind not in "fO":
        return
    hint = ("pass ", _ignore(Words("float('nan')")), " to drop such rows")
    refuse("labels", "present in every row", labels, _missing(labels), rows, hint)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Numbers or booleans held as objects in the type NumPy would give them; else unchanged."""
    if labels.dtype.kind != "O" or any(isinstance(item, str | bytes) for item in labels):
        return labels
    try:
        plain = np.array(labels.tolist())
    except ValueError:  # rows of different lengths
        return labels
    return plain if plain.shape == labels.shape and plain.dtype.kind in "fiub" else labels


def _named_by_numbers(classes: Sequence[Any] | None) -> bool:
    return classes is not None and not any(isinstance(name, str) for name in classes)


def _look_up(
    labels: NDArray[Any], classes: Sequence[Any] | None, rows: Ints | None
) -> NDArray[Any]:
    if classes is None:
        raise must_be(
            "labels",
            "class numbers",
            labels[0],
            row=original(0, rows),
            hint=("pass ", CLASSES, ", the names in the order of the columns"),
        )
    number = {name: k for k, name in enumerate(classes)}
    distinct, inverse = _distinct(labels, rows)
    codes = np.array([number.get(name, -1) for name in distinct], np.int64)[inverse]
    hint = "spelling counts, capitals and spaces included" if labels.dtype.kind in "OUST" else ""
    rule = ("among the names in ", Argument("classes"))
    refuse("labels", rule, labels, codes < 0, rows, hint)
    return codes


def _distinct(labels: NDArray[Any], rows: Ints | None) -> tuple[list[Any], NDArray[np.int64]]:
    if labels.dtype.kind != "O":
        values, inverse = np.unique(labels, return_inverse=True)
        return values.tolist(), inverse.reshape(-1).astype(np.int64)
    seen: dict[Any, int] = {}
    inverse = np.empty(len(labels), np.int64)
    for row, item in enumerate(labels):
        try:
            inverse[row] = seen.setdefault(item, len(seen))
        except TypeError:  # a list or an array
            raise must_be("labels", "one class per row", item, row=original(row, rows)) from None
    return list(seen), inverse


def _first_outside(labels: NDArray[Any], n_classes: int) -> int:
    if labels.dtype.kind == "b":
        return -1
    if n_classes == 2 and labels.dtype in (np.int64, np.uint8, np.int32, np.int8):
        return engine.rows.first_not_binary(labels)
    if labels.min() >= 0 and labels.max() < n_classes:
        return -1
    return first_row((labels < 0) | (labels >= n_classes))


def _hint_outside(label: Any, n_classes: int) -> Text:
    if n_classes == 2:
        names = Argument("classes", ["negative", "positive"], to="Forecasts.of")
        return ("pass ", names, " if labels have other names")
    if label < 0:
        return ("pass ", _ignore(Words(f"{label:.0f}")), " to drop such rows")
    if label == n_classes:
        return "subtract 1 from labels that count from 1"
    return ("pass ", CLASSES, ", in the order of the columns, if labels have other names")


def _ignore(label: Words) -> Argument:
    return Argument("ignore_label", label, to="Forecasts.of")
