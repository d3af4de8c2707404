/* Counted rows of each score: their residuals, and how far running sums of them go. */
#ifndef TRUEUP_COUNTED_ROWS_H
#define TRUEUP_COUNTED_ROWS_H

#include "dispatch.h"

#define SUMMED_AT_ONCE 4

/* Sums of score - label: no sum of terms that cancel, also for scores next to 1. */
INLINED void find_residuals_body(const double *value, const int64_t *count,
                                 const int64_t *positive, ptrdiff_t n, double *residual) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double right = (double)positive[i], wrong = (double)(count[i] - positive[i]);
        residual[i] = wrong * value[i] - right * (1 - value[i]);
    }
}

DEFINE_KINDS(find_residuals,
             (const double *value, const int64_t *count, const int64_t *positive, ptrdiff_t n,
              double *residual),
             (value, count, positive, n, residual))

/* The last, the lowest and the highest of the sums of the first 1, 2, …, n terms. */
typedef struct {
    double last, lowest, highest;
} sum_range;

/* Ranges of the sums of SUMMED_AT_ONCE rows, each after the other's end: a sum waits for the one
   before it, sums of different rows do not. */
INLINED void row_ranges(const double *terms, ptrdiff_t width, int rows, sum_range *range) {
    for (int r = 0; r < rows; r++) {
        double first = terms[r * width];
        range[r].last = range[r].lowest = range[r].highest = first;
    }
    for (ptrdiff_t i = 1; i < width; i++)
        for (int r = 0; r < rows; r++) {
            double sum = range[r].last + terms[r * width + i];
            range[r].last = sum;
            range[r].lowest = sum < range[r].lowest ? sum : range[r].lowest;
            range[r].highest = sum > range[r].highest ? sum : range[r].highest;
        }
}

/* The lowest and highest of 0 and the sums of the first terms, added up by rows of `width` whose
   totals are added up: the same additions as those of the reference. */
static sum_range range_of_sums(const double *terms, ptrdiff_t n, ptrdiff_t width) {
    sum_range all = {0, 0, 0}, some[SUMMED_AT_ONCE];
    for (ptrdiff_t start = 0; start < n;) {
        int rows = (int)(n - start >= SUMMED_AT_ONCE * width ? SUMMED_AT_ONCE : 1);
        ptrdiff_t here = n - start < width ? n - start : width;
        if (rows > 1)
            row_ranges(terms + start, here, SUMMED_AT_ONCE, some);
        else
            row_ranges(terms + start, here, 1, some);
        for (int r = 0; r < rows; r++) {
            double lowest = all.last + some[r].lowest, highest = all.last + some[r].highest;
            all.lowest = lowest < all.lowest ? lowest : all.lowest;
            all.highest = highest > all.highest ? highest : all.highest;
            all.last += some[r].last;
        }
        start += rows * here;
    }
    return all;
}

#endif
