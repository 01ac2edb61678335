/* Products of matrices, running sums, softmax, determinants. */
#include "runtime/kernels/families.h"

#include "kernel/det.h"
#include "kernel/matmul.h"
#include "kernel/reduce.h"

#include <inttypes.h>

/* ---- products ---- */

/* The shape of a product: vectors vanish, what is before the matrices broadcasts. */
static cq_status product_sizes(cq_rt_sizes *out, const cq_tensor *a, const cq_tensor *b)
{
    cq_rt_sizes sa, sb;
    cq_int      plain[CQ_MAX_RANK];
    cq_tensor   batch = { .sizes = plain };
    int64_t     ka, kb;

    if (!a->rank || !b->rank)
        return cq_rt_misfit(a, b);
    cq_rt_sizes_of(&sa, a);
    cq_rt_sizes_of(&sb, b);
    ka = sa.at[sa.rank - 1];
    kb = sb.rank > 1 ? sb.at[sb.rank - 2] : sb.at[0];
    if (ka != kb)
        return cq_rt_misfit(a, b);
    *out       = sa;
    out->rank  = sa.rank > 2 ? sa.rank - 2 : 0;
    batch.rank = sb.rank > 2 ? sb.rank - 2 : 0;
    for (uint32_t i = 0; i < batch.rank; i++)
        plain[i] = cq_i(sb.at[i]);
    CQ_TRY(cq_rt_broadcast_with(out, &batch));
    if (sa.rank > 1)
        out->at[out->rank++] = sa.at[sa.rank - 2];
    if (sb.rank > 1)
        out->at[out->rank++] = sb.at[sb.rank - 1];
    return CQ_OK;
}

static cq_status matmul(cq_rt *rt)
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(product_sizes(&sizes, a, b));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, a->dtype, &sizes));
    return cq_kernel_matmul(y, a, b);
}

static cq_status transposed_if(cq_tensor **out, const cq_tensor *t, bool transpose)
{
    static const uint32_t swap[] = { 1, 0 }, same[] = { 0, 1 };

    return cq_rt_permute(out, t, transpose ? swap : same);
}

static cq_status gemm(cq_rt *rt)
{
    const cq_tensor *c = cq_rt_in(rt, 2);
    cq_tensor       *a = NULL, *b = NULL, *y;
    cq_rt_sizes      sizes;
    cq_status        status;

    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 0), "A", 2));
    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 1), "B", 2));
    CQ_TRY_OR_DONE(transposed_if(&a, cq_rt_in(rt, 0), cq_rt_int(rt, "transA")));
    CQ_TRY_OR_DONE(transposed_if(&b, cq_rt_in(rt, 1), cq_rt_int(rt, "transB")));
    CQ_TRY_OR_DONE(product_sizes(&sizes, a, b));
    CQ_TRY_OR_DONE(cq_rt_out_sized(&y, rt, 0, a->dtype, &sizes));
    if (c) { /* broadcasts to the product, never the other way round */
        cq_tensor *wide;

        CQ_TRY_OR_DONE(cq_rt_expand(&wide, c, &sizes));
        cq_tensor_release(wide);
    }
    status = cq_kernel_addmm(y, c, a, b, cq_rt_float(rt, "beta"), cq_rt_float(rt, "alpha"));
done:
    cq_tensor_release(a);
    cq_tensor_release(b);
    return status;
}

/* ---- along an axis ---- */

static cq_status softmax(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return rt->step->row->arg ? cq_kernel_log_softmax(y, x, axis) : cq_kernel_softmax(y, x, axis);
}

/* x as a matrix, cut before an axis; release it. */
static cq_status as_matrix(cq_tensor **out, cq_rt *rt, const cq_tensor *x)
{
    int64_t     at    = cq_rt_int(rt, "axis");
    cq_rt_sizes sizes = { .rank = 2 };

    if (at < -(int64_t)x->rank || at > (int64_t)x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "axis %" PRId64 " is not one of %u", at, x->rank);
    at          = at < 0 ? at + x->rank : at;
    sizes.at[0] = cq_sizes_product(x, 0, (size_t)at);
    sizes.at[1] = cq_sizes_product(x, (size_t)at, x->rank);
    return cq_rt_reshape(out, rt, x, &sizes);
}

/* Until version 12 x was flattened to a matrix at axis. */
static cq_status softmax_of_matrix(cq_rt *rt)
{
    const cq_tensor *x    = cq_rt_in(rt, 0);
    cq_tensor       *flat = NULL, *to = NULL, *y;
    cq_status        status;

    CQ_TRY_OR_DONE(as_matrix(&flat, rt, x));
    CQ_TRY_OR_DONE(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY_OR_DONE(as_matrix(&to, rt, y)); /* a view of y, which is contiguous */
    status =
        rt->step->row->arg ? cq_kernel_log_softmax(to, flat, 1) : cq_kernel_softmax(to, flat, 1);
done:
    cq_tensor_release(flat);
    cq_tensor_release(to);
    return status;
}

/* One at the first greatest element of each lane, zero elsewhere. */
static cq_status hardmax_along(cq_rt *rt, cq_tensor *y, const cq_tensor *x, uint32_t axis)
{
    const cq_extreme greatest = { 0 };
    cq_tensor       *places, *one;
    cq_rt_sizes      sizes;
    cq_status        status;
    float            number = 1;

    cq_rt_sizes_of(&sizes, x);
    sizes.at[axis] = 1;
    CQ_TRY(cq_kernel_fill_i64(y, 0));
    if (!cq_tensor_numel(x))
        return CQ_OK;
    CQ_TRY(cq_rt_temp(&places, rt, CQ_DTYPE_I64, sizes.rank, sizes.at));
    status = cq_tensor_new(&one, CQ_DTYPE_F32, 0, NULL, &number);
    if (status == CQ_OK)
        status = cq_extreme_of(NULL, places, &greatest, x, axis);
    for (int64_t i = 0; i < cq_tensor_numel(places) && status == CQ_OK; i++) {
        int64_t    at = i, offset = y->offset;
        cq_tensor *cell;

        for (uint32_t d = sizes.rank; d-- > 0; at /= sizes.at[d])
            offset += at % sizes.at[d] * y->strides[d];
        offset += cq_tensor_get_i64(places, i) * y->strides[axis];
        status = cq_tensor_new_on(&cell, y->storage, y->dtype, 0, NULL, NULL, offset);
        if (status == CQ_OK)
            status = cq_tensor_copy_into(cell, one);
        cq_tensor_release(cell);
    }
    cq_tensor_release(places);
    cq_tensor_release(one);
    return status;
}

static cq_status hardmax(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return hardmax_along(rt, y, x, axis);
}

static cq_status hardmax_of_matrix(cq_rt *rt)
{
    const cq_tensor *x    = cq_rt_in(rt, 0);
    cq_tensor       *flat = NULL, *to = NULL, *y;
    cq_status        status;

    CQ_TRY_OR_DONE(as_matrix(&flat, rt, x));
    CQ_TRY_OR_DONE(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY_OR_DONE(as_matrix(&to, rt, y));
    status = hardmax_along(rt, to, flat, 1);
done:
    cq_tensor_release(flat);
    cq_tensor_release(to);
    return status;
}

static cq_status cumsum(cq_rt *rt)
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
    return cq_kernel_cumsum(y, x, axis, flags);
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

const cq_rt_row cq_rt_rows_math[] = {
    { "MatMul", 1, matmul, 0, 0 },
    { "Gemm", 1, gemm, 0, 0 },
    { "Softmax", 1, softmax_of_matrix, 0, 0 },
    { "Softmax", 13, softmax, CQ_RT_OVER_0, 0 },
    { "LogSoftmax", 1, softmax_of_matrix, 0, 1 },
    { "LogSoftmax", 13, softmax, CQ_RT_OVER_0, 1 },
    { "Hardmax", 1, hardmax_of_matrix, 0, 0 },
    { "Hardmax", 13, hardmax, 0, 0 },
    { "CumSum", 11, cumsum, 0, 0 },
    { "Det", 11, det, 0, 0 },
    { 0 },
};
