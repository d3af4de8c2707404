"""Whether two values are bit-for-bit identical, with their types and layout in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, BaseEstimator):
        return same(shown(a), shown(b))
    if isinstance(a, np.ndarray):
        return same_array(a, b)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return bool(a == b)


def shown(estimator: BaseEstimator) -> dict[str, Any]:
    """Its parameters and what it learned."""
    return {name: value for name, value in vars(estimator).items() if not name.startswith("_")}


def same_array(a: np.ndarray, b: np.ndarray) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if (a.flags.f_contiguous, a.flags.c_contiguous) == (True, False) and not b.flags.f_contiguous:
        return False
    if a.dtype.kind == "O":
        return same(a.reshape(-1).tolist(), b.reshape(-1).tolist())
    return a.tobytes() == b.tobytes() and b.flags.writeable and b.flags.aligned
