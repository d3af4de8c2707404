/* Labels drawn from probabilities, by a generator that needs no state.

   The random number of row i in resample r is a hash of (seed, r, i), so that neither threads nor
   chunks nor the processor can change a draw. A hash of 64 bits serves two rows: each compares 32
   of them with the first 32 bits of its probability; where those are equal, once in four billion
   draws, a second hash decides on the rest. */
#ifndef TRUEUP_DRAWS_H
#define TRUEUP_DRAWS_H

#include "dispatch.h"

#define STEP 0x9E3779B97F4A7C15ULL

INLINED uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* Whether one row is drawn: `part` are its 32 bits, `hash` those of the pair it belongs to. */
INLINED int64_t drawn(uint32_t part, uint64_t hash, uint32_t odd, uint64_t limit) {
    if (part != (uint32_t)(limit >> 32)) return part < (uint32_t)(limit >> 32);
    return (uint32_t)(mixed(hash + STEP) >> (odd ? 0 : 32)) < (uint32_t)limit;
}

/* How many of n increasing limits a hash has reached: the class it draws. */
INLINED int64_t reached(const uint64_t *limit, int64_t n, uint64_t hash) {
    int64_t found = 0;
    if (n <= 12) {
        for (int64_t k = 0; k < n; k++) found += limit[k] <= hash;
        return found;
    }
    while (n > 0) {
        int64_t half = (n + 1) / 2;
        found += limit[found + half - 1] <= hash ? half : 0;
        n -= half;
    }
    return found;
}

/* The whole part of n * hash / 2^64, for n up to 2^32. */
INLINED uint64_t row_below(uint64_t n, uint64_t hash) {
    return ((hash >> 32) * n + ((hash & 0xFFFFFFFFULL) * n >> 32)) >> 32;
}

/* Number of rows drawn among n pairs of rows, whose numbers start at `first`. */
INLINED int64_t count_drawn_body(const uint32_t *even, const uint32_t *odd, const uint64_t *limit,
                                 int64_t first, int64_t n, uint64_t key) {
    int64_t total = 0;
    for (int64_t start = 0; start < n; start += 1024) {
        int64_t stop = start + 1024 < n ? start + 1024 : n;
        uint32_t count = 0, equal = 0;
        for (int64_t j = start; j < stop; j++) {
            uint64_t hash = mixed(key + (uint64_t)(first + j) * STEP);
            uint32_t high = (uint32_t)(hash >> 32), low = (uint32_t)hash;
            count += (high < even[j]) + (low < odd[j]);
            equal |= (high == even[j]) | (low == odd[j]);
        }
        if (equal) {
            count = 0;
            for (int64_t j = start; j < stop; j++) {
                uint64_t hash = mixed(key + (uint64_t)(first + j) * STEP);
                count += (uint32_t)drawn((uint32_t)(hash >> 32), hash, 0, limit[2 * j]);
                count += (uint32_t)drawn((uint32_t)hash, hash, 1, limit[2 * j + 1]);
            }
        }
        total += count;
    }
    return total;
}

/* Whether each of n rows is drawn, as 0 or 1; their numbers start at `first`, which is even. */
INLINED void draw_some_labels_body(const uint64_t *limit, int64_t first, int64_t n, uint64_t key,
                                   int64_t *out) {
    uint64_t pair = (uint64_t)first / 2, equal = 0;
    for (int64_t j = 0; j < n / 2; j++) {
        uint64_t hash = mixed(key + (pair + (uint64_t)j) * STEP);
        uint64_t even = limit[2 * j] >> 32, odd = limit[2 * j + 1] >> 32;
        uint64_t high = hash >> 32, low = hash & 0xFFFFFFFFULL;
        out[2 * j] = high < even;
        out[2 * j + 1] = low < odd;
        equal |= (high == even) | (low == odd);
    }
    for (int64_t i = equal ? 0 : n / 2 * 2; i < n; i++) {
        uint64_t hash = mixed(key + (pair + (uint64_t)i / 2) * STEP);
        out[i] = drawn((uint32_t)(hash >> (i % 2 ? 0 : 32)), hash, i % 2, limit[i]);
    }
}

/* Numbers, below n, of `many` rows that are drawn with replacement; draws start at `first`. */
INLINED void draw_some_rows_body(int64_t n, int64_t first, int64_t many, uint64_t key,
                                 uint32_t *rows) {
    for (int64_t i = 0; i < many; i++)
        rows[i] = (uint32_t)row_below((uint64_t)n, mixed(key + (uint64_t)(first + i) * STEP));
}

DEFINE_KINDS_OF(int64_t, count_drawn,
                (const uint32_t *even, const uint32_t *odd, const uint64_t *limit, int64_t first,
                 int64_t n, uint64_t key),
                (even, odd, limit, first, n, key))
DEFINE_KINDS(draw_some_labels,
             (const uint64_t *limit, int64_t first, int64_t n, uint64_t key, int64_t *out),
             (limit, first, n, key, out))
DEFINE_KINDS(draw_some_rows,
             (int64_t n, int64_t first, int64_t many, uint64_t key, uint32_t *rows),
             (n, first, many, key, rows))

#endif
