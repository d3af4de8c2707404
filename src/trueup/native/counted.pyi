import numpy as np
from numpy.typing import NDArray

def residuals(
    value: NDArray[np.float64],
    count: NDArray[np.int64],
    positive: NDArray[np.int64],
    residual: NDArray[np.float64],
) -> None: ...
def extreme_sums(terms: NDArray[np.float64], width: int) -> tuple[float, float]: ...
def sum_bins(
    terms: NDArray[np.float64], starts: NDArray[np.int64], sums: NDArray[np.float64]
) -> None: ...
