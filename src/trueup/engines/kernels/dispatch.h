/* One body of plain C, compiled once for each kind of x86-64 processor and chosen when called.

   Nothing is fused and no sum is reordered, so all kinds give the same bits. */
#ifndef TRUEUP_DISPATCH_H
#define TRUEUP_DISPATCH_H

#include "row_scan.h"

#if defined(__GNUC__) || defined(_MSC_VER)
#define APART __restrict /* arrays that do not overlap: without the word loops stay scalar */
#else
#define APART
#endif

#if HAS_WIDE
#define WIDEST \
    static __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#define USE_WIDEST (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#define DEFINE_KINDS(NAME, PARAMETERS, ARGUMENTS)                                                  \
    static void NAME##_plain PARAMETERS { NAME##_body ARGUMENTS; }                                 \
    WIDE void NAME##_wide PARAMETERS { NAME##_body ARGUMENTS; }                                    \
    WIDEST void NAME##_widest PARAMETERS { NAME##_body ARGUMENTS; }                                \
    static void NAME PARAMETERS {                                                                  \
        if (USE_WIDEST)                                                                            \
            NAME##_widest ARGUMENTS;                                                               \
        else if (USE_WIDE)                                                                         \
            NAME##_wide ARGUMENTS;                                                                 \
        else                                                                                       \
            NAME##_plain ARGUMENTS;                                                                \
    }
#else
#define DEFINE_KINDS(NAME, PARAMETERS, ARGUMENTS)                                                  \
    static void NAME PARAMETERS { NAME##_body ARGUMENTS; }
#endif

#endif
