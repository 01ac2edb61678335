/* exp, tanh and erf in float without branches, so that compilers turn loops over them into
 * vector code; libm's are calls. Errors stay below 1.7 units in the last place (vmath_test.c).
 * Polynomials were fitted for this file by weighted least squares towards the least greatest
 * relative error. */
#ifndef CQ_KERNEL_VMATH_H
#define CQ_KERNEL_VMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float cq_float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t cq_bits_of_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* e^x = 2^n e^r with n the nearest integer to x / log 2. Adding 3 * 2^22 rounds to it and
 * leaves it in the low bits, also of a NaN, whose n means nothing but does no harm. 2^n is
 * multiplied in two steps because it may be subnormal or just too large. */
static inline float cq_expf(float x)
{
    const float magic = 12582912.0f;
    float       t, n, r, p;
    uint32_t    whole, half;

    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    t = x * 1.44269504f + magic;
    n = t - magic;
    r = x - n * 0x1.62e4p-1f; /* exact: the constant has 14 bits, n at most 8 */
    r = r - n * 0x1.7f7d1cp-20f;
    p = 0x1.9f08acp-13f;
    p = p * r + 0x1.6d8d06p-10f;
    p = p * r + 0x1.11127p-7f;
    p = p * r + 0x1.55548ep-5f;
    p = p * r + 0x1.555554p-3f;
    p = p * r + 0x1p-1f;
    p = p * r * r + r + 1.0f;

    whole = cq_bits_of_float(t) - cq_bits_of_float(magic) + 254; /* n + 2 * 127 */
    half  = (whole >> 1) & 255;
    return p * cq_float_of_bits(half << 23) * cq_float_of_bits(((whole - half) & 255) << 23);
}

/* A polynomial near zero, where 1 - 2 / (e^2x + 1) would lose digits. */
static inline float cq_tanhf(float x)
{
    float a = fabsf(x), u = x * x, p, far;

    p = -0x1.75e164p-8f;
    p = p * u + 0x1.522682p-6f;
    p = p * u - 0x1.b83c56p-5f;
    p = p * u + 0x1.110726p-3f;
    p = p * u - 0x1.555532p-2f;
    p = p * u * x + x;

    far = 1.0f - 2.0f / (cq_expf(2.0f * a) + 1.0f);
    return copysignf(a < 0.625f ? p : far, x); /* of -0 too */
}

/* A polynomial near zero; further out 1 - e^q, where q is a polynomial for log erfc. Past 4
 * the result is 1 to the last bit. */
static inline float cq_erff(float x)
{
    float a = fabsf(x), u = x * x, p, q, far;

    p = 0x1.5cd49cp-14f;
    p = p * u - 0x1.aa3f28p-11f;
    p = p * u + 0x1.54c7f4p-8f;
    p = p * u - 0x1.b80e9p-6f;
    p = p * u + 0x1.ce2e0ap-4f;
    p = p * u - 0x1.812742p-2f;
    p = p * u + 0x1.06eba8p-3f; /* and 1 more: x itself */
    p = p * x + x;

    a   = a > 4.0f ? 4.0f : a;
    q   = -0x1.5ece9ap-16f;
    q   = q * a + 0x1.c54df6p-12f;
    q   = q * a - 0x1.10aa34p-8f;
    q   = q * a + 0x1.9b1974p-6f;
    q   = q * a - 0x1.bb565ap-4f;
    q   = q * a - 0x1.444b4p-1f;
    q   = q * a - 0x1.212698p+0f;
    q   = q * a + 0x1.65adb2p-13f;
    far = 1.0f - cq_expf(q);
    return copysignf(a < 0.92f ? p : far, x);
}

#endif
