/* Sums by bin of every class of a matrix at once (one class against the rest), in one read.

   With many classes most entries lie in the first bin. There they are added a few classes at a
   time, without looking up a bin, and only the others take the long way. */
#ifndef TRUEUP_CLASS_SUMS_H
#define TRUEUP_CLASS_SUMS_H

#include "bin_sums.h"

#define LOW_AT_ONCE 64

typedef struct {
    ptrdiff_t classes;
    double *low;  /* sums of p in the first bin by class, then of p^2; each padded to eight */
    double *rest; /* by class and bin: {sum p, sum p^2, count, 0} */
    double *hits; /* by class and bin, of rows with that label: {sum p, count} */
} class_tables;

INLINED ptrdiff_t padded(ptrdiff_t classes) { return (classes + 7) & ~(ptrdiff_t)7; }

INLINED void add_at(double *t, double p) { ADD_FOUR(t, p, p * p, 1, 0); }

INLINED void add_hit(const lookup *at, const class_tables *to, int64_t label, double p) {
    double *t = to->hits + 2 * (label * at->bins + bin_of(at, p));
    t[0] += p;
    t[1] += 1;
}

/* Adds the entries start, start + 1, … that are in the first bin; returns how many they are. */
INLINED ptrdiff_t add_low(const void *APART x, int narrow, ptrdiff_t start, ptrdiff_t many, double f,
                          double first_edge, double *APART low, double *APART low2) {
    int64_t outside = many;
    for (ptrdiff_t k = 0; k < many; k++) {
        double p = entry(x, narrow, start + k) * f;
        int64_t bits, in_first = -(int64_t)(p <= first_edge);
        memcpy(&bits, &p, sizeof bits);
        bits &= in_first; /* a mask: of a choice compilers make a branch */
        memcpy(&p, &bits, sizeof p);
        low[k] += p;
        low2[k] += p * p;
        outside += in_first;
    }
    return (ptrdiff_t)outside;
}

/* Rows whose entries are mostly in the first bin. Returns how many entries were not. */
INLINED ptrdiff_t add_low_rows(const void *APART x, int narrow, const double *factor,
                               const int64_t *label, ptrdiff_t rows, const lookup *at,
                               const class_tables *to) {
    ptrdiff_t classes = to->classes, others = 0;
    double first_edge = at->bins > 1 ? at->edges[0] : INFINITY;
    int32_t outside[LOW_AT_ONCE];
    for (ptrdiff_t r = 0; r < rows; r++) {
        double f = factor ? factor[r] : 1;
        for (ptrdiff_t left = 0; left < classes; left += LOW_AT_ONCE) {
            ptrdiff_t here = classes - left < LOW_AT_ONCE ? classes - left : LOW_AT_ONCE, many = 0;
            ptrdiff_t first = r * classes + left;
            double *low = to->low + left;
            if (add_low(x, narrow, first, here, f, first_edge, low, low + padded(classes)) == 0) continue;
            for (ptrdiff_t k = 0; k < here; k++) {
                outside[many] = (int32_t)k; /* always written: no branch to mispredict */
                many += !(entry(x, narrow, first + k) * f <= first_edge);
            }
            for (ptrdiff_t j = 0; j < many; j++) {
                double p = entry(x, narrow, first + outside[j]) * f;
                add_at(to->rest + 4 * ((left + outside[j]) * at->bins + bin_of(at, p)), p);
            }
            others += many;
        }
        if (label[r] >= 0 && label[r] < classes)
            add_hit(at, to, label[r], entry(x, narrow, r * classes + label[r]) * f);
    }
    return others;
}

/* Rows whose entries are spread over the bins: every entry takes the long way. A tile of rows and
   columns at a time, so that bins are found for many entries together. */
INLINED ptrdiff_t add_spread_rows(const void *x, int narrow, const double *factor,
                                  const int64_t *label, ptrdiff_t rows, const lookup *at,
                                  const class_tables *to) {
    double score[AT_ONCE], first_edge = at->bins > 1 ? at->edges[0] : INFINITY;
    int32_t bin[AT_ONCE];
    ptrdiff_t classes = to->classes, width = classes < AT_ONCE ? classes : AT_ONCE;
    ptrdiff_t height = AT_ONCE / width, in_first = 0;
    for (ptrdiff_t top = 0; top < rows; top += height)
        for (ptrdiff_t left = 0; left < classes; left += width) {
            ptrdiff_t bottom = top + height < rows ? top + height : rows;
            ptrdiff_t right = left + width < classes ? left + width : classes, i = 0;
            for (ptrdiff_t r = top; r < bottom; r++, i += right - left)
                for (ptrdiff_t k = 0; k < right - left; k++)
                    score[i + k] = entry(x, narrow, r * classes + left + k) * (factor ? factor[r] : 1);
            find_bins(at, score, i, bin);
            for (ptrdiff_t j = 0; j < i; j++) in_first += score[j] <= first_edge;
            i = 0;
            for (ptrdiff_t r = top; r < bottom; r++) {
                double *table = to->rest + 4 * left * at->bins;
                for (ptrdiff_t k = left; k < right; k++, i++, table += 4 * at->bins)
                    add_at(table + 4 * bin[i], score[i]);
            }
        }
    for (ptrdiff_t r = 0; r < rows; r++)
        if (label[r] >= 0 && label[r] < classes)
            add_hit(at, to, label[r], entry(x, narrow, r * classes + label[r]) * (factor ? factor[r] : 1));
    return rows * classes - in_first;
}

INLINED ptrdiff_t add_rows_body(const void *x, int narrow, const double *factor,
                                const int64_t *label, ptrdiff_t rows, int mostly_low,
                                const lookup *at, const class_tables *to) {
    if (mostly_low)
        return narrow ? add_low_rows(x, 1, factor, label, rows, at, to)
                      : add_low_rows(x, 0, factor, label, rows, at, to);
    return narrow ? add_spread_rows(x, 1, factor, label, rows, at, to)
                  : add_spread_rows(x, 0, factor, label, rows, at, to);
}

/* Adds a block of rows to the tables; returns how many entries lie outside the first bin. */
DEFINE_KINDS_OF(ptrdiff_t, add_rows,
                (const void *x, int narrow, const double *factor, const int64_t *label,
                 ptrdiff_t rows, int mostly_low, const lookup *at, const class_tables *to),
                (x, narrow, factor, label, rows, mostly_low, at, to))

/* Moves the sums of `rows` rows into totals[5][classes][bins]: count, score, score2, label, cross.
   What is in no other bin is in the first: its rows were not counted one by one. */
static void flush_classes(ptrdiff_t rows, ptrdiff_t bins, const class_tables *to, double *totals) {
    ptrdiff_t size = to->classes * bins;
    for (ptrdiff_t k = 0; k < to->classes; k++) {
        double first = (double)rows;
        double *low = to->low + k, *low2 = low + padded(to->classes);
        for (ptrdiff_t i = k * bins; i < (k + 1) * bins; i++) {
            double *t = to->rest + 4 * i, *h = to->hits + 2 * i, *sum = totals + i;
            if (i > k * bins) {
                sum[0] += t[2];
                first -= t[2];
            }
            sum[size] += t[0];
            sum[2 * size] += t[1];
            sum[3 * size] += h[1];
            sum[4 * size] += h[0];
        }
        totals[k * bins] += first;
        totals[k * bins + size] += *low;
        totals[k * bins + 2 * size] += *low2;
        *low = *low2 = 0;
    }
    memset(to->rest, 0, (size_t)(4 * size) * sizeof(double));
    memset(to->hits, 0, (size_t)(2 * size) * sizeof(double));
}

#endif
