/* Sums by bin of a column of scores: which bin, and what is added there.

   As in lanes.h the AVX2 forms add the same numbers in the same order as the plain ones. Running
   sums are kept short (RUN rows) before they are added to the totals, so that they do not drift. */
#ifndef TRUEUP_TALLY_H
#define TRUEUP_TALLY_H

#include "lanes.h"

#include <math.h>
#include <string.h>

#define AT_ONCE 512
#define RUN 32768

/* [0, 1] is cut into `cells` equal cells, a power of two, so that score * cells is exact and its
   whole part is the cell. Only the edges inside that cell are left to compare with the score. */
typedef struct {
    const double *edges;  /* the inner edges, increasing */
    const int32_t *below; /* at 2 * cell + y: twice the number of edges below the cell, plus y */
    const double *inside; /* at 2 * cell + y: the edge inside the cell, infinity if none */
    double cells;
    int single;           /* no cell has more than one edge inside */
    ptrdiff_t bins;
} lookup;

/* Fills in `below` (2 * cells + 4 long) and `inside` (2 * cells + 2 long) for `edges`. The last
   cell, from 1 up, is that of the score 1. Returns whether no cell has two edges inside. */
static int build_lookup(const double *edges, ptrdiff_t n_edges, ptrdiff_t cells, int32_t *below,
                        double *inside) {
    int single = 1;
    ptrdiff_t passed = 0;
    for (ptrdiff_t cell = 0; cell <= cells + 1; cell++) {
        double left = cell <= cells ? (double)cell / (double)cells : INFINITY;
        ptrdiff_t before = passed;
        while (passed < n_edges && edges[passed] < left) passed++;
        for (int y = 0; y < 2; y++) below[2 * cell + y] = (int32_t)(2 * passed + y);
        if (cell == 0) continue;
        single &= passed - before < 2;
        for (int y = 0; y < 2; y++)
            inside[2 * cell - 2 + y] = passed > before ? edges[before] : INFINITY;
    }
    return single;
}

INLINED ptrdiff_t run_length(ptrdiff_t bins) { return 4 * bins > RUN ? 4 * bins : RUN; }

/* Twice the cell of a score. A NaN or a score outside [0, 1] gets a cell too: never a wild read. */
INLINED int32_t key_of(double p, double cells) {
    double x = p * cells;
    x = x < cells ? x : cells;
    x = x > 0 ? x : 0;
    return 2 * (int32_t)x;
}

/* Twice the bin (the number of inner edges strictly below the score), plus the label. */
INLINED ptrdiff_t slot_of(const lookup *at, int32_t key, double p) {
    ptrdiff_t slot = at->below[key];
    if (at->single) return slot + 2 * (p > at->inside[key]);
    const double *first = at->edges + (slot >> 1);
    for (ptrdiff_t left = (at->below[key + 2] - slot) >> 1; left > 0;) {
        ptrdiff_t half = left >> 1;
        int above = first[half] < p;
        slot += above ? 2 * (half + 1) : 0;
        first += above ? half + 1 : 0;
        left = above ? left - half - 1 : half;
    }
    return slot;
}

/* Scores in double precision, and their keys. Doubles are used where they lie. */
INLINED const double *plain_keys(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                                 double cells, double *room, int32_t *key) {
    const double *score = narrow ? room : (const double *)p + start;
    if (narrow)
        for (ptrdiff_t i = 0; i < many; i++) room[i] = (double)((const float *)p)[start + i];
    for (ptrdiff_t i = 0; i < many; i++) key[i] = key_of(score[i], cells);
    return score;
}

#if HAS_WIDE
WIDE const double *wide_keys(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                             double cells, double *room, int32_t *key) {
    const double *score = narrow ? room : (const double *)p + start;
    __m256d scale = _mm256_set1_pd(cells);
    ptrdiff_t i = 0;
    if (narrow)
        for (ptrdiff_t j = 0; j < many; j++) room[j] = (double)((const float *)p)[start + j];
    for (; i + 4 <= many; i += 4) {
        __m256d x = _mm256_mul_pd(_mm256_loadu_pd(score + i), scale);
        x = _mm256_max_pd(_mm256_min_pd(x, scale), _mm256_setzero_pd());
        __m128i cell = _mm256_cvttpd_epi32(x);
        _mm_storeu_si128((__m128i *)(key + i), _mm_add_epi32(cell, cell));
    }
    for (; i < many; i++) key[i] = key_of(score[i], cells);
    return score;
}
#endif

/* Adds a label's last bit to each key; the answer has other bits where a label is not 0 or 1. */
INLINED uint64_t add_labels(const void *y, int bytes, ptrdiff_t start, ptrdiff_t many,
                            int32_t *key) {
    if (bytes == 1) {
        const uint8_t *label = (const uint8_t *)y + start;
        uint8_t seen = 0;
        for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += label[i] & 1;
        return seen;
    }
    if (bytes == 4) {
        const uint32_t *label = (const uint32_t *)y + start;
        uint32_t seen = 0;
        for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += (int32_t)(label[i] & 1);
        return seen;
    }
    const uint64_t *label = (const uint64_t *)y + start;
    uint64_t seen = 0;
    for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += (int32_t)(label[i] & 1);
    return seen;
}

/* Hard labels without weights: {p, p^2, 1, 0} is added at each row's slot. The table has one copy
   or four, used in turn, so that rows of one bin need not wait for each other. */
#define COPIES(bins) ((bins) > 64 ? 1 : 4)

INLINED void plain_add(const double *p, const int32_t *key, ptrdiff_t many, const lookup *at,
                       ptrdiff_t copies, double *table) {
    for (ptrdiff_t i = 0; i < many; i++) {
        double *t = table + 4 * (slot_of(at, key[i], p[i]) * copies + (i & (copies - 1)));
        t[0] += p[i];
        t[1] += p[i] * p[i];
        t[2] += 1;
    }
}

#if HAS_WIDE
WIDE void wide_add(const double *p, const int32_t *key, ptrdiff_t many, const lookup *at,
                   double *table) {
    const __m256d one = _mm256_setr_pd(1, 0, 1, 0);
    const int32_t *below = at->below;
    const double *inside = at->inside;
    ptrdiff_t i = 0;
    for (; i + 4 <= many; i += 4) {
        __m256d x = _mm256_loadu_pd(p + i), square = _mm256_mul_pd(x, x);
        __m256d even = _mm256_unpacklo_pd(x, square), odd = _mm256_unpackhi_pd(x, square);
        __m256d term[4] = {
            _mm256_permute2f128_pd(even, one, 0x20), _mm256_permute2f128_pd(odd, one, 0x20),
            _mm256_permute2f128_pd(even, one, 0x31), _mm256_permute2f128_pd(odd, one, 0x31)};
        uint32_t k[4] = {(uint32_t)key[i], (uint32_t)key[i + 1], (uint32_t)key[i + 2],
                         (uint32_t)key[i + 3]};
        __m256d edge = _mm256_setr_pd(inside[k[0]], inside[k[1]], inside[k[2]], inside[k[3]]);
        unsigned above = (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(x, edge, _CMP_GT_OQ)) << 1;
        for (int r = 0; r < 4; r++) {
            uint64_t slot = (uint32_t)below[k[r]] + (above >> r & 2);
            double *t = table + 16 * slot + 4 * r;
            _mm256_store_pd(t, _mm256_add_pd(_mm256_load_pd(t), term[r]));
        }
    }
    if (i < many) plain_add(p + i, key + i, many - i, at, 4, table);
}
#endif

/* Moves the running sums into the totals, whose rows are slots of {sum p, sum p^2, count, 0}. */
static void flush(double *table, ptrdiff_t copies, ptrdiff_t slots, double *totals) {
    for (ptrdiff_t s = 0; s < slots; s++)
        for (int j = 0; j < 3; j++) {
            const double *t = table + 4 * s * copies + j;
            totals[4 * s + j] += copies == 4 ? (t[0] + t[4]) + (t[8] + t[12]) : t[0];
        }
    memset(table, 0, (size_t)(4 * slots * copies) * sizeof(double));
}

#define DEFINE_TALLY(NAME, KIND, KEYS, ADD)                                                        \
    KIND uint64_t NAME(const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,       \
                       ptrdiff_t stop, const lookup *at, double *table, double *totals) {          \
        double room[AT_ONCE];                                                                      \
        int32_t key[AT_ONCE];                                                                      \
        uint64_t seen = 0;                                                                         \
        ptrdiff_t copies = COPIES(at->bins), rows = 0;                                             \
        for (; start < stop; start += AT_ONCE) {                                                   \
            ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;                      \
            const double *score = KEYS(p, narrow, start, many, at->cells, room, key);              \
            seen |= add_labels(y, bytes, start, many, key);                                        \
            ADD;                                                                                   \
            if ((rows += many) < run_length(at->bins)) continue;                                   \
            flush(table, copies, 2 * at->bins, totals);                                            \
            rows = 0;                                                                              \
        }                                                                                          \
        flush(table, copies, 2 * at->bins, totals);                                                \
        return seen & ~(uint64_t)1;                                                                \
    }

DEFINE_TALLY(plain_tally, static, plain_keys, plain_add(score, key, many, at, copies, table))
#if HAS_WIDE
DEFINE_TALLY(wide_tally, WIDE, wide_keys,
             if (copies == 4 && at->single) wide_add(score, key, many, at, table);
             else plain_add(score, key, many, at, copies, table))
#else
#define wide_tally plain_tally
#endif

/* `table` is zeroed, aligned to 32 bytes, and 8 * bins * COPIES(bins) long; it is left zeroed.
   Returns 0, or else a label was neither 0 nor 1 and the totals mean nothing. */
static uint64_t tally(const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,
                      ptrdiff_t stop, const lookup *at, double *table, double *totals) {
    return (USE_WIDE ? wide_tally : plain_tally)(p, narrow, y, bytes, start, stop, at, table,
                                                 totals);
}

/* Soft labels or weights: {1, w, w^2, wp, wp^2, wy, wy^2, wpy} is added at each row's bin. */
INLINED void soft_body(const void *p, int narrow, const double *y, const double *w,
                       ptrdiff_t start, ptrdiff_t stop, const lookup *at, double *table,
                       double *totals) {
    double room[AT_ONCE];
    int32_t key[AT_ONCE];
    ptrdiff_t rows = 0, length = 8 * at->bins;
    for (; start < stop; start += AT_ONCE) {
        ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;
        const double *score = plain_keys(p, narrow, start, many, at->cells, room, key);
        for (ptrdiff_t i = 0; i < many; i++) {
            double weight = w ? w[start + i] : 1, label = y[start + i];
            double wp = weight * score[i], wy = weight * label;
            double *t = table + 4 * slot_of(at, key[i], score[i]);
            t[0] += 1;
            t[1] += weight;
            t[2] += weight * weight;
            t[3] += wp;
            t[4] += wp * score[i];
            t[5] += wy;
            t[6] += wy * label;
            t[7] += wp * label;
        }
        if ((rows += many) < run_length(at->bins) && start + AT_ONCE < stop) continue;
        for (ptrdiff_t j = 0; j < length; j++) totals[j] += table[j], table[j] = 0;
        rows = 0;
    }
}

WIDE void wide_soft(const void *p, int narrow, const double *y, const double *w, ptrdiff_t start,
                    ptrdiff_t stop, const lookup *at, double *table, double *totals) {
    soft_body(p, narrow, y, w, start, stop, at, table, totals);
}

/* `table` is zeroed and 8 * bins long; it is left zeroed. */
static void tally_soft(const void *p, int narrow, const double *y, const double *w,
                       ptrdiff_t start, ptrdiff_t stop, const lookup *at, double *table,
                       double *totals) {
    if (USE_WIDE) wide_soft(p, narrow, y, w, start, stop, at, table, totals);
    else soft_body(p, narrow, y, w, start, stop, at, table, totals);
}

#endif
