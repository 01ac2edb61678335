/* GELU of results of products, in place. */
#include "kernel/isa.h"
#include "kernel/wide/power.h"

#include <string.h>

/* log erfc(x / sqrt 2) / x is approximated by a polynomial, fitted for this file on 0 … 13 to
 * minimise the largest error of the result; beyond 13 the result is 0. It is evaluated in pairs to
 * shorten dependency chains. Half of x times the exponential is subtracted from x if x > 0, and is
 * the result if x < 0, so no digits are lost where the error function is near 1. */
INLINE V gelu_of(V x)
{
    const V z = AT_MOST(SPREAD(13), AT_LEAST(SPREAD(0) - x, x)), u = z * z, v = u * u;
    const V p0 = FMA(z, SPREAD(-0x1.45ef2ep-2f), SPREAD(-0x1.988488p-1f));
    const V p2 = FMA(z, SPREAD(0x1.3f4248p-8f), SPREAD(-0x1.2a1488p-5f));
    const V p4 = FMA(z, SPREAD(-0x1.5ec0dep-13f), SPREAD(-0x1.9cd6b2p-15f));
    const V p6 = FMA(z, SPREAD(-0x1.810d88p-18f), SPREAD(0x1.70c668p-15f));
    const V p8 = FMA(z, SPREAD(-0x1.62becep-27f), SPREAD(0x1.9db354p-22f));
    const V p  = FMA(v, FMA(v, p8, FMA(u, p6, p4)), FMA(u, p2, p0));
    const V t  = AT_MOST(SPREAD(13), x) * SPREAD(0.5f) * fading(p * z);

    return CHOOSE(x > SPREAD(0), x - t, t);
}

/* 0.5 x (1 + tanh u) = x / (1 + e^-2u), and x e^2u / (1 + e^2u) where that is too large. */
INLINE V gelu_tanh_of(V x)
{
    const V u = FMA(x * x * x, SPREAD(0.044715f), x) * SPREAD(1.59576912f);
    const V w = fading(AT_MOST(u, SPREAD(0) - u));

    return x * CHOOSE(x < SPREAD(0), w, SPREAD(1)) / (SPREAD(1) + w);
}

#define EACH_OF(of)                                                                                \
    float   rest[LANES] = { 0 };                                                                   \
    int64_t i           = 0;                                                                       \
                                                                                                   \
    for (; i + LANES <= n; i += LANES)                                                             \
        STORE(x + i, of(LOAD(x + i)));                                                             \
    if (i == n)                                                                                    \
        return;                                                                                    \
    memcpy(rest, x + i, sizeof *x * (size_t)(n - i));                                              \
    STORE(rest, of(LOAD(rest)));                                                                   \
    memcpy(x + i, rest, sizeof *x * (size_t)(n - i));

static void gelu(float *x, int64_t n)
{
    EACH_OF(gelu_of)
}

static void gelu_tanh(float *x, int64_t n)
{
    EACH_OF(gelu_tanh_of)
}

extern cq_gelu_fn *const CQ_OF_ISA(gelu)[2];

cq_gelu_fn *const CQ_OF_ISA(gelu)[2] = { gelu, gelu_tanh };
