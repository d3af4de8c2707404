"""The compiled engine: each thread runs kernels on chunks of the rows.

Chunks depend on the size of the data alone and their sums are added in order, so results are
bit-for-bit identical on any number of threads.
"""

from trueup.engines.native import (
    bins as bins,
    draws as draws,
    grid as grid,
    isotonic as isotonic,
    kernel_sums as kernel_sums,
    loess as loess,
    order as order,
    pairs as pairs,
    rows as rows,
    sigmoid as sigmoid,
    softmax as softmax,
    sweep as sweep,
)
