from typing import Any

import numpy as np
from numpy.typing import NDArray

def pool(
    weight: NDArray[Any],
    label: NDArray[Any],
    start: NDArray[np.int64],
    block_weight: NDArray[Any],
    block_label: NDArray[Any],
) -> int: ...
def pool_added(
    mass: NDArray[Any],
    hits: NDArray[Any],
    following: NDArray[np.int64],
    stack: NDArray[np.int64],
    block_mass: NDArray[Any],
    block_hits: NDArray[Any],
) -> None: ...
