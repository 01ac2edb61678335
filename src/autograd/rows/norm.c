/* Normalisations. With x^ = (x - mean) * rstd over some axes and d^ the gradient of x^, that of x
 * is rstd * (d^ - mean(d^) - x^ * mean(d^ * x^)); where the statistics are given, rstd * d^
 * (normalised and norm_back of body_layers.c). */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_norm[] = {
    { "aten::_scaled_dot_product_flash_attention_for_cpu", .own_body = true, .first_only = true },
    { 0 },
};
