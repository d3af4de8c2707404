import numpy as np
from numpy.typing import NDArray

def add_up(
    count: NDArray[np.int64],
    positive: NDArray[np.int64],
    rows: NDArray[np.int32],
    hits: NDArray[np.int32],
) -> int: ...
def find_dents(
    count: NDArray[np.int64], positive: NDArray[np.int64], next_dent: NDArray[np.int32]
) -> int: ...
def index_rows(rows: NDArray[np.int32], shift: int, index: NDArray[np.int32]) -> None: ...
def first_falling_of_few(
    rows: NDArray[np.int32],
    hits: NDArray[np.int32],
    index: NDArray[np.int32],
    shift: int,
    most: int,
) -> int: ...
def first_falling(
    rows: NDArray[np.int32],
    hits: NDArray[np.int32],
    next_dent: NDArray[np.int32],
    index: NDArray[np.int32],
    shift: int,
    tried: int,
    most: int,
) -> int: ...
def start_bins(
    rows: NDArray[np.int32],
    index: NDArray[np.int32],
    shift: int,
    b: int,
    starts: NDArray[np.int64],
) -> int: ...
