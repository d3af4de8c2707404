from typing import Any

import numpy as np
from numpy.typing import NDArray

N_CELLS: int

def count_cells(
    p: NDArray[Any],
    shift: float,
    scale: float,
    counts: NDArray[np.int32],
    where: NDArray[np.uint16] | None,
) -> None: ...
def locate_cells(
    p: NDArray[np.float64], shift: float, scale: float, cells: NDArray[np.int64]
) -> None: ...
def gather(
    p: NDArray[Any],
    where: NDArray[np.uint16],
    wanted: NDArray[np.uint8],
    slot: NDArray[np.int32] | None,
    atom: NDArray[np.float64] | None,
    found: NDArray[np.float64],
) -> int: ...
def write_keys(p: NDArray[Any], y: NDArray[np.uint8], keys: NDArray[np.uint64]) -> None: ...
def scatter_keys(
    p: NDArray[Any],
    y: NDArray[np.uint8],
    shift: float,
    scale: float,
    part: NDArray[np.uint16],
    place: NDArray[np.int64],
    keys: NDArray[np.uint64],
) -> None: ...
def sort_keys(keys: NDArray[np.uint64], spare: NDArray[np.uint64]) -> int: ...
def fill_groups(
    keys: NDArray[np.uint64],
    value: NDArray[np.uint64],
    count: NDArray[np.int64],
    positive: NDArray[np.int64],
) -> None: ...
