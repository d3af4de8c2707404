import numpy as np
from numpy.typing import NDArray

def sum_line(
    x: NDArray[np.float64],
    value: NDArray[np.float64],
    steep: float,
    out: NDArray[np.float64],
) -> None: ...
def room_for(n: int, dims: int) -> int: ...
def sum_node(
    x: NDArray[np.float64],
    value: NDArray[np.float64],
    order: NDArray[np.int32],
    start: int,
    stop: int,
    whole: bool,
    steep: float,
    space: NDArray[np.uint8],
    out: NDArray[np.float64],
) -> None: ...
