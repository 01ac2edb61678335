/* Softmax of float. */
#include "kernel/isa.h"
#include "kernel/wide/vmath.h"

#include <math.h>
#include <string.h>

static void powers(float *out, const float *x, float top, int64_t n)
{
    float   rest[LANES] = { 0 };
    int64_t i           = 0;

    for (; i + LANES <= n; i += LANES)
        STORE(out + i, exp_of(LOAD(x + i) - SPREAD(top)));
    if (i == n)
        return;
    memcpy(rest, x + i, sizeof *rest * (size_t)(n - i));
    STORE(rest, exp_of(LOAD(rest) - SPREAD(top)));
    memcpy(out + i, rest, sizeof *rest * (size_t)(n - i));
}

#define T            float
#define BYTES        (4 * CQ_LANES)
#define POWERS       powers
#define FN(name)     name##_f32
#define MAX_OF(a, b) AT_LEAST(a, b)
#include "kernel/softmax.inc"

extern cq_softmax_fn *const CQ_OF_ISA(softmax)[2];

cq_softmax_fn *const CQ_OF_ISA(softmax)[2] = { softmax_f32, log_softmax_f32 };
