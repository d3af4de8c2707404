/* Exact sums of e^{-|x - x'|/h} over pairs of points: the loops of the divide and conquer.

   Two numbers are summed at once for every point, side by side. Factors are e to a power <= 0, so
   nothing overflows; a difference of coordinates is taken before it is scaled, so points that
   nearly agree lose nothing. `steep` is 1/h. */
#ifndef TRUEUP_DIVIDED_SUMS_H
#define TRUEUP_DIVIDED_SUMS_H

#include "exponential.h"

#include <math.h>

#define MOST_DIMENSIONS 4
#define LEAF_POINTS 16 /* fewer than two such leaves meet all at once */
#define SIDE_POINTS 48 /* the same for the points of two sides */
#define NOTHING 1e-290
#define STEPS_BETWEEN_CHECKS 16

/* What the scan of the last coordinate needs of a point, on half a line of the cache. */
typedef struct {
    double place;
    double weight;   /* e^{-distance to the plane} */
    double value[2]; /* times the weight */
} scanned_point;

/* out_i = e^{-|x_i - at|/h} */
INLINED void decays_body(const double *APART x, ptrdiff_t n, double at, double steep,
                         double *APART out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = exp_of(-(fabs(x[i] - at) * steep));
}

/* out_i = e^{-(x_i - x_{i-1})/h}, and 1 at both ends: n + 1 numbers */
INLINED void gaps_body(const double *APART x, ptrdiff_t n, double steep, double *APART out) {
    out[0] = out[n] = 1;
    for (ptrdiff_t i = 1; i < n; i++) out[i] = exp_of(-((x[i] - x[i - 1]) * steep));
}

INLINED void kernel_row_of(int dims, const double *const *x, ptrdiff_t n, const double *at,
                           double steep, double *APART row) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double away = fabs(x[0][i] - at[0]);
        for (int k = 1; k < dims; k++) away += fabs(x[k][i] - at[k]);
        row[i] = exp_of(-(away * steep));
    }
}

/* The kernel of one point with n others; a loop for each number of coordinates, so that it is
   known when the loop is made wide. */
INLINED void kernel_row(const double *const *x, int dims, ptrdiff_t n, const double *at,
                        double steep, double *APART row) {
    if (dims == 1) kernel_row_of(1, x, n, at, steep, row);
    if (dims == 2) kernel_row_of(2, x, n, at, steep, row);
    if (dims == 3) kernel_row_of(3, x, n, at, steep, row);
    if (dims == 4) kernel_row_of(4, x, n, at, steep, row);
}

/* A leaf: every one of n < 2 LEAF_POINTS points with every one, itself included. */
INLINED void meet_all_body(const double *const *x, int dims, ptrdiff_t n, const double *value,
                           double steep, double *out) {
    double row[2 * LEAF_POINTS], first[2 * LEAF_POINTS] = {0}, second[2 * LEAF_POINTS] = {0};
    double at[MOST_DIMENSIONS];
    for (ptrdiff_t j = 0; j < n; j++) {
        double v0 = value[2 * j], v1 = value[2 * j + 1];
        for (int k = 0; k < dims; k++) at[k] = x[k][j];
        kernel_row(x, dims, n, at, steep, row);
        for (ptrdiff_t i = 0; i < n; i++) first[i] += row[i] * v0;
        for (ptrdiff_t i = 0; i < n; i++) second[i] += row[i] * v1;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        out[2 * i] += first[i];
        out[2 * i + 1] += second[i];
    }
}

/* Sum of the products of n numbers, n a multiple of eight, in eight lanes added in halves. */
INLINED double dot(const double *x, const double *y, ptrdiff_t n) {
    double lane[8] = {0};
    for (ptrdiff_t i = 0; i < n; i += 8)
        IN_STEP for (int l = 0; l < 8; l++) lane[l] += x[i + l] * y[i + l];
    for (int l = 0; l < 4; l++) lane[l] += lane[l + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* A leaf of two sides, n < 2 SIDE_POINTS points: every point with those of the other side. */
INLINED void meet_sides_body(const double *const *x, int dims, ptrdiff_t n, const double *value,
                             const uint8_t *side, double steep, double *out) {
    double there[MOST_DIMENSIONS][2 * SIDE_POINTS], row[2 * SIDE_POINTS];
    double v0[2 * SIDE_POINTS], v1[2 * SIDE_POINTS], at[MOST_DIMENSIONS];
    double first[2 * SIDE_POINTS] = {0}, second[2 * SIDE_POINTS] = {0};
    const double *columns[MOST_DIMENSIONS];
    ptrdiff_t place[2 * SIDE_POINTS], many = 0, whole;
    for (ptrdiff_t i = 0; i < n; i++) {
        place[many] = i;
        many += side[i];
    }
    if (many == 0 || many == n) return;
    whole = (many + 7) / 8 * 8;
    for (ptrdiff_t j = 0; j < whole; j++) {
        ptrdiff_t i = place[j < many ? j : 0];
        for (int k = 0; k < dims; k++) there[k][j] = x[k][i];
        v0[j] = j < many ? value[2 * i] : 0;
        v1[j] = j < many ? value[2 * i + 1] : 0;
    }
    for (int k = 0; k < dims; k++) columns[k] = there[k];
    for (ptrdiff_t i = 0; i < n; i++) {
        double w0 = value[2 * i], w1 = value[2 * i + 1];
        if (side[i]) continue;
        for (int k = 0; k < dims; k++) at[k] = x[k][i];
        kernel_row(columns, dims, whole, at, steep, row);
        for (ptrdiff_t j = 0; j < whole; j++) first[j] += row[j] * w0;
        for (ptrdiff_t j = 0; j < whole; j++) second[j] += row[j] * w1;
        out[2 * i] += dot(row, v0, whole);
        out[2 * i + 1] += dot(row, v1, whole);
    }
    for (ptrdiff_t j = 0; j < many; j++) {
        out[2 * place[j]] += first[j];
        out[2 * place[j] + 1] += second[j];
    }
}

/* Running sums of the two sides, {lower, lower, upper, upper}, from one end to the other. */
INLINED void scan_step(double *state, double decay, const scanned_point *point, int upper,
                       double *sum) {
    double in_upper = upper, in_lower = 1 - upper; /* products with 0 and 1: no branch to miss */
    for (int j = 0; j < 4; j++) state[j] *= decay;
    for (int j = 0; j < 2; j++) {
        sum[j] += state[j] * in_upper + state[2 + j] * in_lower;
        state[j] += point->value[j] * in_lower;
        state[2 + j] += point->value[j] * in_upper;
    }
}

/* Subnormal numbers would linger, and each costs a hundred others. */
INLINED void drop_nothing(double *state) {
    for (int j = 0; j < 4; j++) state[j] = fabs(state[j]) < NOTHING ? 0 : state[j];
}

/* Points in the order of the last coordinate, `index` their places at the level; those from
   `middle` on are the upper side. Adds to each the sums over the other side, before and behind. */
INLINED void scan_sides_body(const int32_t *index, ptrdiff_t n, int32_t middle, const double *gap,
                             const scanned_point *point, double *APART sum) {
    double up[4] = {0}, down[4] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t j = n - 1 - i;
        scan_step(up, gap[i], point + i, index[i] >= middle, sum + 2 * i);
        scan_step(down, gap[j + 1], point + j, index[j] >= middle, sum + 2 * j);
        if (i % STEPS_BETWEEN_CHECKS == 0) {
            drop_nothing(up);
            drop_nothing(down);
        }
    }
}

/* One coordinate, in order: the sums over all points, each itself included. */
INLINED void scan_line_body(ptrdiff_t n, const double *gap, const double *value, double *out) {
    double up[2] = {0}, down[2] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t back = n - 1 - i;
        double decay = gap[back + 1];
        for (int j = 0; j < 2; j++) {
            up[j] = up[j] * gap[i] + value[2 * i + j];
            out[2 * i + j] += up[j];
            out[2 * back + j] += down[j] * decay;
            down[j] = down[j] * decay + value[2 * back + j];
        }
        if (i % STEPS_BETWEEN_CHECKS == 0)
            for (int j = 0; j < 2; j++) {
                up[j] = fabs(up[j]) < NOTHING ? 0 : up[j];
                down[j] = fabs(down[j]) < NOTHING ? 0 : down[j];
            }
    }
}

DEFINE_KINDS(decays, (const double *x, ptrdiff_t n, double at, double steep, double *out),
             (x, n, at, steep, out))
DEFINE_KINDS(gaps, (const double *x, ptrdiff_t n, double steep, double *out), (x, n, steep, out))
DEFINE_KINDS(meet_all,
             (const double *const *x, int dims, ptrdiff_t n, const double *value, double steep,
              double *out),
             (x, dims, n, value, steep, out))
DEFINE_KINDS(meet_sides,
             (const double *const *x, int dims, ptrdiff_t n, const double *value,
              const uint8_t *side, double steep, double *out),
             (x, dims, n, value, side, steep, out))
DEFINE_KINDS(scan_sides,
             (const int32_t *index, ptrdiff_t n, int32_t middle, const double *gap,
              const scanned_point *point, double *sum),
             (index, n, middle, gap, point, sum))
DEFINE_KINDS(scan_line, (ptrdiff_t n, const double *gap, const double *value, double *out),
             (n, gap, value, out))

#endif
