/* Lanes are a walk over all dimensions but one. */
#include "kernel/lane.h"

void cq_lanes_init(cq_lanes *l, uint32_t dim)
{
    l->w.n_operands = 0;
    l->w.rank       = 0;
    l->dim          = dim;
    l->rank         = 0;
    l->column       = 0;
}

cq_status cq_lanes_add(cq_lanes *l, const cq_tensor *t)
{
    int      k      = l->w.n_operands;
    int64_t  size   = (int64_t)cq_dtype_size(t->dtype), strides[CQ_MAX_RANK];
    uint32_t others = 0;

    if (k > 0 && t->rank != l->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a tensor of rank %u, got rank %u",
                       (unsigned)l->rank, (unsigned)t->rank);
    if (l->dim >= t->rank && (t->rank || l->dim))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "dimension %u is out of range for a tensor of rank %u", (unsigned)l->dim,
                       (unsigned)t->rank);
    l->rank    = t->rank;
    l->n[k]    = t->rank ? t->sizes[l->dim].value : 1;
    l->step[k] = t->rank ? t->strides[l->dim] * size : size;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i == l->dim)
            continue;
        if (k == 0)
            l->w.sizes[others] = t->sizes[i].value;
        else if (l->w.sizes[others] != t->sizes[i].value)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "dimension %u: expected size %lld, got %lld",
                           (unsigned)i, (long long)l->w.sizes[others],
                           (long long)t->sizes[i].value);
        strides[others++] = t->strides[i] * size;
    }
    l->w.rank = others;
    cq_walk_add_bytes(&l->w, cq_tensor_bytes(t), strides);
    return CQ_OK;
}

static void settle(cq_lanes *l)
{
    for (int k = 0; k < l->w.n_operands; k++)
        l->at[k] = l->w.at[k] + l->column * l->w.step[k];
}

bool cq_lanes_start(cq_lanes *l)
{
    if (!cq_walk_start(&l->w, CQ_ANY_ORDER))
        return false;
    l->column = 0;
    settle(l);
    return true;
}

bool cq_lanes_next(cq_lanes *l)
{
    if (++l->column == l->w.n) {
        l->column = 0;
        if (!cq_walk_next(&l->w))
            return false;
    }
    settle(l);
    return true;
}
