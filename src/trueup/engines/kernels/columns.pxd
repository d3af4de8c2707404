"""Types of columns, and a check of a range of their rows."""

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused score:
    float
    double

ctypedef fused whole_label:
    uint8_t
    int32_t
    int64_t

ctypedef fused label:
    uint8_t
    int32_t
    int64_t
    double


cdef inline int check_range(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n) except -1:
    if not 0 <= start <= stop <= n:
        raise IndexError("rows out of range")
    return 0


cdef inline const double *from_row(const double[::1] column, Py_ssize_t start) noexcept:
    """A column from a row on; NULL if it is None."""
    if column is None:
        return NULL
    return &column[start]
