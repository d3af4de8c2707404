"""Putting scores in order: counts on a grid, gathering what a cut needs, radix sort of pairs.

Every kernel works on one thread and releases the interpreter; `trueup.engines.native.order` cuts
the data and puts the answers together.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from trueup.engines.kernels.columns cimport score

cdef extern from "score_grid.h" nogil:
    enum:
        CELLS_AT_ONCE
    int64_t CELLS "N_CELLS"
    void find_cells(const void *p, int narrow, Py_ssize_t start, Py_ssize_t n, double shift,
                    double scale, int64_t *cells)
    void count_in_cells(const void *p, int narrow, Py_ssize_t n, double shift, double scale,
                        int32_t *counts, uint16_t *where)

cdef enum:
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS
    MOVES_PER_KEY = 8

N_CELLS = CELLS


def count_cells(
    const score[::1] p, double shift, double scale, int32_t[::1] counts, uint16_t[::1] where
):
    """Add to ``counts`` the number of scores in every cell of ``(p - shift) * scale``.

    Each score's cell is written to ``where``, unless it is None.
    """
    cdef uint16_t *remembered = NULL
    if where is not None:
        if where.shape[0] != p.shape[0]:
            raise ValueError("one place for each score")
        remembered = &where[0]
    with nogil:
        count_in_cells(&p[0], score is float, p.shape[0], shift, scale, &counts[0], remembered)


def locate_cells(const double[::1] p, double shift, double scale, int64_t[::1] cells):
    """Write the cell of every score."""
    if p.shape[0]:
        find_cells(&p[0], False, 0, p.shape[0], shift, scale, &cells[0])


def gather(
    const score[::1] p,
    const uint16_t[::1] where,
    const uint8_t[::1] wanted,
    const int32_t[::1] slot,
    const double[::1] atom,
    double[::1] found,
):
    """Copy to ``found`` the scores in wanted cells, and return how many.

    A score equal to the atom of its cell's slot is left out: its copies can be counted without
    it. Slots and atoms may be None.
    """
    cdef Py_ssize_t i, n_found = 0
    cdef double x
    if where.shape[0] != p.shape[0] or found.shape[0] <= p.shape[0]:
        raise ValueError("one place for each score, and one to spare")
    if slot is None:
        with nogil:
            for i in range(p.shape[0]):
                found[n_found] = <double>p[i]  # always written: no branch to mispredict
                n_found += wanted[where[i]]
        return n_found
    with nogil:
        for i in range(p.shape[0]):
            x = <double>p[i]
            found[n_found] = x
            n_found += wanted[where[i]] & (x != atom[slot[where[i]]])
    return n_found


cdef inline uint64_t key_of(double x, uint8_t label) noexcept nogil:
    """Score and label in one word that sorts by score: the sign, of zeros only, is shifted out."""
    cdef uint64_t bits
    memcpy(&bits, &x, 8)
    return (bits << 1) | label


def write_keys(const score[::1] p, const uint8_t[::1] y, uint64_t[::1] keys):
    """Write the key of every (score, label)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            keys[i] = key_of(<double>p[i], y[i])


def scatter_keys(
    const score[::1] p,
    const uint8_t[::1] y,
    double shift,
    double scale,
    const uint16_t[::1] part,
    int64_t[::1] place,
    uint64_t[::1] keys,
):
    """Write every key to the next free place of its cell's part; ``place`` moves on."""
    cdef Py_ssize_t i, many, start = 0
    cdef int64_t[CELLS_AT_ONCE] cells
    cdef int64_t here
    with nogil:
        while start < p.shape[0]:
            many = min(<Py_ssize_t>CELLS_AT_ONCE, p.shape[0] - start)
            find_cells(&p[0], score is float, start, many, shift, scale, cells)
            for i in range(many):
                here = part[cells[i]]
                keys[place[here]] = key_of(<double>p[start + i], y[start + i])
                place[here] += 1
            start += many


def sort_keys(uint64_t[::1] keys, uint64_t[::1] spare):
    """Sort keys by score (labels of tied scores in any order); return the distinct scores.

    Radix sort on the highest two digits in which scores differ leaves little out of place, as a
    rule; insertion puts that right. Where it would take long, all digits are sorted.
    """
    cdef Py_ssize_t i, n = keys.shape[0], distinct = 0
    if n == 0:
        return 0
    with nogil:
        sort_by_score(&keys[0], &spare[0], n)
        for i in range(1, n):
            distinct += (keys[i] ^ keys[i - 1]) > 1
    return distinct + 1


cdef void sort_by_score(uint64_t *keys, uint64_t *spare, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t differing = 0
    cdef int top = 1
    for i in range(n):
        differing |= keys[i] ^ keys[0]
    while top < 64 and differing >> top:
        top += 1
    if top > 1 + 2 * DIGIT_BITS:
        sort_digit(keys, spare, n, top - 2 * DIGIT_BITS)
        sort_digit(spare, keys, n, top - DIGIT_BITS)
        if insert_in_order(keys, n, MOVES_PER_KEY * n):
            return
    sort_all_digits(keys, spare, n, differing)


cdef bint insert_in_order(uint64_t *keys, Py_ssize_t n, Py_ssize_t moves) noexcept nogil:
    """Insertion sort by score that stops after ``moves`` (False, with all keys still there)."""
    cdef Py_ssize_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        if key >> 1 >= keys[i - 1] >> 1:
            continue
        j = i
        while j > 0 and keys[j - 1] >> 1 > key >> 1:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
        moves -= i - j
        if moves < 0:
            return False
    return True


cdef void sort_all_digits(
    uint64_t *keys, uint64_t *spare, Py_ssize_t n, uint64_t differing
) noexcept nogil:
    """Radix sort from the lowest bit in which scores differ; stretches where all agree are free."""
    cdef uint64_t *source = keys
    cdef uint64_t *target = spare
    cdef int shift = 1
    differing >>= 1
    while differing != 0:
        while differing & 1 == 0:
            differing >>= 1
            shift += 1
        sort_digit(source, target, n, shift)
        source, target = target, source
        differing >>= DIGIT_BITS
        shift += DIGIT_BITS
    if source != keys:
        memcpy(keys, source, n * sizeof(uint64_t))


cdef void sort_digit(
    const uint64_t *source, uint64_t *target, Py_ssize_t n, int shift
) noexcept nogil:
    cdef Py_ssize_t[DIGITS] place
    cdef Py_ssize_t i, here, total = 0
    cdef uint64_t digit
    memset(place, 0, sizeof(place))
    for i in range(n):
        place[(source[i] >> shift) & (DIGITS - 1)] += 1
    for i in range(DIGITS):
        here = place[i]
        place[i] = total
        total += here
    for i in range(n):
        digit = (source[i] >> shift) & (DIGITS - 1)
        target[place[digit]] = source[i]
        place[digit] += 1


def fill_ties(
    const uint64_t[::1] keys, uint64_t[::1] value, int64_t[::1] count, int64_t[::1] positive
):
    """Write one entry for every distinct score of sorted ``keys``; values as their bits."""
    cdef Py_ssize_t i, group = -1
    cdef uint64_t bits, last = 0
    with nogil:
        for i in range(keys.shape[0]):
            bits = keys[i] >> 1
            if group < 0 or bits != last:
                group += 1
                value[group] = bits
                count[group] = 0
                positive[group] = 0
                last = bits
            count[group] += 1
            positive[group] += keys[i] & 1
