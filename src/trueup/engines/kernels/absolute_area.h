/* The area between a smooth curve and 0, from its heights at even steps.

   Between two points the curve is the parabola that has their heights and, on average, that of the
   polynomial through six points; where it may have zeros, the areas on either side are computed
   separately. The curve is level at both ends, where it continues as its mirror image. */
#ifndef TRUEUP_ABSOLUTE_AREA_H
#define TRUEUP_ABSOLUTE_AREA_H

#include "dispatch.h"

#include <math.h>
#include <string.h>

#define AREAS_AT_ONCE 128
#define AREA_LANES 8

/* A number in [0, 1]; 0 for none at all. */
INLINED double in_unit(double t) { return t > 0 ? (t < 1 ? t : 1) : 0; }

/* The area of q(t) = first + start t + bend t^2 over [0, 1], from its ends and its mean. One
   without zeros is cut at its vertex: no harm done. */
static double parabola_area(double first, double last, double mean) {
    double start = 6 * mean - 4 * first - 2 * last, bend = 3 * (first + last - 2 * mean);
    double inside = start * start - 4 * first * bend;
    double root = sqrt(inside > 0 ? inside : 0);
    double half = -0.5 * (start + copysign(root, start));
    double t = in_unit(half / bend), other = in_unit(first / half);
    double low = t < other ? t : other, high = t < other ? other : t;
    double below = low * (first + low * (start / 2 + low * bend / 3));
    double upto = high * (first + high * (start / 2 + high * bend / 3));
    return fabs(below) + fabs(upto - below) + fabs(mean - upto);
}

/* Areas between n + 1 neighbouring heights; there are two more on either side. Also the means,
   and where there may be zeros: a parabola of one sign has a mean of a sixth of the sum of its
   ends or more. */
INLINED int64_t find_areas_body(const double *h, ptrdiff_t n, double *mean, double *area,
                                int64_t *zeros) {
    int64_t any = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t bits, next_bits;
        double m = 802 * (h[i] + h[i + 1]);
        m -= 93 * (h[i - 1] + h[i + 2]);
        m += 11 * (h[i - 2] + h[i + 3]);
        m /= 1440;
        memcpy(&bits, h + i, sizeof bits);
        memcpy(&next_bits, h + i + 1, sizeof next_bits);
        mean[i] = m;
        area[i] = fabs(m);
        zeros[i] = ((bits ^ next_bits) < 0) | (6 * fabs(m) < fabs(h[i]) + fabs(h[i + 1]));
        any |= zeros[i];
    }
    return any;
}

DEFINE_KINDS_OF(int64_t, find_areas,
                (const double *h, ptrdiff_t n, double *mean, double *area, int64_t *zeros),
                (h, n, mean, area, zeros))

/* The mean area of n steps, n >= 2, between n + 1 heights. */
static double mean_area(const double *height, ptrdiff_t n) {
    double mean[AREAS_AT_ONCE], area[AREAS_AT_ONCE], near[AREAS_AT_ONCE + 5];
    double lane[AREA_LANES] = {0};
    int64_t zeros[AREAS_AT_ONCE];
    for (ptrdiff_t start = 0; start < n; start += AREAS_AT_ONCE) {
        ptrdiff_t here = n - start < AREAS_AT_ONCE ? n - start : AREAS_AT_ONCE;
        const double *h = height + start;
        if (start == 0 || start + here + 2 > n) {
            for (ptrdiff_t i = 0; i < here + 5; i++) {
                ptrdiff_t at = start + i - 2;
                near[i] = height[at < 0 ? -at : at > n ? 2 * n - at : at];
            }
            h = near + 2;
        }
        if (find_areas(h, here, mean, area, zeros))
            for (ptrdiff_t i = 0; i < here; i++)
                if (zeros[i]) area[i] = parabola_area(h[i], h[i + 1], mean[i]);
        for (ptrdiff_t i = 0; i < here; i++) lane[i % AREA_LANES] += area[i];
    }
    double total = 0;
    for (int k = 0; k < AREA_LANES; k++) total += lane[k];
    return total / (double)n;
}

#endif
