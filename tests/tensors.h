/* Small tensors for unit tests of kernels. */
#ifndef CQ_TEST_TENSORS_H
#define CQ_TEST_TENSORS_H

#include "tensor/tensor.h"
#include "test.h"

#include <math.h>

/* The two arguments "how many sizes, which". */
#define SIZES(...)                                                                                 \
    (sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), ((int64_t[]){ __VA_ARGS__ })

static inline cq_tensor *tensor_of(cq_dtype dtype, size_t rank, const int64_t *sizes,
                                   const void *data)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, dtype, rank, sizes, data));
    return t;
}

/* Element i is ((7 * i + seed) % 11 - 5) / 4: small numbers that are exact in every float
 * and do not repeat soon. The literals in the tests come from torch 1.13 on the same. */
static inline cq_tensor *pattern(cq_dtype dtype, size_t rank, const int64_t *sizes, int seed)
{
    cq_tensor *f = tensor_of(CQ_DTYPE_F32, rank, sizes, NULL), *t = NULL;
    float     *p = cq_tensor_data(f);

    for (int64_t i = 0; i < cq_tensor_numel(f); i++)
        p[i] = (float)((7 * i + seed) % 11 - 5) / 4;
    CHECK_OK(cq_tensor_clone(&t, f, dtype));
    cq_tensor_release(f);
    return t;
}

/* Compares with the expected tensor and releases t. */
static inline void check_close(cq_tensor *t, const double *want, double tolerance)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        double got = cq_tensor_get_f64(t, i);

        if (!(fabs(got - want[i]) <= tolerance * (1 + fabs(want[i]))) &&
            !(isnan(got) && isnan(want[i])) && got != want[i])
            fail_msg("element %d is %.9g, not %.9g", (int)i, got, want[i]);
    }
    cq_tensor_release(t);
}

static inline void check_values(cq_tensor *t, const double *want)
{
    check_close(t, want, 0);
}

/* Releases several tensors; NULL ends the list. */
static inline void release_all(cq_tensor *first, ...)
{
    va_list args;

    va_start(args, first);
    for (cq_tensor *t = first; t; t = va_arg(args, cq_tensor *))
        cq_tensor_release(t);
    va_end(args);
}

#endif
