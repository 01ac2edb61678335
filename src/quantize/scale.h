/* The scale of a block of numbers that are rounded to a few bits: scale.c. */
#ifndef CQ_QUANTIZE_SCALE_H
#define CQ_QUANTIZE_SCALE_H

#include "tensor/dtype.h"

#include <stdbool.h>
#include <stdint.h>

enum { CQ_SCALE_LANES = 16 }; /* blocks that are searched at once */

typedef struct cq_scale_rule {
    int      bits;
    bool     may_flip;      /* a negative scale, so that the extreme number uses the longer half */
    bool     is_asymmetric; /* the zero point is chosen, too */
    cq_dtype dtype;         /* of scales: float32, float16 or bfloat16 */
} cq_scale_rule;

/* The squared error of a block, and its sum of squares. */
typedef struct cq_scale_error {
    double error, total;
} cq_scale_error;

/* Finds the scales of `lanes` blocks of n numbers, x[i * lanes + lane], with the least squared
 * error. lows are the integers that the lower ends of the ranges become: -128 if 8 bits are
 * symmetric. The scale of a block with NaN or infinity is NaN; the scale of zeros is 1. */
void cq_scale_search(float *scales, float *lows, cq_scale_error *errors, const float *x, int64_t n,
                     int lanes, const cq_scale_rule *rule);

/* The integer for x; 0 if the scale is NaN. inverse is 1 / scale. */
static inline float cq_scale_round(float x, float inverse, float least, float most)
{
    const float shift = 12582912.0F; /* 1.5 * 2^23: adding it rounds to an integer, ties to even */
    const float y     = x * inverse;
    const float low   = y > least ? y : least;

    return ((low < most ? low : most) + shift) - shift;
}

#endif
