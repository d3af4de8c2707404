# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Sums of a kernel over all pairs of queries and points, blocks of points at a time.

The loops are in kernel_blocks.h. Every call works on one thread and releases the interpreter;
`trueup.engines.kernel_blocks` packs the points and cuts the queries.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

cdef extern from "kernel_blocks.h" nogil:
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
    ctypedef void (*block_adder)(
        const packed_points *points, Py_ssize_t first, Py_ssize_t last, const double *query,
        Py_ssize_t rows, double *sum, double *nearest
    ) noexcept
    block_adder block_adder_of(int gaussian)

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
    cdef Py_ssize_t start, many, i, c, half, tile
    cdef packed_points points
    cdef double[::1] sums = np.empty(QUERIES_AT_ONCE * columns * BLOCK_POINTS)
    cdef double[::1] least = np.empty(QUERIES_AT_ONCE)
    cdef block_adder add_blocks = block_adder_of(gaussian)
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
                &points, blocks[tile, 0], blocks[tile, 1], &query[start, 0], many, &sums[0],
                &least[0],
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
