# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
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
