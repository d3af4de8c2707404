/* Sums by bin of every class of a matrix at once (one class against the rest), in one pass.

   With many classes most entries lie in the first bin. There they are added without looking up a
   bin, and only the others take the long way. */
#ifndef TRUEUP_CLASS_SUMS_H
#define TRUEUP_CLASS_SUMS_H

#include "bin_sums.h"

#define LOW_AT_ONCE 64

typedef struct {
    ptrdiff_t classes;
    double *rest; /* by class and bin: {sum p, sum p^2, count, 0}; aligned to 32 bytes */
    double *hits; /* by class and bin, of rows with that label: {sum p, count} */
    double *low;  /* sums of p in the first bin by class, then of p^2 */
} class_tables;

INLINED void add_at(double *t, double p) { ADD_FOUR(t, p, p * p, 1, 0); }

/* Some rows of a matrix, each of which is multiplied by its factor. */
typedef struct {
    const void *x;
    const double *factor; /* NULL: 1 */
    const int64_t *label;
    ptrdiff_t rows;
} labeled_rows;

INLINED double factor_of(const labeled_rows *of, ptrdiff_t r) {
    return of->factor ? of->factor[r] : 1;
}

INLINED void add_hit(const labeled_rows *of, int narrow, ptrdiff_t r, const lookup *at,
                     const class_tables *to) {
    ptrdiff_t label = (ptrdiff_t)of->label[r];
    if (label < 0 || label >= to->classes) return;
    double p = entry(of->x, narrow, r * to->classes + label) * factor_of(of, r);
    double *hit = to->hits + 2 * (label * at->bins + bin_of(at, p));
    hit[0] += p;
    hit[1] += 1;
}

/* Adds those of some entries that are in the first bin; returns how many are not. */
INLINED int64_t add_low(const void *APART x, int narrow, ptrdiff_t start, ptrdiff_t many, double f,
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
    return outside;
}

/* Rows whose entries are mostly in the first bin. Returns how many entries were not. */
INLINED ptrdiff_t add_low_rows(const labeled_rows *of, int narrow, const lookup *at,
                               const class_tables *to) {
    ptrdiff_t classes = to->classes, others = 0, place[LOW_AT_ONCE];
    double first_edge = at->bins > 1 ? at->edges[0] : INFINITY;
    for (ptrdiff_t r = 0; r < of->rows; r++) {
        double f = factor_of(of, r);
        for (ptrdiff_t left = 0; left < classes; left += LOW_AT_ONCE) {
            ptrdiff_t here = classes - left < LOW_AT_ONCE ? classes - left : LOW_AT_ONCE;
            ptrdiff_t start = r * classes + left, many = 0;
            double *low = to->low + left, *low2 = low + classes;
            if (!add_low(of->x, narrow, start, here, f, first_edge, low, low2)) continue;
            for (ptrdiff_t k = 0; k < here; k++) {
                place[many] = k; /* always written: no branch to mispredict */
                many += !(entry(of->x, narrow, start + k) * f <= first_edge);
            }
            for (ptrdiff_t j = 0; j < many; j++) {
                double p = entry(of->x, narrow, start + place[j]) * f;
                add_at(to->rest + 4 * ((left + place[j]) * at->bins + bin_of(at, p)), p);
            }
            others += many;
        }
        add_hit(of, narrow, r, at, to);
    }
    return others;
}

/* Rows whose entries are spread over the bins: every entry takes the long way. A tile of rows and
   columns at a time, so that bins are found for many entries together. */
INLINED ptrdiff_t add_spread_rows(const labeled_rows *of, int narrow, const lookup *at,
                                  const class_tables *to) {
    double score[AT_ONCE], first_edge = at->bins > 1 ? at->edges[0] : INFINITY;
    int32_t bin[AT_ONCE];
    ptrdiff_t classes = to->classes, width = classes < AT_ONCE ? classes : AT_ONCE;
    ptrdiff_t height = AT_ONCE / width, in_first = 0;
    for (ptrdiff_t top = 0; top < of->rows; top += height)
        for (ptrdiff_t left = 0; left < classes; left += width) {
            ptrdiff_t bottom = top + height < of->rows ? top + height : of->rows;
            ptrdiff_t right = left + width < classes ? left + width : classes, i = 0;
            for (ptrdiff_t r = top; r < bottom; r++) {
                double f = factor_of(of, r);
                for (ptrdiff_t k = left; k < right; k++)
                    score[i++] = entry(of->x, narrow, r * classes + k) * f;
            }
            find_bins(at, score, i, bin);
            for (ptrdiff_t j = 0; j < i; j++) in_first += score[j] <= first_edge;
            i = 0;
            for (ptrdiff_t r = top; r < bottom; r++) {
                double *table = to->rest + 4 * left * at->bins;
                for (ptrdiff_t k = left; k < right; k++, i++, table += 4 * at->bins)
                    add_at(table + 4 * bin[i], score[i]);
            }
        }
    for (ptrdiff_t r = 0; r < of->rows; r++) add_hit(of, narrow, r, at, to);
    return of->rows * classes - in_first;
}

INLINED ptrdiff_t add_rows_body(const labeled_rows *of, int narrow, int mostly_low,
                                const lookup *at, const class_tables *to) {
    if (mostly_low)
        return narrow ? add_low_rows(of, 1, at, to) : add_low_rows(of, 0, at, to);
    return narrow ? add_spread_rows(of, 1, at, to) : add_spread_rows(of, 0, at, to);
}

/* Adds a block of rows to the tables; returns how many entries lie outside the first bin. */
DEFINE_KINDS_OF(ptrdiff_t, add_rows,
                (const labeled_rows *of, int narrow, int mostly_low, const lookup *at,
                 const class_tables *to),
                (of, narrow, mostly_low, at, to))

/* Moves the sums of `rows` rows into totals[5][classes][bins]: count, score, score2, label, cross.
   What is in no other bin is in the first: its rows were not counted one by one. */
static void flush_classes(ptrdiff_t rows, ptrdiff_t bins, const class_tables *to, double *totals) {
    ptrdiff_t size = to->classes * bins;
    for (ptrdiff_t k = 0; k < to->classes; k++) {
        double first = (double)rows;
        double *low = to->low + k, *low2 = low + to->classes;
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
