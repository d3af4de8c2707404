"""Softmax of rows of logits and the sums by which its parameters are fitted; see softmax.h.

Every kernel works on the rows start … stop−1 on one thread and releases the interpreter;
`trueup.engines.native.softmax` cuts the rows and puts the answers together. ``room`` is (2, `LANES`·m)
with at least as many columns as the logits; arrays with one entry a column are as wide.
"""

from libc.stdint cimport int64_t

from trueup.engines.kernels.columns cimport from_row, score

cdef extern from "softmax.h" nogil:
    int SUM_LANES
    double FAR_BELOW
    ctypedef struct logits_block:
        const void *x
        int narrow
        Py_ssize_t rows
        Py_ssize_t columns
        double *row
        double *spare
    void temper_rows "temper"(
        const logits_block *z, const int64_t *label, double inverse, double *out
    )
    void temper_probs(const logits_block *z, double inverse, double *out)
    void scale_probs(const logits_block *z, const double *scale, const double *shift, double *out)
    void scale_sums(
        const logits_block *z, const int64_t *label, const double *weight, const double *scale,
        const double *shift, double *out, double *sums
    )
    void scale_product(
        const logits_block *z, const double *weight, const double *log_total, const double *scale,
        const double *shift, const double *du, const double *dv, double *sums
    )

LANES = SUM_LANES
PADDING = FAR_BELOW


cdef logits_block block_of(
    const score[:, ::1] logits, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] room
) except *:
    cdef logits_block z
    if not 0 <= start < stop <= logits.shape[0] or room.shape[0] < 2:
        raise ValueError("some rows, and room for two of them")
    if logits.shape[1] < 1 or room.shape[1] % SUM_LANES or room.shape[1] < logits.shape[1]:
        raise ValueError("room for a row in whole lanes")
    z.x = &logits[start, 0]
    z.narrow = score is float
    z.rows = stop - start
    z.columns = logits.shape[1]
    z.row = &room[0, 0]
    z.spare = &room[1, 0]
    return z


def temper(
    const score[:, ::1] logits,
    const int64_t[::1] labels,
    double inverse,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[:, ::1] room,
    double[:, ::1] out,
):
    """Write Σe^{βd}, Σd e^{βd}, Σd²e^{βd} and −d of the label, d the logits less the largest."""
    cdef logits_block z = block_of(logits, start, stop, room)
    with nogil:
        temper_rows(&z, &labels[start], inverse, &out[start, 0])


def write_tempered(
    const score[:, ::1] logits,
    double inverse,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[:, ::1] room,
    double[:, ::1] out,
):
    """Write softmax(βz) of every row."""
    cdef logits_block z = block_of(logits, start, stop, room)
    with nogil:
        temper_probs(&z, inverse, &out[start, 0])


def write_scaled(
    const score[:, ::1] logits,
    const double[:, ::1] scaling,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[:, ::1] room,
    double[:, ::1] out,
):
    """Write softmax(scaling[0]∘z + scaling[1]) of every row."""
    cdef logits_block z = block_of(logits, start, stop, room)
    with nogil:
        scale_probs(&z, &scaling[0, 0], &scaling[1, 0], &out[start, 0])


def add_scaled(
    const score[:, ::1] logits,
    const int64_t[::1] labels,
    const double[::1] weight,
    const double[:, ::1] scaling,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[:, ::1] room,
    double[:, ::1] out,
    double[:, ::1] sums,
):
    """Write the top, the sum and the label's part of every row; add derivatives to ``sums``."""
    cdef logits_block z = block_of(logits, start, stop, room)
    cdef const double *w = from_row(weight, start)
    with nogil:
        scale_sums(
            &z, &labels[start], w, &scaling[0, 0], &scaling[1, 0], &out[start, 0], &sums[0, 0]
        )


def add_product(
    const score[:, ::1] logits,
    const double[::1] weight,
    const double[::1] log_total,
    const double[:, ::1] scaling,
    const double[:, ::1] direction,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[:, ::1] room,
    double[:, ::1] sums,
):
    """Add the product of the second derivatives with a direction to ``sums``."""
    cdef logits_block z = block_of(logits, start, stop, room)
    cdef const double *w = from_row(weight, start)
    with nogil:
        scale_product(
            &z, w, &log_total[start], &scaling[0, 0], &scaling[1, 0], &direction[0, 0],
            &direction[1, 0], &sums[0, 0]
        )
