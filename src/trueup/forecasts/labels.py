"""Labels as whole numbers 0 … K−1, or as soft labels; missing and unknown ones raise errors.

``rows`` are the caller's numbers of the labels that were kept (None: all), for messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Ints
from trueup.engines.select import engine
from trueup.errors import Argument, Text, Verbatim, must_be
from trueup.forecasts.arrays import describe, first_row, is_missing, original, refuse
from trueup.forecasts.policy import FORECASTS, Policy

SUM_TOLERANCE = 1e-3
EACH_COLUMN = (
    "this looks multilabel: evaluate each column separately, ",
    "as probs[:, k] and labels[:, k]",
)
IDENTIFIERS = 2**31  # whole numbers from here on name something else than a class
MOST_CLASSES = 10_000
IN_ORDER = "predictions come first, classes second"


def to_ignore(labels: NDArray[Any], ignore_label: object) -> NDArray[np.bool_]:
    """Return rows whose label is ``ignore_label``; NaN matches every kind of missing label."""
    if labels.ndim > 1:
        raise must_be("ignore_label", "None if labels have one column per class", ignore_label)
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
    policy: Policy = FORECASTS,
) -> NDArray[Any]:
    """Check hard labels and return them as bool, uint8 or int64 class numbers."""
    labels = plain_labels(labels, rows, policy)
    name = policy.labels
    if labels.dtype.kind == "b" and n_classes > 2:
        as_probs = ("pass 1-D confidences as ", Argument(policy.probs))
        hint: Text = (*as_probs, " if these are True where the predicted class is right")
        raise must_be(name, _numbers(n_classes), Verbatim("booleans"), hint=hint)
    by_numbers = classes is not None and not any(isinstance(name, str) for name in classes)
    if labels.dtype.kind in "OUST" or by_numbers:
        return _look_up(labels, n_classes, classes, rows, policy)
    _refuse_fractions(labels, rows, policy)
    if labels.dtype.kind not in "fiub":
        rule = "whole numbers, booleans or strings"
        raise must_be(name, rule, labels[0].item(), row=original(0, rows))
    bad = _first_outside(labels, n_classes)
    if bad >= 0:
        rule = _numbers(n_classes)
        if policy.scikit_learn:
            rule += f", or {n_classes} different names"
        hint = _hint_outside(labels, labels[bad], n_classes, policy)
        got: object = labels[bad]
        if labels.dtype.kind == "f" and IDENTIFIERS <= abs(labels[bad]) < math.inf:
            got = Verbatim(f"about {labels[bad]:.4g}")  # its last digits may not be the data's
        raise must_be(name, rule, got, row=original(bad, rows), hint=hint)
    if labels.dtype == bool or labels.dtype == np.int64:
        return np.ascontiguousarray(labels)
    return labels.astype(np.uint8 if n_classes <= 256 else np.int64)


def plain_labels(
    labels: NDArray[Any], rows: Ints | None = None, policy: Policy = FORECASTS
) -> NDArray[Any]:
    """Check that each row has a label and none is missing; convert objects that hold numbers."""
    name = policy.labels
    if labels.ndim != 1:
        hint: Text = ("pass ", policy.option("soft_labels", True), " for one-hot or soft labels")
        if policy.scikit_learn:
            hint = f"{IN_ORDER}; for one-hot rows, pass {name}.argmax(axis=1)"
        elif labels.shape[1:] == (1,):
            hint = "pass its one column as a 1-D array"
        elif looks_multilabel(labels):
            hint = EACH_COLUMN
        raise must_be(name, "one class per row", describe(labels), hint=hint)
    missing = _missing(labels) if labels.dtype.kind in "fO" else np.zeros(0, bool)
    if missing.any():
        ignored = policy.option("ignore_label", Verbatim("float('nan')"))
        hint = "drop such rows" if policy.scikit_learn else ("pass ", ignored, " to drop such rows")
        refuse(name, "present in every row", labels, missing, rows, hint)
    return _plain(labels)


def sorted_classes(labels: NDArray[Any], n_classes: int, policy: Policy) -> NDArray[Any] | None:
    """Return the K distinct labels in order, which is how scikit-learn names classes.

    Return None if labels are column numbers, or if there are not K of them. Labels must not be
    objects that hold numbers.
    """
    if labels.dtype.kind in "biuf" and labels.min() >= 0 and labels.max() < n_classes:
        return None
    _refuse_fractions(labels, None, policy)
    try:
        present = np.unique(labels)
    except TypeError:
        row = next(row for row, label in enumerate(labels) if type(label) is not type(labels[0]))
        got = Verbatim(f"{labels[0]!r} and {labels[row]!r}")
        raise must_be(policy.labels, "numbers or names, not both", got, row=row) from None
    return present if len(present) == n_classes else None


def _refuse_fractions(labels: NDArray[Any], rows: Ints | None, policy: Policy) -> None:
    if labels.dtype.kind != "f":
        return
    hint: Text = ("pass ", policy.option("soft_labels", True), " if these are probabilities")
    if policy.scikit_learn:  # which looks for the first words
        hint = f"Unknown label type: continuous values belong in X; {IN_ORDER}"
    refuse(policy.labels, "whole numbers", labels, labels != np.floor(labels), rows, hint)


def soft_labels_of(
    labels: NDArray[Any], n_classes: int, one_dimensional: bool, rows: Ints | None = None
) -> NDArray[np.float64]:
    """Check numeric soft or one-hot labels: (n,) in [0, 1] for 1-D predictions, or (n, K) rows."""
    n = len(labels)
    if labels.shape != (n, n_classes) and not (one_dimensional and labels.shape == (n,)):
        shape = "(n,) or (n, 2)" if one_dimensional else f"(n, {n_classes})"
        raise must_be("labels", f"soft labels of shape {shape}", describe(labels))
    unlabeled = "drop rows without a label first"
    refuse("labels", "present in every row", labels, np.isnan(labels), rows, unlabeled)
    refuse("labels", "between 0 and 1", labels, (labels < 0) | (labels > 1), rows)
    soft = np.ascontiguousarray(labels, dtype=np.float64)
    if soft.ndim == 1:
        return soft
    total = soft.sum(axis=1)
    hint: Text = EACH_COLUMN if looks_multilabel(labels) else "divide each row of labels by its sum"
    off = np.abs(total - 1)
    refuse("labels", "sum to 1 in every row", total, off > SUM_TOLERANCE, rows, hint)
    if np.any(off > 1e-15):
        soft = soft / total[:, None]
    return np.ascontiguousarray(soft[:, 1]) if one_dimensional else soft


def looks_multilabel(labels: NDArray[Any]) -> bool:
    """Return whether labels are rows of 0 and 1 in which some rows do not have exactly one 1."""
    if labels.ndim != 2 or labels.shape[1] < 2 or labels.dtype.kind not in "fiubO":
        return False
    ones = labels == 1
    if not np.all(ones | (labels == 0)):
        return False
    return bool(np.any(ones.sum(axis=1) != 1))


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind == "O":
        return np.array([is_missing(item) for item in labels], bool)
    return np.zeros(labels.shape, bool)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert numbers or booleans stored as objects to NumPy's type for them; keep others."""
    if labels.dtype.kind != "O" or any(isinstance(item, str | bytes) for item in labels):
        return labels
    try:
        plain = np.array(labels.tolist())
    except ValueError:  # rows of different lengths
        return labels
    return plain if plain.shape == labels.shape and plain.dtype.kind in "fiub" else labels


def _look_up(
    labels: NDArray[Any],
    n_classes: int,
    classes: Sequence[Any] | None,
    rows: Ints | None,
    policy: Policy,
) -> NDArray[Any]:
    distinct, inverse = _distinct(labels, rows, policy)
    named = policy.option("classes")
    if classes is None:
        hint: Text = ("pass ", named, ", the names in the order of the columns")
        if policy.scikit_learn:
            raise must_be(policy.labels, f"{n_classes} different names", len(distinct), hint=hint)
        raise must_be(policy.labels, "class numbers", labels[0], row=original(0, rows), hint=hint)
    number = {name: k for k, name in enumerate(classes)}
    codes = np.array([number.get(name, -1) for name in distinct], np.int64)[inverse]
    hint = (
        "names must match exactly, including capitals and spaces"
        if labels.dtype.kind in "OUST"
        else ""
    )
    rule = ("among the names in ", Argument("classes"))
    refuse(policy.labels, rule, labels, codes < 0, rows, hint)
    return codes


def _distinct(
    labels: NDArray[Any], rows: Ints | None, policy: Policy
) -> tuple[list[Any], NDArray[np.int64]]:
    if labels.dtype.kind != "O":
        values, inverse = np.unique(labels, return_inverse=True)
        return values.tolist(), inverse.reshape(-1).astype(np.int64)
    seen: dict[Any, int] = {}
    inverse = np.empty(len(labels), np.int64)
    for row, item in enumerate(labels):
        try:
            inverse[row] = seen.setdefault(item, len(seen))
        except TypeError:  # a list or an array
            where = original(row, rows)
            raise must_be(policy.labels, "one class per row", item, row=where) from None
    return list(seen), inverse


def _first_outside(labels: NDArray[Any], n_classes: int) -> int:
    if labels.dtype.kind == "b":
        return -1
    if n_classes == 2 and labels.dtype in (np.int64, np.uint8, np.int32, np.int8):
        return engine.rows.first_not_binary(labels)
    if labels.min() >= 0 and labels.max() < n_classes:
        return -1
    return first_row((labels < 0) | (labels >= n_classes))


def of_classes(labels: NDArray[Any]) -> bool:
    """Return whether labels are whole numbers, from 0 or 1, of more than two classes."""
    least, most = labels.min(), labels.max()
    return bool(0 <= least <= 1 and 2 + least <= most < MOST_CLASSES)


def _numbers(n_classes: int) -> str:
    return "0 or 1" if n_classes == 2 else f"whole numbers from 0 to {n_classes - 1}"


def _hint_outside(labels: NDArray[Any], label: Any, n_classes: int, policy: Policy) -> Text:
    if IDENTIFIERS <= abs(float(label)) < math.inf:
        return "numbers this large look like identifiers: is this the column of labels?"
    if n_classes == 2 and of_classes(labels) and not policy.scikit_learn:
        return (
            "pass the whole matrix (n, K) as ",
            Argument(policy.probs),
            "; or, with confidences in the predicted class, labels == predicted as ",
            Argument(policy.labels),
        )
    if n_classes == 2:
        names = policy.option("classes", ["negative", "positive"])
        return ("pass ", names, " if labels have other names")
    if label < 0 and not policy.scikit_learn:
        ignored = policy.option("ignore_label", Verbatim(f"{label:.0f}"))
        return ("pass ", ignored, " to drop such rows")
    if label == n_classes and labels.min() >= 1:
        return "subtract 1 from labels that count from 1"
    names = policy.option("classes")
    return ("pass ", names, ", in the order of the columns, if labels have other names")
