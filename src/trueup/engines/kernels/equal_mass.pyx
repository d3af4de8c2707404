"""Equal-mass edges of one column in one call, for many columns of moderate length.

The same method as `trueup.engines.native.order`, which cuts long columns for threads and has more
patience with tied scores: count on the grid, gather the cells in which cuts fall, sort those.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from trueup.engines.kernels.columns cimport score
from trueup.engines.kernels.order cimport sort_by_score

cdef extern from "score_grid.h" nogil:
    int64_t N_CELLS
    void count_in_cells(const void *p, int narrow, Py_ssize_t n, double shift, double scale,
                        int32_t *counts, uint16_t *where)


cdef struct Column:
    Py_ssize_t n
    Py_ssize_t n_bins
    uint16_t *where  # cell of each score
    int32_t *counts  # scores in each cell
    uint8_t *wanted  # whether a cell is gathered
    int64_t *start  # of each gathered cell, in order: how many scores lie below it
    int64_t *size  # of each gathered cell, in order: how many scores it holds
    Py_ssize_t gathered


def equal_mass_edges(
    const score[::1] p, double shift, double scale, Py_ssize_t n_bins, double[::1] edges
):
    """Write at most ``n_bins`` - 1 edges and return how many.

    -1: ties or heaps of scores fill the cells in which cuts fall, and sorting them would take
    long. A score's cell is that of ``(p - shift) * scale``, as in `count_cells`.
    """
    cdef Column column
    cdef Py_ssize_t n_edges = 0
    if n_bins < 1 or p.shape[0] == 0 or edges.shape[0] < n_bins - 1:
        raise ValueError("too little room")
    column.n = p.shape[0]
    column.n_bins = n_bins
    column.gathered = 0
    column.where = <uint16_t *>malloc(column.n * sizeof(uint16_t))
    column.counts = <int32_t *>calloc(N_CELLS, sizeof(int32_t))
    column.wanted = <uint8_t *>calloc(N_CELLS, sizeof(uint8_t))
    column.start = <int64_t *>malloc(2 * n_bins * sizeof(int64_t))
    column.size = <int64_t *>malloc(2 * n_bins * sizeof(int64_t))
    try:
        if not (
            column.where and column.counts and column.wanted and column.start and column.size
        ):
            raise MemoryError
        with nogil:
            n_edges = find_edges(&p[0], shift, scale, &column, &edges[0] if n_bins > 1 else NULL)
        if n_edges < -1:
            raise MemoryError
        return n_edges
    finally:
        free(column.where)
        free(column.counts)
        free(column.wanted)
        free(column.start)
        free(column.size)


cdef Py_ssize_t find_edges(
    const score *p, double shift, double scale, Column *column, double *edges
) noexcept nogil:
    cdef Py_ssize_t i, n_found = 0, n_needed = 0, n_edges
    cdef uint64_t *keys
    cdef uint64_t bits
    cdef double x
    count_in_cells(
        p, score is float, column.n, shift, scale, column.counts, column.where
    )
    choose_cells(column)
    for i in range(column.gathered):
        n_needed += column.size[i]
    if n_needed > column.n // 16:
        return -1
    keys = <uint64_t *>malloc((2 * n_needed + 2) * sizeof(uint64_t))
    if not keys:
        return -2
    for i in range(column.n):
        x = <double>p[i]
        memcpy(&bits, &x, sizeof(bits))
        keys[n_found] = bits << 1  # always written: there is no branch to mispredict
        n_found += column.wanted[column.where[i]]
    if n_found > 0:
        sort_by_score(keys, keys + n_needed + 1, n_found)
    n_edges = cut(keys, column, edges)
    free(keys)
    return n_edges


cdef void choose_cells(Column *column) noexcept nogil:
    """Gather each cell that holds the row at a cut's rank, and the filled cell before it."""
    cdef int64_t below = 0, above, before_start = 0
    cdef Py_ssize_t i = 1, before = -1, cell
    for cell in range(N_CELLS):
        if column.counts[cell] == 0:
            continue
        above = below + column.counts[cell]
        if i < column.n_bins and i * column.n // column.n_bins < above:
            if before >= 0:
                gather(column, before, before_start)
            gather(column, cell, below)
            while i < column.n_bins and i * column.n // column.n_bins < above:
                i += 1
        before, before_start, below = cell, below, above


cdef void gather(Column *column, Py_ssize_t cell, int64_t start) noexcept nogil:
    if column.wanted[cell]:
        return
    column.wanted[cell] = 1
    column.start[column.gathered] = start
    column.size[column.gathered] = column.counts[cell]
    column.gathered += 1


cdef Py_ssize_t cut(const uint64_t *keys, const Column *column, double *edges) noexcept nogil:
    """Put each cut at the nearer end of the tie group at its rank, half-way at the lower end.

    The ends of all scores are no boundaries. The edge is the last score before the cut.
    """
    cdef Py_ssize_t i, g = 0, offset = 0, at, first, last, n_edges = 0, place
    cdef int64_t n = column.n, n_bins = column.n_bins, rank, low, high
    cdef uint64_t bits
    cdef double edge
    for i in range(1, n_bins):
        rank = i * n // n_bins
        while rank >= column.start[g] + column.size[g]:
            offset += column.size[g]
            g += 1
        at = offset + (rank - column.start[g])
        first = last = at
        while first > offset and keys[first - 1] == keys[at]:
            first -= 1
        while last + 1 < offset + column.size[g] and keys[last + 1] == keys[at]:
            last += 1
        low = column.start[g] + (first - offset)
        high = column.start[g] + (last + 1 - offset)
        if low == 0 and high == n:
            return 0
        place = last
        if low > 0 and (high == n or i * n - n_bins * low <= n_bins * high - i * n):
            place = first - 1  # in this cell or, as its last score, in the one gathered before
        bits = keys[place] >> 1
        memcpy(&edge, &bits, sizeof(edge))
        if n_edges == 0 or edge > edges[n_edges - 1]:
            edges[n_edges] = edge
            n_edges += 1
    return n_edges
