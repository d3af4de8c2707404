"""Sums over all pairs: a Laplacian kernel of scores in one scan, the median of their gaps, and
distances and inner products of rows.

Every kernel works on one thread and releases the interpreter; `trueup.engines.native.pairs` cuts
the data and puts the answers together.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "pairs.h" nogil:
    int OTHERS_AT_ONCE
    ctypedef enum pair_term:
        SQUARED
        ABSOLUTE
        PRODUCT
    void pair_sums(
        const double *a, Py_ssize_t rows, const double *b, Py_ssize_t others, Py_ssize_t m,
        pair_term term, double *packed, double *out
    )

cdef extern from "laplace_scan.h" nogil:
    ctypedef struct stretch:
        double own
        double cross
        double pull
        double state
        double decay
    stretch scan_scores(
        const double *value, const double *residual, Py_ssize_t start, Py_ssize_t stop,
        double bandwidth
    )

TERMS = {"squared": SQUARED, "absolute": ABSOLUTE, "product": PRODUCT}
PACKED_ROWS = OTHERS_AT_ONCE

cdef union Number:
    # positive numbers stand in the same order as their bits
    double value
    uint64_t bits


def laplace_scan(
    const double[::1] value,
    const double[::1] residual,
    Py_ssize_t start,
    Py_ssize_t stop,
    double bandwidth,
):
    """Scan the points start … stop−1; return (own, cross, pull, state, decay).

    Let B be the sum of all residuals before ``start``, each decayed by its distance to the point
    before ``start`` (to ``start`` itself if it is the first). The chunk adds cross + B·pull to the
    sum over pairs and own to that of squares, and leaves state + B·decay.
    """
    cdef stretch found
    if not 0 <= start <= stop <= min(len(value), len(residual)):
        raise IndexError("points out of range")
    if start == stop:
        return 0.0, 0.0, 0.0, 0.0, 1.0
    with nogil:
        found = scan_scores(&value[0], &residual[0], start, stop, bandwidth)
    return found.own, found.cross, found.pull, found.state, found.decay


def median_gap(const double[::1] value):
    """Median of the positive differences of non-decreasing values; 0 if there is none.

    The search for the middle one halves a range of floating-point numbers, and the count of
    differences up to a number walks over the values once.
    """
    cdef int64_t n = value.shape[0], ties, lower, upper
    cdef Number low, high, middle
    cdef double above
    if n < 2 or value[n - 1] == value[0]:
        return 0.0
    with nogil:
        ties = pairs_within(&value[0], n, 0)
        lower = ties + (n * (n - 1) / 2 - ties + 1) / 2
        upper = ties + (n * (n - 1) / 2 - ties) / 2 + 1
        low.value, high.value = 0, value[n - 1] - value[0]
        while high.bits - low.bits > 1:
            middle.bits = low.bits + (high.bits - low.bits) / 2
            if pairs_within(&value[0], n, middle.value) >= lower:
                high = middle
            else:
                low = middle
        above = high.value
        if pairs_within(&value[0], n, above) < upper:
            above = next_gap(&value[0], n, above)
    return (high.value + above) / 2


cdef int64_t pairs_within(const double *value, int64_t n, double gap) noexcept nogil:
    """Number of pairs whose difference, as rounded, is at most ``gap``."""
    cdef int64_t i = 0, j, count = 0
    for j in range(n):
        while value[j] - value[i] > gap:
            i += 1
        count += j - i
    return count


cdef double next_gap(const double *value, int64_t n, double gap) noexcept nogil:
    """Smallest difference above ``gap``; there is one."""
    cdef int64_t i = 0, j
    cdef double smallest = value[n - 1] - value[0]
    for j in range(n):
        while value[j] - value[i] > gap:
            i += 1
        if i > 0:
            smallest = min(smallest, value[j] - value[i - 1])
    return smallest


def sum_pairs(
    const double[:, ::1] a,
    const double[:, ::1] b,
    pair_term term,
    double[:, ::1] packed,
    double[:, ::1] out,
):
    """Write Σ_k term(a_ik, b_jk) for all rows i and j; ``packed`` is room for PACKED_ROWS rows."""
    cdef Py_ssize_t rows = a.shape[0], others = b.shape[0], m = a.shape[1]
    if b.shape[1] != m or packed.shape[0] < OTHERS_AT_ONCE or packed.shape[1] != m:
        raise ValueError("rows of the same length, and room for some of them")
    if out.shape[0] != rows or out.shape[1] != others:
        raise ValueError("one place for each pair")
    if rows and others and m:
        with nogil:
            pair_sums(&a[0, 0], rows, &b[0, 0], others, m, term, &packed[0, 0], &out[0, 0])
