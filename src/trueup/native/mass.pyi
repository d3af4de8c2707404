from typing import Any

import numpy as np
from numpy.typing import NDArray

def equal_mass_edges(
    p: NDArray[Any], shift: float, scale: float, n_bins: int, edges: NDArray[np.float64]
) -> int: ...
