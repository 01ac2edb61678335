/* The operators of ai.onnx.ml. */
#include "onnx/infer/elements.h"

/* The labels have the type of the list of values, which is one of several attributes. */
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

/* As many columns as indices; a vector counts as one row. */
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

/* The number of rows of X; a tensor with one axis is one row. */
static cq_dim rows_of(const cq_itype *x)
{
    return !x             ? cq_dim_unknown()
           : x->rank == 1 ? cq_dim_of(1)
           : x->rank      ? x->dims[0]
                          : cq_dim_of(1);
}

static uint32_t n_of(const cq_rule *r, const char *name)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, name);

    return !a                                ? 0
           : a->type == CQ_ONNX_ATTR_STRINGS ? a->strings.n
           : a->type == CQ_ONNX_ATTR_INTS    ? a->ints.n
                                             : a->floats.n;
}

static cq_status give_rows(cq_rule *r, size_t output, cq_dim columns)
{
    cq_shape y = { .rank = 2 };

    y.dims[0] = rows_of(cq_rule_shaped(r, 0));
    y.dims[1] = columns;
    return cq_rule_give(r, output, &y);
}

static cq_dim targets_of(const cq_rule *r, const char *name)
{
    int64_t n = cq_rule_int(r, name, 1);

    return n > 0 ? cq_dim_of(n) : cq_dim_of(1);
}

static cq_status regressor(cq_rule *r)
{
    return give_rows(r, 0, targets_of(r, r->schema->name[0] == 'L' ? "targets" : "n_targets"));
}

static cq_status svm_regressor(cq_rule *r)
{
    return give_rows(r, 0, cq_dim_of(1));
}

/* The outputs are labels, and a score per class. */
static cq_status classifier(cq_rule *r)
{
    bool     is_text = n_of(r, "classlabels_strings") > 0;
    uint32_t n       = is_text ? n_of(r, "classlabels_strings")
                               : n_of(r, "classlabels_ints") + n_of(r, "classlabels_int64s");
    cq_shape labels  = { .rank = 1 };

    labels.dims[0] = rows_of(cq_rule_shaped(r, 0));
    cq_rule_give_elem(r, 0, is_text ? CQ_ONNX_STRING : CQ_ONNX_INT64);
    CQ_TRY(cq_rule_give(r, 0, &labels));
    if (!cq_rule_wants(r, 1))
        return CQ_OK;
    return give_rows(r, 1, n && r->schema->name[0] != 'S' ? cq_dim_of(n) : cq_dim_unknown());
}

static cq_status one_hot(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    uint32_t        n = n_of(r, "cats_strings") + n_of(r, "cats_int64s");
    cq_shape        y;

    if (!x || x->rank == CQ_MAX_RANK)
        return CQ_OK;
    cq_shape_of(&y, x);
    y.dims[y.rank++] = cq_dim_of(n);
    return cq_rule_give(r, 0, &y);
}

static cq_status vectorizer(cq_rule *r)
{
    const cq_onnx_ints *dims = cq_rule_ints(r, "inputdimensions");
    cq_dim              sum  = cq_dim_of(0);

    for (uint32_t i = 0; dims && i < dims->n; i++)
        sum = cq_dim_add(r, sum, cq_dim_of(dims->items[i]));
    return give_rows(r, 0, dims ? sum : cq_dim_unknown());
}

/* Maps strings to numbers, and numbers to strings. */
static cq_status mapper(cq_rule *r)
{
    int32_t elem = cq_rule_elem(r, 0);

    if (elem)
        cq_rule_give_elem(r, 0, elem == CQ_ONNX_STRING ? CQ_ONNX_INT64 : CQ_ONNX_STRING);
    return cq_rule_same(r);
}

const cq_rule_row cq_rules_ml[] = {
    { "ArrayFeatureExtractor", 1, array_feature_extractor, NULL },
    { "Binarizer", 1, cq_rule_same, NULL },
    { "CategoryMapper", 1, mapper, NULL },
    { "FeatureVectorizer", 1, vectorizer, NULL },
    { "Imputer", 1, cq_rule_same, NULL },
    { "LabelEncoder", 1, mapper, NULL },
    { "LabelEncoder", 2, label_encoder, NULL },
    { "LinearClassifier", 1, classifier, NULL },
    { "LinearRegressor", 1, regressor, NULL },
    { "Normalizer", 1, cq_rule_same, NULL },
    { "OneHotEncoder", 1, one_hot, NULL },
    { "SVMClassifier", 1, classifier, NULL },
    { "SVMRegressor", 1, svm_regressor, NULL },
    { "Scaler", 1, cq_rule_same, NULL },
    { "TreeEnsemble", 1, tree_ensemble, NULL },
    { "TreeEnsembleClassifier", 1, classifier, NULL },
    { "TreeEnsembleRegressor", 1, regressor, NULL },
    { NULL, 0, NULL, NULL },
};
