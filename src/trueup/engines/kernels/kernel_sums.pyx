"""Sums of a kernel over pairs of queries and points: by brute force, and by divide and conquer.

`sum_pairs` sums over all pairs, blocks of points at a time; its loops are in block_sums.h.

`sum_line` and `sum_node` are exact sums Σ_j e^{−|x_i − x_j|₁/h} v_j of up to four coordinates, in
O(n log^{d−1} n). Points stand in the order of coordinate 0. They are split in the middle of that
order. For a pair of points on both sides of the plane the kernel is a product of a factor of each
point. So pairs across are those of a problem with one coordinate less, of two sides. That
problem is split in the middle of its own first coordinate: pairs across are again two problems of
two sides, the lower points of one side with the upper points of the other. In the last coordinate
two scans, up and down, carry the sums of both sides. Pairs that no plane parts meet in small
leaves. `divided_levels` has the memory of these problems, divided_sums.h the loops.

Every call works on one thread and releases the interpreter; `trueup.engines.native.kernel_sums`
packs the points, cuts the queries and says which calls there are.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

from trueup.engines.kernels.divided_levels cimport (
    MOST_DIMENSIONS,
    Level,
    Workspace,
    keep_range,
    lay_out,
    part_order,
    scanned_point,
)

cdef extern from "block_sums.h" nogil:
    enum:
        BLOCK_POINTS
        QUERIES_AT_ONCE
    ctypedef struct packed_points:
        const double *place
        const double *value
        Py_ssize_t dims
        Py_ssize_t columns
        double steep
        int relative
    void add_blocks(
        const packed_points *points, int gaussian, Py_ssize_t first, Py_ssize_t last,
        const double *query, Py_ssize_t rows, double *sum, double *nearest
    )

cdef extern from "divided_sums.h" nogil:
    enum:
        LEAF_POINTS
        SIDE_POINTS
    void decays(const double *x, Py_ssize_t n, double at, double steep, double *out)
    void gaps(const double *x, Py_ssize_t n, double steep, double *out)
    void meet_all(
        const double **x, int dims, Py_ssize_t n, const double *value, double steep, double *out
    )
    void meet_sides(
        const double **x, int dims, Py_ssize_t n, const double *value, const uint8_t *side,
        double steep, double *out
    )
    void scan_sides(
        const int32_t *index, Py_ssize_t n, int32_t middle, const double *gap,
        const scanned_point *point, double *sum
    )
    void scan_line(Py_ssize_t n, const double *gap, const double *value, double *out)

cdef enum:
    NEITHER = 2  # a bit: so far from the plane that its weight is 0

POINTS = BLOCK_POINTS
QUERIES = QUERIES_AT_ONCE


def sum_pairs(
    const double[:, :, ::1] place,
    const double[:, :, ::1] value,
    const double[:, ::1] query,
    const int64_t[:, ::1] blocks,
    double steep,
    bint gaussian,
    double[:, ::1] out,
    double[::1] nearest,
):
    """Write the sums of every query; ``nearest`` not None: relative to its nearest point.

    Packed points are (blocks, coordinates, POINTS), their values (blocks, columns, POINTS).
    Row i of ``blocks`` says from where to where the i-th QUERIES queries look.
    """
    cdef Py_ssize_t rows = query.shape[0], columns = value.shape[1], dims = query.shape[1]
    cdef Py_ssize_t start, many, i, c, tile
    cdef packed_points points
    cdef double[::1] sums = np.empty(QUERIES_AT_ONCE * columns * BLOCK_POINTS)
    cdef double[::1] least = np.empty(QUERIES_AT_ONCE)
    cdef double *lane
    if place.shape[1] != dims or place.shape[2] != BLOCK_POINTS or not dims or not columns:
        raise ValueError("points packed, of as many coordinates as the queries")
    if value.shape[0] != place.shape[0] or value.shape[2] != BLOCK_POINTS:
        raise ValueError("values packed as the points are")
    if out.shape[0] != rows or out.shape[1] != columns:
        raise ValueError("a place for every sum")
    if nearest is not None and nearest.shape[0] != rows:
        raise ValueError("a place for every distance")
    if blocks.shape[0] * QUERIES_AT_ONCE < rows or blocks.shape[1] != 2:
        raise ValueError("a range of blocks for all queries")
    for i in range(blocks.shape[0]):
        if not 0 <= blocks[i, 0] <= blocks[i, 1] <= place.shape[0]:
            raise IndexError("blocks out of range")
    if rows == 0 or place.shape[0] == 0:
        return
    points.place = &place[0, 0, 0]
    points.value = &value[0, 0, 0]
    points.dims, points.columns, points.steep = dims, columns, steep
    points.relative = nearest is not None
    with nogil:
        for tile in range((rows + QUERIES_AT_ONCE - 1) // QUERIES_AT_ONCE):
            start = tile * QUERIES_AT_ONCE
            many = min(<Py_ssize_t>QUERIES_AT_ONCE, rows - start)
            memset(&sums[0], 0, many * columns * BLOCK_POINTS * sizeof(double))
            for i in range(many):
                least[i] = INFINITY
            add_blocks(
                &points, gaussian, blocks[tile, 0], blocks[tile, 1], &query[start, 0], many,
                &sums[0], &least[0],
            )
            lane = &sums[0]
            for i in range(many):
                for c in range(columns):
                    out[start + i, c] = folded(lane)
                    lane += BLOCK_POINTS
                if points.relative:
                    nearest[start + i] = least[i]


cdef double folded(double *lane) noexcept nogil:
    cdef int half = BLOCK_POINTS // 2, i
    while half > 0:
        for i in range(half):
            lane[i] += lane[i + half]
        half //= 2
    return lane[0]


def sum_line(const double[::1] x, const double[:, ::1] value, double steep, double[:, ::1] out):
    """Add the sums of points in increasing order of their one coordinate."""
    cdef Py_ssize_t n = x.shape[0]
    cdef double[::1] gap = np.empty(n + 1)
    if value.shape[0] != n or out.shape[0] != n or value.shape[1] != 2 or out.shape[1] != 2:
        raise ValueError("two values and two sums for every point")
    if n:
        with nogil:
            gaps(&x[0], n, steep, &gap[0])
            scan_line(n, &gap[0], &value[0, 0], &out[0, 0])


def space_for(Py_ssize_t n, int dims):
    """Bytes of room that `sum_node` needs for n points."""
    cdef Level[MOST_DIMENSIONS] levels
    cdef Workspace work
    return lay_out(NULL, n, dims, levels, &work)


def sum_node(
    const double[:, ::1] x,
    const double[:, ::1] value,
    const int32_t[:, ::1] order,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint whole,
    double steep,
    uint8_t[::1] space,
    double[:, ::1] out,
):
    """Add sums over the points start … stop−1: over all, or over pairs across their middle only.

    ``x`` is (d, n), by coordinate, d = 2 … 4, points in the order of coordinate 0; row j − 1 of
    ``order`` has their places in the order of coordinate j; ``out`` is (stop − start, 2).
    """
    cdef Py_ssize_t n = x.shape[1], many = stop - start
    cdef int dims = <int>x.shape[0], k
    cdef Level[MOST_DIMENSIONS] levels
    cdef Workspace work
    if not 2 <= dims <= MOST_DIMENSIONS or order.shape[0] != dims - 1 or order.shape[1] != n:
        raise ValueError("two to four coordinates, and an order for all but the first")
    if value.shape[0] != n or out.shape[0] != many or value.shape[1] != 2 or out.shape[1] != 2:
        raise ValueError("two values and two sums for every point")
    if not 0 <= start <= stop <= n or n > 2**31 - 1:
        raise IndexError("points out of range")
    if many == 0:
        return
    if space.shape[0] < space_for(many, dims):
        raise ValueError("room for all points")
    lay_out(&space[0], many, dims, levels, &work)
    for k in range(dims):
        levels[0].x[k] = <double *>&x[k, start]  # read only, as are the values
    levels[0].value = <double *>&value[start, 0]
    levels[0].out = &out[0, 0]
    work.steep = steep
    with nogil:
        for k in range(1, dims):
            keep_range(&order[k - 1, 0], n, <int32_t>start, <int32_t>stop, levels[0].order[k])
        if whole:
            solve(levels, &work, 0, <int32_t>many)
        else:
            meet_across(levels, &work, 0, <int32_t>many)


cdef void solve(Level *level, Workspace *work, int32_t start, int32_t stop) noexcept nogil:
    """Add the sums of all pairs of a level's points start … stop−1."""
    cdef const double *x[MOST_DIMENSIONS]
    cdef int32_t n = stop - start, middle = start + n / 2
    cdef int k
    if n < 2 * (LEAF_POINTS if level.side == NULL else SIDE_POINTS):
        for k in range(level.first, work.dims):
            x[k - level.first] = level.x[k] + start
        if level.side == NULL:
            meet_all(
                x, work.dims - level.first, n, level.value + 2 * start, work.steep,
                level.out + 2 * start,
            )
        else:
            meet_sides(
                x, work.dims - level.first, n, level.value + 2 * start, level.side + start,
                work.steep, level.out + 2 * start,
            )
        return
    meet_across(level, work, start, stop)
    for k in range(level.first + 1, work.dims):
        part_order(level.order[k] + start, n, middle, work.spare)
    solve(level, work, start, middle)
    solve(level, work, middle, stop)


cdef void meet_across(Level *level, Workspace *work, int32_t start, int32_t stop) noexcept nogil:
    """Add the sums of pairs on both sides of the plane through the middle point."""
    cdef int32_t middle = start + (stop - start) / 2, i, n
    cdef const double *x = level.x[level.first]
    cdef const double *weight = level.weight
    cdef const uint8_t *side = level.side
    cdef uint8_t *part = level.part
    cdef uint8_t p, parts = 1 if side == NULL else 2
    decays(x + start, stop - start, x[middle], work.steep, level.weight + start)
    if side == NULL:
        for i in range(start, stop):
            part[i] = NEITHER * (weight[i] == 0)
    else:
        for i in range(start, stop):
            part[i] = (side[i] ^ (i >= middle)) | NEITHER * (weight[i] == 0)
    if level.first + 2 == work.dims:
        scan_across(level, work, start, stop, parts)
        return
    for p in range(parts):
        n = pass_down(level, work, start, stop, p)
        solve(level + 1, work, 0, n)
        pass_up(level, n)


cdef void scan_across(
    Level *level, Workspace *work, int32_t start, int32_t stop, uint8_t parts
) noexcept nogil:
    """Pairs across the plane where one coordinate is left."""
    cdef const double *x = level.x[level.first + 1]
    cdef const double *weight = level.weight
    cdef const double *value = level.value
    cdef const uint8_t *part = level.part
    cdef const int32_t *order = level.order[level.first + 1] + start
    cdef scanned_point *point = work.point
    cdef int32_t *first = work.index
    cdef int32_t *second = work.index + (stop - start)
    cdef int32_t i, r, firsts = 0, seconds = 0, middle = start + (stop - start) / 2
    for r in range(start, stop):
        point[r].place = x[r]
        point[r].weight = weight[r]
        point[r].value[0] = weight[r] * value[2 * r]
        point[r].value[1] = weight[r] * value[2 * r + 1]
    for i in range(stop - start):
        r = order[i]
        first[firsts] = r
        second[seconds] = r
        firsts += part[r] == 0
        seconds += part[r] == 1
    scan_part(work, first, firsts, middle, level.out)
    if parts == 2:
        scan_part(work, second, seconds, middle, level.out)


cdef void scan_part(
    Workspace *work, const int32_t *index, int32_t n, int32_t middle, double *out
) noexcept nogil:
    """Scan some points up and down; far apart in memory, each is fetched and brought back once."""
    cdef const scanned_point *point = work.point
    cdef scanned_point *queue = work.queue
    cdef double *place = work.place
    cdef double *total = work.sum
    cdef int32_t i, r
    if n < 2:
        return
    for i in range(n):
        queue[i] = point[index[i]]
        place[i] = queue[i].place
    memset(total, 0, 2 * <size_t>n * sizeof(double))
    gaps(place, n, work.steep, work.gap)
    scan_sides(index, n, middle, work.gap, queue, total)
    for i in range(n):
        r = index[i]
        out[2 * r] += queue[i].weight * total[2 * i]
        out[2 * r + 1] += queue[i].weight * total[2 * i + 1]


cdef int32_t pass_down(
    Level *level, Workspace *work, int32_t start, int32_t stop, uint8_t part
) noexcept nogil:
    """Make one of the problems across the plane the next level; return how many points it has."""
    cdef Level *below = level + 1
    cdef const int32_t *order = level.order[below.first] + start
    cdef int32_t i, r, n = 0, middle = start + (stop - start) / 2
    cdef Py_ssize_t many
    cdef int k
    for i in range(stop - start):
        r = order[i]
        if level.part[r] != part:
            continue
        for k in range(below.first, work.dims):
            below.x[k][n] = level.x[k][r]
        below.value[2 * n] = level.weight[r] * level.value[2 * r]
        below.value[2 * n + 1] = level.weight[r] * level.value[2 * r + 1]
        below.out[2 * n] = below.out[2 * n + 1] = 0
        below.side[n] = r >= middle
        below.before[n] = r
        work.spare[r - start] = n
        n += 1
    for k in range(below.first + 1, work.dims):
        order = level.order[k] + start
        many = 0
        for i in range(stop - start):
            r = order[i]
            if level.part[r] == part:
                below.order[k][many] = work.spare[r - start]
                many += 1
    return n


cdef void pass_up(Level *level, int32_t n) noexcept nogil:
    """Add the sums of the level below, weighted, to those of this one."""
    cdef Level *below = level + 1
    cdef const int32_t *before = below.before
    cdef const double *weight = level.weight
    cdef const double *found = below.out
    cdef double *out = level.out
    cdef int32_t i, r
    for i in range(n):
        r = before[i]
        out[2 * r] += weight[r] * found[2 * i]
        out[2 * r + 1] += weight[r] * found[2 * i + 1]
