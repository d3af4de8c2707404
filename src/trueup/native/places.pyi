import numpy as np
from numpy.typing import NDArray

def sort_places(x: NDArray[np.float64], places: NDArray[np.int32]) -> None: ...
