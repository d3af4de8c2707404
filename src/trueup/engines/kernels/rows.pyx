"""Checks of columns, and one look at every row of a matrix of probabilities."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "row_scan.h" nogil:
    Py_ssize_t outside_unit_f32(const float *x, Py_ssize_t n)
    Py_ssize_t outside_unit_f64(const double *x, Py_ssize_t n)
    Py_ssize_t not_binary_u8(const uint8_t *x, Py_ssize_t n)
    Py_ssize_t not_binary_i32(const int32_t *x, Py_ssize_t n)
    Py_ssize_t not_binary_i64(const int64_t *x, Py_ssize_t n)
    Py_ssize_t not_binary_f64(const double *x, Py_ssize_t n)
    Py_ssize_t scan_f32(const float *x, Py_ssize_t rows, Py_ssize_t columns, double *total,
                        double *top, int32_t *top_class)
    Py_ssize_t scan_f64(const double *x, Py_ssize_t rows, Py_ssize_t columns, double *total,
                        double *top, int32_t *top_class)

cdef extern from "transpose.h" nogil:
    void columns_f32(const float *x, Py_ssize_t row_bytes, Py_ssize_t rows, Py_ssize_t columns,
                     const double *factor, double *out, Py_ssize_t out_bytes)
    void columns_f64(const double *x, Py_ssize_t row_bytes, Py_ssize_t rows, Py_ssize_t columns,
                     const double *factor, double *out, Py_ssize_t out_bytes)

ctypedef fused score:
    float
    double

ctypedef fused label:
    uint8_t
    int32_t
    int64_t
    double


def first_outside_unit(const score[::1] values, Py_ssize_t start, Py_ssize_t stop):
    """Index of the first of values[start:stop] that is NaN or outside [0, 1]; -1 if none is."""
    cdef Py_ssize_t found
    if stop <= start:
        return -1
    with nogil:
        if score is float:
            found = outside_unit_f32(&values[start], stop - start)
        else:
            found = outside_unit_f64(&values[start], stop - start)
    return found if found < 0 else start + found


def first_not_binary(const label[::1] labels, Py_ssize_t start, Py_ssize_t stop):
    """Index of the first of labels[start:stop] that is neither 0 nor 1; -1 if there is none."""
    cdef Py_ssize_t found
    if stop <= start:
        return -1
    with nogil:
        if label is uint8_t:
            found = not_binary_u8(&labels[start], stop - start)
        elif label is int32_t:
            found = not_binary_i32(&labels[start], stop - start)
        elif label is int64_t:
            found = not_binary_i64(&labels[start], stop - start)
        else:
            found = not_binary_f64(&labels[start], stop - start)
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
    if start < 0 or start + rows > min(len(total), len(top), len(top_class)):
        raise IndexError("more rows than there is room for")
    if rows == 0 or columns == 0:
        return -1
    with nogil:
        if score is float:
            found = scan_f32(&block[0, 0], rows, columns, &total[start], &top[start],
                             &top_class[start])
        else:
            found = scan_f64(&block[0, 0], rows, columns, &total[start], &top[start],
                             &top_class[start])
    return found if found < 0 else start + found


def scaled_columns(const score[:, :] block, const double[::1] factor, double[:, :] out):
    """Write block[i, j] * factor[i] to out[j, i]; ``factor`` may be None."""
    cdef Py_ssize_t rows = block.shape[0], columns = block.shape[1], i, j
    if out.shape[0] != columns or out.shape[1] != rows:
        raise ValueError("wrong shape")
    if rows == 0 or columns == 0:
        return
    if factor is not None and len(factor) != rows:
        raise ValueError("one factor for each row")
    if block.strides[1] != sizeof(score) or out.strides[1] != sizeof(double):
        raise ValueError("rows must be contiguous")
    cdef const double *scale = NULL
    if factor is not None:
        scale = &factor[0]
    with nogil:
        if score is float:
            columns_f32(&block[0, 0], block.strides[0], rows, columns, scale, &out[0, 0],
                        out.strides[0])
        else:
            columns_f64(&block[0, 0], block.strides[0], rows, columns, scale, &out[0, 0],
                        out.strides[0])
