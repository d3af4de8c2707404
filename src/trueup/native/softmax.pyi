from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LANES: int
PADDING: float

def temper(
    logits: NDArray[Any],
    labels: NDArray[np.int64],
    inverse: float,
    start: int,
    stop: int,
    room: Floats,
    out: Floats,
) -> None: ...
def write_tempered(
    logits: NDArray[Any], inverse: float, start: int, stop: int, room: Floats, out: Floats
) -> None: ...
def write_scaled(
    logits: NDArray[Any], scaling: Floats, start: int, stop: int, room: Floats, out: Floats
) -> None: ...
def add_scaled(
    logits: NDArray[Any],
    labels: NDArray[np.int64],
    weight: Floats | None,
    scaling: Floats,
    start: int,
    stop: int,
    room: Floats,
    out: Floats,
    sums: Floats,
) -> None: ...
def add_product(
    logits: NDArray[Any],
    weight: Floats | None,
    log_total: Floats,
    scaling: Floats,
    direction: Floats,
    start: int,
    stop: int,
    room: Floats,
    sums: Floats,
) -> None: ...
