"""Rows spread onto a grid, each to its four nearest points in shares of the cubic B-spline, and
the area between a smooth curve on the grid and 0.

The table holds {weight, label, residual} of a point side by side, so that a row touches two or
three cache lines; a table of 2^14 points stays in the second-level cache. Shares are added one
number at a time: neighboring rows of a column with concentrated scores write to overlapping
places, where wide stores would wait for each other.
"""

from libc.string cimport memset

from trueup.engines.kernels.columns cimport check_range, from_row, label, score

cdef extern from "absolute_area.h" nogil:
    double mean_area(const double *height, Py_ssize_t n)

cdef enum:
    STRETCHES = 4


def add_rows(
    const score[::1] p,
    const label[::1] y,
    const double[::1] w,
    Py_ssize_t start,
    Py_ssize_t stop,
    Py_ssize_t size,
    double[:, ::1] totals,
):
    """Add {w, wy, w(p - y)} of rows to totals[j + 1] for grid points j / size; w may be None.

    A score next to 0 or 1 also has shares outside, at the points -1 and size + 1.
    """
    cdef Py_ssize_t i
    cdef const double *weights = from_row(w, 0)
    check_range(start, stop, min(len(p), len(y), len(p) if w is None else len(w)))
    if size < 2 or totals.shape[0] != size + 4 or totals.shape[1] != 3:
        raise ValueError("totals must be of shape (size + 4, 3)")
    cdef double *table = &totals[0, 0]
    with nogil:
        for i in range(start, stop):
            add_row(table, p[i], <double>y[i], 1 if weights == NULL else weights[i], size)


def add_residuals(
    const score[::1] p,
    const label[::1] y,
    const double[::1] w,
    Py_ssize_t start,
    Py_ssize_t stop,
    Py_ssize_t size,
    double[::1] totals,
):
    """As `add_rows`, of w(p - y) alone: the same sums in the same order."""
    cdef Py_ssize_t i
    cdef const double *weights = from_row(w, 0)
    check_range(start, stop, min(len(p), len(y), len(p) if w is None else len(w)))
    if size < 2 or totals.shape[0] != size + 4:
        raise ValueError("totals must be of length size + 4")
    cdef double *table = &totals[0]
    with nogil:
        for i in range(start, stop):
            add_residual(table, p[i], <double>y[i], 1 if weights == NULL else weights[i], size)


def add_terms(
    const double[::1] p,
    const double[::1] term,
    double[:, ::1] moments,
    double[::1] totals,
):
    """Write to totals[j + 1] the sum at each grid point j / size of terms at sorted scores.

    Scores that follow each other add to the same points, each after the one before. So what is
    added first are moments of the place within a step of the grid, of rows from four stretches in
    turn, which need not wait for each other; the shares are sums of these.
    """
    cdef Py_ssize_t i, j, k, n = p.shape[0], stretch = n // STRETCHES, size = totals.shape[0] - 4
    cdef double *steps
    cdef const double *m
    if term.shape[0] != n:
        raise ValueError("one term for each score")
    if size < 2 or moments.shape[0] != size + 7 or moments.shape[1] != 4:
        raise ValueError("moments must be of shape (size + 7, 4), totals of length size + 4")
    steps = &moments[3, 0]
    with nogil:
        memset(&moments[0, 0], 0, 4 * (size + 7) * sizeof(double))
        for i in range(stretch):
            for k in range(STRETCHES):
                add_moments(steps, p[i + k * stretch], term[i + k * stretch], size)
        for i in range(STRETCHES * stretch, n):
            add_moments(steps, p[i], term[i], size)
        for j in range(size + 4):
            m = steps + 4 * (j - 3)  # beyond the last step, as before the first, are only zeros
            totals[j] = (
                (m[12] - 3 * m[13] + 3 * m[14] - m[15])
                + (4 * m[8] - 6 * m[10] + 3 * m[11])
                + (m[4] + 3 * m[5] + 3 * m[6] - 3 * m[7])
                + m[3]
            ) * (1.0 / 6)


def absolute_area(const double[::1] height):
    """The area over [0, 1] of a curve that is level at both ends, from heights at even steps.

    A few microseconds: the interpreter is kept, since getting it back may take longer.
    """
    cdef Py_ssize_t steps = height.shape[0] - 1
    if steps < 2:
        raise ValueError("heights at three points or more")
    return mean_area(&height[0], steps)


cdef inline void add_moments(
    double *steps, double p, double term, Py_ssize_t size
) noexcept nogil:
    """Add the term, and its products with the place of a score within its step and with powers."""
    cdef double place = p * size
    cdef Py_ssize_t below = step_of(place, size)
    cdef double u = place - below
    cdef double *to = steps + 4 * below
    to[0] += term
    to[1] += term * u
    to[2] += term * u * u
    to[3] += term * u * u * u


cdef inline void add_residual(
    double *table, double p, double y, double w, Py_ssize_t size
) noexcept nogil:
    cdef double share[4]
    cdef double *to = table + shared_out(p, size, share)
    cdef double residual = w * (p - y)
    to[0] += share[0] * residual
    to[1] += share[1] * residual
    to[2] += share[2] * residual
    to[3] += share[3] * residual


cdef inline void add_row(
    double *table, double p, double y, double w, Py_ssize_t size
) noexcept nogil:
    cdef double share[4]
    cdef double *to = table + 3 * shared_out(p, size, share)
    cdef double label = w * y, residual = w * (p - y)
    add_share(to, share[0], w, label, residual)
    add_share(to + 3, share[1], w, label, residual)
    add_share(to + 6, share[2], w, label, residual)
    add_share(to + 9, share[3], w, label, residual)


cdef inline Py_ssize_t step_of(double place, Py_ssize_t size) noexcept nogil:
    """The grid point at or below a place, never outside the table."""
    return min(max(<Py_ssize_t>place, 0), size)


cdef inline Py_ssize_t shared_out(double p, Py_ssize_t size, double *share) noexcept nogil:
    """Write the shares of the four points around a score; return the first of them."""
    cdef double place = p * size
    cdef Py_ssize_t below = step_of(place, size)
    cdef double u = place - below
    cdef double v = 1 - u
    share[0] = v * v * v * (1.0 / 6)
    share[1] = 2.0 / 3 - u * u * (1 - 0.5 * u)
    share[2] = 2.0 / 3 - v * v * (1 - 0.5 * v)
    share[3] = u * u * u * (1.0 / 6)
    return below


cdef inline void add_share(
    double *to, double share, double w, double label, double residual
) noexcept nogil:
    to[0] += share * w
    to[1] += share * label
    to[2] += share * residual
