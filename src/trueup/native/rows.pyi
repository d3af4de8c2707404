from typing import Any

import numpy as np
from numpy.typing import NDArray

def first_outside_unit(values: NDArray[Any], start: int, stop: int) -> int: ...
def first_not_binary(labels: NDArray[Any], start: int, stop: int) -> int: ...
def scan(
    block: NDArray[Any],
    start: int,
    total: NDArray[np.float64],
    top: NDArray[np.float64],
    top_class: NDArray[np.int32],
) -> int: ...
def scaled_columns(
    block: NDArray[Any], factor: NDArray[np.float64] | None, out: NDArray[np.float64]
) -> None: ...
