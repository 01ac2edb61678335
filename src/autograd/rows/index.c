/* Elements by index: gathers, scatters, embeddings, sorting, and cumulative operators. */
#include "autograd/gradient.h"

/* Overwritten elements have no gradient; with accumulate, values are added. */

/* ---- along a dimension ---- */

const cq_gradient cq_gradients_index[] = {
    { "aten::take", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_select", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_scatter", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
