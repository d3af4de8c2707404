/* One body of plain C, compiled once for each kind of x86-64 processor and chosen when called.

   Nothing is fused and no sum is reordered, so the results of all kinds are identical. */
#ifndef TRUEUP_DISPATCH_H
#define TRUEUP_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#define IN_STEP _Pragma("GCC unroll 1") /* of a loop over lanes: unrolled, it would stay scalar */
#else
#define INLINED static inline
#define IN_STEP
#endif

#define LANES 8 /* of sums kept in registers: more in one array are kept in memory */

/* to[0 … 3] += {a, b, c, d}: one addition where the compiler has vectors. */
#if defined(__GNUC__)
typedef double four_doubles __attribute__((vector_size(32), aligned(8), may_alias));
#define ADD_FOUR(to, a, b, c, d) (*(four_doubles *)(to) += (four_doubles){a, b, c, d})
#else
#define ADD_FOUR(to, a, b, c, d) ((to)[0] += (a), (to)[1] += (b), (to)[2] += (c), (to)[3] += (d))
#endif

#if defined(__GNUC__) || defined(_MSC_VER)
#define APART __restrict /* arrays that do not overlap: without the word loops stay scalar */
#else
#define APART
#endif

/* Entry i of a matrix of floats (`narrow`) or doubles, as a double. */
INLINED double entry(const void *x, int narrow, ptrdiff_t i) {
    return narrow ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(TRUEUP_PLAIN_C)
#include <immintrin.h>
#define HAS_WIDE 1
#define WIDE static __attribute__((target("avx2")))
#define WIDEST \
    static __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#define USE_WIDE __builtin_cpu_supports("avx2")
#define USE_WIDEST (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#define DEFINE_EACH_KIND(RETURN, TYPE, NAME, PARAMETERS, ARGUMENTS)                                \
    static TYPE NAME##_plain PARAMETERS { RETURN NAME##_body ARGUMENTS; }                          \
    WIDE TYPE NAME##_wide PARAMETERS { RETURN NAME##_body ARGUMENTS; }                             \
    WIDEST TYPE NAME##_widest PARAMETERS { RETURN NAME##_body ARGUMENTS; }                         \
    static TYPE NAME PARAMETERS {                                                                  \
        RETURN(USE_WIDEST ? NAME##_widest : USE_WIDE ? NAME##_wide : NAME##_plain) ARGUMENTS;      \
    }
#else
#define HAS_WIDE 0
#define USE_WIDE 0
#define DEFINE_EACH_KIND(RETURN, TYPE, NAME, PARAMETERS, ARGUMENTS)                                \
    static TYPE NAME PARAMETERS { RETURN NAME##_body ARGUMENTS; }
#endif

/* Defines the function NAME, which calls the best kind of NAME_body. */
#define DEFINE_KINDS(NAME, PARAMETERS, ARGUMENTS)                                                  \
    DEFINE_EACH_KIND(, void, NAME, PARAMETERS, ARGUMENTS)
#define DEFINE_KINDS_OF(TYPE, NAME, PARAMETERS, ARGUMENTS)                                         \
    DEFINE_EACH_KIND(return, TYPE, NAME, PARAMETERS, ARGUMENTS)

#endif
