#include "runtime/kernels/linear.h"

#include "kernel/gemm.h"
#include "runtime/work.h"

cq_status cq_rt_linear_new(cq_rt_linear **out, cq_tensor *b, bool transposed)
{
    cq_rt_linear *l = *out = cq_zalloc(sizeof *l);

    if (!l)
        return CQ_E_NO_MEMORY;
    l->b   = cq_tensor_retain(b);
    l->k   = cq_size_of(b, transposed ? 1 : 0);
    l->n   = cq_size_of(b, transposed ? 0 : 1);
    l->row = b->strides[transposed ? 1 : 0];
    l->col = b->strides[transposed ? 0 : 1];
    pthread_mutex_init(&l->lock, NULL);
    return CQ_OK;
}

void cq_rt_linear_free(void *linear)
{
    cq_rt_linear *l = linear;

    if (!l)
        return;
    cq_tensor_release(l->b);
    cq_packed_free(atomic_load(&l->packed));
    pthread_mutex_destroy(&l->lock);
    cq_free(l->bias);
    cq_free(l);
}

static cq_status packed_of(cq_packed **out, const cq_rt_linear *shared)
{
    cq_rt_linear *l      = (cq_rt_linear *)shared; /* its lock is made for this */
    cq_status     status = CQ_OK;

    *out = atomic_load(&l->packed);
    if (*out)
        return CQ_OK;
    pthread_mutex_lock(&l->lock);
    *out = atomic_load(&l->packed);
    if (!*out) {
        status = cq_packed_new(out, l->k, l->n, cq_tensor_data(l->b), l->row, l->col);
        if (status == CQ_OK) {
            atomic_store(&l->packed, *out);
            cq_rt_was_packed(l->b);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}

/* A vector times the matrix. */
static cq_status multiply_row(const cq_rt_linear *l, float *y, const float *x)
{
    const cq_params limits = { .a = (double)l->lo, .b = (double)l->hi };
    cq_gemm         g      = { .dtype    = CQ_DTYPE_F32,
                               .m        = 1,
                               .n        = l->n,
                               .k        = l->k,
                               .a        = { x, l->k, 1 },
                               .b        = { cq_tensor_data(l->b), l->row, l->col },
                               .c        = y,
                               .ldc      = l->n,
                               .alpha    = 1,
                               .col_bias = l->bias };

    CQ_TRY(cq_gemm_run(&g));
    if (l->clamps)
        cq_apply1_f32(y, l->n, CQ_EW_CLAMP, &limits);
    if (l->activates)
        cq_apply1_f32(y, l->n, l->act, &l->act_params);
    return CQ_OK;
}

static cq_status multiply(const cq_rt_linear *l, cq_tensor *y, const cq_tensor *x)
{
    cq_packed     *packed;
    cq_packed_call call = { .m          = cq_tensor_numel(x) / l->k,
                            .a          = cq_tensor_data(x),
                            .lda        = l->k,
                            .out        = cq_tensor_data(y),
                            .ldc        = l->n,
                            .bias       = l->bias,
                            .clamps     = l->clamps,
                            .lo         = l->lo,
                            .hi         = l->hi,
                            .activates  = l->activates,
                            .act        = l->act,
                            .act_params = l->act_params };

    if (call.m == 0)
        return CQ_OK;
    if (call.m == 1)
        return multiply_row(l, call.out, call.a);
    CQ_TRY(packed_of(&packed, l));
    return cq_packed_run(packed, &call);
}

static cq_status linear(cq_rt *rt)
{
    const cq_rt_linear *l = rt->step->prepared;
    const cq_tensor    *x = cq_rt_in(rt, 0), *dense;
    cq_tensor          *y;
    cq_rt_sizes         sizes;

    if (!x->rank || x->dtype != CQ_DTYPE_F32 || cq_size_of(x, x->rank - 1) != l->k)
        return cq_rt_misfit(x, l->b);
    if (l->is_matrix)
        CQ_TRY(cq_rt_need_rank(x, "A", 2));
    cq_rt_sizes_of(&sizes, x);
    sizes.at[sizes.rank - 1] = l->n;
    CQ_TRY(cq_rt_spend_on_products(rt, (double)cq_tensor_numel(x) * (double)l->n, CQ_DTYPE_F32));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    return multiply(l, y, dense);
}

const cq_rt_row cq_rt_row_linear = { "MatMul", 1, linear, CQ_RT_OWN, 0 };
