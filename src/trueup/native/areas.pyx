# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The area between a smooth curve and 0."""

cdef extern from "areas.h" nogil:
    double mean_area(const double *height, Py_ssize_t n)


def absolute_area(const double[::1] height):
    """The area over [0, 1] of a curve that is level at both ends, from heights at even steps.

    A few microseconds: the interpreter is kept, since getting it back may take longer.
    """
    cdef Py_ssize_t steps = height.shape[0] - 1
    if steps < 2:
        raise ValueError("heights at three points or more")
    return mean_area(&height[0], steps)
