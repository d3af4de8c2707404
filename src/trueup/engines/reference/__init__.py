"""The reference engine: readable NumPy, and the oracle of every faster engine."""

from trueup.engines.reference import (
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
