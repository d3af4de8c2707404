/* Sums by bin of a column of scores.

   Running sums are kept short (RUN rows) before they are added to the totals, so that they do not
   drift. */
#ifndef TRUEUP_BIN_SUMS_H
#define TRUEUP_BIN_SUMS_H

#include "brief_bins.h"

#include <string.h>

#define RUN 32768

INLINED ptrdiff_t run_length(ptrdiff_t bins) { return 4 * bins > RUN ? 4 * bins : RUN; }

/* Hard labels without weights: {p, p^2, 1, 0} is added at each row's slot. The table has one copy
   or four, used in turn, so that rows of one bin need not wait for each other. */
#define COPIES(bins) ((bins) > 64 ? 1 : 4)

/* Makes slots, twice the bin plus the label, of bins; the answer has other bits than the last
   where a label is not 0 or 1. */
#define DEFINE_SLOTS(NAME, LABEL)                                                                  \
    INLINED uint64_t NAME(const LABEL *APART label, ptrdiff_t many, int32_t *APART bin) {          \
        LABEL seen = 0;                                                                            \
        for (ptrdiff_t i = 0; i < many; i++) {                                                     \
            seen |= label[i];                                                                      \
            bin[i] = 2 * bin[i] + (int32_t)(label[i] & 1);                                         \
        }                                                                                          \
        return seen;                                                                               \
    }

DEFINE_SLOTS(slots_u8, uint8_t)
DEFINE_SLOTS(slots_u32, uint32_t)
DEFINE_SLOTS(slots_u64, uint64_t)

INLINED uint64_t find_slots(const double *score, const void *y, int bytes, ptrdiff_t start,
                            ptrdiff_t many, const lookup *at, int32_t *slot) {
#if HAS_WIDE
    if (at->is_brief && many % 16 == 0 && USE_WIDE)
        return brief_slots(score, y, bytes, start, many, at, slot);
#endif
    find_bins(at, score, many, slot);
    if (bytes == 1) return slots_u8((const uint8_t *)y + start, many, slot);
    if (bytes == 4) return slots_u32((const uint32_t *)y + start, many, slot);
    return slots_u64((const uint64_t *)y + start, many, slot);
}

INLINED void add_slots(const double *p, const int32_t *slot, ptrdiff_t many, ptrdiff_t copies,
                       double *table) {
    ptrdiff_t i = 0;
#if HAS_WIDE
    if (copies == 4 && USE_WIDE) {
        i = many & ~(ptrdiff_t)3;
        wide_add_slots(p, slot, i, table);
    }
#endif
    for (; i < many; i++) {
        double *to = table + 4 * (slot[i] * copies + (i & (copies - 1)));
        ADD_FOUR(to, p[i], p[i] * p[i], 1, 0);
    }
}

/* Moves the running sums into the totals, whose rows are slots of {sum p, sum p^2, count, 0}. */
static void flush(double *table, ptrdiff_t copies, ptrdiff_t slots, double *totals) {
    for (ptrdiff_t s = 0; s < slots; s++, table += 4 * copies, totals += 4) {
        if (copies == 4)
            for (int j = 0; j < 4; j++)
                totals[j] += (table[j] + table[4 + j]) + (table[8 + j] + table[12 + j]);
        else
            for (int j = 0; j < 4; j++) totals[j] += table[j];
        memset(table, 0, (size_t)(4 * copies) * sizeof(double));
    }
}

INLINED uint64_t tally_body(const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,
                            ptrdiff_t stop, const lookup *at, double *table, double *totals) {
    double room[AT_ONCE];
    int32_t slot[AT_ONCE];
    uint64_t seen = 0;
    ptrdiff_t copies = COPIES(at->bins), rows = 0;
    for (; start < stop; start += AT_ONCE) {
        ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;
        const double *score = wide_scores(p, narrow, start, many, room);
        seen |= find_slots(score, y, bytes, start, many, at, slot);
        add_slots(score, slot, many, copies, table);
        if ((rows += many) < run_length(at->bins)) continue;
        flush(table, copies, 2 * at->bins, totals);
        rows = 0;
    }
    flush(table, copies, 2 * at->bins, totals);
    return seen & ~(uint64_t)1;
}

/* `table` is zeroed, aligned to 32 bytes, and 8 * bins * COPIES(bins) long; it is left zeroed.
   Returns 0, or else a label was neither 0 nor 1 and the totals mean nothing. */
DEFINE_KINDS_OF(uint64_t, tally,
                (const void *p, int narrow, const void *y, int bytes, ptrdiff_t start,
                 ptrdiff_t stop, const lookup *at, double *table, double *totals),
                (p, narrow, y, bytes, start, stop, at, table, totals))

/* Soft labels or weights: {1, w, w^2, wp, wp^2, wy, wy^2, wpy} is added at each row's bin. */
INLINED void add_soft(const double *p, const double *y, const double *w, const int32_t *bin,
                      ptrdiff_t many, double *table) {
    for (ptrdiff_t i = 0; i < many; i++) {
        double weight = w ? w[i] : 1, wp = weight * p[i], wy = weight * y[i];
        double *to = table + 8 * (ptrdiff_t)bin[i];
        ADD_FOUR(to, 1, weight, weight * weight, wp);
        ADD_FOUR(to + 4, wp * p[i], wy, wy * y[i], wp * y[i]);
    }
}

INLINED void tally_soft_body(const void *p, int narrow, const double *y, const double *w,
                             ptrdiff_t start, ptrdiff_t stop, const lookup *at, double *table,
                             double *totals) {
    double room[AT_ONCE];
    int32_t bin[AT_ONCE];
    ptrdiff_t rows = 0;
    for (; start < stop; start += AT_ONCE) {
        ptrdiff_t many = stop - start < AT_ONCE ? stop - start : AT_ONCE;
        const double *score = wide_scores(p, narrow, start, many, room);
        find_bins(at, score, many, bin);
        add_soft(score, y + start, w ? w + start : w, bin, many, table);
        if ((rows += many) < run_length(at->bins)) continue;
        flush(table, 1, 2 * at->bins, totals);
        rows = 0;
    }
    flush(table, 1, 2 * at->bins, totals);
}

/* `table` is zeroed, aligned to 32 bytes, and 8 * bins long; it is left zeroed. */
DEFINE_KINDS(tally_soft,
             (const void *p, int narrow, const double *y, const double *w, ptrdiff_t start,
              ptrdiff_t stop, const lookup *at, double *table, double *totals),
             (p, narrow, y, w, start, stop, at, table, totals))

#endif
