/* Operators of ai.onnx.ml: selection, mapping and scaling of features, and tree ensembles. */
#include "runtime/kernels/families.h"

#include "kernel/index.h"
#include "onnx/tensor.h"
#include "runtime/kernels/map.h"
#include "runtime/plan/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- features ---- */

/* Selects the columns of the last axis that Y lists; a tensor with one axis becomes one row. */
static cq_status array_feature_extractor(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *which = cq_rt_in(rt, 1);
    cq_rt_sizes      flat  = { 1, { cq_tensor_numel(which) } }, sizes;
    cq_tensor       *index = NULL, *y, *rows = NULL;

    if (!x->rank)
        return cq_rt_misfit(x, which);
    cq_rt_sizes_of(&sizes, x);
    if (sizes.rank == 1)
        sizes = (cq_rt_sizes){ 2, { 1, sizes.at[0] } };
    CQ_TRY(cq_rt_reshaped(&rows, rt, x, &sizes));
    CQ_TRY(cq_rt_reshaped(&index, rt, which, &flat));
    sizes.at[sizes.rank - 1] = flat.at[0];
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_index_select(y, rows, sizes.rank - 1, index);
}

static double is_above(double x, const double *threshold)
{
    return x > *threshold;
}

static cq_status binarizer(cq_rt *rt)
{
    const cq_tensor *x         = cq_rt_in(rt, 0);
    double           threshold = cq_rt_float(rt, "threshold");
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_rt_map(y, x, is_above, &threshold);
}

/* Divides rows by their maximum, their sum or their norm; rows of zeros are unchanged. */
static cq_status normalizer(cq_rt *rt)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    bool             by_max = cq_rt_is(rt, "norm", "MAX"), by_square = cq_rt_is(rt, "norm", "L2");
    cq_operands      s = { .compute = CQ_DTYPE_F64 };
    const double    *from;
    cq_rt_sizes      sizes;
    cq_tensor       *y;
    int64_t          n;
    double          *to;

    if ((x->rank != 1 && x->rank != 2) || (!by_max && !by_square && !cq_rt_is(rt, "norm", "L1")))
        return cq_rt_misfit(x, NULL);
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    n    = sizes.at[sizes.rank - 1];
    from = cq_operands_in(&s, x);
    to   = cq_operands_out(&s, y);
    for (int64_t row = 0; s.status == CQ_OK && n && row < cq_tensor_numel(x) / n; row++) {
        double norm = 0;

        for (int64_t i = 0; i < n; i++) {
            double at = fabs(from[row * n + i]);

            norm = by_max ? fmax(norm, at) : norm + (by_square ? at * at : at);
        }
        norm = by_square ? sqrt(norm) : norm;
        for (int64_t i = 0; i < n; i++)
            to[row * n + i] = from[row * n + i] / fmax(norm, 1e-30);
    }
    return cq_operands_close(&s);
}

/* ---- labels ---- */

/* Converts the list of an attribute to a value. */
static cq_status list_of(cq_val *out, cq_rt *rt, const cq_onnx_attribute *a)
{
    cq_onnx_tensor list = { 0 };
    int64_t        n;

    if (a->type == CQ_ONNX_ATTR_TENSOR)
        return cq_onnx_tensor_to_value(out, rt->step->model, a->t);
    n         = a->type == CQ_ONNX_ATTR_STRINGS ? a->strings.n
                : a->type == CQ_ONNX_ATTR_INTS  ? a->ints.n
                                                : a->floats.n;
    list.dims = (cq_onnx_ints){ .items = &n, .n = 1 };
    if (a->type == CQ_ONNX_ATTR_STRINGS) {
        list.data_type   = CQ_ONNX_STRING;
        list.string_data = a->strings;
    } else if (a->type == CQ_ONNX_ATTR_INTS) {
        list.data_type  = CQ_ONNX_INT64;
        list.int64_data = a->ints;
    } else {
        list.data_type  = CQ_ONNX_FLOAT;
        list.float_data = a->floats;
    }
    return cq_onnx_tensor_to_value(out, rt->step->model, &list);
}

/* Reads the list in the attribute kind_strings, kind_int64s, kind_floats or kind_tensor. */
static cq_status read_list(cq_val *out, cq_rt *rt, const char *kind)
{
    static const char *const suffixes[] = { "strings", "int64s", "floats", "tensor" };
    const cq_onnx_attribute *a          = NULL;
    char                     name[64];

    for (size_t i = 0; i < 4 && !a; i++) {
        snprintf(name, sizeof name, "%s_%s", kind, suffixes[i]);
        a = cq_rt_attr_given(rt, name);
    }
    if (!a)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "LabelEncoder has no %s", kind);
    return list_of(out, rt, a);
}

static int64_t count(cq_val list)
{
    const cq_texts *texts = cq_val_texts(list);

    return texts ? (int64_t)texts->n : cq_tensor_numel(list.u.tensor);
}

static bool same(cq_val a, int64_t i, cq_val b, int64_t k)
{
    const cq_texts *x = cq_val_texts(a), *y = cq_val_texts(b);
    double          p, q;

    if (x)
        return cq_texts_len(x, (size_t)i) == cq_texts_len(y, (size_t)k) &&
               !memcmp(cq_texts_at(x, (size_t)i), cq_texts_at(y, (size_t)k),
                       cq_texts_len(x, (size_t)i));
    if (!cq_dtype_is_float(a.u.tensor->dtype))
        return cq_tensor_get_i64(a.u.tensor, i) == cq_tensor_get_i64(b.u.tensor, k);
    p = cq_tensor_get_f64(a.u.tensor, i);
    q = cq_tensor_get_f64(b.u.tensor, k);
    return p == q || (isnan(p) && isnan(q));
}

/* The default for missing keys, as a list of one element in the type of values. */
static cq_status read_default(cq_val *out, cq_rt *rt, cq_val values)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, "default_tensor");
    const char              *text;
    cq_tensor               *number;
    cq_texts                *texts;
    bool                     is_float;

    *out = CQ_NONE;
    if (a)
        return cq_onnx_tensor_to_value(out, rt->step->model, a->t);
    if (cq_val_texts(values)) {
        text = cq_rt_string(rt, "default_string");
        CQ_TRY(cq_texts_new(&texts, 0, NULL));
        *out = cq_val_of_texts(texts);
        return cq_texts_set(texts, 0, text, strlen(text));
    }
    is_float = cq_dtype_is_float(values.u.tensor->dtype);
    CQ_TRY(cq_tensor_new_uninit(&number, values.u.tensor->dtype, 0, NULL));
    *out = cq_val_of_tensor(number);
    return cq_kernel_fill_f64(number, is_float ? cq_rt_float(rt, "default_float")
                                               : (double)cq_rt_int(rt, "default_int64"));
}

/* Whether two lists have elements of one type. */
static bool agree(cq_val a, cq_val b)
{
    if (cq_val_texts(a) || cq_val_texts(b))
        return cq_val_texts(a) && cq_val_texts(b);
    return a.u.tensor->dtype == b.u.tensor->dtype;
}

enum { COMPARISON = 24 }; /* a comparison costs as much as copying this many elements */

/* The number of the last key that equals element i of x; 0: none. */
static int64_t find_key(cq_val x, int64_t i, cq_val keys)
{
    int64_t k = count(keys);

    if (!cq_val_texts(keys) && keys.u.tensor->dtype == CQ_DTYPE_I64 &&
        cq_tensor_is_contiguous(keys.u.tensor) && !cq_dtype_is_float(x.u.tensor->dtype)) {
        const int64_t *list  = cq_tensor_data(keys.u.tensor),
                      number = cq_tensor_get_i64(x.u.tensor, i);

        while (k > 0 && list[k - 1] != number)
            k--;
        return k;
    }
    while (k > 0 && !same(x, i, keys, k - 1))
        k--;
    return k;
}

static cq_status encode(cq_rt *rt, cq_val keys, cq_val values, cq_val fallback)
{
    cq_val      x = rt->in[0];
    cq_rt_sizes sizes;
    cq_texts   *texts = NULL;
    cq_tensor  *y     = NULL;

    if (!agree(x, keys) || !agree(values, fallback) || count(keys) != count(values) ||
        !count(fallback))
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "lengths or types of keys, values, default and input do not match");
    if (cq_val_texts(x)) {
        sizes.rank = cq_val_texts(x)->rank;
        memcpy(sizes.at, cq_val_texts(x)->sizes, sizeof sizes.at);
    } else {
        cq_rt_sizes_of(&sizes, x.u.tensor);
    }
    if (cq_val_texts(values)) {
        CQ_TRY(cq_texts_new(&texts, sizes.rank, sizes.at));
        CQ_TRY(cq_rt_set(rt, 0, cq_val_of_texts(texts)));
    } else {
        CQ_TRY(cq_rt_out_sized(&y, rt, 0, values.u.tensor->dtype, &sizes));
    }
    CQ_TRY(cq_rt_spend_on_elements(rt, COMPARISON * (double)count(x) * (double)count(keys)));
    for (int64_t i = 0; i < count(x); i++) {
        int64_t      k    = find_key(x, i, keys);
        const cq_val from = k ? values : fallback;

        k = k ? k - 1 : 0;
        if (texts)
            CQ_TRY(cq_texts_set(texts, (size_t)i, cq_texts_at(cq_val_texts(from), (size_t)k),
                                cq_texts_len(cq_val_texts(from), (size_t)k)));
        else
            memcpy((char *)cq_tensor_data(y) + (size_t)i * cq_dtype_size(y->dtype),
                   (char *)cq_tensor_data(from.u.tensor) + (size_t)k * cq_dtype_size(y->dtype),
                   cq_dtype_size(y->dtype));
    }
    return CQ_OK;
}

static cq_status label_encoder(cq_rt *rt)
{
    cq_val    keys = CQ_NONE, values = CQ_NONE, fallback = CQ_NONE;
    cq_status status;

    CQ_TRY_OR_DONE(read_list(&keys, rt, "keys"));
    CQ_TRY_OR_DONE(read_list(&values, rt, "values"));
    CQ_TRY_OR_DONE(read_default(&fallback, rt, values));
    status = encode(rt, keys, values, fallback);
done:
    cq_val_release(keys);
    cq_val_release(values);
    cq_val_release(fallback);
    return status;
}

/* Maps strings to numbers and numbers to strings. numbers NULL: numbers are the indices of the
 * strings. */
static cq_status map_both_ways(cq_rt *rt, const char *texts_name, const char *numbers_name)
{
    const cq_onnx_attribute *a     = cq_rt_attr_given(rt, texts_name);
    const cq_onnx_attribute *b     = numbers_name ? cq_rt_attr_given(rt, numbers_name) : NULL;
    cq_val                   texts = CQ_NONE, numbers = CQ_NONE, fallback = CQ_NONE;
    bool                     from_text = cq_val_texts(rt->in[0]) != NULL;
    cq_tensor               *counted;
    cq_status                status;

    if (!a || (numbers_name && !b))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "the node has no list of categories");
    CQ_TRY_OR_DONE(list_of(&texts, rt, a));
    if (b) {
        CQ_TRY_OR_DONE(list_of(&numbers, rt, b));
    } else {
        CQ_TRY_OR_DONE(cq_tensor_new_uninit(&counted, CQ_DTYPE_I64, 1, &(int64_t){ a->strings.n }));
        numbers = cq_val_of_tensor(counted);
        for (uint32_t i = 0; i < a->strings.n; i++)
            ((int64_t *)cq_tensor_data(counted))[i] = i;
    }
    CQ_TRY_OR_DONE(read_default(&fallback, rt, from_text ? numbers : texts));
    status = encode(rt, from_text ? texts : numbers, from_text ? numbers : texts, fallback);
done:
    cq_val_release(texts);
    cq_val_release(numbers);
    cq_val_release(fallback);
    return status;
}

static cq_status label_encoder_1(cq_rt *rt)
{
    return map_both_ways(rt, "classes_strings", NULL);
}

static cq_status category_mapper(cq_rt *rt)
{
    return map_both_ways(rt, "cats_strings", "cats_int64s");
}

/* ---- trees ---- */

enum { AVERAGE, SUM, MIN, MAX };
enum { BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, BRANCH_MEMBER };
enum { NO_TRANSFORM, SOFTMAX, LOGISTIC };

/* The attributes; lists of nodes are as long as modes, lists of leaves as weights. */
typedef struct trees {
    const cq_onnx_ints *roots, *features, *true_ids, *false_ids, *true_leafs, *false_leafs,
        *targets;
    const cq_onnx_ints *missing; /* if NULL, missing values never take the true branch */
    cq_tensor          *splits, *modes, *weights, *members;
    int64_t             n_nodes, n_leafs, n_targets;
} trees;

static cq_status read_ints(const cq_onnx_ints **out, cq_rt *rt, const char *name, int64_t n)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, name);

    *out = a ? &a->ints : NULL;
    if (!a || (n >= 0 && a->ints.n != n))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "%s has %u numbers, expected %" PRId64, name,
                       a ? a->ints.n : 0, n);
    return CQ_OK;
}

static cq_status read_numbers(cq_tensor **out, cq_rt *rt, const char *name)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, name);

    return a ? cq_onnx_tensor_to_tensor(out, rt->step->model, a->t) : CQ_OK;
}

static cq_status read_trees(trees *t, cq_rt *rt)
{
    CQ_TRY(read_numbers(&t->modes, rt, "nodes_modes"));
    CQ_TRY(read_numbers(&t->splits, rt, "nodes_splits"));
    CQ_TRY(read_numbers(&t->weights, rt, "leaf_weights"));
    CQ_TRY(read_numbers(&t->members, rt, "membership_values"));
    t->n_targets = cq_rt_attr_given(rt, "n_targets") ? cq_rt_int(rt, "n_targets") : 1;
    t->n_nodes   = cq_tensor_numel(t->modes);
    t->n_leafs   = cq_tensor_numel(t->weights);
    if (cq_tensor_numel(t->splits) != t->n_nodes || t->n_targets < 1 || t->n_targets > INT32_MAX)
        return cq_rt_misfit(t->modes, t->splits);
    CQ_TRY(read_ints(&t->features, rt, "nodes_featureids", t->n_nodes));
    CQ_TRY(read_ints(&t->true_ids, rt, "nodes_truenodeids", t->n_nodes));
    CQ_TRY(read_ints(&t->false_ids, rt, "nodes_falsenodeids", t->n_nodes));
    CQ_TRY(read_ints(&t->true_leafs, rt, "nodes_trueleafs", t->n_nodes));
    CQ_TRY(read_ints(&t->false_leafs, rt, "nodes_falseleafs", t->n_nodes));
    CQ_TRY(read_ints(&t->targets, rt, "leaf_targetids", t->n_leafs));
    CQ_TRY(read_ints(&t->roots, rt, "tree_roots", -1));
    if (cq_rt_attr_given(rt, "nodes_missing_value_tracks_true"))
        CQ_TRY(read_ints(&t->missing, rt, "nodes_missing_value_tracks_true", t->n_nodes));
    return CQ_OK;
}

/* Sets are in the order of the nodes that test them, separated by NaN. */
static bool is_member(const trees *t, int64_t node, double x)
{
    int64_t before = 0, i = 0;

    for (int64_t k = 0; k < node; k++)
        before += cq_tensor_get_i64(t->modes, k) == BRANCH_MEMBER;
    for (; t->members && i < cq_tensor_numel(t->members); i++) {
        double member = cq_tensor_get_f64(t->members, i);

        if (isnan(member) && before-- == 0)
            break;
        if (!before && member == x)
            return true;
    }
    return false;
}

static bool goes_true(const trees *t, int64_t node, double x)
{
    double split = cq_tensor_get_f64(t->splits, node);

    if (isnan(x) && t->missing && t->missing->items[node])
        return true;
    switch (cq_tensor_get_i64(t->modes, node)) {
    case BRANCH_LEQ: return x <= split;
    case BRANCH_LT: return x < split;
    case BRANCH_GTE: return x >= split;
    case BRANCH_GT: return x > split;
    case BRANCH_EQ: return x == split;
    case BRANCH_NEQ: return x != split;
    default: return is_member(t, node, x);
    }
}

/* Finds the leaf that a row of features reaches from a root. */
static cq_status find_leaf(int64_t *leaf, const trees *t, int64_t node, const double *x, int64_t n)
{
    for (int64_t steps = 0; steps <= t->n_nodes; steps++) {
        bool    is_true, is_leaf;
        int64_t next;

        if (node < 0 || node >= t->n_nodes || t->features->items[node] < 0 ||
            t->features->items[node] >= n)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "a tree refers to a missing node or feature");
        is_true = goes_true(t, node, x[t->features->items[node]]);
        next    = is_true ? t->true_ids->items[node] : t->false_ids->items[node];
        is_leaf = is_true ? t->true_leafs->items[node] : t->false_leafs->items[node];
        *leaf   = next;
        if (is_leaf && next >= 0 && next < t->n_leafs && t->targets->items[next] >= 0 &&
            t->targets->items[next] < t->n_targets)
            return CQ_OK;
        if (is_leaf)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "a tree refers to a missing leaf or target");
        node = next;
    }
    return cq_fail(CQ_E_INVALID, NULL, NULL, "a tree contains a cycle");
}

/* Computes the aggregate of one row for each target; 0 for targets without a leaf. */
static cq_status aggregate(double *to, const trees *t, int64_t how, const double *x, int64_t n)
{
    for (int64_t k = 0; k < t->n_targets; k++)
        to[k] = how == MIN || how == MAX ? NAN : 0; /* fmin and fmax ignore NaN, so it marks targets
                                                     * without a leaf */
    for (uint32_t k = 0; k < t->roots->n; k++) {
        int64_t leaf;
        double  weight, *at;

        CQ_TRY(find_leaf(&leaf, t, t->roots->items[k], x, n));
        weight = cq_tensor_get_f64(t->weights, leaf);
        at     = &to[t->targets->items[leaf]];
        *at    = how == MIN   ? fmin(*at, weight)
                 : how == MAX ? fmax(*at, weight)
                              : *at + (how == AVERAGE ? weight / t->roots->n : weight);
    }
    for (int64_t k = 0; k < t->n_targets; k++)
        to[k] = isnan(to[k]) ? 0 : to[k];
    return CQ_OK;
}

static void transform(double *to, int64_t n, int64_t how)
{
    double highest = to[0], sum = 0;

    for (int64_t k = 0; how == LOGISTIC && k < n; k++)
        to[k] = 1 / (1 + exp(-to[k]));
    if (how != SOFTMAX)
        return;
    for (int64_t k = 1; k < n; k++)
        highest = fmax(highest, to[k]);
    for (int64_t k = 0; k < n; k++)
        sum += to[k] = exp(to[k] - highest);
    for (int64_t k = 0; k < n; k++)
        to[k] /= sum;
}

static cq_status run_trees(cq_rt *rt, const trees *t)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    int64_t     how = cq_rt_int(rt, "aggregate_function"), after = cq_rt_int(rt, "post_transform");
    cq_operands s = { .compute = CQ_DTYPE_F64 };
    const double *from;
    cq_tensor    *y;
    double       *to;
    int64_t       n;

    CQ_TRY(cq_rt_need_rank(x, "X", 2));
    if (how < AVERAGE || how > MAX)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "aggregate_function is %" PRId64 ", expected 0 to 3", how);
    if (after < NO_TRANSFORM || after > LOGISTIC)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "post_transform %" PRId64 " cannot be run, only 0 to 2", after);
    n = cq_size_of(x, 1);
    CQ_TRY(cq_rt_out(&y, rt, 0, x->dtype, 2, (int64_t[]){ cq_size_of(x, 0), t->n_targets }));
    from = cq_operands_in(&s, x);
    to   = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < cq_size_of(x, 0); i++) {
        s.status = aggregate(to + i * t->n_targets, t, how, from + i * n, n);
        if (s.status == CQ_OK)
            transform(to + i * t->n_targets, t->n_targets, after);
    }
    return cq_operands_close(&s);
}

static cq_status tree_ensemble(cq_rt *rt)
{
    trees     t      = { 0 };
    cq_status status = read_trees(&t, rt);

    if (status == CQ_OK)
        status = run_trees(rt, &t);
    cq_tensor_release(t.modes);
    cq_tensor_release(t.splits);
    cq_tensor_release(t.weights);
    cq_tensor_release(t.members);
    return status;
}

const cq_rt_row cq_rt_rows_ml[] = {
    { "ArrayFeatureExtractor", 1, array_feature_extractor, CQ_RT_TEXT_OUT, 0 },
    { "Binarizer", 1, binarizer, 0, 0 },
    { "CategoryMapper", 1, category_mapper, CQ_RT_TEXT_OWN, 0 },
    { "LabelEncoder", 1, label_encoder_1, CQ_RT_TEXT_OWN, 0 },
    { "LabelEncoder", 2, label_encoder, CQ_RT_TEXT_OWN, 0 },
    { "Normalizer", 1, normalizer, 0, 0 },
    { "TreeEnsemble", 5, tree_ensemble, 0, 0 },
    { 0 },
};
