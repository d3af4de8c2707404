"""Loss of a sigmoid of one or two covariates, with its derivatives; see sigmoid.h.

The kernel works on the rows start … stop−1 on one thread and releases the interpreter;
`trueup.engines.native.sigmoid` cuts the rows and puts the answers together.
"""

from trueup.engines.kernels.columns cimport from_row

cdef extern from "sigmoid.h" nogil:
    ctypedef struct sigmoid_rows:
        const double *covariate[2]
        const double *target
        const double *weight
        Py_ssize_t rows
    void sigmoid_sums(
        const sigmoid_rows *rows, const double *point, int squared, double *sums
    )


def add_sums(
    const double[:, ::1] covariates,
    const double[::1] targets,
    const double[::1] weights,
    const double[::1] point,
    bint squared,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[::1] sums,
):
    """Add loss, minus its first and its second derivatives, the upper triangle by rows."""
    cdef Py_ssize_t slopes = covariates.shape[0], n = covariates.shape[1]
    cdef sigmoid_rows rows
    if slopes not in (1, 2) or not 0 <= start < stop <= n:
        raise ValueError("some rows of one or two covariates")
    if targets.shape[0] != n or (weights is not None and weights.shape[0] != n):
        raise ValueError("targets and weights for every row")
    if point.shape[0] != slopes + 1 or sums.shape[0] != (slopes + 1) * (slopes + 4) // 2 + 1:
        raise ValueError("slopes and an intercept, and room for their sums")
    rows.covariate[0] = &covariates[0, start]
    rows.covariate[1] = &covariates[1, start] if slopes == 2 else NULL
    rows.target = &targets[start]
    rows.weight = from_row(weights, start)
    rows.rows = stop - start
    with nogil:
        sigmoid_sums(&rows, &point[0], squared, &sums[0])
