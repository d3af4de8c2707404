# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Putting scores in order: counts on a grid, gathering what a cut needs, radix sort of pairs.

Every kernel works on one thread and releases the interpreter; `trueup.engines.ordering` cuts
the data and puts the answers together.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

ctypedef fused score:
    float
    double

# The grid: 256 cells to the octave, counted from 0 below one half and from 1 above it. It is
# fine exactly where classifiers put their scores; beyond 53 octaves all is one cell.
cdef enum:
    OCTAVES = 53
    CELL_BITS = 8
    HALF = OCTAVES << CELL_BITS
    BIT_SHIFT = 52 - CELL_BITS
    FIRST_KEY = (1023 - OCTAVES - 1) << CELL_BITS
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS

cdef double SMALLEST = 1.0 / (<uint64_t>1 << (OCTAVES + 1))

N_CELLS = 2 * HALF + 1


cdef inline int32_t cell_of(double t) noexcept nogil:
    """The cell of ``t``; it never falls as ``t`` grows, which is all that is relied upon."""
    cdef double mirrored = 1.0 - t
    cdef double u = t if t < mirrored else mirrored
    cdef uint64_t bits
    cdef int32_t step, upper = -<int32_t>(t >= 0.5)  # all bits set in the upper half
    u = u if u > SMALLEST else SMALLEST
    memcpy(&bits, &u, 8)
    step = <int32_t>(bits >> BIT_SHIFT) - FIRST_KEY
    return (step ^ upper) + (upper & (2 * HALF + 1))  # 2 HALF - step without a branch


def count_cells(const score[::1] p, double shift, double scale, int32_t[::1] counts):
    """Add to ``counts`` the number of scores in every cell of ``(p - shift) * scale``."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            counts[cell_of((<double>p[i] - shift) * scale)] += 1


def locate_cells(const double[::1] p, double shift, double scale, int32_t[::1] cells):
    """Write the cell of every score."""
    cdef Py_ssize_t i
    for i in range(p.shape[0]):
        cells[i] = cell_of((p[i] - shift) * scale)


def gather(
    const score[::1] p,
    double shift,
    double scale,
    const int32_t[::1] slot,
    const double[::1] atom,
    double[::1] found,
):
    """Copy to ``found`` the scores in cells whose slot is not 0, and return how many.

    A score equal to the atom of its slot is left out: its copies can be counted without it.
    """
    cdef Py_ssize_t i, n_found = 0
    cdef int32_t here
    cdef double x
    with nogil:
        for i in range(p.shape[0]):
            x = <double>p[i]
            here = slot[cell_of((x - shift) * scale)]
            found[n_found] = x  # always written, so that there is no branch to mispredict
            n_found += (here != 0) & (x != atom[here])
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
    cdef Py_ssize_t i
    cdef double x
    cdef uint16_t here
    with nogil:
        for i in range(p.shape[0]):
            x = <double>p[i]
            here = part[cell_of((x - shift) * scale)]
            keys[place[here]] = key_of(x, y[i])
            place[here] += 1


def sort_keys(uint64_t[::1] keys, uint64_t[::1] spare):
    """Sort keys by score (labels of tied scores in any order); return the distinct scores.

    Radix sort from the lowest bit in which two scores differ; digits in which all agree are
    passed over, so that coarse or concentrated scores take few passes.
    """
    cdef Py_ssize_t i, n = keys.shape[0], distinct = 0
    cdef uint64_t differing = 0, first
    cdef uint64_t *source
    cdef uint64_t *target
    cdef int shift = 1
    if n == 0:
        return 0
    source, target = &keys[0], &spare[0]
    with nogil:
        first = source[0]
        for i in range(n):
            differing |= source[i] ^ first
        differing >>= 1
        while differing != 0:
            while differing & 1 == 0:
                differing >>= 1
                shift += 1
            sort_digit(source, target, n, shift)
            source, target = target, source
            differing >>= DIGIT_BITS
            shift += DIGIT_BITS
        if source != &keys[0]:
            memcpy(&keys[0], source, n * sizeof(uint64_t))
        for i in range(1, n):
            distinct += (keys[i] ^ keys[i - 1]) > 1
    return distinct + 1


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


def fill_groups(
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
