/* Random numbers: the shape is an attribute, or the shape of the input. */
#include "onnx/infer/elements.h"

/* Sets the output type to the attribute dtype, or to the given default. */
static void give_dtype(cq_rule *r, int32_t fallback)
{
    int64_t dtype = cq_rule_int(r, "dtype", fallback);

    if (dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT)
        cq_rule_give_elem(r, 0, (int32_t)dtype);
}

static cq_status random(cq_rule *r)
{
    const cq_onnx_ints *sizes = cq_rule_ints(r, "shape");
    cq_shape            y;

    give_dtype(r, CQ_ONNX_FLOAT);
    if (!sizes || sizes->n > CQ_MAX_RANK)
        return CQ_OK;
    y.rank = sizes->n;
    for (uint32_t i = 0; i < sizes->n; i++)
        y.dims[i] = cq_dim_of(sizes->items[i]);
    return cq_rule_give(r, 0, &y);
}

static cq_status random_like(cq_rule *r)
{
    give_dtype(r, cq_rule_elem(r, 0));
    return cq_rule_same(r);
}

static cq_status multinomial(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y = { .rank = 2 };

    give_dtype(r, CQ_ONNX_INT32);
    if (x && x->rank != 2)
        return cq_rule_fail(r, "expected rank 2 for Multinomial, got %zu", x->rank);
    y.dims[0] = x ? x->dims[0] : cq_dim_unknown();
    y.dims[1] = cq_dim_of(cq_rule_int(r, "sample_size", 1));
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_random[] = {
    { "Bernoulli", 1, random_like, NULL },
    { "Multinomial", 1, multinomial, NULL },
    { "RandomNormal", 1, random, NULL },
    { "RandomNormalLike", 1, random_like, NULL },
    { "RandomUniform", 1, random, NULL },
    { "RandomUniformLike", 1, random_like, NULL },
    { NULL, 0, NULL, NULL },
};
