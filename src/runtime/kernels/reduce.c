/* Reductions, and indices of extremes. */
#include "runtime/kernels/families.h"

#include "kernel/reduce.h"

#include <math.h>

typedef enum kind { L1, L2, LOG_SUM, LOG_SUM_EXP, MAX, MEAN, MIN, PROD, SUM, SUM_SQUARE } kind;

static const struct {
    cq_reduce_op op;
    double       order;   /* of norms */
    bool         is_real; /* integers are computed as floating-point numbers */
} kinds[] = {
    [L1] = { CQ_REDUCE_NORM, 1, true },         [L2] = { CQ_REDUCE_NORM, 2, true },
    [LOG_SUM] = { CQ_REDUCE_LOG_SUM, 0, true }, [LOG_SUM_EXP] = { CQ_REDUCE_LOGSUMEXP, 0, true },
    [MAX] = { CQ_REDUCE_AMAX, 0, false },       [MEAN] = { CQ_REDUCE_MEAN, 0, true },
    [MIN] = { CQ_REDUCE_AMIN, 0, false },       [PROD] = { CQ_REDUCE_PROD, 0, false },
    [SUM] = { CQ_REDUCE_SUM, 0, false },        [SUM_SQUARE] = { CQ_REDUCE_SUM_SQUARE, 0, false },
};

/* The sizes of x without the axes in bits, or with size 1 for them. */
static void reduced_sizes(cq_rt_sizes *out, const cq_tensor *x, uint64_t bits, bool keep)
{
    out->rank = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        bool goes = bits >> i & 1;

        if (!goes || keep)
            out->at[out->rank++] = goes ? 1 : cq_size_of(x, i);
    }
}

/* Fills y with the identity of min or max: the greatest or least number of the dtype. */
static cq_status fill_extreme(cq_tensor *y, bool greatest)
{
    uint64_t ones = UINT64_MAX;
    size_t   bits = 8 * cq_dtype_size(y->dtype);

    if (cq_dtype_is_float(y->dtype))
        return cq_kernel_fill_f64(y, greatest ? INFINITY : -INFINITY);
    if (y->dtype == CQ_DTYPE_BOOL)
        return cq_kernel_fill_i64(y, greatest);
    if (!cq_dtype_is_signed(y->dtype))
        return cq_kernel_fill_i64(y, greatest ? (int64_t)(ones >> (64 - bits)) : 0);
    return cq_kernel_fill_i64(y, greatest ? (int64_t)(ones >> (65 - bits))
                                          : -(int64_t)(ones >> (65 - bits)) - 1);
}

/* Kernels compare signed numbers. Inverting the highest bit of a uint64 gives an int64 with the
 * same order. */
static void turn_highest_bits(cq_tensor *contiguous)
{
    uint64_t *at = cq_tensor_data(contiguous);

    for (int64_t i = 0, n = cq_tensor_numel(contiguous); i < n; i++)
        at[i] ^= (uint64_t)1 << 63;
}

/* Reinterprets uint64 as int64. */
static cq_status as_signed(cq_tensor **out, cq_rt *rt, const cq_tensor *x)
{
    return cq_rt_keep(
        rt, cq_tensor_new_view(out, x, CQ_DTYPE_I64, x->rank, x->sizes, x->strides, x->offset),
        out);
}

/* Converts uint64 to int64 of the same order. */
static cq_status in_signed_order(cq_tensor **out, cq_rt *rt, const cq_tensor *x)
{
    cq_rt_sizes sizes;
    cq_tensor  *bits;

    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(as_signed(&bits, rt, x));
    CQ_TRY(cq_rt_scratch(out, rt, CQ_DTYPE_I64, sizes.rank, sizes.at));
    CQ_TRY(cq_tensor_copy_into(*out, bits));
    turn_highest_bits(*out);
    return CQ_OK;
}

static cq_status reduce_u64_extreme(cq_rt *rt, cq_tensor *y, cq_reduce_op op, const cq_tensor *x,
                                    uint64_t axes)
{
    cq_tensor *ordered = NULL, *bits = NULL;

    CQ_TRY(in_signed_order(&ordered, rt, x));
    CQ_TRY(as_signed(&bits, rt, y));
    CQ_TRY(cq_kernel_reduce(bits, op, NULL, ordered, axes));
    turn_highest_bits(bits); /* y is new and therefore contiguous */
    return CQ_OK;
}

static cq_status reduce_into(cq_rt *rt, cq_tensor *y, const cq_tensor *x, uint64_t bits)
{
    kind            which  = (kind)rt->step->row->arg;
    const cq_params params = { .a = kinds[which].order };
    cq_rt_sizes     sizes;
    cq_tensor      *real;

    if (!cq_tensor_numel(x) && cq_tensor_numel(y) && (which == MAX || which == MIN))
        return fill_extreme(y, which == MIN);
    if (x->dtype == CQ_DTYPE_U64 && (which == MAX || which == MIN))
        return reduce_u64_extreme(rt, y, kinds[which].op, x, bits);
    if (!kinds[which].is_real || cq_dtype_is_float(x->dtype))
        return cq_kernel_reduce(y, kinds[which].op, &params, x, bits);
    cq_rt_sizes_of(&sizes, y);
    CQ_TRY(cq_rt_scratch(&real, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    CQ_TRY(cq_kernel_reduce(real, kinds[which].op, &params, x, bits));
    return cq_tensor_copy_into(y, real);
}

static cq_status reduce(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_rt_ints       axes;
    uint64_t         bits;
    cq_tensor       *y;

    CQ_TRY(cq_rt_ints_of(&axes, rt, "axes", 1));
    if (!axes.n && cq_rt_int(rt, "noop_with_empty_axes"))
        bits = 0;
    else
        CQ_TRY(cq_rt_axes(&bits, &axes, x->rank));
    reduced_sizes(&sizes, x, bits, cq_rt_int(rt, "keepdims") == 1);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (!bits &&
        (rt->step->row->arg == MAX || rt->step->row->arg == MIN || rt->step->row->arg == SUM ||
         rt->step->row->arg == MEAN || rt->step->row->arg == PROD))
        return cq_tensor_copy_into(y, x);
    return reduce_into(rt, y, x, bits);
}

static cq_status arg_extreme(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_extreme  which = { .least = rt->step->row->arg, .last = cq_rt_int(rt, "select_last_index") };
    cq_rt_sizes sizes;
    uint32_t    axis;
    cq_tensor  *y, *ordered = NULL;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    if (cq_size_of(x, axis) == 0)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "the minimum or maximum along an axis of size 0 is undefined");
    reduced_sizes(&sizes, x, (uint64_t)1 << axis, cq_rt_int(rt, "keepdims") == 1);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_I64, &sizes));
    if (x->dtype == CQ_DTYPE_U64)
        CQ_TRY(in_signed_order(&ordered, rt, x));
    return cq_extreme_of(NULL, y, &which, ordered ? ordered : x, axis);
}

const cq_rt_row cq_rt_rows_reduce[] = {
    { "ReduceL1", 1, reduce, 0, L1 },
    { "ReduceL2", 1, reduce, 0, L2 },
    { "ReduceLogSum", 1, reduce, 0, LOG_SUM },
    { "ReduceLogSumExp", 1, reduce, 0, LOG_SUM_EXP },
    { "ReduceMax", 1, reduce, 0, MAX },
    { "ReduceMean", 1, reduce, 0, MEAN },
    { "ReduceMin", 1, reduce, 0, MIN },
    { "ReduceProd", 1, reduce, 0, PROD },
    { "ReduceSum", 1, reduce, 0, SUM },
    { "ReduceSumSquare", 1, reduce, 0, SUM_SQUARE },
    { "ArgMax", 1, arg_extreme, 0, 0 },
    { "ArgMin", 1, arg_extreme, 0, 1 },
    { 0 },
};
