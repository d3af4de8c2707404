"""Data in addition to predictions and labels: weights, groups, features, clusters, class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.checks import is_number
from trueup.errors import Argument, InputError, Verbatim, must_be, required
from trueup.forecasts.arrays import as_floats, as_numpy, describe, is_missing, refuse
from trueup.forecasts.group_names import GroupName, in_order, numbered
from trueup.forecasts.labels import to_ignore
from trueup.forecasts.policy import FORECASTS, Policy


def same_length(name: str, array: NDArray[Any], n: int, predictions: str, hint: str = "") -> None:
    """Raise InputError unless an array has as many rows as the predictions."""
    if len(array) != n:
        rule = ("as long as ", Argument(predictions), f", which has {_count(n, 'row')}")
        raise must_be(name, rule, Verbatim(_count(len(array), "row")), hint=hint)


def weights_of(weights: object, n: int, policy: Policy = FORECASTS) -> Floats | None:
    """Check importance weights, including weights of 0."""
    if weights is None:
        return None
    name = policy.weights
    if policy.scikit_learn and is_number(weights):
        weights = [weights] * n
    given = as_floats(name, as_numpy(name, weights))
    if given.ndim != 1:
        raise must_be(name, "one number per row", describe(given))
    same_length(name, given, n, policy.probs)
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(given, dtype=np.float64)
    bad = ~((array >= 0) & np.isfinite(array))
    hint = "a weight of 0 drops a row"
    refuse(name, "finite and at least 0", given, bad, hint=hint)
    if not array.any():
        raise InputError(name, "must contain a positive value; all are zero")
    with np.errstate(over="ignore", under="ignore"):
        squares = float(array @ array)
    least = 0.0 if policy.scikit_learn else np.finfo(np.float64).tiny
    if not least <= squares < np.inf:
        rule = f"are too large or too small to square and sum; the largest is {array.max()}"
        raise InputError(name, rule, hint="divide them by the largest")
    return array


def beside(name: str, value: object, n: int, predictions: str) -> NDArray[Any] | None:
    """Read data with one entry per row, which are kept unchanged; features must be numbers."""
    if value is None:
        return None
    array = as_numpy(name, value)
    same_length(name, array, n, predictions)
    if name == "features":
        return as_floats(name, array, "encode names as numbers first")
    return array


def features_of(array: NDArray[Any] | None, rows: Ints | None) -> NDArray[Any] | None:
    """Check that features of the kept rows are finite numbers of shape (n, d)."""
    if array is None:
        return None
    if array.ndim > 2:
        raise must_be("features", "one row of numbers per sample", describe(array))
    hint = "fill missing values or drop such rows"
    refuse("features", "finite", array, ~np.isfinite(array), rows, hint)
    return array[:, None] if array.ndim == 1 else array


def rows_to_keep(labels: NDArray[Any], weights: Floats | None, ignore_label: object) -> Ints | None:
    """Return indexes of the rows that are neither ignored nor of weight 0; None if all are kept."""
    if ignore_label is None and weights is None:
        return None
    keep = np.ones(len(labels), bool)
    if ignore_label is not None:
        keep &= ~to_ignore(labels, ignore_label)
    if weights is not None:
        keep &= weights > 0
    if keep.all():
        return None
    if not keep.any():
        rule = ("No row is left after dropping ignored ", Argument("labels"), " and zero weights")
        raise InputError("labels", rule)
    return np.flatnonzero(keep)


def rows_of_groups(groups: NDArray[Any] | None, hint: str = "") -> list[tuple[Any, Ints]]:
    """Return every group with the indexes of its rows, sorted if names can be sorted."""
    if groups is None:
        set_in = ("set ", Argument("groups"), " in Forecasts.from_arrays")
        raise required("groups", hint or set_in)
    if groups.ndim != 1:
        raise must_be("groups", "one name or number per row", describe(groups))
    names, codes = numbered(groups)
    missing = [code for code, name in enumerate(names) if is_missing(name)]
    if missing:
        row = int(np.argmax(np.isin(codes, missing)))
        raise must_be("groups", "have a value in every row", groups[row], row=row)
    # Joint names as plain texts, which are what a stored result holds.
    return [
        (str(name) if isinstance(name, GroupName) else name, rows)
        for name, rows in _in_order(names, codes)
    ]


def rows_by_name(names: Sequence[Any]) -> list[tuple[Any, Ints]]:
    """Return every name with its rows, sorted if names can be sorted; None counts as no name."""
    column = np.empty(len(names), object)
    column[:] = names
    return _in_order(*numbered(column))


def _in_order(names: list[Any], codes: Ints) -> list[tuple[Any, Ints]]:
    """Return each name with the indexes of its rows."""
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
    if len(names) < np.iinfo(np.int16).max:
        codes = codes.astype(np.int16)  # NumPy sorts these by counting
    rows = np.split(np.argsort(codes, kind="stable"), ends)
    place = {name: number for number, name in enumerate(names)}
    order = in_order([name for name in names if name is not None])
    return [(name, rows[place[name]]) for name in order]


def names_of(classes: Sequence[Any] | None, n_classes: int) -> tuple[Any, ...] | None:
    """Check the class names: one for each class, all different."""
    if classes is None:
        return None
    try:
        names = tuple(name.item() if isinstance(name, np.generic) else name for name in classes)
        distinct = len(set(names))
    except TypeError:
        raise must_be("classes", f"a list of {n_classes} names", classes) from None
    if len(names) != n_classes:
        got = Verbatim(_count(len(names), "name"))
        raise must_be("classes", f"a list of {n_classes} names", got)
    if distinct != n_classes:
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise must_be("classes", "a list of different names", Verbatim(f"{twice!r} twice"))
    return names


def _count(n: int, thing: str) -> str:
    return f"1 {thing}" if n == 1 else f"{n} {thing}s"
