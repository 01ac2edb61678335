/* Elements by index: gathers, scatters, embeddings, sorting, and what runs along a dimension. */
#include "autograd/gradient.h"

/* Elements that are written over have none; with accumulate they are added to. */

/* ---- along a dimension ---- */

const cq_gradient cq_gradients_index[] = {
    { "aten::take", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_select", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_scatter", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
