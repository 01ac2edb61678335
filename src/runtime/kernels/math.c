/* Matrix products, cumulative sums, softmax, determinants. */
#include "runtime/kernels/families.h"

#include "kernel/matrix/det.h"
#include "kernel/matrix/matmul.h"
#include "kernel/reduce.h"

/* ---- products ---- */

static cq_status matmul(cq_rt *rt)
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_product_sizes(&sizes, a, b));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, a->dtype, &sizes));
    return cq_kernel_matmul(y, a, b);
}

static cq_status transposed_if(cq_tensor **out, cq_rt *rt, const cq_tensor *t, bool transpose)
{
    static const uint32_t swap[] = { 1, 0 }, same[] = { 0, 1 };

    return cq_rt_permuted(out, rt, t, transpose ? swap : same);
}

static cq_status gemm(cq_rt *rt)
{
    const cq_tensor *c = cq_rt_in(rt, 2);
    cq_tensor       *a, *b, *wide, *y;
    cq_rt_sizes      sizes;

    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 0), "A", 2));
    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 1), "B", 2));
    CQ_TRY(transposed_if(&a, rt, cq_rt_in(rt, 0), cq_rt_int(rt, "transA")));
    CQ_TRY(transposed_if(&b, rt, cq_rt_in(rt, 1), cq_rt_int(rt, "transB")));
    CQ_TRY(cq_rt_product_sizes(&sizes, a, b));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, a->dtype, &sizes));
    if (c) /* c broadcasts to the product, never the product to c */
        CQ_TRY(cq_rt_expanded(&wide, rt, c, &sizes));
    return cq_kernel_addmm(y, c, a, b, cq_rt_float(rt, "beta"), cq_rt_float(rt, "alpha"));
}

/* ---- along an axis ---- */

/* Sets the first greatest element of each lane to one, others to zero. */
static cq_status hardmax_along(cq_rt *rt, cq_tensor *y, const cq_tensor *x, uint32_t axis)
{
    const cq_extreme greatest = { 0 };
    cq_tensor       *indices, *one;
    cq_rt_sizes      sizes;
    float            number = 1;

    cq_rt_sizes_of(&sizes, x);
    sizes.at[axis] = 1;
    CQ_TRY(cq_kernel_fill_i64(y, 0));
    if (!cq_tensor_numel(x))
        return CQ_OK;
    CQ_TRY(cq_rt_scratch(&indices, rt, CQ_DTYPE_I64, sizes.rank, sizes.at));
    CQ_TRY(cq_rt_keep(rt, cq_tensor_new(&one, CQ_DTYPE_F32, 0, NULL, &number), &one));
    CQ_TRY(cq_extreme_of(NULL, indices, &greatest, x, axis));
    for (int64_t i = 0; i < cq_tensor_numel(indices); i++) {
        int64_t    at = i, offset = y->offset;
        cq_tensor *cell;
        cq_status  status;

        for (uint32_t d = sizes.rank; d-- > 0; at /= sizes.at[d])
            offset += at % sizes.at[d] * y->strides[d];
        offset += cq_tensor_get_i64(indices, i) * y->strides[axis];
        status = cq_tensor_new_on(&cell, y->storage, y->dtype, 0, NULL, NULL, offset);
        if (status == CQ_OK)
            status = cq_tensor_copy_into(cell, one);
        cq_tensor_release(cell);
        CQ_TRY(status);
    }
    return CQ_OK;
}

enum { SOFTMAX, LOG_SOFTMAX, HARDMAX };

static cq_status maximum_along(cq_rt *rt, cq_tensor *y, const cq_tensor *x, uint32_t axis)
{
    int which = rt->step->row->arg;

    return which == HARDMAX       ? hardmax_along(rt, y, x, axis)
           : which == LOG_SOFTMAX ? cq_kernel_log_softmax(y, x, axis)
                                  : cq_kernel_softmax(y, x, axis);
}

static cq_status maximum(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return maximum_along(rt, y, x, axis);
}

/* Until version 12 x was flattened to a matrix at axis. */
static cq_status maximum_of_matrix(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *flat, *to, *y;

    CQ_TRY(cq_rt_flattened(&flat, rt, x));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY(cq_rt_flattened(&to, rt, y)); /* a view, because y is contiguous */
    return maximum_along(rt, to, flat, 1);
}

enum { SUMS, PRODUCTS };

static cq_status cumulate(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    int              flags = (cq_rt_int(rt, "exclusive") ? CQ_SCAN_EXCLUSIVE : 0) |
                (cq_rt_int(rt, "reverse") ? CQ_SCAN_REVERSE : 0);
    int64_t    which;
    uint32_t   axis;
    cq_tensor *y;

    CQ_TRY(cq_rt_in_i64(&which, rt, 1, 0));
    CQ_TRY(cq_rt_axis(&axis, which, x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return rt->step->row->arg ? cq_kernel_cumprod(y, x, axis, flags)
                              : cq_kernel_cumsum(y, x, axis, flags);
}

/* ---- determinants ---- */

static cq_status det(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    cq_rt_sizes_of(&sizes, x);
    sizes.rank -= 2;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_det(y, x);
}

static cq_status inverse(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_inverse(y, x);
}

const cq_rt_row cq_rt_rows_microsoft[] = {
    { "Inverse", 1, inverse, 0, 0 },
    { 0 },
};

const cq_rt_row cq_rt_rows_math[] = {
    { "MatMul", 1, matmul, 0, 0 },
    { "Gemm", 1, gemm, 0, 0 },
    { "Softmax", 1, maximum_of_matrix, 0, SOFTMAX },
    { "Softmax", 13, maximum, CQ_RT_OVER_0, SOFTMAX },
    { "LogSoftmax", 1, maximum_of_matrix, 0, LOG_SOFTMAX },
    { "LogSoftmax", 13, maximum, CQ_RT_OVER_0, LOG_SOFTMAX },
    { "Hardmax", 1, maximum_of_matrix, 0, HARDMAX },
    { "Hardmax", 13, maximum, 0, HARDMAX },
    { "CumSum", 11, cumulate, 0, SUMS },
    { "CumProd", 26, cumulate, 0, PRODUCTS },
    { "Det", 11, det, 0, 0 },
    { 0 },
};
