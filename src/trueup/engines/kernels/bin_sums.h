/* Sums by bin of a column of scores.

   As in lanes.h the AVX2 forms add the same numbers in the same order as the plain ones. Running
   sums are kept short (RUN rows) before they are added to the totals, so that they do not drift. */
#ifndef TRUEUP_BIN_SUMS_H
#define TRUEUP_BIN_SUMS_H

#include "bin_lookup.h"

#include <string.h>

#define AT_ONCE 512
#define RUN 32768

INLINED ptrdiff_t run_length(ptrdiff_t bins) { return 4 * bins > RUN ? 4 * bins : RUN; }

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
WIDE inline void terms_of(const double *p, __m256d *term) {
    const __m256d one = _mm256_setr_pd(1, 0, 1, 0);
    __m256d x = _mm256_loadu_pd(p), square = _mm256_mul_pd(x, x);
    __m256d even = _mm256_unpacklo_pd(x, square), odd = _mm256_unpackhi_pd(x, square);
    term[0] = _mm256_permute2f128_pd(even, one, 0x20);
    term[1] = _mm256_permute2f128_pd(odd, one, 0x20);
    term[2] = _mm256_permute2f128_pd(even, one, 0x31);
    term[3] = _mm256_permute2f128_pd(odd, one, 0x31);
}

WIDE void wide_add(const double *p, const int32_t *key, ptrdiff_t many, const lookup *at,
                   double *table) {
    const int32_t *below = at->below;
    const double *inside = at->inside;
    ptrdiff_t i = 0;
    for (; i + 4 <= many; i += 4) {
        __m256d x = _mm256_loadu_pd(p + i), term[4];
        terms_of(p + i, term);
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

WIDE void wide_add_slots(const double *p, const uint16_t *slot, ptrdiff_t many, double *table) {
    for (ptrdiff_t i = 0; i < many; i += 4) {
        __m256d term[4];
        terms_of(p + i, term);
        for (int r = 0; r < 4; r++) {
            double *t = table + 16 * (size_t)slot[i + r] + 4 * r;
            _mm256_store_pd(t, _mm256_add_pd(_mm256_load_pd(t), term[r]));
        }
    }
}

/* Few edges close together share a cell: there every edge is compared with sixteen scores at once.
   Fills in the slots of the first many & ~15 rows, whose keys hold the labels. */
#define FEW_EDGES 24

WIDE void wide_count(const double *p, const int32_t *key, ptrdiff_t many, const lookup *at,
                     uint16_t *slot) {
    for (ptrdiff_t i = 0; i + 16 <= many; i += 16) {
        __m256i passed[4];
        __m256d x[4];
        int64_t count[16];
        for (int v = 0; v < 4; v++) {
            x[v] = _mm256_loadu_pd(p + i + 4 * v);
            passed[v] = _mm256_setzero_si256();
        }
        for (ptrdiff_t e = 0; e < at->bins - 1; e++) {
            __m256d edge = _mm256_set1_pd(at->edges[e]);
            for (int v = 0; v < 4; v++)
                passed[v] = _mm256_sub_epi64(
                    passed[v], _mm256_castpd_si256(_mm256_cmp_pd(x[v], edge, _CMP_GT_OQ)));
        }
        for (int v = 0; v < 4; v++) _mm256_storeu_si256((__m256i *)(count + 4 * v), passed[v]);
        for (int r = 0; r < 16; r++)
            slot[i + r] = (uint16_t)(2 * count[r] + (key[i + r] & 1));
    }
}

WIDE void wide_add_few(const double *p, const int32_t *key, ptrdiff_t many, const lookup *at,
                       double *table) {
    uint16_t slot[AT_ONCE];
    ptrdiff_t whole = many & ~(ptrdiff_t)15;
    wide_count(p, key, many, at, slot);
    wide_add_slots(p, slot, whole, table);
    plain_add(p + whole, key + whole, many - whole, at, 4, table);
}
#endif

/* Moves the running sums into the totals, whose rows are slots of {sum p, sum p^2, count, 0}. */
static void flush(double *table, ptrdiff_t copies, ptrdiff_t slots, double *totals) {
    for (ptrdiff_t s = 0; s < slots; s++, table += 4 * copies, totals += 4) {
        if (copies == 4)
            for (int j = 0; j < 4; j++)
                totals[j] += (table[j] + table[4 + j]) + (table[8 + j] + table[12 + j]);
        else
            for (int j = 0; j < 4; j++) totals[j] += table[j];
        memset(table, 0, (size_t)(4 * copies) * sizeof(double));
    }
}

#define DEFINE_TALLY(NAME, KIND, KEYS, LABELS, ADD)                                                \
    KIND uint64_t NAME(const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,       \
                       ptrdiff_t stop, const lookup *at, double *table, double *totals) {          \
        double room[AT_ONCE];                                                                      \
        int32_t key[AT_ONCE];                                                                      \
        uint64_t seen = 0;                                                                         \
        ptrdiff_t copies = COPIES(at->bins), rows = 0;                                             \
        for (; start < stop; start += AT_ONCE) {                                                   \
            ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;                      \
            const double *score = KEYS(p, narrow, start, many, at->cells, room, key);              \
            seen |= LABELS(y, bytes, start, many, key);                                            \
            ADD;                                                                                   \
            if ((rows += many) < run_length(at->bins)) continue;                                   \
            flush(table, copies, 2 * at->bins, totals);                                            \
            rows = 0;                                                                              \
        }                                                                                          \
        flush(table, copies, 2 * at->bins, totals);                                                \
        return seen & ~(uint64_t)1;                                                                \
    }

DEFINE_TALLY(plain_tally, static, plain_keys, plain_labels,
             plain_add(score, key, many, at, copies, table))
#if HAS_WIDE
DEFINE_TALLY(most_wide_tally, WIDE, wide_keys, wide_labels,
             if (copies == 4 && at->single) wide_add(score, key, many, at, table);
             else if (at->bins <= FEW_EDGES) wide_add_few(score, key, many, at, table);
             else plain_add(score, key, many, at, copies, table))

/* The commonest case by far: at most sixteen bins of about equal width. */
WIDE uint64_t wide_tally(const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,
                         ptrdiff_t stop, const lookup *at, double *table, double *totals) {
    double room[AT_ONCE];
    uint16_t slot[AT_ONCE];
    uint64_t seen = 0;
    if (!at->is_brief)
        return most_wide_tally(p, narrow, y, bytes, start, stop, at, table, totals);
    for (ptrdiff_t rows = 0; stop - start >= AT_ONCE; start += AT_ONCE) {
        const double *score = plain_scores(p, narrow, start, AT_ONCE, room);
        seen |= wide_slots(score, y, bytes, start, AT_ONCE, at, slot);
        wide_add_slots(score, slot, AT_ONCE, table);
        if ((rows += AT_ONCE) < run_length(at->bins)) continue;
        flush(table, 4, 2 * at->bins, totals);
        rows = 0;
    }
    return seen | most_wide_tally(p, narrow, y, bytes, start, stop, at, table, totals);
}
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
INLINED void plain_add_soft(const double *p, const double *y, const double *w, const int32_t *key,
                            ptrdiff_t many, const lookup *at, double *table) {
    for (ptrdiff_t i = 0; i < many; i++) {
        double weight = w ? w[i] : 1, wp = weight * p[i], wy = weight * y[i];
        double *t = table + 4 * slot_of(at, key[i], p[i]);
        t[0] += 1;
        t[1] += weight;
        t[2] += weight * weight;
        t[3] += wp;
        t[4] += wp * p[i];
        t[5] += wy;
        t[6] += wy * y[i];
        t[7] += wp * y[i];
    }
}

#if HAS_WIDE
/* Four columns of four rows become four rows. */
WIDE inline void turn(__m256d a, __m256d b, __m256d c, __m256d d, __m256d *row) {
    __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d);
    __m256d ba = _mm256_unpackhi_pd(a, b), dc = _mm256_unpackhi_pd(c, d);
    row[0] = _mm256_permute2f128_pd(ab, cd, 0x20);
    row[1] = _mm256_permute2f128_pd(ba, dc, 0x20);
    row[2] = _mm256_permute2f128_pd(ab, cd, 0x31);
    row[3] = _mm256_permute2f128_pd(ba, dc, 0x31);
}

WIDE void wide_add_soft(const double *p, const double *y, const double *w, const int32_t *key,
                        ptrdiff_t many, const lookup *at, double *table) {
    const __m256d one = _mm256_set1_pd(1);
    ptrdiff_t i = 0;
    for (; i + 4 <= many; i += 4) {
        __m256d x = _mm256_loadu_pd(p + i), label = _mm256_loadu_pd(y + i), head[4], tail[4];
        __m256d weight = w ? _mm256_loadu_pd(w + i) : one;
        __m256d wp = _mm256_mul_pd(weight, x), wy = _mm256_mul_pd(weight, label);
        turn(one, weight, _mm256_mul_pd(weight, weight), wp, head);
        turn(_mm256_mul_pd(wp, x), wy, _mm256_mul_pd(wy, label), _mm256_mul_pd(wp, label), tail);
        for (int r = 0; r < 4; r++) {
            double *t = table + 4 * slot_of(at, key[i + r], p[i + r]);
            _mm256_storeu_pd(t, _mm256_add_pd(_mm256_loadu_pd(t), head[r]));
            _mm256_storeu_pd(t + 4, _mm256_add_pd(_mm256_loadu_pd(t + 4), tail[r]));
        }
    }
    plain_add_soft(p + i, y + i, w ? w + i : w, key + i, many - i, at, table);
}
#endif

#define DEFINE_SOFT_TALLY(NAME, KIND, KEYS, ADD)                                                   \
    KIND void NAME(const void *p, int narrow, const double *y, const double *w, ptrdiff_t start,   \
                   ptrdiff_t stop, const lookup *at, double *table, double *totals) {              \
        double room[AT_ONCE];                                                                      \
        int32_t key[AT_ONCE];                                                                      \
        ptrdiff_t rows = 0;                                                                        \
        for (; start < stop; start += AT_ONCE) {                                                   \
            ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;                      \
            const double *score = KEYS(p, narrow, start, many, at->cells, room, key);              \
            ADD(score, y + start, w ? w + start : w, key, many, at, table);                        \
            if ((rows += many) < run_length(at->bins)) continue;                                   \
            flush(table, 1, 2 * at->bins, totals);                                                 \
            rows = 0;                                                                              \
        }                                                                                          \
        flush(table, 1, 2 * at->bins, totals);                                                     \
    }

DEFINE_SOFT_TALLY(plain_tally_soft, static, plain_keys, plain_add_soft)
#if HAS_WIDE
DEFINE_SOFT_TALLY(wide_tally_soft, WIDE, wide_keys, wide_add_soft)
#else
#define wide_tally_soft plain_tally_soft
#endif

/* `table` is zeroed and 8 * bins long; it is left zeroed. */
static void tally_soft(const void *p, int narrow, const double *y, const double *w,
                       ptrdiff_t start, ptrdiff_t stop, const lookup *at, double *table,
                       double *totals) {
    (USE_WIDE ? wide_tally_soft : plain_tally_soft)(p, narrow, y, w, start, stop, at, table,
                                                    totals);
}

#endif
