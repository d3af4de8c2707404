/* Sums over all pairs of k(query, point) times the values of the point, points sixteen at a time.

   k is e^{-|x - x'|_1 * steep} or e^{-|x - x'|_2^2 * steep}. Points are packed: the first
   coordinates of sixteen, their second ones, …; the last sixteen are filled up with points at
   infinity. Every query adds the blocks in their order, one lane a point, so the bits depend
   neither on the processor nor on how queries are cut into chunks. */
#ifndef TRUEUP_BLOCK_SUMS_H
#define TRUEUP_BLOCK_SUMS_H

#include "exponential.h"

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

INLINED double away_of(double step, int squared) { return squared ? step * step : fabs(step); }

/* Distances of a query to the sixteen points of a block. */
INLINED void distances(const double *APART at, const double *APART x, ptrdiff_t dims, int squared,
                       double *APART away) {
    double low[LANES] = {0}, high[LANES] = {0};
    for (ptrdiff_t k = 0; k < dims; k++, x += BLOCK_POINTS) {
        IN_STEP for (int l = 0; l < LANES; l++) low[l] += away_of(at[k] - x[l], squared);
        IN_STEP for (int l = 0; l < LANES; l++) high[l] += away_of(at[k] - x[LANES + l], squared);
    }
    for (int l = 0; l < LANES; l++) away[l] = low[l];
    for (int l = 0; l < LANES; l++) away[LANES + l] = high[l];
}

/* Adds the points of blocks first … last - 1 to the lanes of `sum`, (rows, columns, 16). */
INLINED void add_blocks_of(const packed_points *points, int squared, ptrdiff_t first,
                           ptrdiff_t last, const double *query, ptrdiff_t rows,
                           double *APART sum, double *APART nearest) {
    ptrdiff_t dims = points->dims, columns = points->columns;
    for (ptrdiff_t b = first; b < last; b++)
        for (ptrdiff_t q = 0; q < rows; q++) {
            const double *APART value = points->value + b * columns * BLOCK_POINTS;
            double *APART to = sum + q * columns * BLOCK_POINTS;
            double away[BLOCK_POINTS], from = 0;
            distances(query + q * dims, points->place + b * dims * BLOCK_POINTS, dims, squared,
                      away);
            if (points->relative) {
                double found = least(away);
                if (found < nearest[q])
                    come_nearer(to, columns * BLOCK_POINTS, nearest + q, found, points->steep);
                from = nearest[q];
            }
            for (int l = 0; l < BLOCK_POINTS; l++)
                away[l] = exp_of(-((away[l] - from) * points->steep));
            for (ptrdiff_t c = 0; c < columns; c++)
                for (int l = 0; l < BLOCK_POINTS; l++)
                    to[c * BLOCK_POINTS + l] += away[l] * value[c * BLOCK_POINTS + l];
        }
}

INLINED void add_blocks_body(const packed_points *points, int gaussian, ptrdiff_t first,
                             ptrdiff_t last, const double *query, ptrdiff_t rows, double *sum,
                             double *nearest) {
    if (gaussian)
        add_blocks_of(points, 1, first, last, query, rows, sum, nearest);
    else
        add_blocks_of(points, 0, first, last, query, rows, sum, nearest);
}

DEFINE_KINDS(add_blocks,
             (const packed_points *points, int gaussian, ptrdiff_t first, ptrdiff_t last,
              const double *query, ptrdiff_t rows, double *sum, double *nearest),
             (points, gaussian, first, last, query, rows, sum, nearest))

#endif
