/* Sums over the coordinates of every pair of rows: squared or absolute differences, products.

   Differences are taken before they are squared: |a|^2 + |b|^2 - 2ab would lose the distance of
   rows that nearly agree. Every pair has its own lane and its coordinates are added in order, so
   the bits depend neither on the processor nor on how rows are cut into blocks. */
#ifndef TRUEUP_PAIRS_H
#define TRUEUP_PAIRS_H

#include "dispatch.h"

#include <math.h>

#define OTHERS_AT_ONCE 16

typedef enum { SQUARED, ABSOLUTE, PRODUCT } pair_term;

INLINED double term_of(pair_term term, double x, double y) {
    if (term == PRODUCT) return x * y;
    return term == SQUARED ? (x - y) * (x - y) : fabs(x - y);
}

/* Sums of rows with `here` others, which are packed: all first coordinates, all second ones, … */
INLINED void rows_with(pair_term term, const double *APART row, ptrdiff_t rows,
                       const double *APART packed, ptrdiff_t here, ptrdiff_t m, double *APART out,
                       ptrdiff_t width) {
    for (ptrdiff_t i = 0; i < rows; i++, row += m, out += width) {
        double low[LANES] = {0}, high[LANES] = {0}, sum[OTHERS_AT_ONCE];
        for (ptrdiff_t k = 0; k < m; k++) {
            const double *APART first = packed + k * OTHERS_AT_ONCE, *APART last = first + LANES;
            IN_STEP for (int j = 0; j < LANES; j++) low[j] += term_of(term, row[k], first[j]);
            IN_STEP for (int j = 0; j < LANES; j++) high[j] += term_of(term, row[k], last[j]);
        }
        for (int j = 0; j < LANES; j++) sum[j] = low[j], sum[LANES + j] = high[j];
        for (ptrdiff_t j = 0; j < here; j++) out[j] = sum[j];
    }
}

/* ``packed`` has room for OTHERS_AT_ONCE rows of m coordinates; ``out`` is (rows, others). */
INLINED void pair_sums_body(const double *a, ptrdiff_t rows, const double *b, ptrdiff_t others,
                            ptrdiff_t m, pair_term term, double *packed, double *out) {
    for (ptrdiff_t first = 0; first < others; first += OTHERS_AT_ONCE) {
        ptrdiff_t left = others - first;
        ptrdiff_t here = left < OTHERS_AT_ONCE ? left : OTHERS_AT_ONCE;
        for (ptrdiff_t k = 0; k < m; k++)
            for (ptrdiff_t j = 0; j < OTHERS_AT_ONCE; j++)
                packed[k * OTHERS_AT_ONCE + j] = j < here ? b[(first + j) * m + k] : 0;
        if (term == SQUARED) rows_with(SQUARED, a, rows, packed, here, m, out + first, others);
        if (term == ABSOLUTE) rows_with(ABSOLUTE, a, rows, packed, here, m, out + first, others);
        if (term == PRODUCT) rows_with(PRODUCT, a, rows, packed, here, m, out + first, others);
    }
}

DEFINE_KINDS(pair_sums,
             (const double *a, ptrdiff_t rows, const double *b, ptrdiff_t others, ptrdiff_t m,
              pair_term term, double *packed, double *out),
             (a, rows, b, others, m, term, packed, out))

#endif
