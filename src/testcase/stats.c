/* numpy sums float32 in float32, pairwise to limit errors, and everything but floats in float64.
 * The order of additions is numpy's, so the digits are equal. One difference: numpy computes the
 * variance of float16 in float16, where large tensors overflow; here it is float32. */
#include "testcase/stats.h"

#include "tensor/convert.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

enum {
    LEAF  = 128, /* numbers summed by eight accumulators */
    PIECE = 8192 /* numpy's buffer: pieces of this size are summed on their own */
};

#define REAL    float
#define NAME(x) f32_##x
#include "testcase/stats_type.inc"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) f64_##x
#include "testcase/stats_type.inc"

cq_stats cq_stats_of(const void *data, cq_dtype dtype, int64_t n)
{
    if (cq_dtype_is_float(dtype) && dtype != CQ_DTYPE_F64)
        return f32_stats(data, dtype, CQ_WIDE_F32, n);
    return f64_stats(data, dtype, CQ_WIDE_F64, n);
}
