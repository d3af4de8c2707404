"""Local quadratic fits of sorted points, with tricube weights.

On either side of its center, the tricube weight is a polynomial of the value. Blocks of points
therefore keep the sums of powers of their values, and a window adds up whole blocks, the largest
that it holds: the work of a fit grows with the logarithm of its points. Powers are taken from the
middle of a block and the weight is written from its own edge, so that few digits are lost. Where
many would be (points almost on top of each other), and in short windows, a fit reads its window
three times, for the mean, a line and a parabola that are orthogonal on it (Stieltjes). Its sums run
in four lanes, which keeps rounding errors of long windows small.
"""

from libc.math cimport fabs

cdef enum:
    LEAF = 16  # points of the smallest block
    OF_WEIGHT = 14  # powers 0 to 13: nine of the weight function, four of a parabola's square
    OF_LABEL = 12  # powers 0 to 11
    ENTRIES = 28  # of a block: its middle, half of its length and the sums
    FEWEST = 128  # points of a window that are worth adding up by blocks

cdef double LOST = 1e-5  # share of the sums that may be left of a difference between them

cdef struct Window:
    const double *value
    const double *weight
    const double *label
    Py_ssize_t points
    double centre
    double scale  # 1 over the width


def fit_quadratics(
    const double[::1] value,
    const double[::1] weight,
    const double[::1] label,
    const double[::1] at,
    const double[::1] width,
    double flat,
    const double[::1] blocks,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[::1] fit,
):
    """Write the fits at the places start … stop − 1; ``flat`` is FLAT of the reference engine.

    ``blocks`` is filled by `fill_blocks`; without entries every window is read point by point.
    """
    cdef Window window
    cdef Py_ssize_t i, first, last
    cdef bint by_blocks = blocks.shape[0] > 0
    if by_blocks and blocks.shape[0] < entries_of(value.shape[0]):
        raise ValueError("blocks of all points")
    if min(weight.shape[0], label.shape[0]) < value.shape[0]:
        raise ValueError("weights and labels for all values")
    if start < 0 or stop > min(at.shape[0], width.shape[0], fit.shape[0]):
        raise IndexError("places out of range")
    with nogil:
        for i in range(start, stop):
            first = first_inside(value, at[i], width[i])
            last = first_beyond(value, at[i], width[i])
            window = Window(
                &value[first], &weight[first], &label[first], last - first, at[i], 1 / width[i]
            )
            if (
                not by_blocks
                or last - first < FEWEST
                or not fitted_by_blocks(&value[0], &weight[0], &label[0], value.shape[0],
                                        &blocks[0], first, last, at[i], width[i], &fit[i])
            ):
                fit[i] = fitted(&window, flat * flat)


def block_entries(Py_ssize_t points):
    """Return how many numbers `fill_blocks` writes for a number of points."""
    return entries_of(points)


def fill_blocks(
    const double[::1] value,
    const double[::1] weight,
    const double[::1] label,
    double[::1] blocks,
):
    """Write the sums of powers of all blocks: of 16 points first, then of twice as many, and on."""
    cdef Py_ssize_t points = value.shape[0], size = LEAF, i
    cdef double *block
    cdef double *part
    if min(weight.shape[0], label.shape[0]) < points or blocks.shape[0] < entries_of(points):
        raise ValueError("weights, labels and room for all points")
    if points < LEAF:
        return
    with nogil:
        block = part = &blocks[0]
        for i in range(points // LEAF):
            fill_leaf(&value[i * LEAF], &weight[i * LEAF], &label[i * LEAF], block)
            block += ENTRIES
        while 2 * size <= points:
            size *= 2
            for i in range(points // size):
                span(&value[i * size], size, block)
                add_moved(part, block)
                add_moved(part + ENTRIES, block)
                part += 2 * ENTRIES
                block += ENTRIES
            if points // (size // 2) % 2:
                part += ENTRIES  # it has no neighbor to be joined with


cdef Py_ssize_t entries_of(Py_ssize_t points) noexcept nogil:
    cdef Py_ssize_t size = LEAF, blocks = 0
    while size <= points:
        blocks += points // size
        size *= 2
    return blocks * ENTRIES


cdef void span(const double *value, Py_ssize_t points, double *block) noexcept nogil:
    """Write the middle of a block and half of its length, and clear its sums."""
    cdef double low = value[0], high = value[points - 1]
    cdef Py_ssize_t k
    block[0] = low + (high - low) / 2
    block[1] = max(high - block[0], block[0] - low)
    for k in range(2, ENTRIES):
        block[k] = 0


cdef void fill_leaf(
    const double *value, const double *weight, const double *label, double *block
) noexcept nogil:
    cdef double[LEAF] s, w, y
    cdef double[4] of_weight, of_label
    cdef int i, j, k
    span(value, LEAF, block)
    for i in range(LEAF):
        s[i] = (value[i] - block[0]) / block[1]
        w[i] = weight[i]
        y[i] = label[i]
    for k in range(OF_WEIGHT):
        for j in range(4):
            of_weight[j] = of_label[j] = 0
        for i in range(0, LEAF, 4):
            for j in range(4):
                of_weight[j] += w[i + j]
                of_label[j] += y[i + j]
                w[i + j] *= s[i + j]
                y[i + j] *= s[i + j]
        block[2 + k] = total(of_weight)
        if k < OF_LABEL:
            block[2 + OF_WEIGHT + k] = total(of_label)


cdef void add_moved(const double *part, double *block) noexcept nogil:
    """Add the sums of a block to those of a longer one: powers of e + g s in place of s."""
    cdef double e = (part[0] - block[0]) / block[1], g = part[1] / block[1], scale = 1
    cdef double[OF_WEIGHT] weight
    cdef double[OF_LABEL] label
    cdef int i, k
    for k in range(OF_WEIGHT):
        weight[k] = part[2 + k] * scale
        if k < OF_LABEL:
            label[k] = part[2 + OF_WEIGHT + k] * scale
        scale *= g
    for i in range(OF_WEIGHT - 1):
        for k in range(OF_WEIGHT - 1, i, -1):
            weight[k] += e * weight[k - 1]
    for i in range(OF_LABEL - 1):
        for k in range(OF_LABEL - 1, i, -1):
            label[k] += e * label[k - 1]
    for k in range(OF_WEIGHT):
        block[2 + k] += weight[k]
    for k in range(OF_LABEL):
        block[2 + OF_WEIGHT + k] += label[k]


cdef struct Powers:
    double[5] weight  # sums of kernel · weight · u^j, u the distance in widths
    double[3] label  # sums of kernel · label · u^j
    double size  # what rounding errors of these sums are proportional to


cdef bint fitted_by_blocks(
    const double *value,
    const double *weight,
    const double *label,
    Py_ssize_t points,
    const double *blocks,
    Py_ssize_t first,
    Py_ssize_t last,
    double x,
    double width,
    double *fit,
) noexcept nogil:
    """Write the fit at x; return whether enough digits are left of it."""
    cdef Powers of
    cdef Py_ssize_t low = first, high = last, middle
    cdef double mean, level, line, square, third, fourth, skew, spread, left, second
    while low < high:
        middle = (low + high) // 2
        if value[middle] < x:
            low = middle + 1
        else:
            high = middle
    of.weight = [0, 0, 0, 0, 0]
    of.label = [0, 0, 0]
    of.size = 0
    add_range(value, weight, label, points, blocks, first, low, x, width, -1, &of)
    add_range(value, weight, label, points, blocks, low, last, x, width, 1, &of)

    mean, level = of.weight[1] / of.weight[0], of.label[0] / of.weight[0]
    square = of.weight[2] - mean * of.weight[1]
    third = of.weight[3] - mean * (3 * of.weight[2] - 2 * mean * of.weight[1])
    fourth = of.weight[4] - mean * (
        4 * of.weight[3] - mean * (6 * of.weight[2] - 3 * mean * of.weight[1])
    )
    line = of.label[1] - level * of.weight[1]
    second = of.label[2] - level * of.weight[2] - 2 * mean * line
    skew, spread = third / square, square / of.weight[0]
    left = fourth - skew * third - spread * square
    if not left > LOST * of.size:  # also if it is not a number
        return False
    fit[0] = level - line / square * mean + (
        (second - skew * line) / left * (mean * mean + skew * mean - spread)
    )
    return True


cdef void add_range(
    const double *value,
    const double *weight,
    const double *label,
    Py_ssize_t points,
    const double *blocks,
    Py_ssize_t first,
    Py_ssize_t last,
    double x,
    double width,
    int side,
    Powers *of,
) noexcept nogil:
    """Add points on one side of the center: the largest blocks they hold, the others by name."""
    cdef Py_ssize_t place = first, size, end
    cdef const double *level
    while place < last:
        if place % LEAF or place + LEAF > last:
            end = min(place - place % LEAF + LEAF, last)
            add_points(&value[place], &weight[place], &label[place], end - place, x, width, of)
            place = end
            continue
        size, level = LEAF, blocks
        while place % (2 * size) == 0 and place + 2 * size <= last:
            level += points // size * ENTRIES
            size *= 2
        add_block(level + place // size * ENTRIES, x, width, side, of)
        place += size


cdef void add_points(
    const double *value,
    const double *weight,
    const double *label,
    Py_ssize_t points,
    double x,
    double width,
    Powers *of,
) noexcept nogil:
    cdef double u, k, y
    cdef Py_ssize_t i
    for i in range(points):
        u = (value[i] - x) / width
        k = tricube(u)
        y = k * label[i]
        k *= weight[i]
        of.size += k
        of.weight[0] += k
        of.label[0] += y
        k *= u
        y *= u
        of.weight[1] += k
        of.label[1] += y
        k *= u
        y *= u
        of.weight[2] += k
        of.label[2] += y
        k *= u
        of.weight[3] += k
        of.weight[4] += k * u


cdef void add_block(
    const double *block, double x, double width, int side, Powers *of
) noexcept nogil:
    """Add a block on one side of the center: there 1 − |u|³ = v (3 − 3v + v²), v = 1 − |u|."""
    cdef double a = (block[0] - x) / width, b = block[1] / width
    cdef double v = (width - fabs(block[0] - x)) / width, slope = -side * b
    cdef double[4] p
    cdef double[7] square
    cdef double[10] kernel
    cdef double[5] weight
    cdef double[3] label
    cdef double size
    cdef int i, j
    p[0] = v * (3 - v * (3 - v))
    p[1] = slope * 3 * (1 - v) * (1 - v)
    p[2] = -slope * slope * 3 * (1 - v)
    p[3] = slope * slope * slope
    size = fabs(p[0]) + fabs(p[1]) + fabs(p[2]) + fabs(p[3])
    of.size += size * size * size * block[2]
    for i in range(7):
        square[i] = 0
    for i in range(10):
        kernel[i] = 0
    for i in range(4):
        for j in range(4):
            square[i + j] += p[i] * p[j]
    for i in range(7):
        for j in range(4):
            kernel[i + j] += square[i] * p[j]
    for i in range(5):
        weight[i] = 0
        for j in range(10):
            weight[i] += kernel[j] * block[2 + i + j]
    for i in range(3):
        label[i] = 0
        for j in range(10):
            label[i] += kernel[j] * block[2 + OF_WEIGHT + i + j]
    for i in range(5):  # powers of u = a + b s, one after the other
        of.weight[i] += weight[0]
        for j in range(4 - i):
            weight[j] = a * weight[j] + b * weight[j + 1]
    for i in range(3):
        of.label[i] += label[0]
        for j in range(2 - i):
            label[j] = a * label[j] + b * label[j + 1]

cdef Py_ssize_t first_inside(
    const double[::1] value, double centre, double width
) noexcept nogil:
    """The first point that lies less than ``width`` below the centre."""
    cdef Py_ssize_t low = 0, high = value.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if centre - value[middle] >= width:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t first_beyond(
    const double[::1] value, double centre, double width
) noexcept nogil:
    """The first point that lies ``width`` or more above the centre."""
    cdef Py_ssize_t low = 0, high = value.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if value[middle] - centre < width:
            low = middle + 1
        else:
            high = middle
    return low


cdef double fitted(const Window *of, double flat) noexcept nogil:
    """The fit at the centre; ``flat`` is the share of a square that rounding may leave."""
    cdef double[4] a, b, c, d
    cdef double t, kernel, u, k, bend
    cdef double weight, mean, level, spread, square, skew, fourth, line, left
    cdef Py_ssize_t g, j

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            k = kernel * of.weight[g + j]
            a[j] += k
            b[j] += k * t
            c[j] += k * t * t
            d[j] += kernel * of.label[g + j]
    weight, spread = total(a), total(c)
    mean, level = total(b) / weight, total(d) / weight

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            u = t - mean
            k = kernel * of.weight[g + j] * u * u
            a[j] += k
            b[j] += k * u
            c[j] += k * u * u
            d[j] += kernel * (of.label[g + j] - of.weight[g + j] * level) * u
    square, fourth = total(a), total(c)
    if of.points < 2 or square <= flat * spread:
        return level
    line = level - total(d) / square * mean
    skew, spread = total(b) / square, square / weight

    clear(a, b, c, d)
    for g in range(0, of.points, 4):
        for j in range(min(4, of.points - g)):
            t = (of.value[g + j] - of.centre) * of.scale
            kernel = tricube(t)
            u = t - mean
            bend = u * u - skew * u - spread
            a[j] += kernel * of.weight[g + j] * bend * bend
            b[j] += kernel * (of.label[g + j] - of.weight[g + j] * level) * bend
    left = total(a)
    if of.points < 3 or left <= flat * fourth:
        return line
    return line + total(b) / left * (mean * mean + skew * mean - spread)


cdef inline double tricube(double t) noexcept nogil:
    cdef double size = fabs(t)
    cdef double rest = 1 - size * size * size
    return rest * rest * rest


cdef inline void clear(double *a, double *b, double *c, double *d) noexcept nogil:
    cdef int j
    for j in range(4):
        a[j] = b[j] = c[j] = d[j] = 0


cdef inline double total(const double *lanes) noexcept nogil:
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
