"""Frozen values as JSON and back, without losing anything: guided by the types of their fields."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from trueup.errors import InputError, must_be
from trueup.tables import BinTable, CellTable, Columns, Curve, TableFamily

__all__ = ["Table", "column_of", "read_back", "written"]

Table = BinTable | TableFamily | CellTable | Curve | Columns

TABLES: dict[str, type[Any]] = {
    "bins": BinTable,
    "family": TableFamily,
    "cells": CellTable,
    "curve": Curve,
    "columns": Columns,
}
NOT_FINITE = "$number"  # JSON has neither infinity nor NaN
DATE, TIME = "$date", "$time"  # nor days, which groups and classes may be named by
PAIRS = "$pairs"  # nor keys that are no text, such as the number of a class


def written(value: Any) -> Any:
    """Return a value as JSON can hold it, so that `read_back` finds the same value in it.

    >>> written((1.5, math.inf, None))
    [1.5, {'$number': 'inf'}, None]
    """
    if isinstance(value, Columns):
        kind = "curve" if isinstance(value, Curve) else "columns"
        return {"kind": kind, "data": {name: written(col) for name, col in value.data.items()}}
    for kind, table in TABLES.items():
        if type(value) is table:
            return {"kind": kind, **written(value.to_dict())}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: written(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: written(item) for key, item in value.items()}
        return {PAIRS: [[written(key), written(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [written(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return written(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return {NOT_FINITE: str(value)}
    if isinstance(value, date):
        return {TIME if isinstance(value, datetime) else DATE: value.isoformat()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def read_back(kind: Any, value: Any) -> Any:
    """Return the value of a type that `written` wrote.

    >>> read_back(tuple[float, ...], [1.5, {"$number": "inf"}])
    (1.5, inf)
    """
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(inside, value)
    if origin is tuple:
        kinds = [inside[0]] * len(value) if inside[-1] is Ellipsis else inside
        return tuple(read_back(each, item) for each, item in zip(kinds, value, strict=True))
    if origin is dict:
        return {key: read_back(inside[1], item) for key, item in value.items()}
    if kind in TABLES.values():
        return _table(value)
    if is_dataclass(kind) and isinstance(kind, type):
        _check_fields(kind, value)
        hints = get_type_hints(kind)
        known = [field.name for field in fields(kind) if field.name in value]
        return kind(**{name: read_back(hints[name], value[name]) for name in known})
    if kind is Any and isinstance(value, Mapping) and value.get("kind") in TABLES:
        return _table(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _loose(value)


def _check_fields(kind: Any, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise must_be(kind.__name__, "a mapping", value)
    for each in fields(kind):
        needed = each.default is MISSING and each.default_factory is MISSING
        if needed and each.name not in value:
            raise InputError(kind.__name__, f"must have an entry {each.name!r}")


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping) and "kind" in value:
        return _table(value)
    first = next(kind for kind in kinds if kind is not type(None))
    return read_back(first, value)


def _table(value: Mapping[str, Any]) -> Any:
    inside = dict(value)
    kind = inside.pop("kind", None)
    if kind not in TABLES:
        raise must_be("table", f"have a kind among {', '.join(TABLES)}", kind)
    table = TABLES[kind]
    if issubclass(table, Columns):
        return table({name: column_of(_loose(col)) for name, col in inside["data"].items()})
    return table.from_dict(_loose(inside))


def column_of(values: list[Any]) -> NDArray[Any]:
    """Return an array that gives the values back; those of several types stay what they are."""
    array = np.array(values)
    if (
        array.ndim == 1
        and array.dtype.kind != "M"
        and list(map(type, array.tolist())) == list(map(type, values))
    ):
        return array
    kept = np.empty(len(values), object)
    kept[:] = values
    return kept


def _loose(value: Any) -> Any:
    """Return a value of no stated type, with its infinities and NaN."""
    if isinstance(value, Mapping):
        if set(value) == {NOT_FINITE}:
            return float(value[NOT_FINITE])
        if set(value) == {DATE}:
            return date.fromisoformat(value[DATE])
        if set(value) == {TIME}:
            return datetime.fromisoformat(value[TIME])
        if set(value) == {PAIRS}:
            return {_loose(key): _loose(item) for key, item in value[PAIRS]}
        return {key: _loose(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_loose(item) for item in value]
    return value
