/* Initial values of parameters, as PyTorch's layers have them. */
#include "nn/init.h"

#include <math.h>

static _Thread_local cq_random generator;
static _Thread_local bool      seeded;

struct cq_random *cq_init_random(void)
{
    if (!seeded)
        cq_manual_seed(0);
    return &generator;
}

CQ_API void cq_manual_seed(uint64_t seed)
{
    cq_random_seed(&generator, seed);
    seeded = true;
}

cq_tensor *cq_init_uniform(size_t rank, const int64_t *sizes, double bound)
{
    cq_tensor *t;

    if (cq_tensor_new_uninit(&t, CQ_DTYPE_F32, rank, sizes) != CQ_OK)
        return NULL;
    if (cq_random_fill_uniform(cq_init_random(), t, -bound, bound) != CQ_OK) {
        cq_tensor_release(t);
        return NULL;
    }
    return t;
}

cq_tensor *cq_init_normal(size_t rank, const int64_t *sizes, double mean, double deviation)
{
    cq_tensor *t;

    if (cq_tensor_new_uninit(&t, CQ_DTYPE_F32, rank, sizes) != CQ_OK)
        return NULL;
    if (cq_random_fill_normal(cq_init_random(), t, mean, deviation) != CQ_OK) {
        cq_tensor_release(t);
        return NULL;
    }
    return t;
}

cq_tensor *cq_init_constant(cq_dtype dtype, size_t rank, const int64_t *sizes, double value)
{
    cq_tensor *t;

    if (cq_tensor_new(&t, dtype, rank, sizes, NULL) != CQ_OK)
        return NULL;
    if (value != 0 && dtype == CQ_DTYPE_F32)
        for (int64_t i = 0, n = cq_tensor_numel(t); i < n; i++)
            ((float *)cq_tensor_bytes(t))[i] = (float)value;
    return t;
}

double cq_init_bound(double fan_in)
{
    return fan_in > 0 ? 1 / sqrt(fan_in) : 0;
}
