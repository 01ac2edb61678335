/* Normalisations: to zero mean and unit variance over the batch, a layer, groups of
 * channels, or each channel of each image. Statistics are those of the input, or for batch
 * and instance norm the running ones. */
#include "aten/ctx.h"

static cq_status check_rows(const cq_opcall *c, const char *name, int64_t want)
{
    const cq_tensor *t = cq_arg_tensor(c, name);

    if (!t || cq_tensor_numel(t) == want)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "\"%s\" should have %lld elements but has %lld", name,
                        (long long)want, (long long)cq_tensor_numel(t));
}

/* ---- batch and instance norm ---- */

static cq_status check_channels(const cq_opcall *c, const char *training_arg)
{
    static const char *const rows[] = { "weight", "bias", "running_mean", "running_var" };
    const cq_tensor         *x      = cq_arg_tensor(c, "input");

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

static cq_status no_kernel_yet(cq_opcall *c)
{
    return cq_call_fail(c, CQ_E_UNSUPPORTED, "there is no kernel for this yet, only its shape");
}

const cq_op_def cq_ops_norm[] = {
    { .schema = "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
                "Tensor? running_mean, Tensor? running_var, bool training, float momentum, "
                "float eps, bool cudnn_enabled) -> Tensor",
      .about  = "normalises each channel over the batch",
      .shape  = batch_norm_shape,
      .run    = no_kernel_yet },
    { 0 }
};
