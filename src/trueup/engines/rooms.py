"""Memory that is used again: fresh memory must be cleared first, page by page, at its first use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Room:
    """Arrays of one thread, by name; what one resample wrote there is lost to the next."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def empty(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """An array of any content, in the memory that had this name before if it is enough."""
        held = self._held.get(name)
        if held is None or len(held) < size or held.dtype != dtype:
            held = self._held[name] = np.empty(size, dtype)
        return held[:size]


class FreshRoom(Room):
    """No room: every array is its own, and stays."""

    def empty(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """A new array of any content."""
        return np.empty(size, dtype)


FRESH = FreshRoom()
