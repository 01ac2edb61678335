/* Copies, casts and new tensors. A gradient is cast back by cq_grad_set. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_cast[] = {
    { "aten::detach", .kind = CQ_GRADIENT_NONE },
    { "aten::data", .kind = CQ_GRADIENT_NONE },
    { 0 },
};

/* PyTorch differentiates through these operators; calque's samplers use rejection, for which such a
 * gradient would be wrong. */
static cq_status not_smooth(cq_grad *g)
{
    return cq_call_fail(&g->call, CQ_E_UNSUPPORTED, "has no gradient here: detach what it gives");
}

/* Numbers that were drawn are constants. */
const cq_gradient cq_gradients_random[] = {
    { "aten::normal.Tensor_float", .kind = CQ_GRADIENT_NONE },
    { "aten::normal.float_Tensor", .kind = CQ_GRADIENT_NONE },
    { "aten::normal.Tensor_Tensor", .kind = CQ_GRADIENT_NONE },
    { "aten::_standard_gamma", .fn = not_smooth },
    { "aten::_sample_dirichlet", .fn = not_smooth },
    { "aten::poisson", .kind = CQ_GRADIENT_NONE },
    { 0 },
};

const cq_gradient cq_gradients_creation[] = {
    { "aten::zeros_like", .kind = CQ_GRADIENT_NONE },
    { "aten::ones_like", .kind = CQ_GRADIENT_NONE },
    { "aten::full_like", .kind = CQ_GRADIENT_NONE },
    { "aten::empty_like", .kind = CQ_GRADIENT_NONE },
    { "aten::new_zeros", .kind = CQ_GRADIENT_NONE },
    { "aten::new_ones", .kind = CQ_GRADIENT_NONE },
    { "aten::new_full", .kind = CQ_GRADIENT_NONE },
    { "aten::new_empty", .kind = CQ_GRADIENT_NONE },
    { "aten::fill.Scalar", .kind = CQ_GRADIENT_ZERO },
    { "aten::zero", .kind = CQ_GRADIENT_ZERO },
    { 0 },
};
