"""Conversion of results, tables and evaluations to JSON and back.

`plain` is for other programs: NaN and infinity become null, and a date becomes text. `written` is
lossless: values that JSON lacks become an object with one key, and `read_back` restores them by the
types of the fields. A class therefore only declares its fields.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from trueup.errors import InputError, must_be

PLAIN = (int, float, str, bool)
LEFT_OUT: Mapping[str, Any] = types.MappingProxyType({"left_out": True})
"""Metadata of a field that is not written, such as the draws of a test."""
NOT_FINITE = "$number"  # JSON has neither infinity nor NaN
DATE, TIME = "$date", "$time"  # nor days, which groups and classes may be named by
PAIRS = "$pairs"  # nor keys that are no text, such as the number of a class

KINDS: dict[str, type[Stored]] = {}


class Stored:
    """Base class of dataclasses that store their ``kind`` in JSON, such as tables."""

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            KINDS[cls.kind] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that `from_dict` reads back, ready for JSON.

        Returns
        -------
        dict
            The fields by name.
        """
        return fields_of(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote.

        Parameters
        ----------
        data : dict
            Output of `to_dict`.

        Returns
        -------
        object
            An instance of this class.
        """
        check_entries(data, _needed(cls))
        found: Self = _from_fields(cls, data)
        return found


def check_entries(data: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise InputError unless all entries are there."""
    missing = sorted(name for name in names if name not in data)
    if missing:
        rule = f"is not a dictionary from `to_dict`: {missing[0]!r} is missing"
        raise InputError("data", rule)


def plain(value: Any) -> Any:
    """Convert a value, and everything inside it, to plain JSON types.

    JSON has neither NaN nor infinity: both are None. Numbers and arrays of NumPy become Python's,
    tuples become lists, and other types, such as a date, become text.

    >>> plain({"high": math.inf, "n": np.int64(3), "edges": np.array([0.5, math.nan])})
    {'high': None, 'n': 3, 'edges': [0.5, None]}
    """
    return _encoded(value, exact=False)


def written(value: Any) -> Any:
    """Convert a value to JSON types without loss, so that `read_back` can restore it.

    >>> written((1.5, math.inf, None))
    [1.5, {'$number': 'inf'}, None]
    """
    return _encoded(value, exact=True)


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, with arrays and nested values as JSON types."""
    return {name: _listed(getattr(value, name)) for name in stored_names(value)}


def stored_names(value: Any) -> list[str]:
    """Return the names of the fields that are written."""
    return [field.name for field in fields(value) if not field.metadata.get("left_out")]


def _listed(value: Any) -> Any:
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _encoded(value: Any, exact: bool) -> Any:
    if isinstance(value, Mapping):
        if exact and not all(isinstance(key, str) for key in value):
            return {PAIRS: [[written(key), written(item)] for key, item in value.items()]}
        # Numbers stay what they are, so that one finds them again.
        keys = (key.item() if isinstance(key, np.generic) else key for key in value)
        return {key: _encoded(item, exact) for key, item in zip(keys, value.values(), strict=True)}
    if isinstance(value, list | tuple):
        return [_encoded(item, exact) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _encoded(value.tolist(), exact)
    if isinstance(value, float) and not math.isfinite(value):
        return {NOT_FINITE: str(value)} if exact else None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if not exact and hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Stored) and value.kind:
        return {"kind": value.kind, **written(fields_of(value))}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _encoded(getattr(value, name), exact) for name in stored_names(value)}
    if isinstance(value, date) and exact:
        return {TIME if isinstance(value, datetime) else DATE: value.isoformat()}
    return str(value)


def read_back(kind: Any, value: Any) -> Any:
    """Return the value of a given type from the output of `written`.

    >>> read_back(tuple[float, ...], [1.5, {"$number": "inf"}])
    (1.5, inf)
    """
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        first = next(each for each in inside if each is not type(None))
        return None if value is None else read_back(first, value)
    if origin is tuple:
        kinds = [inside[0]] * len(value) if inside[-1] is Ellipsis else inside
        return tuple(read_back(each, item) for each, item in zip(kinds, value, strict=True))
    if origin in (dict, Mapping):
        return {key: read_back(inside[1], item) for key, item in value.items()}
    if origin is np.ndarray:
        (scalar,) = get_args(inside[1])
        return column_of(_loose(value)) if scalar is Any else np.array(_loose(value), scalar)
    if isinstance(kind, type) and issubclass(kind, Stored):
        return _stored(value, kind.kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _from_fields(kind, value)
    if kind is Any and isinstance(value, Mapping) and value.get("kind") in KINDS:
        return _stored(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    read = _loose(value)
    if kind in PLAIN and type(read) is not kind:
        raise TypeError(f"{type(read).__name__} instead of {kind.__name__}")
    return read


def _stored(value: Mapping[str, Any], kind: str = "") -> Any:
    inside = dict(value)
    kind = inside.pop("kind", kind)
    if kind not in KINDS:
        raise must_be("table", f"have a kind among {', '.join(KINDS)}", kind)
    return _from_fields(KINDS[kind], inside)


def _from_fields(kind: Any, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise must_be(kind.__name__, "a mapping", value)
    missing = [name for name in _needed(kind) if name not in value]
    if missing:
        raise InputError(kind.__name__, f"must have an entry {missing[0]!r}")
    hints = _hints(kind)
    known = [field.name for field in fields(kind) if field.name in value]
    return kind(**{name: read_back(hints[name], value[name]) for name in known})


def _needed(kind: Any) -> list[str]:
    """Names of the fields that have no default."""
    without = (MISSING, MISSING)
    return [each.name for each in fields(kind) if (each.default, each.default_factory) == without]


_hints = cache(get_type_hints)


def column_of(values: list[Any]) -> NDArray[Any]:
    """Return an array from the output of `written`; mixed types keep their types."""
    kinds = set(map(type, values))
    if len(kinds) <= 1 and kinds <= {bool, int, float, complex, str, bytes}:
        array = np.array(values)
        if set(map(type, array.tolist())) == kinds:  # not so for very large whole numbers
            return array
    return np.fromiter(values, object, len(values))


def _loose(value: Any) -> Any:
    """Return a value without a declared type, with its infinities and NaN."""
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
