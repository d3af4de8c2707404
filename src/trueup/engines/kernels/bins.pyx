"""Sums by bin: of one column of scores, of many short ones, and of every class of a matrix."""

from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from trueup.engines.kernels.columns cimport check_range, from_row, score, whole_label

cdef extern from "class_sums.h" nogil:
    ctypedef struct lookup:
        const double *edges
        const int32_t *below
        const double *inside
        double cells
        int single
        int is_brief
        Py_ssize_t bins

    int32_t bin_of(const lookup *at, double p)

    ctypedef struct class_tables:
        Py_ssize_t classes
        double *rest
        double *hits
        double *low

    Py_ssize_t cells_for(const double *edges, Py_ssize_t n_edges)
    int build_lookup(const double *edges, Py_ssize_t n_edges, Py_ssize_t cells, int32_t *below,
                     double *inside)
    int make_brief(lookup *at)
    Py_ssize_t COPIES(Py_ssize_t bins)
    uint64_t tally(const void *p, int narrow, const void *y, int bytes, Py_ssize_t start,
                   Py_ssize_t stop, const lookup *at, double *table, double *totals)
    void tally_soft(const void *p, int narrow, const double *y, const double *w,
                    Py_ssize_t start, Py_ssize_t stop, const lookup *at, double *table,
                    double *totals)
    ctypedef struct labeled_rows:
        const void *x
        const double *factor
        const int64_t *label
        Py_ssize_t rows

    Py_ssize_t add_rows(const labeled_rows *of, int narrow, int mostly_low, const lookup *at,
                        const class_tables *to)
    void flush_classes(Py_ssize_t rows, Py_ssize_t bins, const class_tables *to, double *totals)


cdef class Lookup:
    """Inner edges prepared so that the bin of a score is found in a few steps."""

    cdef lookup at
    cdef const double[::1] edges
    cdef int32_t *below
    cdef double *inside
    cdef readonly Py_ssize_t bins

    def __cinit__(self, const double[::1] inner_edges):
        cdef Py_ssize_t cells
        self.edges = inner_edges
        self.bins = inner_edges.shape[0] + 1
        if self.bins > 1 << 29:
            raise OverflowError("too many bins")
        self.at.edges = &inner_edges[0] if self.bins > 1 else NULL
        cells = cells_for(self.at.edges, self.bins - 1)
        self.below = <int32_t *>malloc((cells + 2) * sizeof(int32_t))
        self.inside = <double *>malloc((cells + 1) * sizeof(double))
        if self.below == NULL or self.inside == NULL:
            raise MemoryError
        self.at.below = self.below
        self.at.inside = self.inside
        self.at.cells = cells
        self.at.bins = self.bins
        self.at.single = build_lookup(
            self.at.edges, self.bins - 1, cells, self.below, self.inside
        )
        self.at.is_brief = make_brief(&self.at)

    def __dealloc__(self):
        free(self.below)
        free(self.inside)


def find(const score[::1] p, Py_ssize_t start, Py_ssize_t stop, Lookup lookup, int64_t[::1] found):
    """Write the bin of every row."""
    check_range(start, stop, min(len(p), len(found)))
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            found[i] = bin_of(&lookup.at, p[i])


def add_hard(
    const score[::1] p,
    const whole_label[::1] y,
    Py_ssize_t start,
    Py_ssize_t stop,
    Lookup lookup,
    double[:, ::1] totals,
):
    """Add rows to totals[2 * bin + y] = {sum p, sum p^2, count, 0}; False if a label is not 0, 1."""
    check_range(start, stop, min(len(p), len(y)))
    check_room(totals, 2 * lookup.bins, 4)
    cdef uint64_t wrong = 0
    cdef void *room = calloc(8 * lookup.bins * COPIES(lookup.bins) + 4, sizeof(double))
    if room == NULL:
        raise MemoryError
    if start < stop:
        with nogil:
            wrong = tally(
                &p[0], score is float, &y[0], sizeof(whole_label), start, stop, &lookup.at,
                aligned(room), &totals[0, 0],
            )
    free(room)
    return wrong == 0


def add_soft(
    const score[::1] p,
    const double[::1] y,
    const double[::1] w,
    Py_ssize_t start,
    Py_ssize_t stop,
    Lookup lookup,
    double[:, ::1] totals,
):
    """Add rows to totals[bin] = {count, w, w^2, wp, wp^2, wy, wy^2, wpy}; w may be None."""
    check_range(start, stop, min(len(p), len(y), len(p) if w is None else len(w)))
    check_room(totals, lookup.bins, 8)
    cdef void *room = calloc(8 * lookup.bins + 4, sizeof(double))
    if room == NULL:
        raise MemoryError
    cdef const double *weight = from_row(w, 0)
    if start < stop:
        with nogil:
            tally_soft(
                &p[0], score is float, &y[0], weight, start, stop, &lookup.at,
                aligned(room), &totals[0, 0],
            )
    free(room)


def add_hard_sets(
    const score[:, :] p,
    const whole_label[:, :] y,
    Py_ssize_t start,
    Py_ssize_t stop,
    Lookup lookup,
    double[:, :, ::1] sums,
):
    """Sum the datasets start … stop-1, rows of ``p`` and ``y``; False if a label is not 0 or 1.

    sums[:, r] = count, score, score2, label and cross of the bins of dataset r.
    """
    cdef Py_ssize_t n = p.shape[1], n_bins = lookup.bins, r, b
    check_range(start, stop, min(len(p), len(y)))
    check_shape(sums, 5, len(p), n_bins)
    if y.shape[1] != n:
        raise ValueError("rows must be as long as each other")
    if n > 1 and (p.strides[1] != sizeof(score) or y.strides[1] != sizeof(whole_label)):
        raise ValueError("rows must be contiguous")
    if start >= stop or n == 0:
        return True
    cdef uint64_t wrong = 0
    cdef void *room = calloc(8 * n_bins * (COPIES(n_bins) + 1) + 4, sizeof(double))
    if room == NULL:
        raise MemoryError
    cdef double *table = aligned(room)
    cdef double *totals = table + 8 * n_bins * COPIES(n_bins)
    cdef double *at
    with nogil:
        for r in range(start, stop):
            wrong |= tally(
                &p[r, 0], score is float, &y[r, 0], sizeof(whole_label), 0, n, &lookup.at, table,
                totals,
            )
            for b in range(n_bins):
                at = totals + 8 * b
                sums[0, r, b] = at[2] + at[6]
                sums[1, r, b] = at[0] + at[4]
                sums[2, r, b] = at[1] + at[5]
                sums[3, r, b] = at[6]
                sums[4, r, b] = at[4]
            memset(totals, 0, 8 * n_bins * sizeof(double))
    free(room)
    return wrong == 0


cdef class ClassTables:
    """Running sums of every class and bin, and their totals, of one chunk of a matrix's rows."""

    cdef class_tables to
    cdef Lookup lookup
    cdef void *room
    cdef Py_ssize_t rows

    def __cinit__(self, Py_ssize_t n_classes, Lookup lookup):
        cdef Py_ssize_t size = n_classes * lookup.bins
        self.lookup = lookup
        self.room = calloc(6 * size + 2 * n_classes + 4, sizeof(double))
        if self.room == NULL:
            raise MemoryError
        self.to.classes = n_classes
        self.to.rest = aligned(self.room)
        self.to.hits = self.to.rest + 4 * size
        self.to.low = self.to.hits + 2 * size

    def __dealloc__(self):
        free(self.room)

    def add(
        self,
        const score[:, ::1] block,
        const double[::1] factor,
        const int64_t[::1] labels,
        Py_ssize_t start,
        bint mostly_low,
    ):
        """Add the rows of ``block``, row ``start`` of the whole first; count entries past bin 0."""
        cdef Py_ssize_t rows = block.shape[0], others = 0
        check_range(start, start + rows, len(labels))
        if factor is not None:
            check_range(start, start + rows, len(factor))
        if block.shape[1] != self.to.classes:
            raise ValueError("wrong number of columns")
        if rows == 0 or self.to.classes == 0:
            return 0
        cdef labeled_rows of
        of.x, of.factor, of.label, of.rows = (
            &block[0, 0], from_row(factor, start), &labels[start], rows
        )
        with nogil:
            others = add_rows(&of, score is float, mostly_low, &self.lookup.at, &self.to)
        self.rows += rows
        return others

    def flush(self, double[:, :, ::1] totals):
        """Move the running sums to totals[5, K, B]: count, score, score2, label, cross."""
        check_shape(totals, 5, self.to.classes, self.lookup.bins)
        if self.to.classes > 0:
            with nogil:
                flush_classes(self.rows, self.lookup.bins, &self.to, &totals[0, 0, 0])
        self.rows = 0


cdef inline double *aligned(void *room) noexcept nogil:
    return <double *>((<uintptr_t>room + 31) & ~<uintptr_t>31)


cdef int check_room(double[:, ::1] totals, Py_ssize_t rows, Py_ssize_t columns) except -1:
    if totals.shape[0] != rows or totals.shape[1] != columns:
        raise ValueError("wrong shape")
    return 0


cdef int check_shape(
    double[:, :, ::1] sums, Py_ssize_t first, Py_ssize_t second, Py_ssize_t third
) except -1:
    if sums.shape[0] != first or sums.shape[1] != second or sums.shape[2] != third:
        raise ValueError("wrong shape")
    return 0
