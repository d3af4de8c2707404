"""Types of arrays, and of functions that read them, by the names used throughout the package.

A name states what an array holds but not its shape, which is in the docstring or comment next to
it. Scores and logits come in two types (float32 and float64), and so do matrices of them: these are
annotated as ``NDArray[Any]``.

They are for annotations only; nothing checks the types at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Floats", "Ints", "Read"]

Floats = NDArray[np.float64]
"""Probabilities, sums, weights."""

Ints = NDArray[np.int64]
"""Counts, class numbers, places in an array."""

Bits = NDArray[np.uint64]
"""Hashes, keys of resamples, and limits below which a hash draws a label."""

Read = Callable[[int, int], NDArray[Any]]
"""``read(start, stop)`` returns these rows as a C-contiguous float32 or float64 matrix."""
