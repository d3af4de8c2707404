import numpy as np
from numpy.typing import NDArray

def absolute_area(height: NDArray[np.float64]) -> float: ...
