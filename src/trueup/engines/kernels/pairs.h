/* Sums over the coordinates of every pair of rows: squared or absolute differences, products.

   Differences are taken before they are squared: |a|^2 + |b|^2 - 2ab would lose the distance of
   rows that nearly agree. Every pair has its own lane and its coordinates are added in order, so
   the bits depend neither on the processor nor on how rows are cut into blocks. */
#ifndef TRUEUP_PAIRS_H
#define TRUEUP_PAIRS_H

#include "row_scan.h"

#include <math.h>

#define OTHERS_AT_ONCE 16

typedef enum { SQUARED, ABSOLUTE, PRODUCT } pair_term;

/* Sums of one row with OTHERS_AT_ONCE others, which are packed: all first coordinates, all
   second ones, … */
#define DEFINE_PAIR_ROW(NAME, TERM)                                                                \
    static void NAME(const double *row, const double *packed, ptrdiff_t m, double *sum) {          \
        for (int j = 0; j < OTHERS_AT_ONCE; j++) sum[j] = 0;                                       \
        for (ptrdiff_t k = 0; k < m; k++, packed += OTHERS_AT_ONCE)                                \
            for (int j = 0; j < OTHERS_AT_ONCE; j++) sum[j] += TERM(row[k], packed[j]);            \
    }

#define SQUARED_TERM(x, y) (((x) - (y)) * ((x) - (y)))
#define ABSOLUTE_TERM(x, y) fabs((x) - (y))
#define PRODUCT_TERM(x, y) ((x) * (y))

DEFINE_PAIR_ROW(squared_row, SQUARED_TERM)
DEFINE_PAIR_ROW(absolute_row, ABSOLUTE_TERM)
DEFINE_PAIR_ROW(product_row, PRODUCT_TERM)

#if HAS_WIDE

WIDE inline __m256d wide_squared(__m256d x, __m256d y) {
    __m256d away = _mm256_sub_pd(x, y);
    return _mm256_mul_pd(away, away);
}

WIDE inline __m256d wide_absolute(__m256d x, __m256d y) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(x, y));
}

WIDE inline __m256d wide_product(__m256d x, __m256d y) { return _mm256_mul_pd(x, y); }

/* Four sums by name: compilers keep an array of them in memory, at six times the cost. */
#define DEFINE_WIDE_PAIR_ROW(NAME, TERM)                                                           \
    WIDE void NAME(const double *row, const double *packed, ptrdiff_t m, double *sum) {            \
        __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;                               \
        for (ptrdiff_t k = 0; k < m; k++, packed += OTHERS_AT_ONCE) {                              \
            __m256d x = _mm256_set1_pd(row[k]);                                                    \
            s0 = _mm256_add_pd(s0, TERM(x, _mm256_loadu_pd(packed)));                              \
            s1 = _mm256_add_pd(s1, TERM(x, _mm256_loadu_pd(packed + 4)));                          \
            s2 = _mm256_add_pd(s2, TERM(x, _mm256_loadu_pd(packed + 8)));                          \
            s3 = _mm256_add_pd(s3, TERM(x, _mm256_loadu_pd(packed + 12)));                         \
        }                                                                                          \
        _mm256_storeu_pd(sum, s0);                                                                 \
        _mm256_storeu_pd(sum + 4, s1);                                                             \
        _mm256_storeu_pd(sum + 8, s2);                                                             \
        _mm256_storeu_pd(sum + 12, s3);                                                            \
    }

DEFINE_WIDE_PAIR_ROW(wide_squared_row, wide_squared)
DEFINE_WIDE_PAIR_ROW(wide_absolute_row, wide_absolute)
DEFINE_WIDE_PAIR_ROW(wide_product_row, wide_product)

#endif

typedef void (*pair_row)(const double *, const double *, ptrdiff_t, double *);

static pair_row pair_row_of(pair_term term) {
#if HAS_WIDE
    if (USE_WIDE) {
        if (term == PRODUCT) return wide_product_row;
        return term == SQUARED ? wide_squared_row : wide_absolute_row;
    }
#endif
    if (term == PRODUCT) return product_row;
    return term == SQUARED ? squared_row : absolute_row;
}

/* ``packed`` has room for OTHERS_AT_ONCE rows of m coordinates; ``out`` is (rows, others). */
static void pair_sums(const double *a, ptrdiff_t rows, const double *b, ptrdiff_t others,
                      ptrdiff_t m, pair_term term, double *packed, double *out) {
    pair_row sum_row = pair_row_of(term);
    for (ptrdiff_t first = 0; first < others; first += OTHERS_AT_ONCE) {
        ptrdiff_t left = others - first;
        ptrdiff_t here = left < OTHERS_AT_ONCE ? left : OTHERS_AT_ONCE;
        for (ptrdiff_t k = 0; k < m; k++)
            for (ptrdiff_t j = 0; j < OTHERS_AT_ONCE; j++)
                packed[k * OTHERS_AT_ONCE + j] = j < here ? b[(first + j) * m + k] : 0;
        for (ptrdiff_t i = 0; i < rows; i++) {
            double sum[OTHERS_AT_ONCE];
            sum_row(a + i * m, packed, m, sum);
            for (ptrdiff_t j = 0; j < here; j++) out[i * others + first + j] = sum[j];
        }
    }
}

#endif
