/* e^x of vectors. */
#ifndef CQ_KERNEL_WIDE_POWER_H
#define CQ_KERNEL_WIDE_POWER_H

#include "kernel/wide/vector.h"

/* As cq_expf of vmath.h, but for x from -87 to 87, whose power is neither too large nor too small:
 * it can be scaled by adding to its exponent. Of a NaN it may be anything: add x - x, which is 0,
 * or NaN then. */
INLINE V power_of(V x)
{
    const V magic = SPREAD(12582912.0f), t = FMA(x, SPREAD(1.44269504f), magic);
    const V n = t - magic;
    const V r = FMA(n, SPREAD(-0x1.7f7d1cp-20f), FMA(n, SPREAD(-0x1.62e4p-1f), x));
    V       p = SPREAD(0x1.9f08acp-13f);

    p = FMA(p, r, SPREAD(0x1.6d8d06p-10f));
    p = FMA(p, r, SPREAD(0x1.11127p-7f));
    p = FMA(p, r, SPREAD(0x1.55548ep-5f));
    p = FMA(p, r, SPREAD(0x1.555554p-3f));
    p = FMA(p, r, SPREAD(0x1p-1f));
    p = FMA(p * r, r, r) + SPREAD(1);
    return ADD_EXPONENT(p, t);
}

#endif
