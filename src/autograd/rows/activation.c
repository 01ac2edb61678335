/* Activations, and what chooses between tensors element by element. */
#include "autograd/gradient.h"

/* The weight of prelu, laid along the channels of self; a single one fits everything. */
static cq_status prelu(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *weight = cq_grad_arg(g, "weight");
    cq_tensor *grad = cq_grad_of(g, 0), *slope = weight, *of_weight;
    int64_t    sizes[CQ_MAX_RANK];
    cq_tensor *is_positive = CQ_OP(cx, "aten::gt.Scalar", T(self), I(0));

    for (size_t i = 0; i < self->rank; i++)
        sizes[i] = i == 1 && cq_tensor_numel(weight) > 1 ? self->sizes[1].value : 1;
    slope = CQ_OP(cx, "aten::reshape", T(weight), cq_i64s(cx, sizes, self->rank));
    CQ_TRY(cq_grad_set(g, "self",
                       CQ_OP(cx, "aten::where.self", T(is_positive), T(grad),
                             T(CQ_OP(cx, "aten::mul.Tensor", T(grad), T(slope))))));
    if (!cq_grad_wants(g, "weight") || cx->status != CQ_OK)
        return cx->status;
    of_weight = CQ_OP(cx, "aten::where.ScalarSelf", T(is_positive), I(0),
                      T(CQ_OP(cx, "aten::mul.Tensor", T(self), T(grad))));
    of_weight = cx->status == CQ_OK ? cq_sum_to(cx, of_weight, slope) : NULL;
    return cq_grad_set(g, "weight",
                       CQ_OP(cx, "aten::reshape", T(of_weight), cq_sizes_of(cx, weight)));
}

/* x times the normal distribution's integral, or what tanh makes of it. */
static cq_status gelu(cq_grad *g)
{
    if (strcmp(cq_arg_str(&g->call, "approximate", "none"), "tanh") != 0)
        return cq_grad_formula(g, NULL,
                               "self: grad * (0.5 * (1 + erf(self * 0.7071067811865476)) +"
                               "self * (exp(-0.5 * self * self) * 0.3989422804014327))");
#define INNER "(0.7978845608028654 * (self + 0.044715 * pow(self, 3)))"
    return cq_grad_formula(g, NULL,
                           "self: grad * (0.5 * (1 + tanh" INNER ") + 0.5 * self *"
                           "(1 - pow(tanh" INNER ", 2)) *"
                           "(0.7978845608028654 * (1 + 0.134145 * self * self)))");
#undef INNER
}

const cq_gradient cq_gradients_activation[] = {
    { "aten::relu", .as = "self: where(result <= 0, 0, grad)" },
    { "aten::leaky_relu", .as = "self: where(self > 0, grad, grad * negative_slope)" },
    { "aten::prelu", .fn = prelu },
    { "aten::elu",
      .as = "self: where(self <= 0,"
            "grad * (input_scale * (alpha * scale)) * exp(self * input_scale), grad * scale)" },
    { "aten::gelu", .fn = gelu },
    { "aten::silu", .as = "self: grad * (sigmoid(self) * (1 + self * (1 - sigmoid(self))))" },
    { "aten::mish", .as = "self: grad * (tanh(softplus(self)) +"
                          "self * sigmoid(self) * (1 - pow(tanh(softplus(self)), 2)))" },
    { "aten::hardtanh",
      .as = "self: where(logical_or(self <= min_val, self >= max_val), 0, grad)" },
    { "aten::hardswish",
      .as = "self: where(self < -3, 0, where(self <= 3, grad * (self / 3 + 0.5), grad))" },
    { "aten::hardsigmoid", /* PyTorch has its sixth in float32, whatever the tensor */
      .as = "self: where(logical_and(self > -3, self < 3), grad * 0.1666666716337204, 0)" },
    { "aten::softplus",
      .as = "self: where(self * beta > threshold, grad, grad * sigmoid(self * beta))" },
    { "aten::threshold", .as = "self: where(self <= threshold, 0, grad)" },
    { "aten::log_sigmoid", .as = "self: grad * sigmoid(-self)" },
    { "aten::softshrink",
      .as = "self: where(logical_and(self >= -lambd, self <= lambd), 0, grad)" },
    { "aten::hardshrink",
      .as = "self: where(logical_and(self >= -lambd, self <= lambd), 0, grad)" },
    { 0 },
};

const cq_gradient cq_gradients_compare[] = {
    { "aten::where.self",
      .as = "self: where(condition, grad, 0); other: where(condition, 0, grad)" },
    { "aten::where.ScalarOther", .as = "self: where(condition, grad, 0)" },
    { "aten::where.ScalarSelf", .as = "other: where(condition, 0, grad)" },
    { "aten::masked_fill.Scalar", .as = "self: masked_fill(grad, mask, 0)" },
    { "aten::masked_fill.Tensor",
      .as = "self: masked_fill(grad, mask, 0); value: sum(where(mask, grad, 0))" },
    { 0 },
};
