"""Rules for splitting rows into blocks that fit a cache, and into chunks for threads.

Cuts depend on the size of the data alone, never on the number of threads: sums of chunks, added
in order, are then bit-for-bit identical on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

ENTRIES = 1 << 18  # of a block; two megabytes of float64
MOST_CHUNKS = 64
Chunk = tuple[int, int]


def row_blocks(n: int, columns: int) -> Iterator[slice]:
    """Cut range(n) into runs of rows with at most 2^18 entries in ``columns`` columns."""
    return (slice(*chunk) for chunk in steps(n, max(1, ENTRIES // max(1, columns))))


def steps(n: int, size: int) -> list[Chunk]:
    """Cut range(n) into runs of ``size`` items; the last may be shorter."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def cut(n: int, smallest: int) -> list[Chunk]:
    """Cut range(n) into at most 64 even chunks of at least ``smallest`` items each.

    Fewer than ``smallest`` items are one chunk.
    """
    pieces = max(1, min(MOST_CHUNKS, n // max(1, smallest)))
    return [(n * i // pieces, n * (i + 1) // pieces) for i in range(pieces)]
