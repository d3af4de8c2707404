/* Checks of columns of scores and labels, and one pass over rows of probabilities. */
#ifndef TRUEUP_ROW_SCAN_H
#define TRUEUP_ROW_SCAN_H

#include "dispatch.h"

#define CHECKED_AT_ONCE 2048

/* Position of the first item that breaks a rule, or -1. Whole blocks are judged without a branch;
   only a block that fails is looked at again. FLAG is as wide as ITEM, so that lanes line up. */
#define DEFINE_FIRST(NAME, ITEM, FLAG, BREAKS)                                                     \
    INLINED ptrdiff_t NAME(const ITEM *x, ptrdiff_t n) {                                           \
        for (ptrdiff_t start = 0; start < n; start += CHECKED_AT_ONCE) {                           \
            ptrdiff_t stop = start + CHECKED_AT_ONCE < n ? start + CHECKED_AT_ONCE : n;            \
            FLAG broken = 0;                                                                       \
            for (ptrdiff_t i = start; i < stop; i++) broken |= (FLAG)(BREAKS(x[i]));               \
            if (!broken) continue;                                                                 \
            while (!(BREAKS(x[start]))) start++;                                                   \
            return start;                                                                          \
        }                                                                                          \
        return -1;                                                                                 \
    }

#define NOT_IN_UNIT(v) (!(((v) >= 0) & ((v) <= 1)))
#define NEITHER_0_NOR_1(v) (!(((v) == 0) | ((v) == 1)))
#define ABOVE_BIT_0(v) ((v) & ~1)

DEFINE_FIRST(outside_unit_f32, float, int32_t, NOT_IN_UNIT)
DEFINE_FIRST(outside_unit_f64, double, int64_t, NOT_IN_UNIT)
DEFINE_FIRST(not_binary_u8, uint8_t, uint8_t, ABOVE_BIT_0)
DEFINE_FIRST(not_binary_i32, int32_t, int32_t, ABOVE_BIT_0)
DEFINE_FIRST(not_binary_i64, int64_t, int64_t, ABOVE_BIT_0)
DEFINE_FIRST(not_binary_f64, double, int64_t, NEITHER_0_NOR_1)

INLINED ptrdiff_t outside_unit_body(const void *x, int narrow, ptrdiff_t n) {
    return narrow ? outside_unit_f32(x, n) : outside_unit_f64(x, n);
}

INLINED ptrdiff_t not_binary_body(const void *y, int bytes, int real, ptrdiff_t n) {
    if (real) return not_binary_f64(y, n);
    if (bytes == 1) return not_binary_u8(y, n);
    return bytes == 4 ? not_binary_i32(y, n) : not_binary_i64(y, n);
}

DEFINE_KINDS_OF(ptrdiff_t, outside_unit, (const void *x, int narrow, ptrdiff_t n), (x, narrow, n))
DEFINE_KINDS_OF(ptrdiff_t, not_binary, (const void *y, int bytes, int real, ptrdiff_t n),
                (y, bytes, real, n))

/* The sum of a row: lane j adds the columns j, j + 8, …; then lanes 4, 2 and 1 apart are added. */
INLINED double row_total(const void *x, int narrow, ptrdiff_t start, ptrdiff_t columns) {
    double lane[8] = {0};
    ptrdiff_t k = 0;
    for (; k + 8 <= columns; k += 8)
        for (int j = 0; j < 8; j++) lane[j] += entry(x, narrow, start + k + j);
    for (int j = 0; k + j < columns; j++) lane[j] += entry(x, narrow, start + k + j);
    for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* Whether a row is good, and its top: the first NaN, as in NumPy, else the first largest entry. */
INLINED int look_closely(const void *x, int narrow, ptrdiff_t start, ptrdiff_t columns,
                         ptrdiff_t *best) {
    int good = 1;
    *best = 0;
    for (ptrdiff_t k = 0; k < columns; k++) {
        double p = entry(x, narrow, start + k), top = entry(x, narrow, start + *best);
        good &= (p >= 0) & (p <= 1);
        if (p > top || (p != p && top == top)) *best = k;
    }
    return good;
}

INLINED int plain_row(const void *x, int narrow, ptrdiff_t start, ptrdiff_t columns,
                      double *total, ptrdiff_t *best) {
    *total = row_total(x, narrow, start, columns);
    return look_closely(x, narrow, start, columns, best);
}

/* Two columns need no lanes, only no branches: which of two is larger cannot be foretold. */
INLINED int pair_row(const void *x, int narrow, ptrdiff_t start, ptrdiff_t columns, double *total,
                     ptrdiff_t *best) {
    double first = entry(x, narrow, start), second = entry(x, narrow, start + 1);
    *total = (0.0 + first) + (0.0 + second);
    *best = second > first;
    if ((first >= 0) & (first <= 1) & (second >= 0) & (second <= 1)) return 1;
    return look_closely(x, narrow, start, columns, best);
}

/* The total, the top and its class of every row; returns the first bad row, or -1. */
#define DEFINE_SCAN(NAME, KIND, ROW)                                                               \
    KIND ptrdiff_t NAME##_of(const void *x, int narrow, ptrdiff_t rows, ptrdiff_t columns,         \
                             double *total, double *top, int32_t *top_class) {                     \
        ptrdiff_t first_bad = -1, best;                                                            \
        for (ptrdiff_t r = 0; r < rows; r++) {                                                     \
            if (!ROW(x, narrow, r * columns, columns, total + r, &best) && first_bad < 0)          \
                first_bad = r;                                                                     \
            top[r] = entry(x, narrow, r * columns + best);                                         \
            top_class[r] = (int32_t)best;                                                          \
        }                                                                                          \
        return first_bad;                                                                          \
    }                                                                                              \
    KIND ptrdiff_t NAME(const void *x, int narrow, ptrdiff_t rows, ptrdiff_t columns,              \
                        double *total, double *top, int32_t *top_class) {                          \
        return narrow ? NAME##_of(x, 1, rows, columns, total, top, top_class)                      \
                      : NAME##_of(x, 0, rows, columns, total, top, top_class);                     \
    }

DEFINE_SCAN(scan_pairs, static, pair_row)
DEFINE_SCAN(scan_plain, static, plain_row)

#if HAS_WIDE
/* Written by hand: plain C takes two to ten times as long
   (docs/decisions/012-plain-c-or-intrinsics.md). */
WIDE inline __m256d four_entries(const void *x, int narrow, ptrdiff_t i) {
    return narrow ? _mm256_cvtps_pd(_mm_loadu_ps((const float *)x + i))
                  : _mm256_loadu_pd((const double *)x + i);
}

WIDE inline __m128i first_lanes(ptrdiff_t many) {
    return _mm_cmpgt_epi32(_mm_set1_epi32((int)many), _mm_setr_epi32(0, 1, 2, 3));
}

/* The first ones of four entries, and zeros. */
WIDE inline __m256d some_entries(const void *x, int narrow, ptrdiff_t i, __m128i lanes) {
    return narrow ? _mm256_cvtps_pd(_mm_maskload_ps((const float *)x + i, lanes))
                  : _mm256_maskload_pd((const double *)x + i, _mm256_cvtepi32_epi64(lanes));
}

/* A NaN makes the total NaN, and the sign bit finds every negative number and -0.0: a row that may
   be bad is looked at closely. */
WIDE inline int wide_row(const void *x, int narrow, ptrdiff_t start, ptrdiff_t columns,
                         double *total, ptrdiff_t *best) {
    __m256d low = _mm256_setzero_pd(), high = low, top = low, sign = low, u, v;
    ptrdiff_t whole = columns & ~(ptrdiff_t)7;
    __m128i rest = first_lanes(columns - whole), more = first_lanes(columns - whole - 4);
    for (ptrdiff_t k = 0; k < columns; k += 8) {
        ptrdiff_t i = start + k;
        u = k < whole ? four_entries(x, narrow, i) : some_entries(x, narrow, i, rest);
        v = k < whole ? four_entries(x, narrow, i + 4) : some_entries(x, narrow, i + 4, more);
        low = _mm256_add_pd(low, u);
        high = _mm256_add_pd(high, v);
        top = _mm256_max_pd(top, _mm256_max_pd(u, v));
        sign = _mm256_or_pd(sign, _mm256_or_pd(u, v));
    }
    low = _mm256_add_pd(low, high);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(low), _mm256_extractf128_pd(low, 1));
    *total = _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
    top = _mm256_max_pd(top, _mm256_permute2f128_pd(top, top, 1));
    top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
    if (*total != *total || !(_mm256_cvtsd_f64(top) <= 1) || _mm256_movemask_pd(sign))
        return look_closely(x, narrow, start, columns, best);
    for (ptrdiff_t k = 0;; k += 8) {
        ptrdiff_t i = start + k;
        u = k < whole ? four_entries(x, narrow, i) : some_entries(x, narrow, i, rest);
        v = k < whole ? four_entries(x, narrow, i + 4) : some_entries(x, narrow, i + 4, more);
        int found = _mm256_movemask_pd(_mm256_cmp_pd(u, top, _CMP_EQ_OQ)) |
                    _mm256_movemask_pd(_mm256_cmp_pd(v, top, _CMP_EQ_OQ)) << 4;
        if (!found) continue;
        *best = k + __builtin_ctz((unsigned)found);
        return 1;
    }
}

DEFINE_SCAN(scan_wide, WIDE, wide_row)
#else
#define scan_wide scan_plain
#endif

static ptrdiff_t scan_rows(const void *x, int narrow, ptrdiff_t rows, ptrdiff_t columns,
                           double *total, double *top, int32_t *top_class) {
    if (columns == 2) return scan_pairs(x, narrow, rows, columns, total, top, top_class);
    return (USE_WIDE ? scan_wide : scan_plain)(x, narrow, rows, columns, total, top, top_class);
}

#endif
