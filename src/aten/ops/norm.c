/* Normalisation to zero mean and unit variance over the batch, a layer, groups of channels, or each
 * channel of each sample. Statistics are those of the input or, for batch and instance norm, the
 * running ones, which training updates. */
#include "kernel/matrix/norm.h"
#include "aten/core/ctx.h"

static cq_status check_rows(const cq_opcall *c, const char *name, int64_t want)
{
    const cq_tensor *t = cq_arg_tensor(c, name);

    if (!t || cq_tensor_numel(t) == want)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "\"%s\" should have %lld elements but has %lld", name,
                        (long long)want, (long long)cq_tensor_numel(t));
}

static cq_status need_float(const cq_opcall *c)
{
    cq_dtype d = c->args[0].u.tensor->dtype;

    if (cq_dtype_is_float(d))
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s", cq_dtype_name(d));
}

/* Parameters may be wider than the input; then so are the statistics. */
static cq_dtype dtype_of_statistics(const cq_opcall *c)
{
    const cq_tensor *w = cq_arg_tensor(c, "weight");

    return w ? w->dtype : c->args[0].u.tensor->dtype;
}

/* ---- batch and instance norm ---- */

static cq_status check_channels(const cq_opcall *c, const char *training_arg)
{
    static const char *const rows[] = { "weight", "bias", "running_mean", "running_var" };
    const cq_tensor         *x      = cq_arg_tensor(c, "input");

    CQ_TRY(need_float(c));
    if (x->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "the input needs at least 2 dimensions but has %u",
                            x->rank);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CQ_TRY(check_rows(c, rows[i], x->sizes[1].value));
    if (!cq_arg_bool(c, training_arg) &&
        (cq_arg_is_none(c, "running_mean") || cq_arg_is_none(c, "running_var")))
        return cq_call_fail(c, CQ_E_ARGUMENT, "running statistics are needed outside of training");
    return CQ_OK;
}

static cq_status batch_norm_shape(cq_opcall *c)
{
    CQ_TRY(check_channels(c, "training"));
    return cq_shape_of_self(c);
}

/* Outside of training native_batch_norm saves nothing. */
static cq_status native_batch_norm_shape(cq_opcall *c)
{
    cq_dtype d     = dtype_of_statistics(c);
    cq_int   saved = cq_i(0);

    CQ_TRY(batch_norm_shape(c));
    if (cq_arg_bool(c, "training"))
        saved = cq_arg_tensor(c, "input")->sizes[1];
    cq_result(c, 1, d, 1, &saved);
    return cq_result(c, 2, d, 1, &saved);
}

static cq_status batch_norm_run(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *out = cq_result_tensor(c, 0);
    cq_tensor *weight = cq_arg_tensor(c, "weight"), *bias = cq_arg_tensor(c, "bias");
    double     eps = cq_arg_f64(c, "eps");

    if (!cq_arg_bool(c, "training"))
        return cq_kernel_batch_norm(out, x, weight, bias, cq_arg_tensor(c, "running_mean"),
                                    cq_arg_tensor(c, "running_var"), eps);
    return cq_kernel_batch_norm_train(
        out, c->n_results > 1 ? cq_result_tensor(c, 1) : NULL,
        c->n_results > 1 ? cq_result_tensor(c, 2) : NULL, cq_arg_tensor(c, "running_mean"),
        cq_arg_tensor(c, "running_var"), x, weight, bias, cq_arg_f64(c, "momentum"), eps);
}

static cq_status instance_norm_shape(cq_opcall *c)
{
    CQ_TRY(check_channels(c, "use_input_stats"));
    return cq_shape_of_self(c);
}

/* Moves a running statistic towards the mean over the batch of those of each sample. */
static void move_running(cq_opcall *c, const char *name, cq_tensor *of_images)
{
    cq_ctx    *cx   = c->cx;
    cq_tensor *goal = CQ_OP(cx, "aten::mean.dim", TENSOR(of_images), INT(0));

    if (c->real && cq_arg_tensor(c, name))
        CQ_OP(cx, "aten::lerp_.Scalar", cq_arg_val(c, name), TENSOR(goal),
              cq_arg_val(c, "momentum"));
}

static cq_status instance_norm(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = cq_arg_tensor(c, "input"), *y;
    int64_t    axes[CQ_MAX_RANK];
    cq_val     spatial;

    CQ_TRY(check_channels(c, "use_input_stats"));
    if (!cq_arg_bool(c, "use_input_stats")) {
        y = CQ_OP(cx, "aten::batch_norm", c->args[0], c->args[1], c->args[2], c->args[3],
                  c->args[4], BOOL(false), c->args[6], c->args[7], c->args[8]);
    } else {
        y = CQ_OP(cx, "aten::group_norm", TENSOR(x), SIZE(x->sizes[1]), c->args[1], c->args[2],
                  c->args[7]);
        for (size_t i = 2; i < x->rank; i++)
            axes[i - 2] = (int64_t)i;
        spatial = cq_i64s(cx, axes, x->rank - 2);
        if (!cq_arg_is_none(c, "running_mean"))
            move_running(c, "running_mean", CQ_OP(cx, "aten::mean.dim", TENSOR(x), spatial));
        if (!cq_arg_is_none(c, "running_var"))
            move_running(c, "running_var", CQ_OP(cx, "aten::var.dim", TENSOR(x), spatial));
    }
    return cq_result_set_tensor(c, 0, y);
}

/* ---- layer norm ---- */

static cq_status layer_axes(const cq_opcall *c, size_t *n_axes)
{
    cq_tensor *x = cq_arg_tensor(c, "input");
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    numel = 1;
    size_t     n     = cq_arg_ints(c, "normalized_shape", sizes, CQ_MAX_RANK);

    if (n < 1 || n > x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "%zu dimensions cannot be normalised in an input of %u",
                            n, x->rank);
    for (size_t i = 0; i < n; i++) {
        if (sizes[i].value != x->sizes[x->rank - n + i].value)
            return cq_call_fail(c, CQ_E_TYPE, "normalized_shape has size %lld but the input %lld",
                                (long long)sizes[i].value,
                                (long long)x->sizes[x->rank - n + i].value);
        numel *= sizes[i].value;
    }
    CQ_TRY(check_rows(c, "weight", numel));
    CQ_TRY(check_rows(c, "bias", numel));
    *n_axes = n;
    return CQ_OK;
}

static cq_status layer_norm_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     n;

    CQ_TRY(need_float(c));
    CQ_TRY(layer_axes(c, &n));
    cq_result_like(c, 0, x, x->dtype);
    for (size_t i = 0; i < x->rank; i++)
        sizes[i] = i < x->rank - n ? x->sizes[i] : cq_i(1);
    for (size_t i = 1; i < c->n_results; i++)
        cq_result(c, i, dtype_of_statistics(c), x->rank, sizes);
    return c->cx->status;
}

static cq_status layer_norm_run(cq_opcall *c)
{
    bool   native = c->n_results > 1;
    size_t n;

    CQ_TRY(layer_axes(c, &n));
    return cq_kernel_layer_norm(cq_result_tensor(c, 0), native ? cq_result_tensor(c, 1) : NULL,
                                native ? cq_result_tensor(c, 2) : NULL, cq_arg_tensor(c, "input"),
                                cq_arg_tensor(c, "weight"), cq_arg_tensor(c, "bias"), n,
                                cq_arg_f64(c, "eps"));
}

/* ---- group norm ---- */

static const char *groups_arg(const cq_opcall *c)
{
    return c->n_results > 1 ? "group" : "num_groups";
}

static cq_status group_norm_shape(cq_opcall *c)
{
    cq_tensor *x      = cq_arg_tensor(c, "input");
    int64_t    groups = cq_arg_i64(c, groups_arg(c)), channels;
    cq_int     sizes[2];

    CQ_TRY(need_float(c));
    if (x->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "the input needs at least 2 dimensions but has %u",
                            x->rank);
    channels = x->sizes[1].value;
    if (groups < 1 || channels % groups)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld groups do not divide %lld channels",
                            (long long)groups, (long long)channels);
    CQ_TRY(check_rows(c, "weight", channels));
    CQ_TRY(check_rows(c, "bias", channels));
    cq_result_like(c, 0, x, x->dtype);
    sizes[0] = x->sizes[0];
    sizes[1] = cq_i(groups);
    for (size_t i = 1; i < c->n_results; i++)
        cq_result(c, i, dtype_of_statistics(c), 2, sizes);
    return c->cx->status;
}

static cq_status group_norm_run(cq_opcall *c)
{
    bool native = c->n_results > 1;

    return cq_kernel_group_norm(cq_result_tensor(c, 0), native ? cq_result_tensor(c, 1) : NULL,
                                native ? cq_result_tensor(c, 2) : NULL, cq_arg_tensor(c, "input"),
                                cq_arg_tensor(c, "weight"), cq_arg_tensor(c, "bias"),
                                cq_arg_i64(c, groups_arg(c)), cq_arg_f64(c, "eps"));
}

#define STATISTICS                                                                                 \
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "

const cq_op_def cq_ops_norm[] = {
    CQ_KERNEL("aten::batch_norm" STATISTICS "bool training, float momentum, float eps, "
              "bool cudnn_enabled) -> Tensor",
              "normalises each channel over the batch", batch_norm_shape, batch_norm_run),
    CQ_KERNEL("aten::native_batch_norm" STATISTICS "bool training, float momentum, "
              "float eps) -> (Tensor, Tensor, Tensor)",
              "batch_norm, and its mean and inverse standard deviation", native_batch_norm_shape,
              batch_norm_run),
    { .schema  = "aten::instance_norm" STATISTICS "bool use_input_stats, float momentum, "
                 "float eps, bool cudnn_enabled) -> Tensor",
      .about   = "normalises each channel of each image",
      .shape   = instance_norm_shape,
      .compose = instance_norm },
    CQ_KERNEL("aten::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
              "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) "
              "-> Tensor",
              "normalises over the last dimensions", layer_norm_shape, layer_norm_run),
    CQ_KERNEL("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, "
              "Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
              "layer_norm, and its mean and inverse standard deviation", layer_norm_shape,
              layer_norm_run),
    CQ_KERNEL("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, "
              "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) "
              "-> Tensor",
              "normalises groups of channels of each image", group_norm_shape, group_norm_run),
    CQ_KERNEL("aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, "
              "SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
              "group_norm, and its mean and inverse standard deviation", group_norm_shape,
              group_norm_run),
    { 0 },
};
