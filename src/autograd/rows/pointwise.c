/* Element-wise arithmetic and functions. cq_grad_set sums broadcast dimensions. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_pointwise[] = {
    { "aten::floor_divide", .kind = CQ_GRADIENT_NONE },
    { "aten::floor_divide.Scalar", .kind = CQ_GRADIENT_NONE },
    { 0 },
};

const cq_gradient cq_gradients_functions[] = {
    { "aten::floor", .kind = CQ_GRADIENT_ZERO },
    { "aten::ceil", .kind = CQ_GRADIENT_ZERO },
    { "aten::round", .kind = CQ_GRADIENT_ZERO },
    { "aten::trunc", .kind = CQ_GRADIENT_ZERO },
    { "aten::sign", .kind = CQ_GRADIENT_ZERO },
    { "aten::angle", .kind = CQ_GRADIENT_ZERO },
    { 0 },
};
