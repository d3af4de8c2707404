/* The grid on which scores are counted, two at a time where there is SSE2.

   256 cells to the octave, counted from 0 below one half and from 1 above it: fine exactly where
   classifiers put their scores. Beyond 53 octaves all is one cell. A cell never falls as the
   score grows, which is all that is relied upon. */
#ifndef TRUEUP_SCORE_GRID_H
#define TRUEUP_SCORE_GRID_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define OCTAVES 53
#define CELL_BITS 8
#define HALF (OCTAVES << CELL_BITS)
#define N_CELLS (2 * HALF + 1)
#define FIRST_STEP ((int64_t)(1023 - OCTAVES - 1) << CELL_BITS)
#define SMALLEST (1.0 / ((int64_t)1 << (OCTAVES + 1)))

static inline int64_t cell_of(double t) {
    double mirrored = 1.0 - t;
    double u = t < mirrored ? t : mirrored;
    int64_t bits, step, upper = t >= 0.5 ? -1 : 0;
    u = u > SMALLEST ? u : SMALLEST;
    memcpy(&bits, &u, sizeof bits);
    step = (int64_t)((uint64_t)bits >> (52 - CELL_BITS)) - FIRST_STEP;
    return (step ^ upper) + (upper & N_CELLS); /* in the upper half: 2 HALF - step */
}

#ifdef __SSE2__
static inline void two_cells_of(__m128d p, __m128d shift, __m128d scale, int64_t *cells) {
    __m128d t = _mm_mul_pd(_mm_sub_pd(p, shift), scale);
    __m128d u = _mm_min_pd(t, _mm_sub_pd(_mm_set1_pd(1.0), t));
    __m128i upper = _mm_castpd_si128(_mm_cmpge_pd(t, _mm_set1_pd(0.5)));
    __m128i step = _mm_castpd_si128(_mm_max_pd(u, _mm_set1_pd(SMALLEST)));
    step = _mm_sub_epi64(_mm_srli_epi64(step, 52 - CELL_BITS), _mm_set1_epi64x(FIRST_STEP));
    step = _mm_add_epi64(
        _mm_xor_si128(step, upper), _mm_and_si128(upper, _mm_set1_epi64x(N_CELLS)));
    _mm_storeu_si128((__m128i *)cells, step);
}
#endif

static inline void cells_of_doubles(
    const double *p, ptrdiff_t n, double shift, double scale, int64_t *cells) {
    ptrdiff_t i = 0;
#ifdef __SSE2__
    for (; i + 2 <= n; i += 2)
        two_cells_of(_mm_loadu_pd(p + i), _mm_set1_pd(shift), _mm_set1_pd(scale), cells + i);
#endif
    for (; i < n; i++) cells[i] = cell_of((p[i] - shift) * scale);
}

static inline void cells_of_floats(
    const float *p, ptrdiff_t n, double shift, double scale, int64_t *cells) {
    ptrdiff_t i = 0;
#ifdef __SSE2__
    for (; i + 2 <= n; i += 2)
        two_cells_of(
            _mm_set_pd(p[i + 1], p[i]), _mm_set1_pd(shift), _mm_set1_pd(scale), cells + i);
#endif
    for (; i < n; i++) cells[i] = cell_of(((double)p[i] - shift) * scale);
}

#endif
