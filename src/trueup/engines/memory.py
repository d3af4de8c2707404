"""Memory for kernels: arrays that they can read without a copy, and reusable scratch arrays.

Fresh memory must be cleared page by page at its first use, which takes longer than many sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain(array: NDArray[Any], *dtypes: Any) -> NDArray[Any]:
    """Return the array if it is contiguous and of one of these types, else a copy of the last."""
    if array.dtype in dtypes and array.flags.c_contiguous and array.flags.aligned:
        return array  # `require` takes longer to find that out
    return np.require(array, dtypes[-1], ("C", "ALIGNED"))


def plain_rows(array: NDArray[Any], *dtypes: Any) -> NDArray[Any]:
    """Return the array if its rows are contiguous and its type is one of these, else a copy."""
    if array.dtype in dtypes and array.strides[-1] == array.itemsize and array.flags.aligned:
        return array
    return np.require(array, dtypes[-1], ("C", "ALIGNED"))


def plain_scores(p: NDArray[Any]) -> NDArray[Any]:
    """Return scores as a contiguous array of float32 or float64."""
    return plain_rows(p, np.float32, np.float64)


def plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as uint8, int32, int64 or float64, without turning other values into 0 or 1."""
    kind, size = y.dtype.kind, y.dtype.itemsize
    if kind not in "bui" or not y.dtype.isnative:
        return plain_rows(y, np.float64)
    if size == 2:
        return plain_rows(y, np.int32)
    same_size = {1: np.uint8, 4: np.int32, 8: np.int64}[size]
    return plain_rows(y, y.dtype).view(same_size)


class Scratch:
    """Scratch arrays of one thread, by name; each resample overwrites those of the one before."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def empty(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """Return an uninitialized array, in the memory with this name if that is large enough."""
        held = self._held.get(name)
        if held is None or len(held) < size or held.dtype != dtype:
            held = self._held[name] = np.empty(size, dtype)
        return held[:size]


class FreshScratch(Scratch):
    """Scratch memory that is never reused, so that every array keeps its content."""

    def empty(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """Return a new uninitialized array."""
        return np.empty(size, dtype)


FRESH = FreshScratch()
