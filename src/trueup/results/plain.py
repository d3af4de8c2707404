"""Values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, and everything inside it.

    JSON has neither NaN nor infinity: both are None. Numbers and arrays of NumPy become Python's,
    tuples become lists, and what JSON does not know, such as a date, becomes its text.

    >>> plain({"high": math.inf, "n": np.int64(3), "edges": np.array([0.5, math.nan])})
    {'high': None, 'n': 3, 'edges': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _key(key: Any) -> Any:
    """Numbers stay what they are, so that one finds them again."""
    return key.item() if isinstance(key, np.generic) else key
