/* One look at rows of probabilities, and at columns of scores and labels.

   Every function has a plain C form; on x86-64 an AVX2 form is chosen where the processor has it.
   Both add the same numbers in the same order, so the bits do not depend on the processor. */
#ifndef TRUEUP_ROW_SCAN_H
#define TRUEUP_ROW_SCAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

#if defined(__GNUC__) && defined(__x86_64__) && !defined(TRUEUP_PLAIN_C)
#include <immintrin.h>
#define HAS_WIDE 1
#define WIDE static __attribute__((target("avx2")))
#define USE_WIDE __builtin_cpu_supports("avx2")
#define WIDEST static __attribute__((target("avx512f,avx512dq,avx512vl")))
#define USE_WIDEST (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
#define HAS_WIDE 0
#define WIDE static
#define USE_WIDE 0
#endif

#define CHECKED_AT_ONCE 2048

/* Position of the first item that breaks a rule, or -1. Whole blocks are judged without a branch;
   only a block that fails is looked at again. FLAG is as wide as ITEM, so that lanes line up. */
#define DEFINE_FIRST(NAME, ITEM, FLAG, BREAKS)                                                     \
    INLINED ptrdiff_t NAME##_body(const ITEM *x, ptrdiff_t n) {                                    \
        for (ptrdiff_t start = 0; start < n; start += CHECKED_AT_ONCE) {                           \
            ptrdiff_t stop = start + CHECKED_AT_ONCE < n ? start + CHECKED_AT_ONCE : n;            \
            FLAG broken = 0;                                                                       \
            for (ptrdiff_t i = start; i < stop; i++) broken |= (FLAG)(BREAKS(x[i]));               \
            if (!broken) continue;                                                                 \
            while (!(BREAKS(x[start]))) start++;                                                   \
            return start;                                                                          \
        }                                                                                          \
        return -1;                                                                                 \
    }                                                                                              \
    WIDE ptrdiff_t NAME##_wide(const ITEM *x, ptrdiff_t n) { return NAME##_body(x, n); }           \
    static ptrdiff_t NAME(const ITEM *x, ptrdiff_t n) {                                            \
        return USE_WIDE ? NAME##_wide(x, n) : NAME##_body(x, n);                                   \
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

/* The sum of a row: lane j adds the columns j, j + 8, …; then lanes 4, 2 and 1 apart are added. */
#define DEFINE_PLAIN_ROW(NAME, ITEM)                                                               \
    INLINED double NAME##_total(const ITEM *row, ptrdiff_t columns) {                              \
        double lane[8] = {0};                                                                      \
        ptrdiff_t k = 0;                                                                           \
        for (; k + 8 <= columns; k += 8)                                                           \
            for (int j = 0; j < 8; j++) lane[j] += (double)row[k + j];                             \
        for (int j = 0; k + j < columns; j++) lane[j] += (double)row[k + j];                       \
        for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];                                        \
        return (lane[0] + lane[2]) + (lane[1] + lane[3]);                                          \
    }                                                                                              \
    /* The first NaN is the top, as in NumPy; otherwise the first of the largest entries. */       \
    static int NAME##_look(const ITEM *row, ptrdiff_t columns, ptrdiff_t *best) {                  \
        int good = 1;                                                                              \
        ptrdiff_t top = 0;                                                                         \
        for (ptrdiff_t k = 0; k < columns; k++) {                                                  \
            good &= (row[k] >= 0) & (row[k] <= 1);                                                 \
            if (row[k] > row[top] || (row[k] != row[k] && row[top] == row[top])) top = k;          \
        }                                                                                          \
        *best = top;                                                                               \
        return good;                                                                               \
    }

DEFINE_PLAIN_ROW(row_f32, float)
DEFINE_PLAIN_ROW(row_f64, double)

#if HAS_WIDE

WIDE __m256i first_lanes_32(ptrdiff_t many) {
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)many), lane);
}

WIDE __m256i first_lanes_64(ptrdiff_t many) {
    __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)many), lane);
}

WIDE double across(__m256d low, __m256d high) {
    __m256d four = _mm256_add_pd(low, high);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

/* The wide forms return 0 for a row that is, or may be, bad; the caller then looks closely.
   A NaN makes the total NaN, and the sign bit finds every negative number (and -0.0). */
WIDE int wide_row_f32(const float *row, ptrdiff_t columns, __m256i rest, double *total,
                      ptrdiff_t *best) {
    ptrdiff_t whole = columns & ~(ptrdiff_t)7, k = 0;
    __m256d low = _mm256_setzero_pd(), high = low;
    __m256 top = _mm256_setzero_ps(), sign = top, v;
    for (; k < columns; k += 8) {
        v = k < whole ? _mm256_loadu_ps(row + k) : _mm256_maskload_ps(row + k, rest);
        low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
        high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
        top = _mm256_max_ps(top, v);
        sign = _mm256_or_ps(sign, v);
    }
    *total = across(low, high);
    top = _mm256_max_ps(top, _mm256_permute2f128_ps(top, top, 1));
    top = _mm256_max_ps(top, _mm256_permute_ps(top, 0x4e));
    top = _mm256_max_ps(top, _mm256_permute_ps(top, 0xb1));
    if (*total != *total || !(_mm256_cvtss_f32(top) <= 1) || _mm256_movemask_ps(sign)) return 0;
    for (k = 0;; k += 8) {
        v = k < whole ? _mm256_loadu_ps(row + k) : _mm256_maskload_ps(row + k, rest);
        int found = _mm256_movemask_ps(_mm256_cmp_ps(v, top, _CMP_EQ_OQ));
        if (!found) continue;
        *best = k + __builtin_ctz((unsigned)found);
        return 1;
    }
}

WIDE int wide_row_f64(const double *row, ptrdiff_t columns, __m256i rest_low, __m256i rest_high,
                      double *total, ptrdiff_t *best) {
    ptrdiff_t whole = columns & ~(ptrdiff_t)7, k = 0;
    __m256d low = _mm256_setzero_pd(), high = low, top = low, sign = low, u, v;
    for (; k < columns; k += 8) {
        u = k < whole ? _mm256_loadu_pd(row + k) : _mm256_maskload_pd(row + k, rest_low);
        v = k < whole ? _mm256_loadu_pd(row + k + 4) : _mm256_maskload_pd(row + k + 4, rest_high);
        low = _mm256_add_pd(low, u);
        high = _mm256_add_pd(high, v);
        top = _mm256_max_pd(top, _mm256_max_pd(u, v));
        sign = _mm256_or_pd(sign, _mm256_or_pd(u, v));
    }
    *total = across(low, high);
    top = _mm256_max_pd(top, _mm256_permute2f128_pd(top, top, 1));
    top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
    if (*total != *total || !(_mm256_cvtsd_f64(top) <= 1) || _mm256_movemask_pd(sign)) return 0;
    for (k = 0;; k += 8) {
        u = k < whole ? _mm256_loadu_pd(row + k) : _mm256_maskload_pd(row + k, rest_low);
        v = k < whole ? _mm256_loadu_pd(row + k + 4) : _mm256_maskload_pd(row + k + 4, rest_high);
        int found = _mm256_movemask_pd(_mm256_cmp_pd(u, top, _CMP_EQ_OQ)) |
                    _mm256_movemask_pd(_mm256_cmp_pd(v, top, _CMP_EQ_OQ)) << 4;
        if (!found) continue;
        *best = k + __builtin_ctz((unsigned)found);
        return 1;
    }
}

#endif

/* Total, top and top class of every row; returns the first bad row, or -1. */
#define FINISH_ROW(ROW)                                                                            \
    if (!ROW##_look(row, columns, &best) && first_bad < 0) first_bad = r;

#define DEFINE_SCAN(NAME, ROW, ITEM)                                                               \
    static ptrdiff_t NAME##_plain(const ITEM *x, ptrdiff_t rows, ptrdiff_t columns, double *total, \
                                  double *top, int32_t *top_class) {                               \
        ptrdiff_t first_bad = -1, best;                                                            \
        for (ptrdiff_t r = 0; r < rows; r++) {                                                     \
            const ITEM *row = x + r * columns;                                                     \
            total[r] = ROW##_total(row, columns);                                                  \
            FINISH_ROW(ROW)                                                                        \
            top[r] = (double)row[best];                                                            \
            top_class[r] = (int32_t)best;                                                          \
        }                                                                                          \
        return first_bad;                                                                          \
    }

DEFINE_SCAN(scan_f32, row_f32, float)
DEFINE_SCAN(scan_f64, row_f64, double)

#if HAS_WIDE
#define DEFINE_WIDE_SCAN(NAME, ROW, ITEM, MASKS, LOOK)                                             \
    WIDE ptrdiff_t NAME##_wide(const ITEM *x, ptrdiff_t rows, ptrdiff_t columns, double *total,    \
                               double *top, int32_t *top_class) {                                  \
        ptrdiff_t first_bad = -1, best;                                                            \
        MASKS;                                                                                     \
        for (ptrdiff_t r = 0; r < rows; r++) {                                                     \
            const ITEM *row = x + r * columns;                                                     \
            if (!LOOK) FINISH_ROW(ROW)                                                             \
            top[r] = (double)row[best];                                                            \
            top_class[r] = (int32_t)best;                                                          \
        }                                                                                          \
        return first_bad;                                                                          \
    }

DEFINE_WIDE_SCAN(scan_f32, row_f32, float, __m256i rest = first_lanes_32(columns & 7),
                 wide_row_f32(row, columns, rest, total + r, &best))
DEFINE_WIDE_SCAN(scan_f64, row_f64, double,
                 __m256i low = first_lanes_64(columns & 7);
                 __m256i high = first_lanes_64((columns & 7) - 4),
                 wide_row_f64(row, columns, low, high, total + r, &best))
#else
#define scan_f32_wide scan_f32_plain
#define scan_f64_wide scan_f64_plain
#endif

/* Two columns need no lanes, only no branches: which of two is larger cannot be foretold. */
#define DEFINE_PAIRS(NAME, ROW, ITEM)                                                              \
    static ptrdiff_t NAME##_pairs(const ITEM *x, ptrdiff_t rows, double *total, double *top,       \
                                  int32_t *top_class) {                                            \
        ptrdiff_t first_bad = -1, columns = 2;                                                     \
        for (ptrdiff_t r = 0; r < rows; r++) {                                                     \
            const ITEM *row = x + 2 * r;                                                           \
            ptrdiff_t best = row[1] > row[0];                                                      \
            total[r] = (0.0 + (double)row[0]) + (0.0 + (double)row[1]);                            \
            if (!((row[0] >= 0) & (row[0] <= 1) & (row[1] >= 0) & (row[1] <= 1))) FINISH_ROW(ROW)  \
            top[r] = (double)row[best];                                                            \
            top_class[r] = (int32_t)best;                                                          \
        }                                                                                          \
        return first_bad;                                                                          \
    }

DEFINE_PAIRS(scan_f32, row_f32, float)
DEFINE_PAIRS(scan_f64, row_f64, double)

static ptrdiff_t scan_f32(const float *x, ptrdiff_t rows, ptrdiff_t columns, double *total,
                          double *top, int32_t *top_class) {
    if (columns == 2) return scan_f32_pairs(x, rows, total, top, top_class);
    return (USE_WIDE ? scan_f32_wide : scan_f32_plain)(x, rows, columns, total, top, top_class);
}

static ptrdiff_t scan_f64(const double *x, ptrdiff_t rows, ptrdiff_t columns, double *total,
                          double *top, int32_t *top_class) {
    if (columns == 2) return scan_f64_pairs(x, rows, total, top, top_class);
    return (USE_WIDE ? scan_f64_wide : scan_f64_plain)(x, rows, columns, total, top, top_class);
}

#endif
