/* Which bin a score is in, found in a few steps.

   As in lanes.h the AVX2 forms give the same answers as the plain ones. */
#ifndef TRUEUP_BIN_LOOKUP_H
#define TRUEUP_BIN_LOOKUP_H

#include "row_scan.h"

#include <math.h>

/* [0, 1] is cut into `cells` equal cells, a power of two, so that score * cells is exact and its
   whole part is the cell. Only the edges inside that cell are left to compare with the score. */
typedef struct {
    const double *edges;  /* the inner edges, increasing */
    const int32_t *below; /* at 2 * cell + y: twice the number of edges below the cell, plus y */
    const double *inside; /* at 2 * cell + y: the edge inside the cell, infinity if none */
    double cells;
    int single;           /* no cell has more than one edge inside */
    int is_brief;         /* the tables of wide_slots are made */
    ptrdiff_t bins;
    uint8_t brief[3][16]; /* for 16 cells with single edges: see wide_slots */
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

/* Fills in `below` (2 * cells + 4 long) and `inside` (2 * cells + 2 long) for `edges`. The last
   cell, from 1 up, is that of the score 1. Returns whether no cell has two edges inside. */
static int build_lookup(const double *edges, ptrdiff_t n_edges, ptrdiff_t cells, int32_t *below,
                        double *inside) {
    int single = 1;
    ptrdiff_t passed = 0;
    for (ptrdiff_t cell = 0; cell <= cells + 1; cell++) {
        double left = cell <= cells ? (double)cell / (double)cells : INFINITY;
        ptrdiff_t before = passed;
        while (passed < n_edges && edges[passed] < left) passed++;
        for (int y = 0; y < 2; y++) below[2 * cell + y] = (int32_t)(2 * passed + y);
        if (cell == 0) continue;
        single &= passed - before < 2;
        for (int y = 0; y < 2; y++)
            inside[2 * cell - 2 + y] = passed > before ? edges[before] : INFINITY;
    }
    return single;
}

/* Twice the cell of a score. A NaN or a score outside [0, 1] gets a cell too: never a wild read. */
INLINED int32_t key_of(double p, double cells) {
    double x = p * cells;
    x = x < cells ? x : cells;
    x = x > 0 ? x : 0;
    return 2 * (int32_t)x;
}

/* Twice the bin (the number of inner edges strictly below the score), plus the label. */
INLINED ptrdiff_t slot_of(const lookup *at, int32_t key, double p) {
    ptrdiff_t slot = at->below[key];
    if (at->single) return slot + 2 * (p > at->inside[key]);
    const double *first = at->edges + (slot >> 1);
    ptrdiff_t left = (at->below[key + 2] - slot) >> 1;
    while (left > 1) { /* a mask in place of a branch, which would be anyone's guess */
        ptrdiff_t half = left >> 1, step = half & -(ptrdiff_t)(first[half - 1] < p);
        first += step;
        slot += 2 * step;
        left -= half;
    }
    if (left) slot += 2 * (first[0] < p);
    return slot;
}

/* Scores in double precision; doubles are used where they lie. */
INLINED const double *plain_scores(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                                   double *room) {
    if (!narrow) return (const double *)p + start;
    for (ptrdiff_t i = 0; i < many; i++) room[i] = (double)((const float *)p)[start + i];
    return room;
}

INLINED const double *plain_keys(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                                 double cells, double *room, int32_t *key) {
    const double *score = plain_scores(p, narrow, start, many, room);
    for (ptrdiff_t i = 0; i < many; i++) key[i] = key_of(score[i], cells);
    return score;
}

#if HAS_WIDE
WIDE const double *wide_keys(const void *p, int narrow, ptrdiff_t start, ptrdiff_t many,
                             double cells, double *room, int32_t *key) {
    const double *score = plain_scores(p, narrow, start, many, room);
    __m256d scale = _mm256_set1_pd(cells);
    ptrdiff_t i = 0;
    for (; i + 4 <= many; i += 4) {
        __m256d x = _mm256_mul_pd(_mm256_loadu_pd(score + i), scale);
        x = _mm256_max_pd(_mm256_min_pd(x, scale), _mm256_setzero_pd());
        __m128i cell = _mm256_cvttpd_epi32(x);
        _mm_storeu_si128((__m128i *)(key + i), _mm_add_epi32(cell, cell));
    }
    for (; i < many; i++) key[i] = key_of(score[i], cells);
    return score;
}
#endif

/* Adds a label's last bit to each key; the answer has other bits where a label is not 0 or 1. */
INLINED uint64_t plain_labels(const void *y, int bytes, ptrdiff_t start, ptrdiff_t many,
                              int32_t *key) {
    if (bytes == 1) {
        const uint8_t *label = (const uint8_t *)y + start;
        uint8_t seen = 0;
        for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += label[i] & 1;
        return seen;
    }
    if (bytes == 4) {
        const uint32_t *label = (const uint32_t *)y + start;
        uint32_t seen = 0;
        for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += (int32_t)(label[i] & 1);
        return seen;
    }
    const uint64_t *label = (const uint64_t *)y + start;
    uint64_t seen = 0;
    for (ptrdiff_t i = 0; i < many; i++) seen |= label[i], key[i] += (int32_t)(label[i] & 1);
    return seen;
}

#if HAS_WIDE
WIDE uint64_t wide_labels(const void *y, int bytes, ptrdiff_t start, ptrdiff_t many, int32_t *key) {
    const __m256i lower_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const __m128i last_bit = _mm_set1_epi32(1);
    __m256i seen = _mm256_setzero_si256();
    ptrdiff_t i = 0;
    if (bytes != 8) return plain_labels(y, bytes, start, many, key);
    for (; i + 4 <= many; i += 4) {
        __m256i wide = _mm256_loadu_si256((const __m256i *)((const int64_t *)y + start + i));
        __m128i label = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(wide, lower_halves));
        __m128i *here = (__m128i *)(key + i);
        label = _mm_and_si128(label, last_bit);
        _mm_storeu_si128(here, _mm_add_epi32(_mm_loadu_si128(here), label));
        seen = _mm256_or_si256(seen, wide);
    }
    uint64_t rest = plain_labels(y, 8, start + i, many - i, key + i);
    return rest | !_mm256_testz_si256(seen, _mm256_set1_epi64x(-2)) << 1;
}
#endif

#if HAS_WIDE
/* With 16 cells the tables fit in registers. Scores are cut to sixteen bits, 2^14 for 1, and the
   edges likewise: only a score cut to the same number as the edge in its cell needs a closer look.
   brief[0] is the number of edges below a cell, brief[1] and brief[2] the bytes of its cut edge. */
#define CUT 16384

static int make_brief(lookup *at) {
    if (at->cells != 16 || !at->single) return 0;
    for (int cell = 0; cell < 16; cell++) {
        double edge = at->inside[2 * cell];
        int cut = edge < 1 ? (int)(edge > 0 ? edge * CUT : 0) : 32767;
        at->brief[0][cell] = (uint8_t)(at->below[2 * cell] >> 1);
        at->brief[1][cell] = (uint8_t)(cut & 255);
        at->brief[2][cell] = (uint8_t)(cut >> 8);
    }
    return 1;
}

WIDE inline __m256i sixteen(__m128i a, __m128i b, __m128i c, __m128i d) {
    return _mm256_set_m128i(_mm_packs_epi32(c, d), _mm_packs_epi32(a, b));
}

WIDE inline __m128i cut_scores(const double *p) {
    return _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_loadu_pd(p), _mm256_set1_pd(CUT)));
}

WIDE inline __m128i cut_labels(const int64_t *y, __m256i *seen) {
    __m256i wide = _mm256_loadu_si256((const __m256i *)y);
    *seen = _mm256_or_si256(*seen, wide);
    return _mm256_castsi256_si128(
        _mm256_permutevar8x32_epi32(wide, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
}

/* Sixteen labels of 1, 4 or 8 bytes as sixteen-bit numbers; what they were is or-ed to `seen`. */
WIDE inline __m256i sixteen_labels(const void *y, int bytes, ptrdiff_t i, __m256i *seen) {
    if (bytes == 1) {
        __m256i label = _mm256_cvtepu8_epi16(
            _mm_loadu_si128((const __m128i *)((const uint8_t *)y + i)));
        *seen = _mm256_or_si256(*seen, label);
        return label;
    }
    if (bytes == 4) {
        const __m128i *quad = (const __m128i *)((const int32_t *)y + i);
        __m128i a = _mm_loadu_si128(quad), b = _mm_loadu_si128(quad + 1);
        __m128i c = _mm_loadu_si128(quad + 2), d = _mm_loadu_si128(quad + 3);
        __m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
        *seen = _mm256_or_si256(*seen, _mm256_castsi128_si256(any));
        return sixteen(a, b, c, d);
    }
    const int64_t *z = (const int64_t *)y + i;
    return sixteen(cut_labels(z, seen), cut_labels(z + 4, seen), cut_labels(z + 8, seen),
                   cut_labels(z + 12, seen));
}

/* The slots of a multiple of 16 rows. The answer is as that of plain_labels. */
WIDE uint64_t wide_slots(const double *p, const void *y, int bytes, ptrdiff_t start,
                         ptrdiff_t many, const lookup *at, uint16_t *slot) {
    __m256i table[3], seen = _mm256_setzero_si256();
    for (int t = 0; t < 3; t++)
        table[t] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)at->brief[t]));
    for (ptrdiff_t i = 0; i < many; i += 16) {
        const double *x = p + i;
        __m256i score = sixteen(cut_scores(x), cut_scores(x + 4), cut_scores(x + 8),
                                cut_scores(x + 12));
        __m256i label = sixteen_labels(y, bytes, start + i, &seen);
        __m256i cell = _mm256_min_epi16(_mm256_srai_epi16(score, 10), _mm256_set1_epi16(15));
        __m256i low = _mm256_or_si256(cell, _mm256_set1_epi16(-32768));
        __m256i high = _mm256_or_si256(_mm256_slli_epi16(cell, 8), _mm256_set1_epi16(128));
        __m256i edge = _mm256_or_si256(_mm256_shuffle_epi8(table[1], low),
                                       _mm256_shuffle_epi8(table[2], high));
        __m256i bin = _mm256_sub_epi16(_mm256_shuffle_epi8(table[0], low),
                                       _mm256_cmpgt_epi16(score, edge));
        label = _mm256_and_si256(label, _mm256_set1_epi16(1));
        _mm256_storeu_si256((__m256i *)(slot + i),
                            _mm256_add_epi16(_mm256_add_epi16(bin, bin), label));
        unsigned close = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi16(score, edge));
        for (close &= 0x55555555; close; close &= close - 1) {
            int j = __builtin_ctz(close) >> 1;
            int32_t key = key_of(x[j], at->cells) + (slot[i + j] & 1);
            slot[i + j] = (uint16_t)slot_of(at, key, x[j]);
        }
    }
    __m256i other_bits = bytes == 1   ? _mm256_set1_epi16(-2)
                         : bytes == 4 ? _mm256_zextsi128_si256(_mm_set1_epi32(-2))
                                      : _mm256_set1_epi64x(-2);
    return (uint64_t)!_mm256_testz_si256(seen, other_bits) << 1;
}
#else
#define make_brief(at) 0
#endif

#endif
