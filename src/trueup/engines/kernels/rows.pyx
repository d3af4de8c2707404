"""Checks of columns, and one pass over the rows of a matrix of probabilities."""

from libc.stdint cimport int32_t

from trueup.engines.kernels.columns cimport check_range, from_row, label, score

cdef extern from "row_scan.h" nogil:
    Py_ssize_t outside_unit(const void *x, int narrow, Py_ssize_t n)
    Py_ssize_t not_binary(const void *y, int bytes, int real, Py_ssize_t n)
    Py_ssize_t scan_rows(const void *x, int narrow, Py_ssize_t rows, Py_ssize_t columns,
                         double *total, double *top, int32_t *top_class)

cdef extern from "transpose.h" nogil:
    void scale_columns(const void *x, int narrow, Py_ssize_t row_bytes, Py_ssize_t rows,
                       Py_ssize_t columns, const double *factor, double *out,
                       Py_ssize_t out_bytes)


def first_outside_unit(const score[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Index of the first of values[start:stop] that is NaN or outside [0, 1]; -1 if none is."""
    cdef Py_ssize_t found
    if stop <= start:
        return -1
    with nogil:
        found = outside_unit(&values[start], score is float, stop - start)
    return found if found < 0 else start + found


def first_not_binary(const label[::1] labels, Py_ssize_t start, Py_ssize_t stop):
    """Index of the first of labels[start:stop] that is neither 0 nor 1; -1 if there is none."""
    cdef Py_ssize_t found
    if stop <= start:
        return -1
    with nogil:
        found = not_binary(&labels[start], sizeof(label), label is double, stop - start)
    return found if found < 0 else start + found


def scan(
    const score[:, ::1] block,
    Py_ssize_t start,
    double[::1] total,
    double[::1] top,
    int32_t[::1] top_class,
):
    """Fill in the rows from ``start`` on, one per row of ``block``; return the first bad row."""
    cdef Py_ssize_t rows = block.shape[0], columns = block.shape[1], found
    check_range(start, start + rows, min(len(total), len(top), len(top_class)))
    if rows == 0 or columns == 0:
        return -1
    with nogil:
        found = scan_rows(
            &block[0, 0], score is float, rows, columns, &total[start], &top[start],
            &top_class[start],
        )
    return found if found < 0 else start + found


def scaled_columns(const score[:, :] block, const double[::1] factor, double[:, :] out):
    """Write block[i, j] * factor[i] to out[j, i]; ``factor`` may be None."""
    cdef Py_ssize_t rows = block.shape[0], columns = block.shape[1]
    if out.shape[0] != columns or out.shape[1] != rows:
        raise ValueError("wrong shape")
    if rows == 0 or columns == 0:
        return
    if factor is not None and len(factor) != rows:
        raise ValueError("one factor for each row")
    if block.strides[1] != sizeof(score) or out.strides[1] != sizeof(double):
        raise ValueError("rows must be contiguous")
    cdef const double *scale = from_row(factor, 0)
    with nogil:
        scale_columns(
            &block[0, 0], score is float, block.strides[0], rows, columns, scale, &out[0, 0],
            out.strides[0],
        )
