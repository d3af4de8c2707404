/* A few columns of a matrix turned into rows, each entry times its row's factor.

   Rows lie far apart, so that the processor does not guess which memory comes next: it is told. */
#ifndef TRUEUP_TRANSPOSE_H
#define TRUEUP_TRANSPOSE_H

#include "dispatch.h"

#if defined(__GNUC__)
#define COMES_NEXT(address) __builtin_prefetch(address)
#else
#define COMES_NEXT(address) ((void)0)
#endif

#define ROWS_AHEAD 32
#define COLUMNS_AT_ONCE 8

/* Rows lie `row_bytes` apart, those of `out` `out_bytes`; the factor may be NULL. */
INLINED void columns_of(const void *x, int narrow, ptrdiff_t row_bytes, ptrdiff_t rows,
                        ptrdiff_t columns, const double *factor, double *out,
                        ptrdiff_t out_bytes) {
    ptrdiff_t item = narrow ? sizeof(float) : sizeof(double);
    for (ptrdiff_t left = 0; left < columns; left += COLUMNS_AT_ONCE) {
        ptrdiff_t many = columns - left < COLUMNS_AT_ONCE ? columns - left : COLUMNS_AT_ONCE;
        char *first = (char *)out + left * out_bytes;
        for (ptrdiff_t i = 0; i < rows; i++) {
            const char *row = (const char *)x + i * row_bytes + left * item;
            double f = factor ? factor[i] : 1;
            if (i + ROWS_AHEAD < rows) {
                const char *ahead = row + ROWS_AHEAD * row_bytes;
                COMES_NEXT(ahead);
                COMES_NEXT(ahead + (many - 1) * item);
            }
            for (ptrdiff_t j = 0; j < many; j++)
                ((double *)(first + j * out_bytes))[i] = entry(row, narrow, j) * f;
        }
    }
}

static void scale_columns(const void *x, int narrow, ptrdiff_t row_bytes, ptrdiff_t rows,
                          ptrdiff_t columns, const double *factor, double *out,
                          ptrdiff_t out_bytes) {
    if (narrow)
        columns_of(x, 1, row_bytes, rows, columns, factor, out, out_bytes);
    else
        columns_of(x, 0, row_bytes, rows, columns, factor, out, out_bytes);
}

#endif
