/* Normalisations. With x^ = (x - mean) * rstd over some axes and d^ the gradient of x^, that of x
 * is rstd * (d^ - mean(d^) - x^ * mean(d^ * x^)); where the statistics are given, rstd * d^
 * (normalised and norm_back of body_layers.c). */
#include "autograd/gradient.h"

/* x: the input in a shape where dims say what is normalised together, all of them None where the
 * statistics are given. sizes: the input's own, with 1 where weight and bias do not vary. What is
 * left after the means are taken off may be little: float32 has too few digits. */
#define NORM(x, dims, sizes, mean, var, more)                                                      \
    "x = " x ".to(torch.float64); g = grad.to(torch.float64)\n"                                    \
    "dims = " dims "; sizes = " sizes "\n"                                                         \
    "hat, rstd = normalised(x, dims, " mean ", " var ", eps)\n"                                    \
    "weight: (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape)\n"            \
    "bias: g.sum_to_size(sizes).reshape(bias.shape)\n"                                             \
    "d = g if weight is None else g * weight.reshape(sizes)\n"                                     \
    "input: (norm_back(d.reshape(x.shape), hat, rstd, dims)" more ").reshape(input.shape)"

#define CHANNELS "[input.shape[i] if i == 1 else 1 for i in range(input.ndim)]"
#define OTHERS   "[i for i in range(input.ndim) if i != 1]"
#define ITSELF   NORM("input", OTHERS, CHANNELS, "None", "None", "")
#define GIVEN                                                                                      \
    NORM("input", "None", CHANNELS, "running_mean.reshape(" CHANNELS ")",                          \
         "running_var.reshape(" CHANNELS ")", "")
#define BATCH                                                                                      \
    NORM("input", OTHERS " if training else None", CHANNELS,                                       \
         "None if training else running_mean.reshape(" CHANNELS ")",                               \
         "None if training else running_var.reshape(" CHANNELS ")", "")
#define LAYER                                                                                      \
    "n = input.ndim - len(normalized_shape)\n" NORM(                                               \
        "input", "range(n, input.ndim)",                                                           \
        "[input.shape[i] if i >= n else 1 for i in range(input.ndim)]", "None", "None", "")
#define GROUPS(groups, more)                                                                       \
    NORM("input.reshape([input.shape[0], " groups ", -1])", "[2]", CHANNELS, "None", "None", more)
/* The statistics are results too: d mean = 1 / m, d rstd = -rstd^2 * x^ / m. */
#define STATISTICS                                                                                 \
    " + (grad1.reshape(rstd.shape) - grad2.reshape(rstd.shape) * hat * (rstd * rstd))"             \
    " / (x.numel() / rstd.numel())"

const cq_gradient cq_gradients_norm[] = {
    { "aten::_scaled_dot_product_flash_attention_for_cpu", .body = "", .first_only = true },
    { "aten::batch_norm", .as = BATCH },
    { "aten::native_batch_norm", .as = BATCH, .first_only = true },
    { "aten::_native_batch_norm_legit", .as = BATCH, .first_only = true },
    { "aten::_native_batch_norm_legit.no_stats", .as = ITSELF, .first_only = true },
    { "aten::_native_batch_norm_legit_functional", .as = BATCH, .first_only = true },
    { "aten::_batch_norm_with_update", .as = ITSELF, .first_only = true },
    { "aten::_batch_norm_with_update_functional", .as = ITSELF, .first_only = true },
    { "aten::_native_batch_norm_legit_no_training", .as = GIVEN, .first_only = true },
    { "aten::_batch_norm_no_update", .as = GIVEN, .first_only = true },
    { "aten::layer_norm", .as = LAYER },
    { "aten::native_layer_norm", .as = LAYER, .first_only = true },
    { "aten::group_norm", .as = GROUPS("num_groups", "") },
    { "aten::native_group_norm", .as = GROUPS("group", STATISTICS) },
    { 0 },
};
