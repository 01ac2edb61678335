/* All formats share one function for each direction, with a row of parameters. */
#include "tensor/minifloat.h"

#include <math.h>

typedef struct format {
    uint8_t bits, fraction, bias;
    uint8_t largest, infinity, nan; /* without the sign; infinity 0: none */
    bool    has_nan, has_one_zero;  /* one zero: then NaN is what would be the other */
} format;

static const format formats[CQ_DTYPE_COUNT] = {
    /*                        bits fr bias  max   inf   nan  nan?   one zero? */
    [CQ_DTYPE_F8E4M3FN]   = { 8, 3, 7, 0x7e, 0, 0x7f, true, false },
    [CQ_DTYPE_F8E4M3FNUZ] = { 8, 3, 8, 0x7f, 0, 0x80, true, true },
    [CQ_DTYPE_F8E5M2]     = { 8, 2, 15, 0x7b, 0x7c, 0x7e, true, false },
    [CQ_DTYPE_F8E5M2FNUZ] = { 8, 2, 16, 0x7f, 0, 0x80, true, true },
    [CQ_DTYPE_F4E2M1]     = { 4, 1, 1, 0x7, 0, 0, false, false },
    [CQ_DTYPE_F8E8M0]     = { 8, 0, 127, 0xfe, 0, 0xff, true, true }, /* by separate functions */
};

bool cq_dtype_is_minifloat(cq_dtype d)
{
    return (unsigned)d < CQ_DTYPE_COUNT && formats[d].bits;
}

/* ---- powers of two ---- */

enum { E8M0_BIAS = 127, E8M0_LARGEST = 0xfe, E8M0_NAN = 0xff };

static float e8m0_to_f32(uint8_t bits)
{
    return bits == E8M0_NAN ? NAN : ldexpf(1, bits - E8M0_BIAS);
}

uint8_t cq_f64_to_e8m0(double x, cq_e8m0_round round, bool saturates)
{
    double fraction;
    int    exponent;

    if (isnan(x) || x < 0)
        return E8M0_NAN;
    if (isinf(x))
        return saturates ? E8M0_LARGEST : E8M0_NAN;
    if (x < 0x1p-127)
        return saturates ? 0 : E8M0_NAN;
    fraction = frexp(x, &exponent); /* x = fraction * 2^exponent, fraction in [0.5, 1) */
    exponent += E8M0_BIAS - 1;
    if (round == CQ_E8M0_UP ? fraction > 0.5 : round == CQ_E8M0_NEAREST && fraction >= 0.75)
        exponent++;
    if (exponent > E8M0_LARGEST)
        return saturates ? E8M0_LARGEST : E8M0_NAN;
    return (uint8_t)exponent;
}

/* ---- sign, exponent and fraction ---- */

float cq_minifloat_to_f32(cq_dtype d, uint8_t bits)
{
    const format *f        = &formats[d];
    unsigned      sign_bit = 1u << (f->bits - 1), code = bits & (sign_bit - 1);
    bool          is_negative = bits & sign_bit;
    int           exponent    = (int)(code >> f->fraction);
    float         value;

    if (d == CQ_DTYPE_F8E8M0)
        return e8m0_to_f32(bits);
    if (f->has_one_zero && is_negative && !code)
        return NAN;
    if (code > f->largest)
        return f->infinity && code == f->infinity ? (is_negative ? -INFINITY : INFINITY) : NAN;
    value = (float)(code & ((1u << f->fraction) - 1));
    if (exponent)
        value += (float)(1u << f->fraction); /* the bit that is not written down */
    value = ldexpf(value, (exponent ? exponent : 1) - f->bias - f->fraction);
    return is_negative ? -value : value;
}

uint8_t cq_f64_to_minifloat(cq_dtype d, double x, bool saturates)
{
    const format *f        = &formats[d];
    unsigned      sign_bit = 1u << (f->bits - 1), sign = signbit(x) ? sign_bit : 0;
    unsigned too_large = saturates || !f->has_nan ? f->largest : f->infinity ? f->infinity : f->nan;
    int      exponent;
    double   code;

    if (d == CQ_DTYPE_F8E8M0)
        return cq_f64_to_e8m0(x, CQ_E8M0_UP, saturates);
    if (isnan(x))
        return f->has_nan ? (uint8_t)(f->nan | sign) : f->largest;
    if (isinf(x))
        return (uint8_t)(too_large | sign);
    (void)frexp(x, &exponent); /* |x| is in [2^(exponent-1), 2^exponent) */
    exponent = exponent - 1 < 1 - f->bias || x == 0 ? 1 - f->bias : exponent - 1;
    /* In units of the last place of that exponent; a carry makes the next exponent. */
    code = nearbyint(ldexp(fabs(x), f->fraction - exponent)) +
           ldexp(exponent + f->bias - 1, f->fraction);
    if (code > f->largest)
        return (uint8_t)(too_large | sign);
    return code == 0 && f->has_one_zero ? 0 : (uint8_t)((unsigned)code | sign);
}
