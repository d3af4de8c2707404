"""The memory of Laplacian sums: problems within problems, one level for each coordinate.

A level holds the points of a problem in the order of its first coordinate, and for every further
coordinate the order of their places. Orders are made once and kept by stable partition. All levels
and what they need for a moment lie in one space, which is laid out once a call.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

cdef extern from "divided_sums.h" nogil:
    enum:
        MOST_DIMENSIONS
    ctypedef struct scanned_point:
        double place
        double weight
        double[2] value

cdef struct Level:
    # A problem in coordinates first … dims − 1, its points in the order of the first.
    int first
    double *x[MOST_DIMENSIONS]
    int32_t *order[MOST_DIMENSIONS]  # places of points in the order of each further coordinate
    double *value  # two for every point, as are the sums in `out`
    double *out
    uint8_t *side  # NULL: all points meet all
    int32_t *before  # places of the points at the level before
    double *weight  # room: e^{−distance to the plane}
    uint8_t *part  # room: which of the two problems across the plane a point belongs to

cdef struct Workspace:
    # What is needed for a moment only, by all levels.
    int dims
    double steep
    int32_t *spare
    int32_t *index
    double *place
    double *gap
    scanned_point *point  # by place
    scanned_point *queue  # in the order of the last coordinate
    double *sum


cdef inline uint8_t *take(uint8_t *space, size_t *used, size_t size) noexcept:
    """The next part of a space, on a line of the cache where the space is."""
    cdef size_t start = used[0]
    used[0] = start + (size + 63) // 64 * 64
    return NULL if space == NULL else space + start


cdef inline size_t lay_out(uint8_t *space, size_t n, int dims, Level *levels, Workspace *work) noexcept:
    """Give every array its part of the space; return how much that is."""
    cdef size_t used = 0
    cdef int k, j
    memset(levels, 0, MOST_DIMENSIONS * sizeof(Level))
    for k in range(dims - 1):
        levels[k].first = k
        levels[k].weight = <double *>take(space, &used, 8 * n)
        levels[k].part = take(space, &used, n)
        for j in range(k + 1, dims):
            levels[k].order[j] = <int32_t *>take(space, &used, 4 * n + 4)
        if k == 0:
            continue
        for j in range(k, dims):
            levels[k].x[j] = <double *>take(space, &used, 8 * n)
        levels[k].value = <double *>take(space, &used, 16 * n)
        levels[k].out = <double *>take(space, &used, 16 * n)
        levels[k].side = take(space, &used, n)
        levels[k].before = <int32_t *>take(space, &used, 4 * n)
    work.dims = dims
    work.spare = <int32_t *>take(space, &used, 4 * n)
    work.index = <int32_t *>take(space, &used, 8 * n)  # of both problems across a plane
    work.place = <double *>take(space, &used, 8 * n)
    work.gap = <double *>take(space, &used, 8 * n + 8)
    work.point = <scanned_point *>take(space, &used, sizeof(scanned_point) * n)
    work.queue = <scanned_point *>take(space, &used, sizeof(scanned_point) * n)
    work.sum = <double *>take(space, &used, 16 * n)
    return used


cdef inline void keep_range(
    const int32_t *order, Py_ssize_t n, int32_t start, int32_t stop, int32_t *kept
) noexcept nogil:
    """Copy the places start … stop−1 of an order, counted from start; one place is to spare."""
    cdef Py_ssize_t i, many = 0
    for i in range(n):
        kept[many] = order[i] - start  # always written: no branch to mispredict
        many += (order[i] >= start) & (order[i] < stop)


cdef inline void part_order(
    int32_t *order, Py_ssize_t n, int32_t middle, int32_t *spare
) noexcept nogil:
    """Put the places below the middle first; both parts keep their order."""
    cdef Py_ssize_t i, lower = 0, upper = 0
    cdef int32_t place
    for i in range(n):
        place = order[i]
        order[lower] = place
        spare[upper] = place
        lower += place < middle
        upper += place >= middle
    memcpy(order + lower, spare, upper * sizeof(int32_t))
