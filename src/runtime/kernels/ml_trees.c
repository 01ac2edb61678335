/* Tree ensembles of ai.onnx.ml before version 5: lists of nodes that are identified by tree and
 * number. ml.c has TreeEnsemble, which replaced them. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/ml.h"
#include "runtime/plan/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum mode { LEQ, LT, GTE, GT, EQ, NEQ, LEAF } mode;

typedef struct node {
    int64_t tree, id, feature;
    mode    mode;
    bool    missing_is_true, is_child;
    double  value;
    int64_t true_id, false_id;
    size_t  yes, no;            /* indices of the children */
    size_t  first_leaf, n_leaf; /* of a leaf: its weights */
} node;

typedef struct weight {
    int64_t tree, id, target;
    size_t  order;
    double  weight;
} weight;

typedef struct forest {
    node   *nodes;
    weight *weights;
    double *base;
    size_t *roots; /* indices of nodes */
    size_t  n_nodes, n_weights, n_trees;
    int64_t n_base, n_targets;
    bool    is_positive, has_one_target; /* of all weights */
} forest;

static void forest_clear(forest *f)
{
    cq_free(f->nodes);
    cq_free(f->roots);
    cq_free(f->weights);
    cq_free(f->base);
}

static cq_status wrong_tree(const char *what)
{
    return cq_fail(CQ_E_INVALID, NULL, NULL, "the lengths of the lists of trees do not match: %s",
                   what);
}

/* ---- reading ---- */

static int compare_ids(int64_t tree_a, int64_t id_a, int64_t tree_b, int64_t id_b)
{
    if (tree_a != tree_b)
        return tree_a < tree_b ? -1 : 1;
    return (id_a > id_b) - (id_a < id_b);
}

static int compare_nodes(const void *a, const void *b)
{
    const node *x = a, *y = b;

    return compare_ids(x->tree, x->id, y->tree, y->id);
}

static int compare_weights(const void *a, const void *b)
{
    const weight *x = a, *y = b;
    int           c = compare_ids(x->tree, x->id, y->tree, y->id);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static const int64_t *ints_of(const cq_rt *rt, const char *name, size_t n)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, name);

    return a && a->ints.n == n ? a->ints.items : NULL;
}

static bool read_mode(mode *out, cq_onnx_bytes text)
{
    static const char *const names[] = { "BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "LEAF" };

    for (int i = 0; i < 7; i++)
        if (text.size == strlen(names[i]) && !memcmp(text.data, names[i], text.size)) {
            *out = (mode)i;
            return true;
        }
    return false;
}

static cq_status read_nodes(forest *f, const cq_rt *rt)
{
    const cq_onnx_attribute *modes = cq_rt_attr_given(rt, "nodes_modes");
    size_t                   n     = modes ? modes->strings.n : 0;
    const int64_t *trees = ints_of(rt, "nodes_treeids", n), *ids = ints_of(rt, "nodes_nodeids", n);
    const int64_t *yes      = ints_of(rt, "nodes_truenodeids", n);
    const int64_t *no       = ints_of(rt, "nodes_falsenodeids", n);
    const int64_t *features = ints_of(rt, "nodes_featureids", n);
    const int64_t *missing  = ints_of(rt, "nodes_missing_value_tracks_true", n);
    double        *values;
    int64_t        n_values;
    bool           ok = n && trees && ids && yes && no && features;

    CQ_TRY(cq_ml_floats(&values, &n_values, rt, "nodes_values"));
    f->nodes   = cq_alloc_array(n + 1, sizeof *f->nodes);
    f->n_nodes = n;
    for (size_t i = 0; ok && f->nodes && i < n; i++) {
        f->nodes[i] = (node){ .tree            = trees[i],
                              .id              = ids[i],
                              .feature         = features[i],
                              .value           = (int64_t)i < n_values ? values[i] : 0,
                              .missing_is_true = missing && missing[i],
                              .true_id         = yes[i],
                              .false_id        = no[i] };
        ok          = read_mode(&f->nodes[i].mode, modes->strings.items[i]);
    }
    ok = ok && n_values == (int64_t)n;
    cq_free(values);
    if (!f->nodes)
        return CQ_E_NO_MEMORY;
    if (!ok)
        return wrong_tree("those of nodes");
    qsort(f->nodes, n, sizeof *f->nodes, compare_nodes);
    return CQ_OK;
}

/* kind is "target" or "class". */
static cq_status read_weights(forest *f, const cq_rt *rt, bool is_class)
{
    const cq_onnx_attribute *a     = cq_rt_attr_given(rt, is_class ? "class_ids" : "target_ids");
    size_t                   n     = a ? a->ints.n : 0;
    const int64_t           *trees = ints_of(rt, is_class ? "class_treeids" : "target_treeids", n);
    const int64_t           *ids   = ints_of(rt, is_class ? "class_nodeids" : "target_nodeids", n);
    double                  *values;
    int64_t                  n_values;
    bool                     ok;

    CQ_TRY(cq_ml_floats(&values, &n_values, rt, is_class ? "class_weights" : "target_weights"));
    f->weights     = cq_alloc_array(n + 1, sizeof *f->weights);
    f->n_weights   = n;
    ok             = n && trees && ids && n_values == (int64_t)n;
    f->is_positive = f->has_one_target = true;
    for (size_t i = 0; ok && f->weights && i < n; i++) {
        f->weights[i] = (weight){ trees[i], ids[i], a->ints.items[i], i, values[i] };
        f->is_positive &= values[i] >= 0;
        f->has_one_target &= a->ints.items[i] == a->ints.items[0];
        ok = a->ints.items[i] >= 0 && a->ints.items[i] < f->n_targets;
    }
    cq_free(values);
    if (!f->weights)
        return CQ_E_NO_MEMORY;
    if (!ok)
        return wrong_tree("those of leaves");
    qsort(f->weights, n, sizeof *f->weights, compare_weights);
    return CQ_OK;
}

static node *find_node(const forest *f, int64_t tree, int64_t id)
{
    node key = { .tree = tree, .id = id };

    return bsearch(&key, f->nodes, f->n_nodes, sizeof key, compare_nodes);
}

/* Converts children to indices, and attaches weights, which are sorted like nodes, to their
 * leaves. */
static cq_status link_nodes(forest *f)
{
    size_t w = 0;

    f->roots = cq_alloc_array(f->n_nodes + 1, sizeof *f->roots);
    if (!f->roots)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < f->n_nodes; i++) {
        node *n = &f->nodes[i], *yes, *no;

        if (n->mode == LEAF)
            continue;
        yes = find_node(f, n->tree, n->true_id);
        no  = find_node(f, n->tree, n->false_id);
        if (!yes || !no)
            return wrong_tree("a node refers to a missing child");
        yes->is_child = no->is_child = true;
        n->yes                       = (size_t)(yes - f->nodes);
        n->no                        = (size_t)(no - f->nodes);
    }
    for (size_t i = 0; i < f->n_nodes; i++) {
        node *n = &f->nodes[i];

        if (!n->is_child)
            f->roots[f->n_trees++] = i;
        while (w < f->n_weights &&
               compare_ids(f->weights[w].tree, f->weights[w].id, n->tree, n->id) < 0)
            w++;
        n->first_leaf = w;
        while (w < f->n_weights &&
               compare_ids(f->weights[w].tree, f->weights[w].id, n->tree, n->id) == 0)
            w++;
        n->n_leaf = w - n->first_leaf;
    }
    return f->n_trees ? CQ_OK : wrong_tree("the tree has no root");
}

static cq_status forest_read(forest *f, const cq_rt *rt, bool is_class)
{
    CQ_TRY(read_nodes(f, rt));
    CQ_TRY(read_weights(f, rt, is_class));
    CQ_TRY(cq_ml_floats(&f->base, &f->n_base, rt, "base_values"));
    return link_nodes(f);
}

/* ---- walking ---- */

static bool goes_yes(const node *n, double x)
{
    if (isnan(x) && n->missing_is_true)
        return true;
    switch (n->mode) {
    case LEQ: return x <= n->value;
    case LT: return x < n->value;
    case GTE: return x >= n->value;
    case GT: return x > n->value;
    case EQ: return x == n->value;
    default: return x != n->value;
    }
}

/* Adds the number of visited nodes to *visits. */
static cq_status find_leaf(const node **out, double *visits, const forest *f, const node *n,
                           const double *x, int64_t width)
{
    for (size_t steps = 0; steps <= f->n_nodes; steps++) {
        if (n->mode == LEAF) {
            *visits += (double)steps;
            *out = n;
            return CQ_OK;
        }
        if (n->feature < 0 || n->feature >= width)
            return wrong_tree("a node refers to a missing feature");
        n = &f->nodes[goes_yes(n, x[n->feature]) ? n->yes : n->no];
    }
    return wrong_tree("a tree contains a cycle");
}

enum { SUM, AVERAGE, MIN, MAX };
enum { VISIT = 4 }; /* cost of a node, in copies of an element */

/* Writes a number per target; *has tells whether any leaf contributes to it. The depth of the
 * leaves depends on the data, so each row is charged for the nodes that it visits. */
static cq_status add_up(double *to, bool *has, cq_rt *rt, const forest *f, int how, const double *x,
                        int64_t width)
{
    double visits = (double)f->n_trees;

    for (int64_t k = 0; k < f->n_targets; k++) {
        to[k]  = 0;
        has[k] = false;
    }
    for (size_t i = 0; i < f->n_trees; i++) {
        const node *leaf;

        CQ_TRY(find_leaf(&leaf, &visits, f, &f->nodes[f->roots[i]], x, width));
        visits += (double)leaf->n_leaf;
        for (size_t k = leaf->first_leaf; k < leaf->first_leaf + leaf->n_leaf; k++) {
            const weight *w  = &f->weights[k];
            double       *at = &to[w->target];

            if (how == MIN)
                *at = has[w->target] ? fmin(*at, w->weight) : w->weight;
            else if (how == MAX)
                *at = has[w->target] ? fmax(*at, w->weight) : w->weight;
            else
                *at += w->weight;
            has[w->target] = true;
        }
    }
    for (int64_t k = 0; k < f->n_targets && how == AVERAGE; k++)
        to[k] /= (double)f->n_trees;
    return cq_rt_spend_on_elements(rt, VISIT * visits);
}

/* ---- operators ---- */

static cq_status read_aggregate(int *out, const cq_rt *rt)
{
    static const char *const names[] = { "SUM", "AVERAGE", "MIN", "MAX" };

    for (*out = 0; *out < 4; (*out)++)
        if (cq_rt_is(rt, "aggregate_function", names[*out]))
            return CQ_OK;
    return wrong_tree("unknown aggregate_function");
}

static cq_status regressor(cq_rt *rt)
{
    forest          f = { .n_targets = cq_rt_int(rt, "n_targets") };
    cq_ml_rows      rows;
    cq_ml_transform after;
    cq_tensor      *y;
    double         *to;
    bool           *has = NULL;
    int             how;
    cq_status       status;

    f.n_targets = f.n_targets ? f.n_targets : 1;
    CQ_TRY_OR_DONE(cq_ml_rows_open(&rows, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(cq_ml_transform_of(&after, rt));
    CQ_TRY_OR_DONE(read_aggregate(&how, rt));
    if (f.n_targets < 1 || f.n_targets > INT32_MAX)
        CQ_TRY_OR_DONE(wrong_tree("n_targets"));
    CQ_TRY_OR_DONE(forest_read(&f, rt, false));
    has = cq_alloc_array((size_t)f.n_targets, sizeof *has);
    CQ_TRY_OR_DONE(has ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, f.n_targets }));
    to = cq_operands_out(&rows.s, y);
    for (int64_t i = 0; to && i < rows.n && status == CQ_OK; i++, to += f.n_targets) {
        status = add_up(to, has, rt, &f, how, rows.at + i * rows.width, rows.width);
        for (int64_t k = 0; k < f.n_targets && f.n_base == f.n_targets; k++)
            to[k] += f.base[k];
        cq_ml_transform_row(to, f.n_targets, after);
    }
done:
    forest_clear(&f);
    cq_free(has);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

/* Decides between two classes as ONNX Runtime does. If a leaf contributes to the second class, its
 * score decides; otherwise the score of the first class decides, and the two scores are
 * opposites. */
static int64_t decide_pair(double *to, const bool *has, const forest *f, cq_ml_transform after)
{
    bool    is_probability = f->has_one_target && f->is_positive;
    double  threshold      = is_probability ? 0.5 : 0;
    int64_t label;

    if (f->n_base == 1 && has[0]) /* the base value of a class without a leaf is ignored */
        to[0] += f->base[0];
    if (has[1]) {
        label = to[1] > threshold;
        cq_ml_transform_row(to, 2, after);
        return label;
    }
    label = to[0] > threshold;
    if (after == CQ_ML_PROBIT)
        cq_ml_transform_row(to, 1, after);
    cq_ml_second_score(to, !is_probability, after);
    return label;
}

/* With two base values, the second one is added to the deciding score. */
static int64_t decide_with_bases(double *to, const bool *has, const forest *f,
                                 cq_ml_transform after)
{
    int64_t label;

    if (f->has_one_target) {
        to[0] = (has[1] ? to[1] : to[0]) + f->base[1];
        label = to[0] > (f->is_positive ? 0.5 : 0);
        if (after == CQ_ML_PROBIT)
            cq_ml_transform_row(to, 1, after);
        cq_ml_second_score(to, !f->is_positive, after);
        return label;
    }
    to[0] += f->base[0];
    to[1] += f->base[1];
    label = to[1] > 0;
    cq_ml_transform_row(to, 2, after);
    return label;
}

/* The class with the greatest score among those with a leaf or a base value. */
static int64_t greatest_of(const double *to, const bool *has, const forest *f)
{
    int64_t best = -1;

    for (int64_t k = 0; k < f->n_targets; k++)
        if ((has[k] || f->n_base == f->n_targets) && (best < 0 || to[k] > to[best]))
            best = k;
    return best < 0 ? 0 : best;
}

static cq_status classifier(cq_rt *rt)
{
    forest          f = { .n_targets = cq_ml_n_labels(rt, "classlabels_int64s") };
    cq_ml_rows      rows;
    cq_ml_transform after;
    cq_tensor      *z;
    double         *to;
    bool           *has   = NULL;
    int64_t        *which = NULL;
    cq_status       status;

    CQ_TRY_OR_DONE(cq_ml_rows_open(&rows, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(cq_ml_transform_of(&after, rt));
    if (f.n_targets < 1)
        CQ_TRY_OR_DONE(wrong_tree("the node has no list of labels"));
    CQ_TRY_OR_DONE(forest_read(&f, rt, true));
    has   = cq_alloc_array((size_t)f.n_targets + 1, sizeof *has);
    which = cq_alloc_array((size_t)rows.n + 1, sizeof *which);
    CQ_TRY_OR_DONE(has && which ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_rt_out(&z, rt, 1, CQ_DTYPE_F32, 2, (int64_t[]){ rows.n, f.n_targets }));
    to = cq_operands_out(&rows.s, z);
    for (int64_t i = 0; to && i < rows.n && status == CQ_OK; i++, to += f.n_targets) {
        status = add_up(to, has, rt, &f, SUM, rows.at + i * rows.width, rows.width);
        if (f.n_targets == 2) {
            which[i] = (f.n_base == 2 ? decide_with_bases : decide_pair)(to, has, &f, after);
            continue;
        }
        for (int64_t k = 0; k < f.n_targets && f.n_base == f.n_targets; k++)
            to[k] += f.base[k];
        which[i] = greatest_of(to, has, &f);
        cq_ml_transform_row(to, f.n_targets, after);
    }
    if (status == CQ_OK)
        status = cq_ml_set_labels(rt, "classlabels_int64s", which, rows.n);
done:
    forest_clear(&f);
    cq_free(has);
    cq_free(which);
    return cq_operands_close(&rows.s) == CQ_OK ? status : rows.s.status;
}

const cq_rt_row cq_rt_rows_ml_trees[] = {
    { "TreeEnsembleClassifier", 1, classifier, 0, 0 },
    { "TreeEnsembleRegressor", 1, regressor, 0, 0 },
    { 0 },
};
