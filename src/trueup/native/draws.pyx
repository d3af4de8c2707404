# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Labels drawn from probabilities for many resamples at once; the generator is in draws.h."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "draws.h" nogil:
    uint64_t STEP
    uint64_t mixed(uint64_t z)
    int64_t drawn(uint32_t part, uint64_t hash, uint32_t odd, uint64_t limit)
    int64_t reached(const uint64_t *limit, int64_t n, uint64_t hash)
    uint64_t row_below(uint64_t n, uint64_t hash)
    int64_t count_drawn(
        const uint32_t *even, const uint32_t *odd, const uint64_t *limit,
        int64_t first, int64_t n, uint64_t key,
    )

ctypedef fused total_t:
    int64_t
    double

cdef Py_ssize_t ENTRIES = 1 << 14  # of limits and places: rows that stay in cache for all resamples


def count_labels(
    const uint64_t[::1] limit,
    const uint32_t[::1] even,
    const uint32_t[::1] odd,
    const int64_t[::1] start,
    const uint64_t[::1] key,
    int64_t[:, ::1] counts,
):
    """Count drawn labels of every bin (pairs start[b] … start[b + 1]) in every resample."""
    cdef Py_ssize_t r, b, bins = start.shape[0] - 1
    cdef int64_t first, pairs
    with nogil:
        for r in range(key.shape[0]):
            for b in range(bins):
                first, pairs = start[b], start[b + 1] - start[b]
                if pairs > 0:
                    counts[r, b] = count_drawn(
                        &even[first], &odd[first], &limit[2 * first], first, pairs, key[r]
                    )
                else:
                    counts[r, b] = 0


def add_classes(
    const uint64_t[:, ::1] limit,
    const int32_t[:, ::1] place,
    const double[::1] weight,
    int64_t first,
    const uint64_t[::1] key,
    total_t[:, ::1] totals,
):
    """Add 1, or the weight, of every row at the place of the class it draws in each resample."""
    cdef Py_ssize_t n = limit.shape[0], below = limit.shape[1], block, start, stop, r, i
    cdef int64_t drawn_class
    cdef bint weighted = weight is not None
    block, start = max(16, ENTRIES // (below + 1)), 0
    with nogil:
        while start < n:
            stop = min(start + block, n)
            for r in range(key.shape[0]):
                for i in range(start, stop):
                    drawn_class = reached(
                        &limit[i, 0], below, mixed(key[r] + <uint64_t>(first + i) * STEP)
                    )
                    if weighted:
                        totals[r, place[i, drawn_class]] += <total_t>weight[i]
                    else:
                        totals[r, place[i, drawn_class]] += 1
            start = stop


def draw_labels(const uint64_t[::1] limit, uint64_t key, uint8_t[::1] labels):
    """Draw the label of every row of one resample."""
    cdef Py_ssize_t i, n = limit.shape[0]
    cdef uint64_t hash = 0
    with nogil:
        for i in range(n):
            if i % 2 == 0:
                hash = mixed(key + <uint64_t>(i // 2) * STEP)
                labels[i] = <uint8_t>drawn(<uint32_t>(hash >> 32), hash, 0, limit[i])
            else:
                labels[i] = <uint8_t>drawn(<uint32_t>hash, hash, 1, limit[i])


def draw_classes(const uint64_t[:, ::1] limit, uint64_t key, int64_t first, int64_t[::1] labels):
    """Draw the class of rows first, first + 1, … of one resample."""
    cdef Py_ssize_t i, n = limit.shape[0], below = limit.shape[1]
    with nogil:
        for i in range(n):
            labels[i] = reached(
                &limit[i, 0], below, mixed(key + <uint64_t>(first + i) * STEP)
            )


def draw_rows(uint64_t key, int64_t[::1] rows):
    """Draw as many rows as there are, with replacement."""
    cdef Py_ssize_t i, n = rows.shape[0]
    with nogil:
        for i in range(n):
            rows[i] = <int64_t>row_below(<uint64_t>n, mixed(key + <uint64_t>i * STEP))


def regroup_rows(
    const double[::1] value,
    const int32_t[::1] code,
    uint64_t key,
    int32_t[::1] times,
    double[::1] kept,
    int64_t[::1] count,
    int64_t[::1] positive,
):
    """Draw rows with replacement and put them together by score; returns how many scores."""
    cdef Py_ssize_t i, n = code.shape[0], scores = value.shape[0], place = 0
    cdef int32_t zeros, ones
    with nogil:
        for i in range(n):
            times[code[row_below(<uint64_t>n, mixed(key + <uint64_t>i * STEP))]] += 1
        for i in range(scores):
            zeros, ones = times[2 * i], times[2 * i + 1]
            kept[place] = value[i]
            count[place] = zeros + ones
            positive[place] = ones
            place += zeros + ones > 0
    return place
