from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

class Lookup:
    bins: int
    def __init__(self, inner_edges: Floats) -> None: ...

class ClassTables:
    def __init__(self, n_classes: int, lookup: Lookup) -> None: ...
    def add(
        self,
        block: NDArray[Any],
        factor: Floats | None,
        labels: NDArray[np.int64],
        start: int,
        mostly_low: bool,
    ) -> int: ...
    def flush(self, totals: Floats) -> None: ...

def find(
    p: NDArray[Any], start: int, stop: int, lookup: Lookup, found: NDArray[np.int64]
) -> None: ...
def add_hard(
    p: NDArray[Any], y: NDArray[Any], start: int, stop: int, lookup: Lookup, totals: Floats
) -> bool: ...
def add_soft(
    p: NDArray[Any],
    y: Floats,
    w: Floats | None,
    start: int,
    stop: int,
    lookup: Lookup,
    totals: Floats,
) -> None: ...
def add_hard_sets(
    p: NDArray[Any], y: NDArray[Any], start: int, stop: int, lookup: Lookup, sums: Floats
) -> bool: ...
