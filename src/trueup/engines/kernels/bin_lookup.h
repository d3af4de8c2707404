/* Which bin a score is in, found in a few steps. */
#ifndef TRUEUP_BIN_LOOKUP_H
#define TRUEUP_BIN_LOOKUP_H

#include "dispatch.h"

#include <math.h>

#define AT_ONCE 512
#define FEW_BINS 24

/* [0, 1] is cut into `cells` equal cells, a power of two, so that score * cells is exact and its
   whole part is the cell. Only the edges inside that cell are left to compare with the score. */
typedef struct {
    const double *edges;  /* the inner edges, increasing */
    const int32_t *below; /* by cell: the number of edges below it */
    const double *inside; /* by cell: the edge inside, infinity if none */
    double cells;
    int single; /* no cell has more than one edge inside */
    int is_brief; /* the tables of `brief_slots` are made */
    ptrdiff_t bins;
    uint8_t brief[3][16]; /* for 16 cells with single edges: see `brief_slots` */
} lookup;

#define MOST_CELLS 8192

/* Enough cells that no two edges share one, if that is not too many; otherwise about as many as
   there are edges, and the few inside a cell are searched. */
static ptrdiff_t cells_for(const double *edges, ptrdiff_t n_edges) {
    double gap = 1;
    for (ptrdiff_t i = 1; i < n_edges; i++)
        if (!(edges[i] - edges[i - 1] >= gap)) gap = edges[i] - edges[i - 1];
    ptrdiff_t many = 16, most = n_edges < MOST_CELLS / 2 ? MOST_CELLS : 1 << 16;
    while (many < most && (double)many * gap < 1) many *= 2;
    if ((double)many * gap >= 1) return many;
    for (many = 16; many < most && many < n_edges; many *= 2) continue;
    return many;
}

/* Fills in `below` (cells + 2 long) and `inside` (cells + 1 long) for `edges`. The last cell, from
   1 up, is that of the score 1. Returns whether no cell has two edges inside. */
static int build_lookup(const double *edges, ptrdiff_t n_edges, ptrdiff_t cells, int32_t *below,
                        double *inside) {
    int single = 1;
    ptrdiff_t passed = 0;
    for (ptrdiff_t cell = 0; cell <= cells + 1; cell++) {
        double left = cell <= cells ? (double)cell / (double)cells : INFINITY;
        ptrdiff_t before = passed;
        while (passed < n_edges && edges[passed] < left) passed++;
        below[cell] = (int32_t)passed;
        if (cell == 0) continue;
        single &= passed - before < 2;
        inside[cell - 1] = passed > before ? edges[before] : INFINITY;
    }
    return single;
}

/* A NaN or a score outside [0, 1] gets a cell too: never a wild read. */
INLINED int32_t cell_of(double p, double cells) {
    double x = p * cells;
    x = x < cells ? x : cells;
    x = x > 0 ? x : 0;
    return (int32_t)x;
}

/* The bin of a score in a cell: the number of inner edges strictly below the score. */
INLINED int32_t bin_in_cell(const lookup *at, int32_t cell, double p) {
    int32_t bin = at->below[cell];
    if (at->single) return bin + (p > at->inside[cell]);
    const double *first = at->edges + bin;
    int32_t left = at->below[cell + 1] - bin;
    while (left > 1) { /* a mask in place of a branch, which would be anyone's guess */
        int32_t half = left >> 1, step = half & -(first[half - 1] < p);
        first += step;
        bin += step;
        left -= half;
    }
    if (left) bin += first[0] < p;
    return bin;
}

INLINED int32_t bin_of(const lookup *at, double p) {
    return bin_in_cell(at, cell_of(p, at->cells), p);
}

/* Few bins are counted: every edge is compared with sixteen scores at once. */
INLINED void count_edges(const double *APART p, ptrdiff_t many, const double *APART edges,
                         ptrdiff_t n_edges, int32_t *APART bin) {
    for (ptrdiff_t i = 0; i + 2 * LANES <= many; i += 2 * LANES) {
        int64_t low[LANES] = {0}, high[LANES] = {0};
        for (ptrdiff_t e = 0; e < n_edges; e++) {
            IN_STEP for (int j = 0; j < LANES; j++) low[j] += p[i + j] > edges[e];
            IN_STEP for (int j = 0; j < LANES; j++) high[j] += p[i + LANES + j] > edges[e];
        }
        for (int j = 0; j < LANES; j++) bin[i + j] = (int32_t)low[j];
        for (int j = 0; j < LANES; j++) bin[i + LANES + j] = (int32_t)high[j];
    }
}

/* The bins of at most AT_ONCE scores. */
INLINED void find_bins(const lookup *at, const double *APART p, ptrdiff_t many,
                       int32_t *APART bin) {
    int32_t cell[AT_ONCE];
    ptrdiff_t i = 0;
    if (at->bins <= FEW_BINS) {
        count_edges(p, many, at->edges, at->bins - 1, bin);
        i = many & ~(ptrdiff_t)(2 * LANES - 1);
        for (; i < many; i++) bin[i] = bin_of(at, p[i]);
        return;
    }
    for (i = 0; i < many; i++) cell[i] = cell_of(p[i], at->cells);
    const int32_t *below = at->below;
    const double *inside = at->inside;
    if (at->single)
        for (i = 0; i < many; i++) bin[i] = below[cell[i]] + (p[i] > inside[cell[i]]);
    else
        for (i = 0; i < many; i++) bin[i] = bin_in_cell(at, cell[i], p[i]);
}

/* Scores in double precision; doubles are used where they lie. */
INLINED const double *wide_scores(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                                  double *room) {
    if (!narrow) return (const double *)p + start;
    for (ptrdiff_t i = 0; i < many; i++) room[i] = (double)((const float *)p)[start + i];
    return room;
}

#endif
