/* Reductions: axes are an attribute, or an input since opset 13 or 18. */
#include "onnx/infer/elements.h"

static cq_status reduce(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    bool            keep = cq_rule_int(r, "keepdims", 1) == 1;
    cq_shape        y;
    uint64_t        axes;
    cq_status       status;
    cq_given        given;

    if (!x)
        return CQ_OK;
    given = cq_rule_axes(&status, r, 1, x->rank, &axes);
    CQ_TRY(status);
    y.rank = 0;
    if (given == CQ_GIVEN_UNKNOWN) { /* with keepdims each axis has size 1 or is unchanged */
        for (size_t i = 0; keep && i < x->rank; i++)
            y.dims[y.rank++] = cq_dim_is(x->dims[i], 1) ? x->dims[i] : cq_dim_unknown();
        return keep ? cq_rule_give(r, 0, &y) : CQ_OK;
    }
    if (axes == 0) { /* omitted or empty: all axes, or none if the attribute requests it */
        if (cq_rule_int(r, "noop_with_empty_axes", 0))
            return cq_rule_give_dims(r, 0, x->rank, x->dims);
        axes = ~(uint64_t)0;
    }
    for (size_t i = 0; i < x->rank; i++)
        if (!(axes >> i & 1))
            y.dims[y.rank++] = x->dims[i];
        else if (keep)
            y.dims[y.rank++] = cq_dim_of(1);
    return cq_rule_give(r, 0, &y);
}

/* Reduces a vector along its axis, or all elements. */
static cq_status reduce_data(cq_rule *r, cq_ielem_fn2 fn)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    const cq_idata *data = cq_rule_data(r, 0);
    const cq_itype *y    = &r->outputs[0];
    cq_idata       *out;

    if (!x || !data || data->n == 0 || !y->has_rank || cq_dims_numel(y->dims, y->rank) != 1)
        return CQ_OK;
    out = cq_rule_new_data(r, 0, 1);
    if (!out)
        return CQ_OK;
    out->items[0] = data->items[0];
    for (size_t i = 1; i < data->n; i++)
        out->items[0] = fn(r, out->items[0], data->items[i]);
    return CQ_OK;
}

static cq_status sum_data(cq_rule *r)
{
    return reduce_data(r, cq_ielem_add);
}

static cq_status prod_data(cq_rule *r)
{
    return reduce_data(r, cq_ielem_mul);
}

static cq_status min_data(cq_rule *r)
{
    return reduce_data(r, cq_ielem_min);
}

static cq_status max_data(cq_rule *r)
{
    return reduce_data(r, cq_ielem_max);
}

static cq_status arg(cq_rule *r)
{
    const cq_itype *x    = cq_rule_shaped(r, 0);
    bool            keep = cq_rule_int(r, "keepdims", 1) == 1;
    cq_shape        y;
    size_t          axis;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    y.rank = 0;
    for (size_t i = 0; i < x->rank; i++)
        if (i != axis)
            y.dims[y.rank++] = x->dims[i];
        else if (keep)
            y.dims[y.rank++] = cq_dim_of(1);
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_reduce[] = {
    { "ArgMax", 1, arg, NULL },
    { "ArgMin", 1, arg, NULL },
    { "ReduceL1", 1, reduce, NULL },
    { "ReduceL2", 1, reduce, NULL },
    { "ReduceLogSum", 1, reduce, NULL },
    { "ReduceLogSumExp", 1, reduce, NULL },
    { "ReduceMax", 1, reduce, max_data },
    { "ReduceMean", 1, reduce, NULL },
    { "ReduceMin", 1, reduce, min_data },
    { "ReduceProd", 1, reduce, prod_data },
    { "ReduceSum", 1, reduce, sum_data },
    { "ReduceSumSquare", 1, reduce, NULL },
    { NULL, 0, NULL, NULL },
};
