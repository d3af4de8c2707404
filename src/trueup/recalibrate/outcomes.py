"""What came true, and how much each row counts: the ``y`` and ``sample_weight`` of `fit`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.errors import InputError, Words, must_be
from trueup.forecasts.arrays import (
    as_floats,
    as_numpy,
    describe_shape,
    first_row,
    is_missing,
    refuse,
)
from trueup.forecasts.beside import same_length
from trueup.specification import is_number

MOST_COUNTED = 1e12  # beyond it, likelihoods of counts are lost in rounding
SWAPPED = "predictions come first, classes second"


def read_labels(y: object) -> NDArray[Any]:
    """Check that ``y`` is one class a row, of any names, none of them missing."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    labels = as_numpy("y", y)
    if labels.ndim > 2 or (labels.ndim == 2 and labels.shape[1] != 1):
        hint = f"{SWAPPED}; of one-hot rows pass y.argmax(axis=1)"
        raise must_be("y", "one class a row", describe_shape(labels), hint=hint)
    labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    else:
        missing = np.array([labels.dtype.kind == "O" and is_missing(each) for each in labels], bool)
    refuse("y", "present in every row", labels, missing, hint="leave such rows out")
    labels = _plain(labels)
    if labels.dtype.kind == "f":
        # The first words are scikit-learn's, which looks for them.
        hint = f"Unknown label type: continuous values belong into X; {SWAPPED}"
        broken = ~np.isfinite(labels) | (labels != np.floor(labels))
        refuse("y", "whole numbers or names of classes", labels, broken, hint=hint)
    with warnings.catch_warnings():  # many classes in few rows are no regression here
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        check_classification_targets(labels)
    return labels


def class_numbers(
    labels: NDArray[Any], n_classes: int, classes: object, columns: str
) -> tuple[NDArray[Any], Ints]:
    """Return the names of the classes, in the order of the columns, and the number of each label.

    Without ``classes``: whole numbers 0 … K−1 if labels are of these, some of which may be missing;
    else the K different labels, sorted. ``columns`` says in words how many X has.
    """
    present, numbers = np.unique(labels, return_inverse=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    if classes is not None:
        names = _names(classes, n_classes, columns)
        place = {name: k for k, name in enumerate(names.tolist())}
        found = np.array([place.get(name, -1) for name in present.tolist()], np.int64)[numbers]
        refuse("y", "among the names in `classes`", labels, found < 0)
        return names, found
    whole = present.dtype.kind in "iubf"
    if whole and present[0] >= 0 and present[-1] < n_classes:
        names = np.arange(n_classes)
        names = names.astype(bool) if present.dtype.kind == "b" else names.astype(present.dtype)
        return names, present.astype(np.int64)[numbers]
    if len(present) == n_classes:
        return present, numbers
    raise _not_classes(labels, n_classes, columns, len(present))


def read_weights(sample_weight: object, n: int) -> Floats | None:
    """Check weights of n rows, those of 0 included; one number is the weight of every row."""
    if sample_weight is None:
        return None
    if is_number(sample_weight):
        sample_weight = [sample_weight] * n
    given = as_floats("sample_weight", as_numpy("sample_weight", sample_weight))
    if given.ndim != 1:
        raise must_be("sample_weight", "one number a row", describe_shape(given))
    same_length("sample_weight", given, n, "X")
    weights = np.array(given, np.float64)
    bad = ~((weights >= 0) & (weights < np.inf))
    refuse("sample_weight", "finite and at least 0", given, bad, hint="0 leaves a row out")
    if not weights.any():
        raise InputError("sample_weight", "must contain a positive value; all are zero")
    return weights


def check_counts(weights: Floats | None) -> None:
    """Refuse weights too large for those who take a weight of 3 for three rows."""
    if weights is not None and not (total := weights.sum()) <= MOST_COUNTED:
        rule, hint = f"sum to {MOST_COUNTED:g} at most", "a weight counts rows: divide by the mean"
        raise must_be("sample_weight", rule, total, hint=hint)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Numbers held as objects as numbers; other labels as they are, but no numbers among names."""
    if labels.dtype.kind != "O" or not len(labels):
        return labels
    is_text = np.array([isinstance(each, str) for each in labels], bool)
    row = first_row(is_text != is_text[0])
    if row >= 0:
        got = Words(f"{labels[0]!r} and {labels[row]!r}")
        raise must_be("y", "numbers or names, not both", got, row=row)
    numbers = all(isinstance(each, int | float | np.number | np.bool_) for each in labels)
    return np.array(labels.tolist()) if numbers else labels


def _names(classes: Any, n_classes: int, columns: str) -> NDArray[Any]:
    rule = f"a list of {n_classes} different names, as X has {columns}"
    try:
        names = np.asarray(classes)
        good = names.shape == (n_classes,) and len(set(names.tolist())) == n_classes
    except (TypeError, ValueError):
        good = False
    if not good:
        raise must_be("classes", rule, classes)
    return names


def _not_classes(labels: NDArray[Any], n_classes: int, columns: str, found: int) -> InputError:
    """What to say of labels that are neither numbers of the columns nor a name for each."""
    numbers = "0 or 1" if n_classes == 2 else f"whole numbers from 0 to {n_classes - 1}"
    hint = "pass classes=, the names in the order of the columns"
    if labels.dtype.kind not in "iuf":
        rule = f"{n_classes} different names, as X has {columns}"
        got = Words(f"{found} different {'name' if found == 1 else 'names'}")
        return must_be("y", rule, got, hint=hint)
    row = first_row((labels < 0) | (labels >= n_classes))
    if labels.min() == 1 and labels.max() == n_classes:
        hint = "subtract 1 from numbers that count from 1"
    rule = f"{numbers}, or {n_classes} different names, as X has {columns}"
    return must_be("y", rule, labels[row], row=row, hint=hint)
