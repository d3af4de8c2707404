/* Sums over all pairs of k(query, point) times the values of the point, points sixteen at a time.

   k is e^{-|x - x'|_1 * steep} or e^{-|x - x'|_2^2 * steep}. Points are packed: the first
   coordinates of sixteen, their second ones, …; the last sixteen are filled up with points at
   infinity. Every query adds the blocks in their order, one lane a point, so the bits depend
   neither on the processor nor on how queries are cut into chunks. */
#ifndef TRUEUP_BLOCK_SUMS_H
#define TRUEUP_BLOCK_SUMS_H

#include "exponential.h"
#include "dispatch.h"

#include <math.h>

#define BLOCK_POINTS 16
#define QUERIES_AT_ONCE 32 /* they share a block while it is in the cache */

typedef struct {
    const double *place;
    const double *value;
    ptrdiff_t dims, columns;
    double steep;
    int relative; /* sums of e^{-(distance - smallest) * steep}, the smallest kept in `nearest` */
} packed_points;

INLINED double least(const double *away) {
    double low[BLOCK_POINTS / 2];
    for (int l = 0; l < BLOCK_POINTS / 2; l++)
        low[l] = away[l + BLOCK_POINTS / 2] < away[l] ? away[l + BLOCK_POINTS / 2] : away[l];
    for (int half = BLOCK_POINTS / 4; half > 0; half /= 2)
        for (int l = 0; l < half; l++) low[l] = low[l + half] < low[l] ? low[l + half] : low[l];
    return low[0];
}

/* A smaller distance than any before: what is summed so far weighs less. */
INLINED void come_nearer(double *sum, ptrdiff_t many, double *nearest, double found,
                         double steep) {
    double factor = exp_of(-((*nearest - found) * steep));
    for (ptrdiff_t i = 0; i < many; i++) sum[i] *= factor;
    *nearest = found;
}

/* Distances of a query to the sixteen points of a block. */
INLINED void plain_distances(const double *at, const double *x, ptrdiff_t dims, int squared,
                             double *away) {
    for (int l = 0; l < BLOCK_POINTS; l++) away[l] = 0;
    for (ptrdiff_t k = 0; k < dims; k++, x += BLOCK_POINTS)
        for (int l = 0; l < BLOCK_POINTS; l++) {
            double step = at[k] - x[l];
            away[l] += squared ? step * step : fabs(step);
        }
}

#if HAS_WIDE

WIDE inline __m256d wide_step(__m256d at, const double *x, int squared) {
    __m256d step = _mm256_sub_pd(at, _mm256_loadu_pd(x));
    if (squared) return _mm256_mul_pd(step, step);
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), step);
}

/* Four sums by name: compilers keep an array of them in memory, at four times the cost. */
WIDE inline void wide_distances(const double *at, const double *x, ptrdiff_t dims, int squared,
                                double *away) {
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    for (ptrdiff_t k = 0; k < dims; k++, x += BLOCK_POINTS) {
        __m256d here = _mm256_set1_pd(at[k]);
        s0 = _mm256_add_pd(s0, wide_step(here, x, squared));
        s1 = _mm256_add_pd(s1, wide_step(here, x + 4, squared));
        s2 = _mm256_add_pd(s2, wide_step(here, x + 8, squared));
        s3 = _mm256_add_pd(s3, wide_step(here, x + 12, squared));
    }
    _mm256_storeu_pd(away, s0);
    _mm256_storeu_pd(away + 4, s1);
    _mm256_storeu_pd(away + 8, s2);
    _mm256_storeu_pd(away + 12, s3);
}

#endif

/* Adds the points of blocks first … last - 1 to the lanes of `sum`, (rows, columns, 16). */
#define DEFINE_ADD_BLOCKS(NAME, KIND, DISTANCES, SQUARED)                                          \
    KIND void NAME(const packed_points *points, ptrdiff_t first, ptrdiff_t last,                   \
                   const double *query, ptrdiff_t rows, double *APART sum,                         \
                   double *APART nearest) {                                                        \
        ptrdiff_t dims = points->dims, columns = points->columns;                                  \
        for (ptrdiff_t b = first; b < last; b++)                                                   \
            for (ptrdiff_t q = 0; q < rows; q++) {                                                 \
                const double *APART value = points->value + b * columns * BLOCK_POINTS;            \
                double *APART to = sum + q * columns * BLOCK_POINTS;                               \
                double away[BLOCK_POINTS], from = 0;                                               \
                DISTANCES(query + q * dims, points->place + b * dims * BLOCK_POINTS, dims,         \
                          SQUARED, away);                                                          \
                if (points->relative) {                                                            \
                    double found = least(away);                                                    \
                    if (found < nearest[q])                                                        \
                        come_nearer(to, columns * BLOCK_POINTS, nearest + q, found,                \
                                    points->steep);                                                \
                    from = nearest[q];                                                             \
                }                                                                                  \
                for (int l = 0; l < BLOCK_POINTS; l++)                                             \
                    away[l] = exp_of(-((away[l] - from) * points->steep));                         \
                for (ptrdiff_t c = 0; c < columns; c++)                                            \
                    for (int l = 0; l < BLOCK_POINTS; l++)                                         \
                        to[c * BLOCK_POINTS + l] += away[l] * value[c * BLOCK_POINTS + l];         \
            }                                                                                      \
    }

DEFINE_ADD_BLOCKS(laplace_plain, static, plain_distances, 0)
DEFINE_ADD_BLOCKS(gaussian_plain, static, plain_distances, 1)

#if HAS_WIDE
DEFINE_ADD_BLOCKS(laplace_wide, WIDE, wide_distances, 0)
DEFINE_ADD_BLOCKS(gaussian_wide, WIDE, wide_distances, 1)
DEFINE_ADD_BLOCKS(laplace_widest, WIDEST, wide_distances, 0)
DEFINE_ADD_BLOCKS(gaussian_widest, WIDEST, wide_distances, 1)
#endif

typedef void (*block_adder)(const packed_points *, ptrdiff_t, ptrdiff_t, const double *, ptrdiff_t,
                            double *, double *);

static block_adder block_adder_of(int gaussian) {
#if HAS_WIDE
    if (USE_WIDEST) return gaussian ? gaussian_widest : laplace_widest;
    if (USE_WIDE) return gaussian ? gaussian_wide : laplace_wide;
#endif
    return gaussian ? gaussian_plain : laplace_plain;
}

#endif
