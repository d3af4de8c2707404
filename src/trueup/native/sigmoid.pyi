import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

def add_sums(
    covariates: Floats,
    targets: Floats,
    weights: Floats | None,
    point: Floats,
    squared: bool,
    start: int,
    stop: int,
    sums: Floats,
) -> None: ...
