"""A check that columns of pandas list the same rows in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trueup.errors import Argument, InputError


def refuse_other_order(probs: object, others: Mapping[str, object]) -> None:
    """Raise InputError if a column has the index of the predictions in another order.

    Columns are paired by position. If two indexes hold the same entries in different orders, the
    caller may have meant to pair rows by entry. If the indexes hold different entries, such as that
    of a test set and a new one that starts at 0, the order cannot be checked.
    """
    index = _index_of(probs)
    if index is None:
        return
    for name, column in others.items():
        other = _index_of(column)
        if other is None or len(other) != len(index) or not _reordered(index, other):
            continue
        rule = ("has the index of ", Argument("probs"), " in another order")
        hint = "give both the same index, or pass .to_numpy() if the rows are in the same order"
        raise InputError(name, rule, hint=hint)


def _reordered(one: Any, other: Any) -> bool:
    """Return whether two equally long indexes hold the same unique entries in different orders."""
    if one is other or one.equals(other):
        return False
    try:
        if not (one.is_unique and other.is_unique):
            return False
        return bool(one.isin(other).all())
    except TypeError:  # entries that cannot be compared
        return False


def _index_of(column: object) -> Any:
    """Return the index of a pandas Series or DataFrame; None for anything else."""
    homes = {base.__module__.partition(".")[0] for base in type(column).__mro__}
    return getattr(column, "index", None) if "pandas" in homes else None
