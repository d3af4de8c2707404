/* Sums by bin of every class of a matrix at once (one class against the rest), in one read.

   With many classes most entries lie in the first bin. There they are added a few classes at a
   time, without looking up a bin, and only the others take the long way. */
#ifndef TRUEUP_CLASS_SUMS_H
#define TRUEUP_CLASS_SUMS_H

#include "bin_sums.h"

typedef struct {
    ptrdiff_t classes;
    double *low;  /* sums of p in the first bin by class, then of p^2; each padded to eight */
    double *rest; /* by class and bin: {sum p, sum p^2, count, 0} */
    double *hits; /* by class and bin, of rows with that label: {sum p, count} */
} class_tables;

INLINED ptrdiff_t padded(ptrdiff_t classes) { return (classes + 7) & ~(ptrdiff_t)7; }

INLINED double *place_of(const lookup *at, const class_tables *to, ptrdiff_t k, double p) {
    ptrdiff_t bin = slot_of(at, key_of(p, at->cells), p) >> 1;
    return to->rest + 4 * (k * at->bins + bin);
}

INLINED void add_at(double *t, double p) {
    t[0] += p;
    t[1] += p * p;
    t[2] += 1;
}

INLINED void add_hit(const lookup *at, const class_tables *to, int64_t label, double p) {
    ptrdiff_t bin = slot_of(at, key_of(p, at->cells), p) >> 1;
    double *t = to->hits + 2 * (label * at->bins + bin);
    t[0] += p;
    t[1] += 1;
}

/* Rows whose entries are mostly in the first bin. Returns how many entries were not. */
#define DEFINE_LOW_ROWS(NAME, KIND, ITEM, ADD_ROW)                                                 \
    KIND ptrdiff_t NAME(const ITEM *x, const double *factor, const int64_t *label,                 \
                        ptrdiff_t rows, const lookup *at, const class_tables *to) {                \
        ptrdiff_t classes = to->classes, others = 0;                                               \
        double first_edge = at->bins > 1 ? at->edges[0] : INFINITY;                                \
        for (ptrdiff_t r = 0; r < rows; r++) {                                                     \
            const ITEM *row = x + r * classes;                                                     \
            double f = factor ? factor[r] : 1;                                                     \
            ADD_ROW                                                                                \
            if (label[r] >= 0 && label[r] < classes)                                               \
                add_hit(at, to, label[r], (double)row[label[r]] * f);                              \
        }                                                                                          \
        return others;                                                                             \
    }

#define PLAIN_ROW                                                                                  \
    double *low = to->low, *low2 = low + padded(classes);                                          \
    for (ptrdiff_t k = 0; k < classes; k++) {                                                      \
        double p = (double)row[k] * f;                                                             \
        int in_first = p <= first_edge;                                                            \
        double q = in_first ? p : 0;                                                               \
        low[k] += q;                                                                               \
        low2[k] += q * q;                                                                          \
        if (!in_first) others++, add_at(place_of(at, to, k, p), p);                                \
    }

DEFINE_LOW_ROWS(plain_low_f32, static, float, PLAIN_ROW)
DEFINE_LOW_ROWS(plain_low_f64, static, double, PLAIN_ROW)

#if HAS_WIDE
/* Adds the entries of a quad that are in the first bin; the answer has a bit for each of them. */
WIDE inline int add_quad(__m256d x, __m256d f, __m256d first_edge, double *low, double *low2) {
    __m256d p = _mm256_mul_pd(x, f);
    __m256d in_first = _mm256_cmp_pd(p, first_edge, _CMP_LE_OQ);
    p = _mm256_and_pd(p, in_first);
    _mm256_storeu_pd(low, _mm256_add_pd(_mm256_loadu_pd(low), p));
    _mm256_storeu_pd(low2, _mm256_add_pd(_mm256_loadu_pd(low2), _mm256_mul_pd(p, p)));
    return _mm256_movemask_pd(in_first);
}

#define WIDE_ROW(LOAD)                                                                             \
    double *low = to->low, *low2 = low + padded(classes);                                          \
    __m256d fs = _mm256_set1_pd(f), edge = _mm256_set1_pd(first_edge), u, v;                       \
    for (ptrdiff_t k = 0; k < classes; k += 8) {                                                   \
        int whole = k + 8 <= classes;                                                              \
        LOAD                                                                                       \
        int outside = ~(add_quad(u, fs, edge, low + k, low2 + k) |                                 \
                        add_quad(v, fs, edge, low + k + 4, low2 + k + 4) << 4);                    \
        outside &= whole ? 255 : (1 << (classes - k)) - 1;                                         \
        for (; outside; outside &= outside - 1) {                                                  \
            ptrdiff_t j = k + __builtin_ctz((unsigned)outside);                                    \
            double p = (double)row[j] * f;                                                         \
            others++;                                                                              \
            add_at(place_of(at, to, j, p), p);                                                     \
        }                                                                                          \
    }

#define LOAD_F32                                                                                   \
    __m256 both = whole ? _mm256_loadu_ps(row + k)                                                 \
                        : _mm256_maskload_ps(row + k, first_lanes_32(classes - k));                \
    u = _mm256_cvtps_pd(_mm256_castps256_ps128(both));                                             \
    v = _mm256_cvtps_pd(_mm256_extractf128_ps(both, 1));

#define LOAD_F64                                                                                   \
    u = whole ? _mm256_loadu_pd(row + k)                                                           \
              : _mm256_maskload_pd(row + k, first_lanes_64(classes - k));                          \
    v = whole ? _mm256_loadu_pd(row + k + 4)                                                       \
              : _mm256_maskload_pd(row + k + 4, first_lanes_64(classes - k - 4));

DEFINE_LOW_ROWS(wide_low_f32, WIDE, float, WIDE_ROW(LOAD_F32))
DEFINE_LOW_ROWS(wide_low_f64, WIDE, double, WIDE_ROW(LOAD_F64))
#else
#define wide_low_f32 plain_low_f32
#define wide_low_f64 plain_low_f64
#endif

/* Rows whose entries are spread over the bins: every entry takes the long way. A tile of rows and
   columns at a time, so that cells are found for many entries together. */
#define DEFINE_SPREAD_ROWS(NAME, KIND, ITEM, KEYS)                                                 \
    KIND ptrdiff_t NAME(const ITEM *x, const double *factor, const int64_t *label,                 \
                        ptrdiff_t rows, const lookup *at, const class_tables *to) {                \
        double score[AT_ONCE], first_edge = at->bins > 1 ? at->edges[0] : INFINITY;                \
        int32_t key[AT_ONCE];                                                                      \
        ptrdiff_t classes = to->classes, width = classes < AT_ONCE ? classes : AT_ONCE;            \
        ptrdiff_t height = AT_ONCE / width, in_first = 0;                                          \
        for (ptrdiff_t top = 0; top < rows; top += height)                                         \
            for (ptrdiff_t left = 0; left < classes; left += width) {                              \
                ptrdiff_t bottom = top + height < rows ? top + height : rows;                      \
                ptrdiff_t right = left + width < classes ? left + width : classes, i = 0;          \
                for (ptrdiff_t r = top; r < bottom; r++) {                                         \
                    double f = factor ? factor[r] : 1;                                             \
                    for (ptrdiff_t k = left; k < right; k++)                                       \
                        score[i++] = (double)x[r * classes + k] * f;                               \
                }                                                                                  \
                KEYS(score, 0, 0, i, at->cells, score, key);                                       \
                for (ptrdiff_t j = 0; j < i; j++) in_first += score[j] <= first_edge;              \
                i = 0;                                                                             \
                for (ptrdiff_t r = top; r < bottom; r++) {                                         \
                    double *table = to->rest + 4 * left * at->bins;                                \
                    for (ptrdiff_t k = left; k < right; k++, i++, table += 4 * at->bins)           \
                        add_at(table + 2 * slot_of(at, key[i], score[i]), score[i]);               \
                }                                                                                  \
            }                                                                                      \
        for (ptrdiff_t r = 0; r < rows; r++)                                                       \
            if (label[r] >= 0 && label[r] < classes)                                               \
                add_hit(at, to, label[r],                                                          \
                        (double)x[r * classes + label[r]] * (factor ? factor[r] : 1));             \
        return rows * classes - in_first;                                                          \
    }

DEFINE_SPREAD_ROWS(plain_spread_f32, static, float, plain_keys)
DEFINE_SPREAD_ROWS(plain_spread_f64, static, double, plain_keys)
#if HAS_WIDE
DEFINE_SPREAD_ROWS(wide_spread_f32, WIDE, float, wide_keys)
DEFINE_SPREAD_ROWS(wide_spread_f64, WIDE, double, wide_keys)
#else
#define wide_spread_f32 plain_spread_f32
#define wide_spread_f64 plain_spread_f64
#endif

/* Adds a block of rows to the tables; returns how many entries lie outside the first bin. */
static ptrdiff_t add_rows(const void *x, int narrow, const double *factor, const int64_t *label,
                          ptrdiff_t rows, int mostly_low, const lookup *at,
                          const class_tables *to) {
    if (narrow && mostly_low)
        return (USE_WIDE ? wide_low_f32 : plain_low_f32)(x, factor, label, rows, at, to);
    if (narrow)
        return (USE_WIDE ? wide_spread_f32 : plain_spread_f32)(x, factor, label, rows, at, to);
    if (mostly_low)
        return (USE_WIDE ? wide_low_f64 : plain_low_f64)(x, factor, label, rows, at, to);
    return (USE_WIDE ? wide_spread_f64 : plain_spread_f64)(x, factor, label, rows, at, to);
}

/* Moves the sums of `rows` rows into totals[5][classes][bins]: count, score, score2, label, cross.
   What is in no other bin is in the first: its rows were not counted one by one. */
static void flush_classes(ptrdiff_t rows, ptrdiff_t bins, const class_tables *to, double *totals) {
    ptrdiff_t size = to->classes * bins;
    for (ptrdiff_t k = 0; k < to->classes; k++) {
        double first = (double)rows;
        double *low = to->low + k, *low2 = low + padded(to->classes);
        for (ptrdiff_t i = k * bins; i < (k + 1) * bins; i++) {
            double *t = to->rest + 4 * i, *h = to->hits + 2 * i, *sum = totals + i;
            if (i > k * bins) {
                sum[0] += t[2];
                first -= t[2];
            }
            sum[size] += t[0];
            sum[2 * size] += t[1];
            sum[3 * size] += h[1];
            sum[4 * size] += h[0];
        }
        totals[k * bins] += first;
        totals[k * bins + size] += *low;
        totals[k * bins + 2 * size] += *low2;
        *low = *low2 = 0;
    }
    memset(to->rest, 0, (size_t)(4 * size) * sizeof(double));
    memset(to->hits, 0, (size_t)(2 * size) * sizeof(double));
}

#endif
