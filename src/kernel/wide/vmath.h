/* exp, tanh and erf of vectors, because libm's are function calls. Errors are below 1.7 units in
 * the last place (vmath_test.c). Polynomials are fitted as in power.h. */
#ifndef CQ_KERNEL_WIDE_VMATH_H
#define CQ_KERNEL_WIDE_VMATH_H

#include "kernel/wide/power.h"

typedef uint32_t U __attribute__((vector_size(4 * CQ_LANES)));

#define SIGNS         ((U){ 0 } - 0x80000000u)
#define SIZE_OF(x)    ((V)((U)(x) & ~SIGNS))                     /* without its sign */
#define SIGNED(x, as) ((V)(((U)(x) & ~SIGNS) | ((U)(as)&SIGNS))) /* with that of the other */

/* exp(x) for any x. 2^n is multiplied in two steps because it may be subnormal or just too
 * large. */
INLINE V exp_of(V x)
{
    V       t;
    const V p     = power_part(&t, AT_MOST(SPREAD(89), AT_LEAST(SPREAD(-104), x)));
    const U whole = (U)t - (U)SPREAD(12582912.0f) + 254, half = whole >> 1; /* n + 2 * 127 */

    return p * (V)(half << 23) * (V)((whole - half) << 23);
}

/* A polynomial near zero, where 1 - 2 / (e^2x + 1) would lose digits. */
INLINE V tanh_of(V x)
{
    const V a = SIZE_OF(x), u = x * x, v = u * u;
    const V p0  = SPREAD(-0x1.555532p-2f) + SPREAD(0x1.110726p-3f) * u;
    const V p2  = SPREAD(-0x1.b83c56p-5f) + SPREAD(0x1.522682p-6f) * u;
    const V p   = (p0 + v * (p2 + v * SPREAD(-0x1.75e164p-8f))) * u * x + x;
    const V far = SPREAD(1) - SPREAD(2) / (exp_of(a + a) + SPREAD(1));

    return SIGNED(CHOOSE(a < SPREAD(0.625f), p, far), x); /* of -0 too */
}

/* A polynomial near zero; further out 1 - e^q, where q is a polynomial for log erfc. Past 4
 * the result is 1 to the last bit. */
INLINE V erf_of(V x)
{
    const V u = x * x, v = u * u, a = AT_MOST(SPREAD(4), SIZE_OF(x)), b = a * a, c = b * b;
    const V p0  = SPREAD(0x1.06eba8p-3f) + SPREAD(-0x1.812742p-2f) * u; /* and 1 more: x itself */
    const V p2  = SPREAD(0x1.ce2e0ap-4f) + SPREAD(-0x1.b80e9p-6f) * u;
    const V p4  = SPREAD(0x1.54c7f4p-8f) + SPREAD(-0x1.aa3f28p-11f) * u;
    const V p   = (p0 + v * (p2 + v * (p4 + v * SPREAD(0x1.5cd49cp-14f)))) * x + x;
    const V q0  = SPREAD(0x1.65adb2p-13f) + SPREAD(-0x1.212698p+0f) * a;
    const V q2  = SPREAD(-0x1.444b4p-1f) + SPREAD(-0x1.bb565ap-4f) * a;
    const V q4  = SPREAD(0x1.9b1974p-6f) + SPREAD(-0x1.10aa34p-8f) * a;
    const V q6  = SPREAD(0x1.c54df6p-12f) + SPREAD(-0x1.5ece9ap-16f) * a;
    const V far = SPREAD(1) - exp_of((q0 + b * q2) + c * (q4 + b * q6));

    return SIGNED(CHOOSE(a < SPREAD(0.92f), p, far), x);
}

#endif
