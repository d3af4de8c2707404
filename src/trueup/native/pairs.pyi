import numpy as np
from numpy.typing import NDArray

PACKED_ROWS: int
TERMS: dict[str, int]

def laplace_scan(
    value: NDArray[np.float64],
    residual: NDArray[np.float64],
    start: int,
    stop: int,
    bandwidth: float,
) -> tuple[float, float, float, float, float]: ...
def median_gap(value: NDArray[np.float64]) -> float: ...
def sum_pairs(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    term: int,
    packed: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
