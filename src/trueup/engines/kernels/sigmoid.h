/* Loss of sigma(intercept + slopes . covariates) for given targets, with its derivatives, in one
   pass over the rows.

   One plain C form, compiled once for each kind of x86-64 processor. Sums are taken in eight
   lanes, rows j, j + 8, … of a block, which are then added in halves; blocks are added in their
   order. Nothing is fused, so the bits do not depend on the processor. */
#ifndef TRUEUP_SIGMOID_H
#define TRUEUP_SIGMOID_H

#include "exponential.h"
#include "dispatch.h"

#define ROW_LANES 8
#define BLOCK_ROWS 512
#define MOST_SUMS 10

/* Rows to sum over. A covariate for each slope; without weights every row has weight 1. */
typedef struct {
    const double *covariate[2];
    const double *target;
    const double *weight;
    ptrdiff_t rows;
} sigmoid_rows;

/* log(1 + s) for s from 0 to 1, as 2 atanh(s / (2 + s)): two units in the last place, however
   small s is. The polynomial minimizes the error, which is 1.5e-18 of the result. */
INLINED double log_of_one_more(double s) {
    double u = s / (2.0 + s), v = u * u, v2 = v * v, v4 = v2 * v2;
    double low = (0.3333333333333321 + 0.20000000000062232 * v) +
                 (0.1428571427566693 + 0.11111111890574077 * v) * v2;
    double middle = (0.09090874928464995 + 0.07693222608409661 * v) +
                    (0.06651178764949917 + 0.06047964546444567 * v) * v2;
    double high = 0.041907979943659024 + 0.08473105809237969 * v;
    return 2.0 * (u + u * (v * (low + v4 * (middle + v4 * high))));
}

/* What one row adds in its lane: loss, minus its derivatives by slopes and intercept, and second
   derivatives: by (slope, slope), (slope, intercept), (intercept, intercept) for one slope, and
   for two by (0, 0), (0, 1), (0, intercept), (1, 1), (1, intercept), (intercept, intercept). */
INLINED void add_sigmoid_row(const double *point, int slopes, int squared, double x0, double x1,
                             double target, double weight, double (*lane)[ROW_LANES], int j) {
    double line = slopes == 2 ? point[0] * x0 + point[1] * x1 + point[2] : point[0] * x0 + point[1];
    double size = line < 0 ? -line : line;
    double small = exp_of(-size), share = 1.0 / (1.0 + small), other = small * share;
    double p = line < 0 ? other : share, q = line < 0 ? share : other;
    double residual = target * q - (1.0 - target) * p; /* no digits are lost where p is near 1 */
    double spread = other * share, loss, first, second;
    if (squared) {
        loss = residual * residual;
        first = 2.0 * residual * spread;
        second = 2.0 * spread * (spread - residual * (q - p));
    } else {
        loss = ((line < 0 ? 0.0 : line) - target * line) + log_of_one_more(small);
        first = residual;
        second = spread;
    }
    first *= weight;
    second *= weight;
    lane[0][j] += weight * loss;
    lane[1][j] += first * x0;
    if (slopes == 2) {
        lane[2][j] += first * x1;
        lane[3][j] += first;
        lane[4][j] += second * x0 * x0;
        lane[5][j] += second * x0 * x1;
        lane[6][j] += second * x0;
        lane[7][j] += second * x1 * x1;
        lane[8][j] += second * x1;
        lane[9][j] += second;
    } else {
        lane[2][j] += first;
        lane[3][j] += second * x0 * x0;
        lane[4][j] += second * x0;
        lane[5][j] += second;
    }
}

/* Adds to ``sums`` what the rows add up to. */
INLINED void add_sigmoid_rows(const sigmoid_rows *rows, const double *point, int slopes,
                              int squared, double *sums) {
    double ones[BLOCK_ROWS];
    int many = slopes == 2 ? 10 : 6;
    for (int i = 0; i < BLOCK_ROWS; i++) ones[i] = 1.0;
    for (ptrdiff_t start = 0; start < rows->rows; start += BLOCK_ROWS) {
        ptrdiff_t left = rows->rows - start, n = left < BLOCK_ROWS ? left : BLOCK_ROWS, i = 0;
        const double *x0 = rows->covariate[0] + start;
        const double *x1 = slopes == 2 ? rows->covariate[1] + start : x0;
        const double *target = rows->target + start;
        const double *weight = rows->weight ? rows->weight + start : ones;
        double lane[MOST_SUMS][ROW_LANES] = {{0}};
        for (; i + ROW_LANES <= n; i += ROW_LANES)
            for (int j = 0; j < ROW_LANES; j++)
                add_sigmoid_row(point, slopes, squared, x0[i + j], x1[i + j], target[i + j],
                                weight[i + j], lane, j);
        for (int j = 0; i + j < n; j++)
            add_sigmoid_row(point, slopes, squared, x0[i + j], x1[i + j], target[i + j],
                            weight[i + j], lane, j);
        for (int k = 0; k < many; k++) {
            double *each = lane[k];
            for (int j = 0; j < 4; j++) each[j] += each[j + 4];
            sums[k] += (each[0] + each[2]) + (each[1] + each[3]);
        }
    }
}

#define DEFINE_SIGMOID(NAME, SLOPES, SQUARED)                                                      \
    INLINED void NAME##_body(const sigmoid_rows *rows, const double *point, double *sums) {        \
        add_sigmoid_rows(rows, point, SLOPES, SQUARED, sums);                                      \
    }                                                                                              \
    DEFINE_KINDS(NAME, (const sigmoid_rows *rows, const double *point, double *sums),              \
                 (rows, point, sums))

DEFINE_SIGMOID(log_one, 1, 0)
DEFINE_SIGMOID(log_two, 2, 0)
DEFINE_SIGMOID(squares_one, 1, 1)
DEFINE_SIGMOID(squares_two, 2, 1)

/* The loss is squared error or log loss; of the sums there are 6 for one slope, 10 for two. */
static void sigmoid_sums(const sigmoid_rows *rows, const double *point, int squared,
                         double *sums) {
    if (rows->covariate[1])
        (squared ? squares_two : log_two)(rows, point, sums);
    else
        (squared ? squares_one : log_one)(rows, point, sums);
}

#endif
