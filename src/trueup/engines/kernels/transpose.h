/* A few columns of a matrix turned into rows, each entry times its row's factor.

   Rows lie far apart, so that the processor does not guess which memory comes next: it is told. */
#ifndef TRUEUP_TRANSPOSE_H
#define TRUEUP_TRANSPOSE_H

#include <stddef.h>

#if defined(__GNUC__)
#define COMES_NEXT(address) __builtin_prefetch(address)
#else
#define COMES_NEXT(address) ((void)0)
#endif

#define ROWS_AHEAD 32
#define COLUMNS_AT_ONCE 8

#define DEFINE_COLUMNS(NAME, ITEM)                                                                 \
    static void NAME(const ITEM *x, ptrdiff_t row_bytes, ptrdiff_t rows, ptrdiff_t columns,        \
                     const double *factor, double *out, ptrdiff_t out_bytes) {                     \
        for (ptrdiff_t left = 0; left < columns; left += COLUMNS_AT_ONCE) {                        \
            ptrdiff_t many = columns - left < COLUMNS_AT_ONCE ? columns - left : COLUMNS_AT_ONCE;  \
            char *first = (char *)out + left * out_bytes;                                          \
            for (ptrdiff_t i = 0; i < rows; i++) {                                                 \
                const ITEM *row = (const ITEM *)((const char *)x + i * row_bytes) + left;          \
                double f = factor ? factor[i] : 1;                                                 \
                if (i + ROWS_AHEAD < rows) {                                                       \
                    const char *ahead = (const char *)row + ROWS_AHEAD * row_bytes;                \
                    COMES_NEXT(ahead);                                                             \
                    COMES_NEXT(ahead + (many - 1) * (ptrdiff_t)sizeof(ITEM));                      \
                }                                                                                  \
                for (ptrdiff_t j = 0; j < many; j++)                                               \
                    ((double *)(first + j * out_bytes))[i] = (double)row[j] * f;                   \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_COLUMNS(columns_f32, float)
DEFINE_COLUMNS(columns_f64, double)

#endif
