"""Rows by blocks that fit a cache, so that no matrix is ever copied whole."""

from __future__ import annotations

from collections.abc import Iterator

ENTRIES = 1 << 18


def row_blocks(n: int, columns: int) -> Iterator[slice]:
    """Cut range(n) into runs of rows with at most 2^18 entries in ``columns`` columns."""
    size = max(1, ENTRIES // max(1, columns))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
