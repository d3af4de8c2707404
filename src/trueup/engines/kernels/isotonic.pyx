"""Pool adjacent violators: the blocks of the non-decreasing fit, in one pass with a stack.

Blocks already finished lie on the stack with strictly rising means. A new item takes in the
blocks on top of the stack whose mean is not below its own; every item is taken in once at most.
"""

from libc.stdint cimport int64_t

ctypedef fused number:
    int64_t
    double


def pool(
    const number[::1] weight,
    const number[::1] label,
    int64_t[::1] start,
    number[::1] block_weight,
    number[::1] block_label,
):
    """Fill in first item, weight and label of every block; return how many blocks there are.

    The three outputs are as long as the input. Whole totals must be below 2^31, so that products
    of two of them fit into 63 bits.
    """
    cdef int64_t i, first, top = -1
    cdef number w, y
    cdef Py_ssize_t n = weight.shape[0]
    if min(label.shape[0], start.shape[0], block_weight.shape[0], block_label.shape[0]) < n:
        raise ValueError("arrays as long as the weights")
    with nogil:
        for i in range(weight.shape[0]):
            first, w, y = i, weight[i], label[i]
            while top >= 0 and not rises(block_weight[top], block_label[top], w, y):
                first = start[top]
                w = block_weight[top] + w
                y = block_label[top] + y
                top -= 1
            top += 1
            start[top], block_weight[top], block_label[top] = first, w, y
    return top + 1


cdef inline bint rises(number w, number y, number next_w, number next_y) noexcept nogil:
    """Whether the mean y/w is below the next one: of whole numbers exactly, without dividing.

    Products of very small weights would vanish, so means of floats are divided.
    """
    if number is int64_t:
        return y * next_w < next_y * w
    else:
        return y / w < next_y / next_w


def pool_added(
    const number[::1] mass,
    const number[::1] hits,
    int64_t[::1] following,
    int64_t[::1] stack,
    number[::1] block_mass,
    number[::1] block_hits,
):
    """Fill in, for every item, the weight and label of its block once a positive row joined it.

    ``mass`` and ``hits`` are running totals of n items, 0 first, so that items are steps of a path
    through n + 1 points and blocks are edges of the hull below it. A row of weight 1 and label 1
    that joins item i moves the points before it by (−1, −1). Its block is the edge between the
    hulls of the points before and after, both ends of which move right only as i grows.
    ``following`` and ``stack`` are n + 1 places to work in.
    """
    cdef Py_ssize_t n = mass.shape[0] - 1
    cdef int64_t i, a, b, end = 0, at = 0, top = -1
    cdef number rise, run
    if min(hits.shape[0], following.shape[0], stack.shape[0]) <= n or n < 1:
        raise ValueError("at least one item, and arrays as long as the totals")
    if min(block_mass.shape[0], block_hits.shape[0]) < n:
        raise ValueError("one block for each item")
    with nogil:
        following[n] = -1
        for i in range(n - 1, 0, -1):  # the hull after i: i, following[i], …
            b = i + 1
            while following[b] >= 0 and not bends(mass, hits, i, b, following[b]):
                b = following[b]
            following[i] = b
        for i in range(1, n + 1):
            while top > 0 and not bends(mass, hits, stack[top - 1], stack[top], i - 1):
                top -= 1
            top += 1
            stack[top] = i - 1  # the hull before i lies on the stack
            at, end = min(at, top), max(end, i)
            while True:
                a = stack[at]
                run, rise = mass[end] - mass[a] + 1, hits[end] - hits[a] + 1
                b = following[end]
                if b >= 0 and (hits[b] - hits[end]) * run <= rise * (mass[b] - mass[end]):
                    end = b
                    continue
                if at < top:
                    b = stack[at + 1]
                    if (hits[b] - hits[a]) * run <= rise * (mass[b] - mass[a]):
                        at += 1
                        continue
                break
            block_mass[i - 1], block_hits[i - 1] = run, rise


cdef inline bint bends(
    const number[::1] mass, const number[::1] hits, int64_t a, int64_t b, int64_t c
) noexcept nogil:
    """Whether point b lies below the line from point a to point c."""
    return (hits[b] - hits[a]) * (mass[c] - mass[a]) < (hits[c] - hits[a]) * (mass[b] - mass[a])
