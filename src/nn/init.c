/* Initial values of parameters, as PyTorch's layers have them. */
#include "nn/init.h"

#include <math.h>

static _Thread_local cq_random generator;
static _Thread_local bool      seeded;
static _Thread_local bool      is_skipped;

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

CQ_API void cq_skip_init(bool skip)
{
    is_skipped = skip;
}

enum { SMALL = 1 << 16 }; /* bytes that are not worth a mapping */

static cq_status new_zeros(cq_tensor **out, size_t rank, const int64_t *sizes)
{
    cq_int      whole[CQ_MAX_RANK];
    cq_tensor  *fake;
    cq_storage *zeros = NULL;
    uint64_t    size;
    cq_status   status;

    for (size_t i = 0; i < rank; i++)
        whole[i] = cq_i(sizes[i]);
    CQ_TRY(cq_tensor_new_fake(&fake, CQ_DTYPE_F32, rank, whole));
    size = (uint64_t)cq_tensor_numel(fake) * sizeof(float);
    if (size <= SMALL) {
        status = cq_tensor_new(out, CQ_DTYPE_F32, rank, sizes, NULL);
    } else {
        status = cq_storage_zeros(&zeros, size);
        if (status == CQ_OK)
            status = cq_tensor_new_on(out, zeros, CQ_DTYPE_F32, rank, sizes, fake->strides, 0);
        cq_storage_release(zeros);
    }
    cq_tensor_release(fake);
    return status;
}

static cq_tensor *new_parameter(size_t rank, const int64_t *sizes)
{
    cq_tensor *t      = NULL;
    cq_status  status = is_skipped ? new_zeros(&t, rank, sizes)
                                   : cq_tensor_new_uninit(&t, CQ_DTYPE_F32, rank, sizes);

    return status == CQ_OK ? t : NULL;
}

static cq_tensor *filled(cq_tensor *t, cq_status status)
{
    if (status == CQ_OK)
        return t;
    cq_tensor_release(t);
    return NULL;
}

cq_tensor *cq_init_uniform(size_t rank, const int64_t *sizes, double bound)
{
    cq_tensor *t = new_parameter(rank, sizes);

    return !t || is_skipped ? t
                            : filled(t, cq_random_fill_uniform(cq_init_random(), t, -bound, bound));
}

cq_tensor *cq_init_normal(size_t rank, const int64_t *sizes, double mean, double deviation)
{
    cq_tensor *t = new_parameter(rank, sizes);

    return !t || is_skipped
               ? t
               : filled(t, cq_random_fill_normal(cq_init_random(), t, mean, deviation));
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
