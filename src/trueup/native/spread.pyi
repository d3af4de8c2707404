from typing import Any

import numpy as np
from numpy.typing import NDArray

def add_rows(
    p: NDArray[Any],
    y: NDArray[Any],
    w: NDArray[np.float64] | None,
    start: int,
    stop: int,
    size: int,
    totals: NDArray[np.float64],
) -> None: ...
def add_residuals(
    p: NDArray[Any],
    y: NDArray[Any],
    w: NDArray[np.float64] | None,
    start: int,
    stop: int,
    size: int,
    totals: NDArray[np.float64],
) -> None: ...
def add_terms(
    p: NDArray[np.float64],
    term: NDArray[np.float64],
    moments: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None: ...
