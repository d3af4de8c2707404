/* One scan over sorted scores for a Laplacian kernel.

   What a stretch of scores adds is linear in what stands before it, so that eight stretches are
   scanned in step: each waits for its own last sum only. The same additions in plain C. */
#ifndef TRUEUP_LAPLACE_SCAN_H
#define TRUEUP_LAPLACE_SCAN_H

#include "exponential.h"

#define STRETCHES 8
#define STEPS_AT_ONCE 32

#define DECAYED 1e-300 /* smaller numbers would never reach 0, and each costs a hundred others */

/* With B the sum of all residuals before a stretch, each decayed by its distance to the point
   before: the stretch adds cross + B * pull to the sum over pairs, and leaves state + B * decay. */
typedef struct {
    double own[STRETCHES], cross[STRETCHES], pull[STRETCHES], state[STRETCHES], decay[STRETCHES];
} stretches;

typedef struct {
    double own, cross, pull, state, decay;
} stretch;

INLINED void meet(double step, double residual, double *own, double *cross, double *pull,
                  double *state, double *decay) {
    double before = *state * step, left = *decay * step;
    left = left < DECAYED ? 0 : left;
    *cross += residual * before;
    *pull += residual * left;
    *own += residual * residual;
    *state = before + residual;
    *decay = left;
}

INLINED double decay_to(const double *value, ptrdiff_t i, double bandwidth) {
    return exp_of((value[i - 1] - value[i]) / bandwidth);
}

/* STRETCHES stretches of `size` scores, one after the other; there is a score before the first. */
INLINED void scan_stretches_body(const double *value, const double *residual, ptrdiff_t size,
                                 double bandwidth, stretches *found) {
    stretches of = *found; /* a private copy stays in registers */
    double line[STEPS_AT_ONCE], step[STEPS_AT_ONCE * STRETCHES], term[STEPS_AT_ONCE * STRETCHES];
    for (ptrdiff_t start = 0; start < size; start += STEPS_AT_ONCE) {
        ptrdiff_t here = size - start < STEPS_AT_ONCE ? size - start : STEPS_AT_ONCE;
        for (int s = 0; s < STRETCHES; s++) {
            ptrdiff_t first = s * size + start;
            for (ptrdiff_t i = 0; i < here; i++) line[i] = decay_to(value, first + i, bandwidth);
            for (ptrdiff_t i = 0; i < here; i++) {
                step[i * STRETCHES + s] = line[i];
                term[i * STRETCHES + s] = residual[first + i];
            }
        }
        for (ptrdiff_t i = 0; i < here; i++)
            IN_STEP for (int s = 0; s < STRETCHES; s++)
                meet(step[i * STRETCHES + s], term[i * STRETCHES + s], of.own + s, of.cross + s,
                     of.pull + s, of.state + s, of.decay + s);
    }
    *found = of;
}

DEFINE_KINDS(scan_stretches,
             (const double *value, const double *residual, ptrdiff_t size, double bandwidth,
              stretches *found),
             (value, residual, size, bandwidth, found))

/* Scan the scores start … stop-1 of an array. */
static stretch scan_scores(const double *value, const double *residual, ptrdiff_t start,
                           ptrdiff_t stop, double bandwidth) {
    stretch all = {0, 0, 0, 0, 1};
    stretches of = {{0}, {0}, {0}, {0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    if (start == 0 && stop > 0) { /* nothing stands before the first */
        meet(1, residual[0], &all.own, &all.cross, &all.pull, &all.state, &all.decay);
        start = 1;
    }
    ptrdiff_t size = (stop - start) / STRETCHES;
    const double *at = value + start, *terms = residual + start;
    if (size > 0) {
        scan_stretches(at, terms, size, bandwidth, &of);
        for (int s = 0; s < STRETCHES; s++) {
            all.own += of.own[s];
            all.cross += of.cross[s] + all.state * of.pull[s];
            all.state = of.state[s] + all.state * of.decay[s];
            all.pull += all.decay * of.pull[s];
            all.decay *= of.decay[s];
            if (all.decay < DECAYED) all.decay = 0;
        }
    }
    for (ptrdiff_t i = start + STRETCHES * size; i < stop; i++)
        meet(decay_to(value, i, bandwidth), residual[i], &all.own, &all.cross, &all.pull,
             &all.state, &all.decay);
    return all;
}

#endif
