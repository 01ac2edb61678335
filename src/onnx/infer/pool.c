/* Pooling over spatial axes. The batch and channel axes come first and are unchanged. */
#include "onnx/infer/elements.h"
#include "onnx/infer/window.h"

static cq_status pool(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_infer_window w;
    cq_shape        y;

    if (!x)
        return CQ_OK;
    if (x->rank < 2)
        return cq_rule_fail(r, "expected rank 2 or more for pooling, got %zu", x->rank);
    CQ_TRY(cq_window_read(&w, r, x->rank - 2, NULL));
    cq_shape_of(&y, x);
    for (size_t i = 0; i < w.n; i++)
        y.dims[2 + i] = cq_window_count(r, &w, i, x->dims[2 + i]);
    CQ_TRY(cq_rule_give(r, 0, &y));
    return cq_rule_give(r, 1, &y); /* the indices of MaxPool */
}

static cq_status global_pool(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y;

    if (!x || x->rank < 2)
        return CQ_OK;
    cq_shape_of(&y, x);
    for (size_t i = 2; i < x->rank; i++)
        y.dims[i] = cq_dim_of(1);
    return cq_rule_give(r, 0, &y);
}

/* Sizes are given by output_shape, or are the largest that the inverted pooling can have had as
 * input. */
static cq_status max_unpool(cq_rule *r)
{
    const cq_itype *x     = cq_rule_shaped(r, 0);
    const cq_idata *sizes = cq_rule_data(r, 2);
    cq_infer_window w;
    cq_shape        y;

    if (!x || x->rank < 2)
        return CQ_OK;
    CQ_TRY(cq_window_read(&w, r, x->rank - 2, NULL));
    cq_shape_of(&y, x);
    if (cq_rule_has(r, 2)) {
        if (!sizes || sizes->n != x->rank)
            return CQ_OK;
        for (size_t i = 0; i < x->rank; i++)
            y.dims[i] = cq_dim_of_ielem(sizes->items[i]);
        return cq_rule_give(r, 0, &y);
    }
    for (size_t i = 0; i < w.n; i++) {
        cq_dim d =
            cq_dim_mul(r, cq_dim_sub(r, x->dims[2 + i], cq_dim_of(1)), cq_dim_of(w.stride[i]));

        d             = cq_dim_add(r, d, w.kernel[i]);
        y.dims[2 + i] = cq_dim_sub(r, d, cq_dim_of(w.before[i] + w.after[i]));
    }
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_pool[] = {
    { "AveragePool", 1, pool, NULL },
    { "GlobalAveragePool", 1, global_pool, NULL },
    { "GlobalLpPool", 1, global_pool, NULL },
    { "GlobalMaxPool", 1, global_pool, NULL },
    { "LpPool", 1, pool, NULL },
    { "MaxPool", 1, pool, NULL },
    { "MaxUnpool", 1, max_unpool, NULL },
    { NULL, 0, NULL, NULL },
};
