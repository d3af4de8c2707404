"""Labels drawn from probabilities for many resamples at once; the generator is in draws.h."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

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
    void draw_some_labels(
        const uint64_t *limit, int64_t first, int64_t n, uint64_t key, int64_t *out
    )
    void draw_some_rows(int64_t n, int64_t first, int64_t many, uint64_t key, uint32_t *rows)

cdef enum:
    AT_ONCE = 1024  # draws that are made together; even, as two rows share a hash

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
    cdef Py_ssize_t i, start = 0, many, n = limit.shape[0]
    cdef int64_t[AT_ONCE] label
    with nogil:
        while start < n:
            many = min(<Py_ssize_t>AT_ONCE, n - start)
            draw_some_labels(&limit[start], start, many, key, label)
            for i in range(many):
                labels[start + i] = <uint8_t>label[i]
            start += many


def draw_hits(
    const uint64_t[::1] limit, const int32_t[::1] code, uint64_t key, int64_t[::1] hits
):
    """Draw the label of every row, and count the ones of each score, whose number is code / 2."""
    cdef Py_ssize_t i, start = 0, many, n = limit.shape[0]
    cdef int64_t[AT_ONCE] label
    if code.shape[0] != n:
        raise ValueError("one code for each row")
    with nogil:
        if hits.shape[0] == n:  # no two rows of the same score
            while start < n:
                many = min(<Py_ssize_t>AT_ONCE, n - start)
                draw_some_labels(&limit[start], start, many, key, &hits[start])
                start += many
        else:
            for i in range(hits.shape[0]):
                hits[i] = 0
            while start < n:
                many = min(<Py_ssize_t>AT_ONCE, n - start)
                draw_some_labels(&limit[start], start, many, key, label)
                for i in range(many):
                    hits[code[start + i] >> 1] += label[i]
                start += many


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


def resample_scores(
    const double[::1] value,
    const int32_t[::1] code,
    uint64_t key,
    uint32_t[::1] times,
    double[::1] kept,
    int64_t[::1] count,
    int64_t[::1] positive,
):
    """Draw rows with replacement and put them together by score; returns how many scores.

    Codes do not fall from row to row. ``times`` has a place for each row, the others one for each
    score and one to spare.
    """
    cdef Py_ssize_t i = 0, score, start = 0, many, n = code.shape[0], scores = value.shape[0]
    cdef Py_ssize_t place = 0
    cdef int64_t drawn_here, ones
    cdef uint32_t[AT_ONCE] row
    if n == 0:
        return 0
    if times.shape[0] != n or min(len(kept), len(count), len(positive)) <= scores:
        raise ValueError("one place for each row, and one for each score with one to spare")
    with nogil:
        memset(&times[0], 0, n * sizeof(uint32_t))
        while start < n:
            many = min(<Py_ssize_t>AT_ONCE, n - start)
            draw_some_rows(n, start, many, key, row)
            for i in range(many):
                times[row[i]] += 1
            start += many
        if scores == n:  # each row has a score of its own
            for i in range(n):
                drawn_here = times[i]
                kept[place] = value[i]
                count[place] = drawn_here
                positive[place] = drawn_here & -<int64_t>(code[i] & 1)
                place += drawn_here > 0
        else:
            i = 0
            for score in range(scores):
                drawn_here = ones = 0
                while i < n and code[i] >> 1 == score:
                    drawn_here += times[i]
                    ones += times[i] & -<int64_t>(code[i] & 1)
                    i += 1
                kept[place] = value[score]
                count[place] = drawn_here
                positive[place] = ones
                place += drawn_here > 0
    return place
