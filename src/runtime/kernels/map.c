#include "runtime/kernels/map.h"

#include "tensor/convert.h"
#include "tensor/walk.h"

enum { CHUNK = 256 };

cq_status cq_rt_map(cq_tensor *out, const cq_tensor *x, double (*fn)(double x, const double *p),
                    const double *p)
{
    cq_load_fn  *load  = cq_load_of(x->dtype, CQ_WIDE_F64);
    cq_store_fn *store = cq_store_of(out->dtype, CQ_WIDE_F64);
    double       wide[CHUNK];
    cq_walk      w;

    if (!load || !store)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "not implemented for complex tensors");
    cq_walk_init(&w, out->rank, out->sizes);
    CQ_TRY(cq_walk_add(&w, out));
    CQ_TRY(cq_walk_add(&w, x));
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i += CHUNK) {
            int64_t n = w.n - i < CHUNK ? w.n - i : CHUNK;

            load(wide, w.at[1] + i * w.step[1], w.step[1], n);
            for (int64_t k = 0; k < n; k++)
                wide[k] = fn(wide[k], p);
            store(w.at[0] + i * w.step[0], w.step[0], wide, n);
        }
    return CQ_OK;
}

static double bits_of(double x, const double *p)
{
    bool saturates = p[1] != 0;

    if ((cq_dtype)p[0] == CQ_DTYPE_F8E8M0)
        return cq_f64_to_e8m0(x, (cq_e8m0_round)p[2], saturates);
    return cq_f64_to_minifloat((cq_dtype)p[0], x, saturates);
}

cq_status cq_rt_map_to_minifloat(cq_tensor *out, const cq_tensor *x, bool saturates,
                                 cq_e8m0_round round)
{
    const double p[] = { out->dtype, saturates, round };
    cq_tensor   *bits;
    cq_status    status;

    CQ_TRY(cq_tensor_new_view(&bits, out, CQ_DTYPE_U8, out->rank, out->sizes, out->strides,
                              out->offset));
    status = cq_rt_map(bits, x, bits_of, p);
    cq_tensor_release(bits);
    return status;
}
