/* The exponential function without a branch or a table, so that compilers make it wide. */
#ifndef TRUEUP_EXPONENTIAL_H
#define TRUEUP_EXPONENTIAL_H

#include "dispatch.h"

#include <string.h>

#define LOWEST -708.0
#define ROUNDING 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number */

/* e^x for x from -708 to 700 to one unit in the last place, and 0 for any x below.
   x = k ln 2 + r with |r| <= (ln 2) / 2; ln 2 is in two parts, the first with zeros at its end, so
   that its product with k is exact. The polynomial minimizes the relative error, which is 4e-18. */
INLINED double exp_of(double x) {
    double shifted = x * 1.4426950408889634 + ROUNDING;
    double k = shifted - ROUNDING;
    double r = (x - k * 0.6931471804855391) - k * 7.440617110012397e-11;
    double r2 = r * r, r4 = r2 * r2;
    double low = (0.5000000000000011 + 0.16666666666666413 * r) +
                 (0.04166666666653016 + 0.00833333333349446 * r) * r2;
    double middle = (0.0013888888943628895 + 0.00019841269506578848 * r) +
                    (2.4801493100038142e-05 + 2.7557586375500727e-06 * r) * r2;
    double high = 2.7630248010846225e-07 + 2.500006064923463e-08 * r;
    double e = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    int64_t bits, power;
    memcpy(&bits, &e, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += (int64_t)((uint64_t)power << 52); /* times 2^k */
    bits &= -(int64_t)(x >= LOWEST); /* a mask: of x < LOWEST ? 0 : e compilers make a branch */
    memcpy(&e, &bits, sizeof e);
    return e;
}

#endif
