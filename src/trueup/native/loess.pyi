import numpy as np
from numpy.typing import NDArray

def fit_quadratics(
    value: NDArray[np.float64],
    weight: NDArray[np.float64],
    label: NDArray[np.float64],
    at: NDArray[np.float64],
    width: NDArray[np.float64],
    flat: float,
    start: int,
    stop: int,
    fit: NDArray[np.float64],
) -> None: ...
