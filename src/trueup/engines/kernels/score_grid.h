/* The grid on which scores are counted.

   256 cells to the octave, counted from 0 below one half and from 1 above it: fine exactly where
   classifiers put their scores. Beyond 53 octaves all is one cell. A cell never falls as the
   score grows, which is all that is relied upon. */
#ifndef TRUEUP_SCORE_GRID_H
#define TRUEUP_SCORE_GRID_H

#include "dispatch.h"

#include <string.h>

#define OCTAVES 53
#define CELL_BITS 8
#define HALF (OCTAVES << CELL_BITS)
#define N_CELLS (2 * HALF + 1)
#define FIRST_STEP ((int64_t)(1023 - OCTAVES - 1) << CELL_BITS)
#define SMALLEST (1.0 / ((int64_t)1 << (OCTAVES + 1)))
#define CELLS_AT_ONCE 512

INLINED int64_t cell_of(double t) {
    double mirrored = 1.0 - t;
    double u = t < mirrored ? t : mirrored;
    int64_t bits, step, upper = -(int64_t)(t >= 0.5);
    u = u > SMALLEST ? u : SMALLEST;
    memcpy(&bits, &u, sizeof bits);
    step = (int64_t)((uint64_t)bits >> (52 - CELL_BITS)) - FIRST_STEP;
    return (step ^ upper) + (upper & N_CELLS); /* in the upper half: 2 HALF - step */
}

INLINED void cells_of(const void *APART p, int narrow, ptrdiff_t start, ptrdiff_t n, double shift,
                      double scale, int64_t *APART cells) {
    for (ptrdiff_t i = 0; i < n; i++)
        cells[i] = cell_of((entry(p, narrow, start + i) - shift) * scale);
}

/* The cells of (p - shift) * scale for the scores start, start + 1, … */
INLINED void find_cells_body(const void *p, int narrow, ptrdiff_t start, ptrdiff_t n, double shift,
                             double scale, int64_t *cells) {
    if (narrow)
        cells_of(p, 1, start, n, shift, scale, cells);
    else
        cells_of(p, 0, start, n, shift, scale, cells);
}

DEFINE_KINDS(find_cells,
             (const void *p, int narrow, ptrdiff_t start, ptrdiff_t n, double shift, double scale,
              int64_t *cells),
             (p, narrow, start, n, shift, scale, cells))

/* Adds to `counts` the number of scores in every cell; each score's cell goes to `where`, which
   may be NULL. */
INLINED void count_in_cells(const void *p, int narrow, ptrdiff_t n, double shift, double scale,
                            int32_t *counts, uint16_t *where) {
    int64_t cells[CELLS_AT_ONCE];
    for (ptrdiff_t start = 0; start < n; start += CELLS_AT_ONCE) {
        ptrdiff_t many = n - start < CELLS_AT_ONCE ? n - start : CELLS_AT_ONCE;
        find_cells(p, narrow, start, many, shift, scale, cells);
        if (where)
            for (ptrdiff_t i = 0; i < many; i++) where[start + i] = (uint16_t)cells[i];
        for (ptrdiff_t i = 0; i < many; i++) counts[cells[i]]++;
    }
}

#endif
