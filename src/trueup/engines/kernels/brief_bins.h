/* Scores with labels 0 and 1 in AVX2 written by hand: the slots of sixteen bins or fewer of about
   equal width, and the additions to four copies of a table. It is twice as fast as what compilers
   make of plain C: docs/decisions/012-plain-c-or-intrinsics.md. */
#ifndef TRUEUP_BRIEF_BINS_H
#define TRUEUP_BRIEF_BINS_H

#include "bin_lookup.h"

#if HAS_WIDE
/* With 16 cells the tables fit in registers. Scores are cut to sixteen bits, 2^14 for 1, and the
   edges likewise: only a score cut to the same number as the edge in its cell needs a closer look.
   brief[0] is the number of edges below a cell, brief[1] and brief[2] the bytes of its cut edge. */
#define CUT 16384

static int make_brief(lookup *at) {
    if (at->cells != 16 || !at->single) return 0;
    for (int cell = 0; cell < 16; cell++) {
        double edge = at->inside[cell];
        int cut = edge < 1 ? (int)(edge > 0 ? edge * CUT : 0) : 32767;
        at->brief[0][cell] = (uint8_t)at->below[cell];
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

/* The slots of a multiple of 16 rows. The answer is as that of DEFINE_SLOTS. */
WIDE uint64_t brief_slots(const double *p, const void *y, int bytes, ptrdiff_t start,
                          ptrdiff_t many, const lookup *at, int32_t *slot) {
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
        label = _mm256_add_epi16(_mm256_add_epi16(bin, bin), label);
        __m256i low_slots = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(label));
        __m256i high_slots = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(label, 1));
        _mm256_storeu_si256((__m256i *)(slot + i), low_slots);
        _mm256_storeu_si256((__m256i *)(slot + i + 8), high_slots);
        unsigned close = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi16(score, edge));
        for (close &= 0x55555555; close; close &= close - 1) {
            int j = __builtin_ctz(close) >> 1;
            slot[i + j] = 2 * bin_of(at, x[j]) + (slot[i + j] & 1);
        }
    }
    __m256i other_bits = bytes == 1   ? _mm256_set1_epi16(-2)
                         : bytes == 4 ? _mm256_zextsi128_si256(_mm_set1_epi32(-2))
                                      : _mm256_set1_epi64x(-2);
    return (uint64_t)!_mm256_testz_si256(seen, other_bits) << 1;
}

/* The four terms of four rows. */
WIDE inline void terms_of(const double *p, __m256d *term) {
    const __m256d one = _mm256_setr_pd(1, 0, 1, 0);
    __m256d x = _mm256_loadu_pd(p), square = _mm256_mul_pd(x, x);
    __m256d even = _mm256_unpacklo_pd(x, square), odd = _mm256_unpackhi_pd(x, square);
    term[0] = _mm256_permute2f128_pd(even, one, 0x20);
    term[1] = _mm256_permute2f128_pd(odd, one, 0x20);
    term[2] = _mm256_permute2f128_pd(even, one, 0x31);
    term[3] = _mm256_permute2f128_pd(odd, one, 0x31);
}

/* Adds a multiple of four rows to the four copies of a table. */
WIDE void wide_add_slots(const double *p, const int32_t *slot, ptrdiff_t many, double *table) {
    for (ptrdiff_t i = 0; i < many; i += 4) {
        __m256d term[4];
        terms_of(p + i, term);
        for (int r = 0; r < 4; r++) {
            double *t = table + 16 * (ptrdiff_t)slot[i + r] + 4 * r;
            _mm256_store_pd(t, _mm256_add_pd(_mm256_load_pd(t), term[r]));
        }
    }
}
#else
#define make_brief(at) 0
#endif

#endif
