/* Strings. */
#include "onnx/infer/elements.h"

/* The output is [C] or [1, C]; the number of remaining words is unknown. */
static cq_status string_normalizer(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y;

    if (!x)
        return CQ_OK;
    if (x->rank != 1 && x->rank != 2)
        return cq_rule_fail(r, "expected rank 1 or 2 for StringNormalizer, got %zu", x->rank);
    cq_shape_of(&y, x);
    y.dims[x->rank - 1] = cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

/* The last axis becomes one element per n-gram index: the largest index plus one. */
static cq_status tf_idf(cq_rule *r)
{
    const cq_itype     *x       = cq_rule_shaped(r, 0);
    const cq_onnx_ints *indexes = cq_rule_ints(r, "ngram_indexes");
    int64_t             largest = -1;
    cq_shape            y;

    if (!x || !indexes || x->rank < 1 || x->rank > 2)
        return CQ_OK;
    for (uint32_t i = 0; i < indexes->n; i++)
        largest = indexes->items[i] > largest ? indexes->items[i] : largest;
    if (largest == INT64_MAX)
        return CQ_OK;
    cq_shape_of(&y, x);
    y.dims[x->rank - 1] = cq_dim_of(largest + 1);
    return cq_rule_give(r, 0, &y);
}

static cq_status string_split(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_shape        y;

    if (!x || x->rank >= CQ_MAX_RANK)
        return CQ_OK;
    cq_shape_of(&y, x);
    CQ_TRY(cq_rule_give(r, 1, &y)); /* the number of pieces */
    y.dims[y.rank++] = cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_text[] = {
    { "RegexFullMatch", 1, cq_rule_same, NULL },
    { "StringConcat", 1, cq_rule_broadcast, NULL },
    { "StringNormalizer", 1, string_normalizer, NULL },
    { "StringSplit", 1, string_split, NULL },
    { "TfIdfVectorizer", 1, tf_idf, NULL },
    { NULL, 0, NULL, NULL },
};
