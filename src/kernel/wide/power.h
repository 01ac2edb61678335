/* e^x of vectors. */
#ifndef CQ_KERNEL_WIDE_POWER_H
#define CQ_KERNEL_WIDE_POWER_H

#include "kernel/wide/vector.h"

/* e^x = 2^n e^r with n the nearest integer to x / log 2: returns e^r. Adding 3 * 2^22 rounds to n
 * and leaves it in the low bits of t; for a NaN these bits are harmless. The polynomial was fitted
 * for this file by weighted least squares to minimise the largest relative error. It is summed in
 * pairs: short dependency chains let several vectors overlap. */
INLINE V power_part(V *t, V x)
{
    const V magic = SPREAD(12582912.0f);
    V       n, r, s, p2, p4, p6;

    *t = FMA(x, SPREAD(1.44269504f), magic);
    n  = *t - magic;
    /* exact: the constant has 14 bits, n at most 8 */
    r  = FMA(n, SPREAD(-0x1.7f7d1cp-20f), FMA(n, SPREAD(-0x1.62e4p-1f), x));
    s  = r * r;
    p2 = FMA(r, SPREAD(0x1.555554p-3f), SPREAD(0x1p-1f));
    p4 = FMA(r, SPREAD(0x1.11127p-7f), SPREAD(0x1.55548ep-5f));
    p6 = FMA(r, SPREAD(0x1.9f08acp-13f), SPREAD(0x1.6d8d06p-10f));
    return FMA(s, FMA(s, FMA(s, p6, p4), p2), r) + SPREAD(1);
}

/* For x from -87 to 87, whose power is neither too large nor too small: it can be scaled by adding
 * to its exponent. Of a NaN it may be anything: add x - x, which is 0, or NaN then. */
INLINE V power_of(V x)
{
    V       t;
    const V p = power_part(&t, x);

    return ADD_EXPONENT(p, t);
}

/* exp(x) for x <= 0: exactly 0 far below, NaN for NaN. */
INLINE V fading(V x)
{
    const V low = SPREAD(-87.0f), far = AT_LEAST(low, x);

    return CHOOSE(x < low, SPREAD(0), power_of(far) + (far - far));
}

#endif
