"""Fingerprints of data and versions of libraries, so that a result can be reproduced."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from trueup.forecasts import Forecasts

ROWS_AT_ONCE = 65_536


def fingerprint_of(forecasts: Forecasts) -> str:
    """Return a hash of predictions, labels, weights, groups and clusters, the same for equal data.

    Predictions are converted to float64, so the library and the type do not matter if the numbers
    are the same.
    """
    found = hashlib.sha256()
    found.update(f"{forecasts.n} {forecasts.n_classes} {forecasts.is_matrix}".encode())
    for first in range(0, forecasts.n, ROWS_AT_ONCE):
        where = slice(first, min(first + ROWS_AT_ONCE, forecasts.n))
        rows = forecasts.rows(where) if forecasts.is_matrix else forecasts.scores[where]
        found.update(np.ascontiguousarray(rows, np.float64).data)
    kind = np.float64 if forecasts.soft else np.int64
    found.update(np.ascontiguousarray(forecasts.labels, kind).data)
    for name in ("weights", "groups", "clusters", "features"):
        beside = getattr(forecasts, name)
        if beside is not None:
            found.update(name.encode())
            found.update(_bytes(beside))
    return found.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of the libraries that affect the numbers."""
    found = {"python": platform.python_version()}
    for name in ("trueup", "numpy", "scipy", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # used from a checkout that was never installed
            found[name] = "unknown"
    return found


def _bytes(values: Any) -> bytes:
    array = np.asarray(values)
    if array.dtype.kind in "iufb":
        return np.ascontiguousarray(array, np.float64).tobytes()
    return "\x1f".join(map(str, array.tolist())).encode()
