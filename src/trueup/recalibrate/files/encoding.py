"""Parameters and fitted values of a recalibrator as JSON and back, without loss.

null, true, numbers, strings and lists are written directly. Everything else is an object with one
key, which names its type:

====================  =============================================================================
``float``             "nan", "inf" or "-inf"
``tuple``, ``dict``   a list; an object
``array``             ``dtype``, ``shape``, ``order`` ("F" if columns come first), and one of
                      ``values`` (in a row), ``base64`` (little-endian bytes), ``tensor`` (a number)
``scalar``            a NumPy number, as an array with one entry
``text``, ``objects`` arrays of strings or plain values: ``shape``, ``items``
``recalibrator``      ``class``, ``parameters`` and ``learned``
====================  =============================================================================

A file can name only the public recalibrators; nothing else that it names is imported or called.
"""

from __future__ import annotations

import base64
import math
import re
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import must_be

DEEPEST = 20
"""Levels of lists in lists that are written and read."""
MOST_AXES = 8
DTYPE = re.compile(r"\|b1|[|<][iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,6}")
PLAIN = "plain values: numbers, strings, arrays, lists, dictionaries with strings as keys"


@cache
def recalibrators() -> dict[str, Any]:
    """Every public recalibrator by its name: the only classes that a file can name."""
    public = import_module("trueup.recalibrate")  # which imports this module
    named = {name: getattr(public, name) for name in public.__all__}
    base = named.pop("Recalibrator")
    kinds = (kind for kind in named.values() if isinstance(kind, type))
    return {kind.__name__: kind for kind in kinds if issubclass(kind, base)}


def is_recalibrator(value: object) -> bool:
    """Return whether a value is a recalibrator of this library, not of a derived class."""
    return recalibrators().get(type(value).__name__) is type(value)


class Encoder:
    """Writer of values as JSON; with ``beside``, arrays go into ``tensors`` instead."""

    def __init__(self, *, beside: bool) -> None:
        self.beside = beside
        self.tensors: list[NDArray[Any]] = []

    def recalibrator(self, value: Any, depth: int = 0) -> dict[str, Any]:
        """Return class, parameters and fitted values."""
        told = value.get_params(deep=False)
        learned = {name: item for name, item in vars(value).items() if is_learned(name)}
        return {
            "class": type(value).__name__,
            "parameters": self._named(told, depth),
            "learned": self._named(learned, depth),
        }

    def _named(self, values: dict[str, Any], depth: int) -> dict[str, Any]:
        return {name: self.value(item, name, depth + 1) for name, item in values.items()}

    def value(self, value: Any, name: str, depth: int) -> Any:
        """Return the JSON of one value; ``name`` is for error messages."""
        if depth > DEEPEST:
            raise must_be(name, f"nested at most {DEEPEST} levels deep, to be saved", type(value))
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), name)}
        if isinstance(value, np.ndarray):
            return self._any_array(np.asarray(value), name, depth)
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return [self.value(item, name, depth + 1) for item in value]
        if type(value) is tuple:
            return {"tuple": [self.value(item, name, depth + 1) for item in value]}
        if type(value) is dict and all(type(key) is str for key in value):
            return {"dict": self._named(value, depth)}
        if is_recalibrator(value):
            return {"recalibrator": self.recalibrator(value, depth)}
        raise must_be(name, f"contain only {PLAIN}, to be saved", value)

    def _any_array(self, array: NDArray[Any], name: str, depth: int) -> dict[str, Any]:
        shape, flat = list(array.shape), array.reshape(-1)
        if array.dtype.kind == "O":
            items = [self.value(item, name, depth + 1) for item in flat.tolist()]
            return {"objects": {"shape": shape, "items": items}}
        if array.dtype.kind == "U" and text_width(flat.tolist()) * 4 == array.itemsize:
            return {"text": {"shape": shape, "items": flat.tolist()}}
        return {"array": self._array(array, name)}

    def _array(self, array: NDArray[Any], name: str) -> dict[str, Any]:
        kind = array.dtype.newbyteorder("<")
        if not DTYPE.fullmatch(kind.str) or array.ndim > MOST_AXES:
            raise must_be(name, f"contain only {PLAIN}, to be saved", array)
        columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
        rows = np.ascontiguousarray(array.T if columns_first else array, dtype=kind)
        form: dict[str, Any] = {"dtype": kind.str, "shape": list(array.shape)}
        if columns_first:
            form["order"] = "F"
        if self.beside:
            form["tensor"] = len(self.tensors)
            text = kind.kind == "U"
            self.tensors.append(np.frombuffer(rows.tobytes(), np.uint8) if text else rows)
        elif kind.kind in "biu" or (kind.kind == "f" and np.isfinite(rows).all()):
            form["values"] = rows.reshape(-1).tolist()
        else:
            form["base64"] = base64.b64encode(rows.tobytes()).decode()
        return form


def text_width(items: list[str]) -> int:
    """Return the length of the longest string; 0 if an array of that width were mostly empty."""
    width = max((len(item) for item in items), default=1) or 1
    written = sum(len(item) + 1 for item in items)
    return width if width * len(items) <= 4 * written else 0


def is_learned(name: str) -> bool:
    """Return whether a name is that of a fitted attribute, which ends in one underscore: `fit_`."""
    good = name.endswith("_") and not name.endswith("__") and not name.startswith("_")
    return good and name.isidentifier()
