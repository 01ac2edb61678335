/* Softmax and its logarithm. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_softmax[] = {
    { "aten::softmax.int", .as = "self: (grad - sum(grad * result, dim, True)) * result" },
    { "aten::log_softmax.int", .as = "self: grad - exp(result) * sum(grad, dim, True)" },
    { 0 },
};
