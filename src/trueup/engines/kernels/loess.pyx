"""Local quadratic fits of sorted points, with tricube weights.

A fit reads its window three times, for the mean, a line and a parabola that are orthogonal on it
(Stieltjes): where points sit almost on top of each other, no digits are lost to powers of them.
Sums run in four lanes, which keeps rounding errors of long windows small.
"""

from libc.math cimport fabs

cdef struct Window:
    const double *value
    const double *weight
    const double *label
    Py_ssize_t points
    double centre
    double scale  # 1 over the width


def fit_quadratics(
    const double[::1] value,
    const double[::1] weight,
    const double[::1] label,
    const double[::1] at,
    const double[::1] width,
    double flat,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[::1] fit,
):
    """Write the fits at the places start … stop − 1; ``flat`` is FLAT of the reference engine."""
    cdef Window window
    cdef Py_ssize_t i, first, last
    if min(weight.shape[0], label.shape[0]) < value.shape[0]:
        raise ValueError("weights and labels for all values")
    if start < 0 or stop > min(at.shape[0], width.shape[0], fit.shape[0]):
        raise IndexError("places out of range")
    with nogil:
        for i in range(start, stop):
            first = first_inside(value, at[i], width[i])
            last = first_beyond(value, at[i], width[i])
            window = Window(
                &value[first], &weight[first], &label[first], last - first, at[i], 1 / width[i]
            )
            fit[i] = fitted(&window, flat * flat)


cdef Py_ssize_t first_inside(
    const double[::1] value, double centre, double width
) noexcept nogil:
    """The first point that lies less than ``width`` below the centre."""
    cdef Py_ssize_t low = 0, high = value.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if centre - value[middle] >= width:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t first_beyond(
    const double[::1] value, double centre, double width
) noexcept nogil:
    """The first point that lies ``width`` or more above the centre."""
    cdef Py_ssize_t low = 0, high = value.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if value[middle] - centre < width:
            low = middle + 1
        else:
            high = middle
    return low


cdef double fitted(const Window *of, double flat) noexcept nogil:
    """The fit at the centre; ``flat`` is the share of a square that rounding may leave."""
    cdef double[4] a, b, c, d
    cdef double t, kernel, u, k, bend
    cdef double weight, mean, level, spread, square, skew, fourth, line, left
    cdef Py_ssize_t g, j

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            k = kernel * of.weight[g + j]
            a[j] += k
            b[j] += k * t
            c[j] += k * t * t
            d[j] += kernel * of.label[g + j]
    weight, spread = total(a), total(c)
    mean, level = total(b) / weight, total(d) / weight

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            u = t - mean
            k = kernel * of.weight[g + j] * u * u
            a[j] += k
            b[j] += k * u
            c[j] += k * u * u
            d[j] += kernel * (of.label[g + j] - of.weight[g + j] * level) * u
    square, fourth = total(a), total(c)
    if of.points < 2 or square <= flat * spread:
        return level
    line = level - total(d) / square * mean
    skew, spread = total(b) / square, square / weight

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            u = t - mean
            bend = u * u - skew * u - spread
            a[j] += kernel * of.weight[g + j] * bend * bend
            b[j] += kernel * (of.label[g + j] - of.weight[g + j] * level) * bend
    left = total(a)
    if of.points < 3 or left <= flat * fourth:
        return line
    return line + total(b) / left * (mean * mean + skew * mean - spread)


cdef inline double tricube(double t) noexcept nogil:
    cdef double size = fabs(t)
    cdef double rest = 1 - size * size * size
    return rest * rest * rest


cdef inline void clear(double *a, double *b, double *c, double *d) noexcept nogil:
    cdef int j
    for j in range(4):
        a[j] = b[j] = c[j] = d[j] = 0


cdef inline double total(const double *lanes) noexcept nogil:
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
