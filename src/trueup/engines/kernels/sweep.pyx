"""The sweep: the first number of equal-mass bins whose mean labels fall.

Only bins next to a *dent*, a group of tied scores whose mean label is above that of the next
group, can take part in a fall; the search hops from dent to dent. Why this is fast, and for
which data it is proved to be, is in docs/decisions/004-sweep-in-near-linear-time.md.

``rows[g]`` and ``hits[g]`` are the rows and positive labels before group g (both have one entry
more than there are groups). A cut before group g is called g; 0 and the number of groups are
the outer ends. Fewer than 2^31 rows: products of two ranks then fit into 63 bits.
"""

from libc.stdint cimport int32_t, int64_t

cdef extern from "counted_rows.h" nogil:
    ctypedef struct sum_range:
        double last
        double lowest
        double highest
    void find_residuals(
        const double *value, const int64_t *count, const int64_t *positive, Py_ssize_t n,
        double *residual
    )
    sum_range range_of_sums(const double *terms, Py_ssize_t n, Py_ssize_t width)

cdef struct Table:
    const int32_t *rows
    const int32_t *hits
    const int32_t *next_dent
    const int32_t *index
    int shift
    int32_t groups
    int64_t n


cdef struct Bins:
    # b bins of the table's rows; neighbouring targets lie step + part/b rows apart
    const Table *table
    int64_t b
    int64_t step
    int64_t part


cdef struct Cut:
    # target i lies at row + part/b; `at` is the nearest boundary
    int64_t i
    int64_t row
    int64_t part
    int32_t at


def residuals(
    const double[::1] value,
    const int64_t[::1] count,
    const int64_t[::1] positive,
    double[::1] residual,
):
    """Write the sum of score - label of each score, given its numbers of rows and positives."""
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


def add_up(
    const int64_t[::1] count, const int64_t[::1] positive, int32_t[::1] rows, int32_t[::1] hits
):
    """Fill the running sums, and return how many rows there are, however many."""
    cdef Py_ssize_t g
    cdef int64_t row = 0, hit = 0
    with nogil:
        rows[0] = hits[0] = 0
        for g in range(count.shape[0]):
            row += count[g]
            hit += positive[g]
            rows[g + 1], hits[g + 1] = <int32_t>row, <int32_t>hit
    return row


def find_dents(const int64_t[::1] count, const int64_t[::1] positive, int32_t[::1] next_dent):
    """Fill ``next_dent`` (first dent at or after g); return the first dent.

    A dent is named by the boundary it lies on; the number of groups means that there is none.
    """
    cdef Py_ssize_t g, groups = count.shape[0]
    cdef int32_t following = <int32_t>groups
    cdef bint dent
    with nogil:
        next_dent[groups] = following
        for g in range(groups - 1, 0, -1):
            # a choice, not a branch: of random labels a processor cannot guess the next
            dent = positive[g - 1] * count[g] > positive[g] * count[g - 1]
            following = <int32_t>g if dent else following
            next_dent[g] = following
        next_dent[0] = following
    return following


def index_rows(const int32_t[::1] rows, int shift, int32_t[::1] index):
    """Write the group of every 2^shift-th row; the last entry is the last group."""
    cdef Py_ssize_t g, k = 0, groups = rows.shape[0] - 1
    with nogil:
        for g in range(groups):
            while k < index.shape[0] - 1 and (<int64_t>k << shift) < rows[g + 1]:
                index[k] = <int32_t>g
                k += 1
        index[index.shape[0] - 1] = <int32_t>(groups - 1)


def first_falling(
    const int32_t[::1] rows,
    const int32_t[::1] hits,
    const int32_t[::1] next_dent,
    const int32_t[::1] index,
    int shift,
    int64_t tried,
    int64_t most,
):
    """Smallest number of bins with a fall, or ``most`` + 1 if there is none up to ``most``.

    Up to ``tried`` bins there is none, as is known. If ``next_dent`` is None, every bin is looked
    at, which takes some microseconds if ``most`` is small: the interpreter is kept, since getting
    it back may take longer.
    """
    cdef Table table = table_of(rows, hits, next_dent, index, shift)
    cdef int64_t found
    if next_dent is None:
        return first_with_fall(&table, tried, most)
    with nogil:
        found = first_with_fall(&table, tried, most)
    return found


def start_bins(
    const int32_t[::1] rows,
    const int32_t[::1] index,
    int shift,
    int64_t b,
    int64_t[::1] starts,
):
    """Write the first group of each of ``b`` equal-mass bins, and the number of groups after them.

    There are two groups or more. Returns how many bins they are: cuts that coincide are one.
    """
    cdef Table table = table_of(rows, None, None, index, shift)
    cdef Bins bins = Bins(&table, b, table.n / b, table.n % b)
    cdef Py_ssize_t made = 0
    cdef Cut cut
    if table.groups < 2 or starts.shape[0] <= min(b, <int64_t>table.groups):
        raise ValueError("two groups or more, and one place for each bin with one to spare")
    with nogil:
        cut = cut_at(&bins, 0)
        while cut.at < table.groups:
            starts[made] = cut.at
            made += 1
            cut = advance(&bins, cut)
        starts[made] = table.groups
    return made


cdef inline Table table_of(
    const int32_t[::1] rows,
    const int32_t[::1] hits,
    const int32_t[::1] next_dent,
    const int32_t[::1] index,
    int shift,
):
    """All that is known of the groups; hits and dents only where they are asked for."""
    cdef Table table
    table.rows, table.index, table.shift = &rows[0], &index[0], shift
    table.hits = table.next_dent = NULL
    if hits is not None:
        table.hits = &hits[0]
    if next_dent is not None:
        table.next_dent = &next_dent[0]
    table.groups = <int32_t>(rows.shape[0] - 1)
    table.n = rows[table.groups]
    return table


cdef int64_t first_with_fall(const Table *table, int64_t b, int64_t most) noexcept nogil:
    cdef bint fell = False
    while not fell and b < most and table.groups > 1:
        b += 1
        fell = falls_somewhere(table, b) if table.next_dent == NULL else falls_with(table, b)
    return b if fell else most + 1


cdef bint falls_somewhere(const Table *table, int64_t b) noexcept nogil:
    """Whether the mean labels of ``b`` equal-mass bins fall anywhere: from bin to bin."""
    cdef Bins bins = Bins(table, b, table.n / b, table.n % b)
    cdef int32_t left = 0
    cdef Cut middle = advance(&bins, cut_at(&bins, 0)), right
    while middle.at < table.groups:
        right = advance(&bins, middle)
        if falls(table, left, middle.at, right.at):
            return True
        left, middle = middle.at, right
    return False


cdef bint falls_with(const Table *table, int64_t b) noexcept nogil:
    """Whether the mean labels of ``b`` equal-mass bins fall anywhere."""
    cdef Bins bins = Bins(table, b, table.n / b, table.n % b)
    cdef int32_t dent = table.next_dent[1]
    cdef int32_t left, middle
    cdef Cut right, lower
    while dent < table.groups:
        # the bin (left, middle) holds the group before the dent
        right = cut_at(&bins, first_reaching(&bins, dent))
        lower = retreat(&bins, right)
        left, middle = lower.at, right.at
        if middle > dent and left > 0:
            # the dent is inside this bin, which may then fall below the bin before it
            if falls(table, retreat(&bins, lower).at, left, middle):
                return True
        while True:
            if middle == table.groups:
                return False
            right = advance(&bins, right)
            if falls(table, left, middle, right.at):
                return True
            dent = table.next_dent[middle + 1]
            if dent > right.at or dent == table.groups:
                break
            left, middle = middle, right.at
    return False


cdef inline bint falls(
    const Table *table, int32_t left, int32_t middle, int32_t right
) noexcept nogil:
    cdef int64_t size = table.rows[middle] - table.rows[left]
    cdef int64_t next_size = table.rows[right] - table.rows[middle]
    cdef int64_t hits = table.hits[middle] - table.hits[left]
    cdef int64_t next_hits = table.hits[right] - table.hits[middle]
    return hits * next_size > next_hits * size


cdef inline int64_t first_reaching(const Bins *bins, int32_t cut) noexcept nogil:
    """The first target whose nearest boundary is ``cut`` or a later one (b: the upper end).

    A target goes to ``cut`` or beyond when it lies above the middle between ``cut`` and the
    boundary before; the first inner boundary takes every target below it, too.
    """
    cdef const Table *table = bins.table
    cdef int64_t i
    if cut <= 1:
        return 1
    if cut >= table.groups:
        return bins.b
    i = bins.b * (<int64_t>table.rows[cut - 1] + table.rows[cut]) / (2 * table.n) + 1
    return min(i, bins.b)


cdef inline int32_t nearest(const Bins *bins, int64_t row, int64_t part) noexcept nogil:
    """The inner boundary nearest to row + part/b; the lower one if two are as near."""
    cdef const Table *table = bins.table
    cdef int32_t low, high, middle
    cdef int64_t room
    if table.groups == table.n:
        low = <int32_t>row
    else:
        low = table.index[row >> table.shift]
        high = table.index[(row >> table.shift) + 1]
        while low < high:
            middle = low + (high - low + 1) / 2
            if table.rows[middle] <= row:
                low = middle
            else:
                high = middle - 1
    room = <int64_t>table.rows[low] + table.rows[low + 1] - 2 * row
    low += 2 * part > bins.b * room
    return min(max(low, 1), table.groups - 1)


cdef inline Cut cut_at(const Bins *bins, int64_t i) noexcept nogil:
    cdef int64_t row = i * bins.table.n / bins.b
    return placed(bins, i, row, i * bins.table.n - row * bins.b)


cdef inline Cut placed(const Bins *bins, int64_t i, int64_t row, int64_t part) noexcept nogil:
    if i == 0:
        return Cut(i, row, part, 0)
    if i == bins.b:
        return Cut(i, row, part, bins.table.groups)
    return Cut(i, row, part, nearest(bins, row, part))


cdef inline Cut advance(const Bins *bins, Cut cut) noexcept nogil:
    """The next cut above; targets that share a boundary count once."""
    cdef int64_t carry = cut.part + bins.part >= bins.b
    cdef Cut above = placed(
        bins, cut.i + 1, cut.row + bins.step + carry, cut.part + bins.part - carry * bins.b
    )
    if above.at == cut.at:
        return cut_at(bins, first_reaching(bins, cut.at + 1))
    return above


cdef inline Cut retreat(const Bins *bins, Cut cut) noexcept nogil:
    """The next cut below."""
    cdef int64_t borrow = cut.part < bins.part
    cdef Cut below = placed(
        bins, cut.i - 1, cut.row - bins.step - borrow, cut.part - bins.part + borrow * bins.b
    )
    if below.at == cut.at:
        return cut_at(bins, first_reaching(bins, cut.at) - 1)
    return below
