from typing import Any

import numpy as np
from numpy.typing import NDArray

def count_labels(
    limit: NDArray[np.uint64],
    even: NDArray[np.uint32],
    odd: NDArray[np.uint32],
    start: NDArray[np.int64],
    key: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None: ...
def add_classes(
    limit: NDArray[np.uint64],
    place: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    first: int,
    key: NDArray[np.uint64],
    totals: NDArray[Any],
) -> None: ...
def draw_labels(limit: NDArray[np.uint64], key: int, labels: NDArray[np.uint8]) -> None: ...
def draw_hits(
    limit: NDArray[np.uint64], code: NDArray[np.int32], key: int, hits: NDArray[np.int64]
) -> None: ...
def draw_classes(
    limit: NDArray[np.uint64], key: int, first: int, labels: NDArray[np.int64]
) -> None: ...
def draw_rows(key: int, rows: NDArray[np.int64]) -> None: ...
def regroup_rows(
    value: NDArray[np.float64],
    code: NDArray[np.int32],
    key: int,
    times: NDArray[np.uint32],
    kept: NDArray[np.float64],
    count: NDArray[np.int64],
    positive: NDArray[np.int64],
) -> int: ...
