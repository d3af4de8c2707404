"""Labels as whole numbers 0 … K−1, or as soft labels; missing and unknown ones are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.engines.base import engine
from trueup.errors import Words, must_be
from trueup.forecasts.arrays import describe_shape, first_row

SUM_TOLERANCE = 1e-3


def to_ignore(labels: NDArray[Any], ignore_label: object) -> NDArray[np.bool_]:
    """Rows whose label is ``ignore_label``; NaN (or None in an array of objects) counts as NaN."""
    if labels.ndim > 1:
        raise must_be("ignore_label", "None where labels are soft", ignore_label)
    if isinstance(ignore_label, float) and np.isnan(ignore_label):
        return _missing(labels)
    return np.asarray(labels == ignore_label, dtype=bool) & np.ones(len(labels), bool)


def class_numbers(
    labels: NDArray[Any], n_classes: int, classes: Sequence[Any] | None
) -> NDArray[Any]:
    """Check hard labels and return them as bool, uint8 or int64 class numbers."""
    if labels.ndim != 1:
        raise must_be(
            "labels",
            "one class per row",
            describe_shape(labels),
            hint="pass soft_labels=True for one-hot or soft labels",
        )
    _refuse_missing(labels)
    if labels.dtype.kind in "OUST" or _named_by_numbers(classes):
        return _look_up(labels, classes)
    if labels.dtype.kind == "f":
        labels = _whole(labels)
    if labels.dtype.kind not in "iub":
        raise must_be("labels", "whole numbers, booleans or strings", Words(f"{labels.dtype}"))
    if labels.dtype.kind == "b" and n_classes > 2:
        raise must_be(
            "labels",
            f"whole numbers from 0 to {n_classes - 1}",
            Words("booleans"),
            hint="pass 1-D confidences as `probs` if these say whether the top label was right",
        )
    bad = _first_outside(labels, n_classes)
    if bad >= 0:
        raise must_be(
            "labels",
            "0 or 1" if n_classes == 2 else f"whole numbers from 0 to {n_classes - 1}",
            labels[bad],
            row=bad,
            hint="pass classes= in the order of the columns if labels have other names",
        )
    if labels.dtype == bool or labels.dtype == np.int64:
        return np.ascontiguousarray(labels)
    return labels.astype(np.uint8 if n_classes <= 256 else np.int64)


def soft_labels_of(labels: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Check soft or one-hot labels: (n,) in [0, 1] for binary problems, else (n, K) rows."""
    if len(shape) == 1 and labels.ndim == 2 and labels.shape[1] == 2:
        soft_labels_of(labels, (shape[0], 2))
        labels = labels[:, 1]
    if labels.shape != shape:
        raise must_be(
            "labels", f"soft labels of shape {shape}, that of `probs`", describe_shape(labels)
        )
    if labels.dtype.kind not in "fiub":
        raise must_be("labels", "numbers between 0 and 1", Words(f"{labels.dtype}"))
    _refuse_missing(labels)
    bad = first_row(~((labels >= 0) & (labels <= 1)))
    if bad >= 0:
        raise must_be("labels", "between 0 and 1", labels[bad], row=bad)
    soft = np.ascontiguousarray(labels, dtype=np.float64)
    if soft.ndim == 2:
        total = soft.sum(axis=1)
        bad = first_row(np.abs(total - 1) > SUM_TOLERANCE)
        if bad >= 0:
            raise must_be("labels", "sum to 1 in every row", total[bad], row=bad)
        if np.any(np.abs(total - 1) > 1e-15):
            soft = soft / total[:, None]
    return soft


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "O":
        return np.array([_is_missing(item) for item in labels.ravel()], bool).reshape(labels.shape)
    return np.zeros(labels.shape, bool)


def _is_missing(item: object) -> bool:
    """None, NaN and the NA of data frames: the values that do not equal themselves."""
    if item is None:
        return True
    try:
        return not bool(item == item)
    except TypeError:
        return True


def _refuse_missing(labels: NDArray[Any]) -> None:
    if labels.dtype.kind not in "fO":
        return
    bad = first_row(_missing(labels))
    if bad >= 0:
        raise must_be(
            "labels",
            "present in every row",
            Words("a missing label"),
            row=bad,
            hint="pass ignore_label=float('nan') to leave such rows out",
        )


def _named_by_numbers(classes: Sequence[Any] | None) -> bool:
    return classes is not None and not any(isinstance(name, str) for name in classes)


def _look_up(labels: NDArray[Any], classes: Sequence[Any] | None) -> NDArray[Any]:
    if classes is None:
        raise must_be(
            "labels",
            "class numbers",
            labels[0],
            row=0,
            hint="pass classes= with the names in the order of the columns of `probs`",
        )
    number = {name: k for k, name in enumerate(classes)}
    distinct, inverse = _distinct(labels)
    codes = np.array([number.get(name, -1) for name in distinct], np.int64)[inverse]
    bad = first_row(codes < 0)
    if bad >= 0:
        raise must_be("labels", "among the names in `classes`", labels[bad], row=bad)
    return codes


def _distinct(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    if labels.dtype.kind != "O":
        values, inverse = np.unique(labels, return_inverse=True)
        return values.tolist(), inverse.reshape(-1).astype(np.int64)
    seen: dict[Any, int] = {}
    inverse = np.array([seen.setdefault(item, len(seen)) for item in labels], np.int64)
    return list(seen), inverse


def _whole(labels: NDArray[Any]) -> NDArray[np.int64]:
    bad = first_row(~(labels == np.floor(labels)) | np.isinf(labels))
    if bad >= 0:
        raise must_be(
            "labels",
            "whole numbers",
            labels[bad],
            row=bad,
            hint="pass soft_labels=True if these are probabilities of the labels",
        )
    return labels.astype(np.int64)


def _first_outside(labels: NDArray[Any], n_classes: int) -> int:
    if labels.dtype.kind == "b":
        return -1
    if n_classes == 2 and labels.dtype in (np.int64, np.uint8, np.int32, np.int8):
        return engine().first_not_binary(labels)
    if labels.min() >= 0 and labels.max() < n_classes:
        return -1
    return first_row((labels < 0) | (labels >= n_classes))
