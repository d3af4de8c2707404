"""How fast a kernel falls: e^{−steepness·distance}, of the L1 or the squared Euclidean distance."""

from __future__ import annotations

import numpy as np

WITHIN = np.finfo(np.float64)


def steepness(scale: float, kernel: str) -> float:
    """1/h of the Laplacian, 1/(2γ²) of the Gaussian kernel.

    Never 0 or infinite, however large or small the scale: 0 times it is 0, infinity times it
    infinite.
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        exact = np.float64(0.5) / scale / scale if kernel == "gaussian" else 1 / np.float64(scale)
    return float(min(max(exact, WITHIN.tiny), WITHIN.max))
