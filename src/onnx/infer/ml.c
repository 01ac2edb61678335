/* The operators of ai.onnx.ml that can be run. */
#include "onnx/infer/elements.h"

/* Labels have the type of the list of values, which goes by one of several names. */
static cq_status label_encoder(cq_rule *r)
{
    static const struct {
        const char *name;
        int32_t     elem;
    } lists[] = {
        { "values_strings", CQ_ONNX_STRING },
        { "values_int64s", CQ_ONNX_INT64 },
        { "values_floats", CQ_ONNX_FLOAT },
    };
    const cq_onnx_attribute *tensor = cq_rule_attr(r, "values_tensor");

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (cq_rule_attr(r, lists[i].name))
            cq_rule_give_elem(r, 0, lists[i].elem);
    if (tensor && tensor->t && tensor->t->data_type > 0 &&
        tensor->t->data_type < CQ_ONNX_DATA_TYPE_COUNT)
        cq_rule_give_elem(r, 0, tensor->t->data_type);
    return cq_rule_same(r);
}

/* As many columns as are asked for; what has one axis becomes one row. */
static cq_status array_feature_extractor(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *which = cq_rule_shaped(r, 1);
    cq_dim          n = which ? cq_dims_product(r, which->dims, which->rank) : cq_dim_unknown();
    cq_shape        y;

    if (!x || !x->rank)
        return CQ_OK;
    cq_shape_of(&y, x);
    if (x->rank == 1) {
        y.rank    = 2;
        y.dims[0] = cq_dim_of(1);
    }
    y.dims[y.rank - 1] = n;
    return cq_rule_give(r, 0, &y);
}

static cq_status tree_ensemble(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y = { .rank = 2 };

    if (!x || x->rank != 2)
        return CQ_OK;
    y.dims[0] = x->dims[0];
    y.dims[1] = cq_dim_of(cq_rule_int(r, "n_targets", 1));
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_ml[] = {
    { "ArrayFeatureExtractor", 1, array_feature_extractor, NULL },
    { "Binarizer", 1, cq_rule_same, NULL },
    { "LabelEncoder", 1, label_encoder, NULL },
    { "Normalizer", 1, cq_rule_same, NULL },
    { "TreeEnsemble", 1, tree_ensemble, NULL },
    { NULL, 0, NULL, NULL },
};
