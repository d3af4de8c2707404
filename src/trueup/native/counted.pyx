# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Counted rows of each score: residuals, their sums in bins, and how far running sums go.

Every kernel works on one thread and releases the interpreter.
"""

from libc.stdint cimport int64_t

cdef extern from "counted.h" nogil:
    ctypedef struct sum_range:
        double last
        double lowest
        double highest
    void find_residuals(
        const double *value, const int64_t *count, const int64_t *positive, Py_ssize_t n,
        double *residual
    )
    sum_range range_of_sums(const double *terms, Py_ssize_t n, Py_ssize_t width)


def residuals(
    const double[::1] value,
    const int64_t[::1] count,
    const int64_t[::1] positive,
    double[::1] residual,
):
    """Write the sum of score - label of each score, of which so many rows are positive."""
    cdef Py_ssize_t n = value.shape[0]
    if not len(count) == len(positive) == len(residual) == n:
        raise ValueError("one count and one place for each score")
    if n:
        with nogil:
            find_residuals(&value[0], &count[0], &positive[0], n, &residual[0])


def extreme_sums(const double[::1] terms, Py_ssize_t width):
    """Lowest and highest sum of the first 0, 1, 2, … terms, which are added by rows of ``width``."""
    cdef sum_range found
    if width < 1:
        raise ValueError("rows of at least 1 term")
    if terms.shape[0] == 0:
        return 0.0, 0.0
    with nogil:
        found = range_of_sums(&terms[0], terms.shape[0], width)
    return found.lowest, found.highest


def sum_bins(const double[::1] terms, const int64_t[::1] starts, double[::1] sums):
    """Write the sum of the terms from each start to the next: four sums, then those added."""
    cdef Py_ssize_t k, i
    cdef double a, b, c, d
    with nogil:
        for k in range(sums.shape[0]):
            a = b = c = d = 0
            i = starts[k]
            while i + 4 <= starts[k + 1]:
                a, b, c, d = a + terms[i], b + terms[i + 1], c + terms[i + 2], d + terms[i + 3]
                i += 4
            while i < starts[k + 1]:
                a += terms[i]
                i += 1
            sums[k] = (a + b) + (c + d)
