"""Results as plain leaves under keys that no name in the library enters."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

MOST_VALUES = 2000
"""Longer arrays are kept as a checksum of all values and this many of them."""

Entries = dict[str, Any]


class Record:
    """Entries of one run: `record(key, function, …)` calls the function and keeps the result.

    Numbers are JSON numbers, which Python writes with as many digits as tell them apart, so equal
    text means equal bits.
    """

    def __init__(self) -> None:
        self.entries: Entries = {}

    def __call__(self, key: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function; keep and return its result, or keep the error it raises."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function(*args, **kwargs)
        except Exception as error:
            self._add(key, f"raises {type(error).__name__}")
            self._add(f"{key}/message", str(error))
            return None
        self.keep(key, result)
        return result

    def keep(self, key: str, value: object) -> None:
        """Keep a value, flattened to its leaves."""
        for path, leaf in leaves(key, value):
            self._add(path, leaf)

    def _add(self, key: str, leaf: object) -> None:
        if key in self.entries:
            raise ValueError(f"two entries have the key {key!r}")
        self.entries[key] = leaf

    def write(self, path: Path) -> None:
        """Write the entries as JSON, one entry per line."""
        lines = (f"{json.dumps(key)}: {json.dumps(leaf)}" for key, leaf in self.entries.items())
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (path, leaf) for every scalar and every array inside a value."""
    if isinstance(value, np.ndarray):
        if value.dtype not in (np.float64, np.int64, np.bool_) and value.dtype.kind not in "OU":
            yield f"{key}/dtype", str(value.dtype)
        yield from leaves(key, value.tolist())
    elif isinstance(value, np.generic):
        yield from leaves(key, value.item())
    elif hasattr(value, "to_dict"):
        yield from leaves(key, value.to_dict())
    elif hasattr(value, "_asdict"):
        yield from leaves(key, value._asdict())
    elif is_dataclass(value):
        yield from leaves(key, {each.name: getattr(value, each.name) for each in fields(value)})
    elif isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from leaves(f"{key}/{name}", item)
    elif isinstance(value, list | tuple):
        yield from _leaves_of_list(key, value)
    elif value is None or isinstance(value, bool | int | float | str):
        yield key, value
    else:
        yield key, str(value)


def _leaves_of_list(key: str, values: list[Any] | tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    if not _is_array(values):
        for place, item in enumerate(values):
            yield from leaves(f"{key}/{place}", item)
        return
    flat = list(scalars(values))
    if len(flat) <= MOST_VALUES:
        yield key, values
    else:
        shown = np.linspace(0, len(flat) - 1, MOST_VALUES).astype(int).tolist()
        yield key, [flat[place] for place in shown]
        yield f"{key}/sha256", hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _is_array(values: Any) -> bool:
    """Whether a list holds scalars and lists of them only."""
    if isinstance(values, list | tuple):
        return all(map(_is_array, values))
    return values is None or type(values) in (bool, int, float, str)


def scalars(values: Any) -> Iterator[Any]:
    """Yield the scalars of nested lists in their order."""
    if isinstance(values, list | tuple):
        for item in values:
            yield from scalars(item)
    else:
        yield values
