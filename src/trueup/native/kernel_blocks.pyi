import numpy as np
from numpy.typing import NDArray

POINTS: int
QUERIES: int

def sum_pairs(
    place: NDArray[np.float64],
    value: NDArray[np.float64],
    query: NDArray[np.float64],
    blocks: NDArray[np.int64],
    steep: float,
    gaussian: bool,
    out: NDArray[np.float64],
    nearest: NDArray[np.float64] | None,
) -> None: ...
