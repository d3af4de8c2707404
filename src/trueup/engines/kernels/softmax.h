/* Softmax of rows of logits, and the sums over rows by which its parameters are fitted.

   One plain C form, compiled once for each kind of x86-64 processor. Sums over a row are taken in
   sixteen lanes, columns j, j + 16, …, which are then added in halves; sums over rows are taken in
   the order of the rows. Nothing is fused, so the bits do not depend on the processor. */
#ifndef TRUEUP_SOFTMAX_H
#define TRUEUP_SOFTMAX_H

#include "exponential.h"

#define SUM_LANES 16
#define FAR_BELOW -1e300 /* fills rows up to whole lanes: its exponential is 0 */

/* Some rows of a matrix of logits, and room for one row of doubles filled up to whole lanes. */
typedef struct {
    const void *x;
    int narrow; /* float, not double */
    ptrdiff_t rows, columns;
    double *row;
    double *spare;
} logits_block;

INLINED ptrdiff_t whole_lanes(ptrdiff_t columns) {
    return (columns + SUM_LANES - 1) / SUM_LANES * SUM_LANES;
}

/* Halves are added by loops of fixed length: of one loop over halves compilers make branches. */
#define FOLD(lane, ADD)                                                                            \
    for (int j = 0; j < 8; j++) lane[j] = ADD(lane[j], lane[j + 8]);                               \
    for (int j = 0; j < 4; j++) lane[j] = ADD(lane[j], lane[j + 4]);                               \
    for (int j = 0; j < 2; j++) lane[j] = ADD(lane[j], lane[j + 2]);                               \
    return ADD(lane[0], lane[1]);
#define SUM_OF(a, b) ((a) + (b))
#define LARGER_OF(a, b) ((b) > (a) ? (b) : (a))

INLINED double folded(double *lane) { FOLD(lane, SUM_OF) }

INLINED double largest(const double *x, ptrdiff_t whole) {
    double lane[SUM_LANES];
    for (int j = 0; j < SUM_LANES; j++) lane[j] = x[j];
    for (ptrdiff_t k = SUM_LANES; k < whole; k += SUM_LANES)
        for (int j = 0; j < SUM_LANES; j++) lane[j] = LARGER_OF(lane[j], x[k + j]);
    FOLD(lane, LARGER_OF)
}

INLINED void load_row(const logits_block *z, ptrdiff_t r) {
    if (z->narrow) {
        const float *row = (const float *)z->x + r * z->columns;
        for (ptrdiff_t k = 0; k < z->columns; k++) z->row[k] = (double)row[k];
    } else {
        const double *row = (const double *)z->x + r * z->columns;
        memcpy(z->row, row, (size_t)z->columns * sizeof(double));
    }
}

INLINED void fill_up(const logits_block *z, double value) {
    for (ptrdiff_t k = z->columns; k < whole_lanes(z->columns); k++) z->row[k] = value;
}

/* With d the logits of a row less the largest: sums of e^{inverse d}, of that times d and times
   d^2, and -d of the label: (rows, 4). */
INLINED void temper_body(const logits_block *z, const int64_t *label, double inverse,
                         double *out) {
    ptrdiff_t whole = whole_lanes(z->columns);
    const double *row = z->row;
    fill_up(z, FAR_BELOW);
    for (ptrdiff_t r = 0; r < z->rows; r++, out += 4) {
        double total[SUM_LANES] = {0}, first[SUM_LANES] = {0}, second[SUM_LANES] = {0}, top;
        load_row(z, r);
        top = largest(row, whole);
        for (ptrdiff_t k = 0; k < whole; k += SUM_LANES)
            for (int j = 0; j < SUM_LANES; j++) {
                double d = row[k + j] - top;
                double e = exp_of(d * inverse);
                double moment = e * d;
                total[j] += e;
                first[j] += moment;
                second[j] += moment * d;
            }
        out[0] = folded(total);
        out[1] = folded(first);
        out[2] = folded(second);
        out[3] = top - row[label[r]];
    }
}

/* Probabilities from exponents less the largest of them, which are overwritten. */
INLINED void write_probs(double *exponent, ptrdiff_t columns, double *out) {
    ptrdiff_t whole = whole_lanes(columns);
    double total[SUM_LANES] = {0}, share;
    for (ptrdiff_t k = 0; k < whole; k += SUM_LANES)
        for (int j = 0; j < SUM_LANES; j++) {
            double e = exp_of(exponent[k + j]);
            exponent[k + j] = e;
            total[j] += e;
        }
    share = 1.0 / folded(total);
    for (ptrdiff_t k = 0; k < columns; k++) out[k] = exponent[k] * share;
}

/* softmax(inverse * z), (rows, columns). */
INLINED void temper_probs_body(const logits_block *z, double inverse, double *out) {
    ptrdiff_t whole = whole_lanes(z->columns);
    fill_up(z, FAR_BELOW);
    for (ptrdiff_t r = 0; r < z->rows; r++) {
        double top;
        load_row(z, r);
        top = largest(z->row, whole);
        for (ptrdiff_t k = 0; k < whole; k++) z->spare[k] = (z->row[k] - top) * inverse;
        write_probs(z->spare, z->columns, out + r * z->columns);
    }
}

/* Columns times their scale plus their shift, in ``spare``; both arrays have whole lanes, which
   end in the scale 0 and the shift FAR_BELOW. */
INLINED void scale_row(const logits_block *z, ptrdiff_t r, const double *scale,
                       const double *shift) {
    ptrdiff_t whole = whole_lanes(z->columns);
    load_row(z, r);
    for (ptrdiff_t k = 0; k < whole; k++) z->spare[k] = z->row[k] * scale[k] + shift[k];
}

/* softmax(scale z + shift), (rows, columns). */
INLINED void scale_probs_body(const logits_block *z, const double *scale, const double *shift,
                              double *out) {
    ptrdiff_t whole = whole_lanes(z->columns);
    fill_up(z, 0);
    for (ptrdiff_t r = 0; r < z->rows; r++) {
        double top;
        scale_row(z, r, scale, shift);
        top = largest(z->spare, whole);
        for (ptrdiff_t k = 0; k < whole; k++) z->spare[k] -= top;
        write_probs(z->spare, z->columns, out + r * z->columns);
    }
}

/* With p = softmax(t) and t = scale z + shift. Of each row: the largest t, the sum of e^{t - top},
   and t of the label: (rows, 3). Added to ``sums``, (5, whole lanes): the sums over rows of
   w (p - y), w (p - y) z, w p (1 - p), w p (1 - p) z and w p (1 - p) z^2. */
INLINED void scale_sums_body(const logits_block *z, const int64_t *label, const double *weight,
                             const double *scale, const double *shift, double *out,
                             double *sums) {
    ptrdiff_t whole = whole_lanes(z->columns);
    const double *APART row = z->row;
    double *APART e = z->spare, *APART g0 = sums, *APART g1 = g0 + whole;
    double *APART h0 = g1 + whole, *APART h1 = h0 + whole, *APART h2 = h1 + whole;
    fill_up(z, 0);
    for (ptrdiff_t r = 0; r < z->rows; r++, out += 3) {
        double total[SUM_LANES] = {0}, w = weight ? weight[r] : 1, top, share;
        scale_row(z, r, scale, shift);
        top = largest(e, whole);
        out[0] = top;
        out[2] = e[label[r]];
        for (ptrdiff_t k = 0; k < whole; k += SUM_LANES)
            for (int j = 0; j < SUM_LANES; j++) {
                e[k + j] = exp_of(e[k + j] - top);
                total[j] += e[k + j];
            }
        out[1] = folded(total);
        share = 1.0 / out[1];
        for (ptrdiff_t k = 0; k < whole; k++) {
            double p = e[k] * share, wp = w * p, c = wp * (1.0 - p), cz = c * row[k];
            g0[k] += wp;
            g1[k] += wp * row[k];
            h0[k] += c;
            h1[k] += cz;
            h2[k] += cz * row[k];
        }
        g0[label[r]] -= w;
        g1[label[r]] -= w * row[label[r]];
    }
}

/* Adds to ``sums``, (2, whole lanes), the product of the second derivatives of the loss with a
   direction: with a = du z + dv, the sums over rows of w p (a - sum p a), and of that times z.
   ``log_total`` is log sum e^t of each row. */
INLINED void scale_product_body(const logits_block *z, const double *weight,
                                const double *log_total, const double *scale,
                                const double *shift, const double *du, const double *dv,
                                double *sums) {
    ptrdiff_t whole = whole_lanes(z->columns);
    const double *APART row = z->row;
    double *APART p = z->spare, *APART s0 = sums, *APART s1 = s0 + whole;
    fill_up(z, 0);
    for (ptrdiff_t r = 0; r < z->rows; r++) {
        double lane[SUM_LANES] = {0}, w = weight ? weight[r] : 1, mean;
        scale_row(z, r, scale, shift);
        for (ptrdiff_t k = 0; k < whole; k += SUM_LANES)
            for (int j = 0; j < SUM_LANES; j++) {
                p[k + j] = exp_of(p[k + j] - log_total[r]);
                lane[j] += p[k + j] * (row[k + j] * du[k + j] + dv[k + j]);
            }
        mean = folded(lane);
        for (ptrdiff_t k = 0; k < whole; k++) {
            double c = w * p[k] * ((row[k] * du[k] + dv[k]) - mean);
            s0[k] += c;
            s1[k] += c * row[k];
        }
    }
}

DEFINE_KINDS(temper, (const logits_block *z, const int64_t *label, double inverse, double *out),
             (z, label, inverse, out))
DEFINE_KINDS(temper_probs, (const logits_block *z, double inverse, double *out),
             (z, inverse, out))
DEFINE_KINDS(scale_probs,
             (const logits_block *z, const double *scale, const double *shift, double *out),
             (z, scale, shift, out))
DEFINE_KINDS(scale_sums,
             (const logits_block *z, const int64_t *label, const double *weight,
              const double *scale, const double *shift, double *out, double *sums),
             (z, label, weight, scale, shift, out, sums))
DEFINE_KINDS(scale_product,
             (const logits_block *z, const double *weight, const double *log_total,
              const double *scale, const double *shift, const double *du, const double *dv,
              double *sums),
             (z, weight, log_total, scale, shift, du, dv, sums))

#endif
