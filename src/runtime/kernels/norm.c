/* Normalisations, and dropout. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/norm.h"

#include "kernel/matrix/norm.h"
#include "kernel/reduce.h"
#include "tensor/random.h"

#include <inttypes.h>

/* ---- batch normalisation ---- */

static cq_status check_parameters(cq_rt *rt, const cq_tensor *x)
{
    int64_t channels = x->rank > 1 ? cq_size_of(x, 1) : 1;

    for (size_t i = 1; i < rt->n_in; i++)
        if (cq_rt_in(rt, i) && cq_tensor_numel(cq_rt_in(rt, i)) != channels)
            return cq_rt_misfit(x, cq_rt_in(rt, i));
    return CQ_OK;
}

static cq_status batch_norm(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    CQ_TRY(check_parameters(rt, x));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_batch_norm(y, x, cq_rt_in(rt, 1), cq_rt_in(rt, 2), cq_rt_in(rt, 3),
                                cq_rt_in(rt, 4), cq_rt_float(rt, "epsilon"));
}

/* The mean or biased variance of each channel of x. */
static cq_status channel_statistic(cq_tensor **out, cq_rt *rt, cq_reduce_op op, const cq_tensor *x)
{
    uint64_t        all      = x->rank >= 64 ? UINT64_MAX : ((uint64_t)1 << x->rank) - 1;
    const cq_params biased   = { .a = 0 };
    int64_t         channels = cq_size_of(x, 1);

    CQ_TRY(cq_rt_scratch(out, rt, CQ_DTYPE_F64, 1, &channels));
    return cq_kernel_reduce(*out, op, &biased, x, all & ~(uint64_t)2);
}

/* Sets output i to running * momentum + current * (1 - momentum). */
static cq_status set_running(cq_rt *rt, size_t i, const cq_tensor *running,
                             const cq_tensor *current, double momentum)
{
    cq_tensor    *y;
    int64_t       n = cq_tensor_numel(running);
    cq_operands   s = { .compute = CQ_DTYPE_F64 };
    double       *to;
    const double *from;

    if (!cq_rt_wants(rt, i))
        return CQ_OK;
    CQ_TRY(cq_rt_out_like(&y, rt, i, running));
    from = cq_operands_in(&s, running);
    to   = cq_operands_out(&s, y);
    for (int64_t k = 0; s.status == CQ_OK && k < n; k++)
        to[k] = from[k] * momentum + ((const double *)cq_tensor_data(current))[k] * (1 - momentum);
    return cq_operands_close(&s);
}

static cq_status batch_norm_train(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y, *mean = NULL, *var = NULL;
    double           momentum = cq_rt_float(rt, "momentum");

    if (!cq_rt_int(rt, "training_mode"))
        return batch_norm(rt);
    CQ_TRY(check_parameters(rt, x));
    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    CQ_TRY(channel_statistic(&mean, rt, CQ_REDUCE_MEAN, x));
    CQ_TRY(channel_statistic(&var, rt, CQ_REDUCE_VAR, x));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY(cq_kernel_batch_norm(y, x, cq_rt_in(rt, 1), cq_rt_in(rt, 2), mean, var,
                                cq_rt_float(rt, "epsilon")));
    CQ_TRY(set_running(rt, 1, cq_rt_in(rt, 3), mean, momentum));
    return set_running(rt, 2, cq_rt_in(rt, 4), var, momentum);
}

/* ---- normalisation within an example ---- */

static cq_status instance_norm(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    CQ_TRY(check_parameters(rt, x));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_group_norm(y, NULL, NULL, x, cq_rt_in(rt, 1), cq_rt_in(rt, 2),
                                cq_size_of(x, 1), cq_rt_float(rt, "epsilon"));
}

static cq_status layer_norm(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *scale = cq_rt_in(rt, 1), *bias = cq_rt_in(rt, 2);
    cq_tensor       *y, *mean = NULL, *rstd = NULL, *wide_scale = NULL, *wide_bias = NULL;
    cq_rt_sizes      sizes, inner = { 0 };
    cq_dtype         stash;
    uint32_t         axis;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_dtype(&stash, cq_rt_int(rt, "stash_type")));
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = axis; i < sizes.rank; i++) {
        inner.at[inner.rank++] = sizes.at[i];
        sizes.at[i]            = 1;
    }
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_out_sized(&mean, rt, 1, stash, &sizes));
    if (cq_rt_wants(rt, 2))
        CQ_TRY(cq_rt_out_sized(&rstd, rt, 2, stash, &sizes));
    CQ_TRY(cq_rt_expanded(&wide_scale, rt, scale, &inner));
    if (bias)
        CQ_TRY(cq_rt_expanded(&wide_bias, rt, bias, &inner));
    return cq_kernel_layer_norm(y, mean, rstd, x, wide_scale, wide_bias, x->rank - axis,
                                cq_rt_float(rt, "epsilon"));
}

static cq_status layer_norm_of_parts(cq_rt *rt)
{
    const cq_rt_layer_norm *p = rt->step->prepared;
    const cq_tensor        *x = cq_rt_in(rt, 0), *scale = cq_rt_in(rt, 1);
    cq_tensor              *y;

    if (!x || !x->rank || x->dtype != scale->dtype ||
        cq_size_of(x, x->rank - 1) != cq_size_of(scale, 0))
        return cq_rt_misfit(x ? x : scale, x ? scale : NULL);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_layer_norm(y, NULL, NULL, x, scale, cq_rt_in(rt, 2), 1, p->epsilon);
}

const cq_rt_row cq_rt_row_layer_norm = { "LayerNormalization", 1, layer_norm_of_parts, CQ_RT_OWN,
                                         0 };

/* x / sqrt(mean(x * x) + epsilon) * scale, over the axes from axis on. */
static cq_status rms_norm(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *scale = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes, inner                = { 0 };
    cq_tensor       *y, *wide;
    uint32_t         axis;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = axis; i < sizes.rank; i++)
        inner.at[inner.rank++] = sizes.at[i];
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, scale->dtype, &sizes));
    CQ_TRY(cq_rt_expanded(&wide, rt, scale, &inner));
    return cq_kernel_rms_norm(y, x, wide, x->rank - axis, cq_rt_float(rt, "epsilon"));
}

static cq_status group_norm_with(cq_rt *rt, const cq_tensor *scale, const cq_tensor *bias)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    int64_t          groups = cq_rt_int(rt, "num_groups");
    cq_tensor       *y;

    if (x->rank < 2 || groups < 1 || cq_size_of(x, 1) % groups ||
        !cq_operands_has(scale, cq_size_of(x, 1)) || !cq_operands_has(bias, cq_size_of(x, 1)))
        return cq_rt_misfit(x, scale);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_group_norm(y, NULL, NULL, x, scale, bias, groups, cq_rt_float(rt, "epsilon"));
}

static cq_status group_norm(cq_rt *rt)
{
    return group_norm_with(rt, cq_rt_in(rt, 1), cq_rt_in(rt, 2));
}

/* In version 18 scale and bias have one element per group. */
static cq_status by_channel(cq_tensor **out, cq_rt *rt, const cq_tensor *t, int64_t channels)
{
    int64_t     groups = cq_tensor_numel(t);
    cq_tensor  *column, *wide;
    cq_rt_sizes sizes = { .rank = 2, .at = { groups, 1 } };

    if (groups < 1 || channels % groups)
        return cq_rt_misfit(t, NULL);
    CQ_TRY(cq_rt_reshaped(&column, rt, t, &sizes));
    sizes.at[1] = channels / groups;
    CQ_TRY(cq_rt_expanded(&wide, rt, column, &sizes));
    return cq_rt_reshaped(out, rt, wide, &(cq_rt_sizes){ 1, { channels } });
}

static cq_status group_norm_by_group(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_tensor       *scale = NULL, *bias = NULL;

    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    CQ_TRY(by_channel(&scale, rt, cq_rt_in(rt, 1), cq_size_of(x, 1)));
    CQ_TRY(by_channel(&bias, rt, cq_rt_in(rt, 2), cq_size_of(x, 1)));
    return group_norm_with(rt, scale, bias);
}

static cq_status lrn(cq_rt *rt)
{
    const cq_tensor *x    = cq_rt_in(rt, 0);
    int64_t          size = cq_rt_int(rt, "size");
    cq_tensor       *y;

    if (x->rank < 2 || size < 1)
        return cq_rt_misfit(x, NULL);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_local_response_norm(y, x, size, (size - 1) / 2, cq_rt_float(rt, "alpha"),
                                         cq_rt_float(rt, "beta"), cq_rt_float(rt, "bias"));
}

/* Divides x by its norm along axis; zeros stay zeros. */
static cq_status lp_norm(cq_rt *rt)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    const cq_params  params = { .a = (double)cq_rt_int(rt, "p") };
    cq_rt_sizes      sizes;
    cq_tensor       *y, *norm;
    uint32_t         axis;
    double          *at;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    cq_rt_sizes_of(&sizes, x);
    sizes.at[axis] = 1;
    CQ_TRY(cq_rt_scratch(&norm, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    CQ_TRY(cq_kernel_reduce(norm, CQ_REDUCE_NORM, &params, x, (uint64_t)1 << axis));
    at = cq_tensor_data(norm);
    for (int64_t i = 0; i < cq_tensor_numel(norm); i++)
        at[i] = at[i] == 0 ? 1 : at[i];
    return cq_apply2(y, CQ_EW_DIV, NULL, CQ_DTYPE_F64, x, norm);
}

/* (x - mean) / sqrt(variance) over some axes. */
static cq_status mean_variance_norm(cq_rt *rt)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    const cq_params  biased = { .a = 0 };
    cq_rt_sizes      sizes;
    cq_rt_ints       axes;
    cq_tensor       *y, *mean = NULL, *dev = NULL;
    uint64_t         bits;
    double          *at;

    CQ_TRY(cq_rt_attr_ints(&axes, rt, "axes"));
    CQ_TRY(cq_rt_axes(&bits, &axes, x->rank));
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = 0; i < x->rank; i++)
        sizes.at[i] = bits >> i & 1 ? 1 : sizes.at[i];
    CQ_TRY(cq_rt_scratch(&mean, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    CQ_TRY(cq_rt_scratch(&dev, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    CQ_TRY(cq_kernel_reduce(mean, CQ_REDUCE_MEAN, NULL, x, bits));
    CQ_TRY(cq_kernel_reduce(dev, CQ_REDUCE_STD, &biased, x, bits));
    at = cq_tensor_data(dev);
    for (int64_t i = 0; i < cq_tensor_numel(dev); i++)
        at[i] += 1e-9; /* as in the function that defines the operator */
    CQ_TRY(cq_apply2(y, CQ_EW_SUB, NULL, CQ_DTYPE_F64, x, mean));
    return cq_apply2(y, CQ_EW_DIV, NULL, CQ_DTYPE_F64, y, dev);
}

const cq_rt_row cq_rt_rows_norm[] = {
    { "BatchNormalization", 1, batch_norm, 0, 0 },
    { "BatchNormalization", 14, batch_norm_train, 0, 0 },
    { "InstanceNormalization", 1, instance_norm, 0, 0 },
    { "LayerNormalization", 17, layer_norm, 0, 0 },
    { "RMSNormalization", 23, rms_norm, 0, 0 },
    { "GroupNormalization", 18, group_norm_by_group, 0, 0 },
    { "GroupNormalization", 21, group_norm, 0, 0 },
    { "LRN", 1, lrn, 0, 0 },
    { "LpNormalization", 1, lp_norm, 0, 0 },
    { "MeanVarianceNormalization", 9, mean_variance_norm, 0, 0 },
    { 0 },
};
