/* Metadata of an exported program, in metadata_props of the model:
 *
 *     range:batch          2..64, the sizes that the program supports; 2.. without a maximum
 *     constraint:0         past+length<=total, a condition on them
 *     structure:inputs     {"ids": "ids", "past": [["past_0_0", "past_0_1"]]}, the nesting of the
 *     structure:outputs    arguments and the result of forward, by the names in the graph; null is
 *                          None, or an argument that is fixed in the program
 *
 * A structure is omitted if it is the plain list of inputs or outputs. */
#include "export/front/pt2_metadata.h"

#include "base/str.h"

#include <stdio.h>

/* ---- ranges ---- */

/* PyTorch writes extreme numbers for a missing limit. */
static void add_range(cq_onnx_model *onnx, const cq_pt2_shown *shown, const cq_pt2_range *range)
{
    char key[80], value[64];

    snprintf(key, sizeof key, "range:%.63s", shown->name);
    if (range->max < INT64_C(1) << 53)
        snprintf(value, sizeof value, "%lld..%lld", (long long)range->min, (long long)range->max);
    else
        snprintf(value, sizeof value, "%lld..", (long long)range->min);
    cq_onnx_add_entry(onnx, &onnx->metadata_props, key, value);
}

static void add_ranges(cq_onnx_model *onnx, const cq_pt2 *model)
{
    for (size_t i = 0; i < model->shown.n; i++) {
        const cq_pt2_range *range =
            cq_map_get(&model->program->range_of, model->shown.items[i].symbol);

        if (range)
            add_range(onnx, &model->shown.items[i], range);
    }
}

/* ---- constraints ---- */

typedef struct names {
    const cq_onnx_model *onnx;
    cq_symbols           table;
} names;

static bool size_of_name(void *user, const char *name, cq_int *out)
{
    *out = cq_symbol(user, name, 2, NULL, 0);
    return true;
}

/* The size of an input, under the name that the model has for it. */
static cq_int size_of_axis(void *user, size_t input, size_t axis)
{
    names               *n   = user;
    const cq_onnx_graph *g   = n->onnx->graph;
    const cq_onnx_type  *t   = input < g->input.n ? g->input.items[input]->type : NULL;
    const cq_onnx_shape *s   = t && t->tensor_type ? t->tensor_type->shape : NULL;
    const cq_onnx_dim   *d   = s && axis < s->dim.n ? s->dim.items[axis] : NULL;
    const cq_pt2_env     env = { &n->table, size_of_name, &n->table };
    cq_int               size;

    if (d && d->dim_param)
        return cq_pt2_expr(d->dim_param, &env, &size)
                   ? size
                   : cq_symbol(&n->table, d->dim_param, 2, NULL, 0);
    return cq_i(d ? d->dim_value : 0);
}

/* A comparison of two equal sizes, or of numbers, is redundant. */
static void add_constraint(names *n, const cq_pt2_guard *g, cq_map *known, cq_onnx_model *onnx)
{
    char   key[40], value[2 * CQ_EXPR_MAX_TEXT + 8], buffer[2][24];
    cq_int l, r;

    if (!cq_pt2_guard_side(g->left, &n->table, size_of_axis, n, &l) ||
        !cq_pt2_guard_side(g->right, &n->table, size_of_axis, n, &r) || cq_int_same(l, r) ||
        (!l.expr && !r.expr) ||
        snprintf(value, sizeof value, "%s%s%s", cq_int_text(l, buffer[0]), g->relation,
                 cq_int_text(r, buffer[1])) >= (int)sizeof value ||
        cq_map_has(known, value))
        return;
    snprintf(key, sizeof key, "constraint:%zu", known->n);
    if (cq_map_set(known, value, onnx) != CQ_OK)
        onnx->status = CQ_E_NO_MEMORY;
    cq_onnx_add_entry(onnx, &onnx->metadata_props, key, value);
}

static cq_status add_constraints(cq_onnx_model *onnx, const cq_pt2 *model)
{
    names     n     = { .onnx = onnx };
    cq_arena *arena = cq_arena_new();
    cq_map    known = { 0 };

    if (!arena)
        return CQ_E_NO_MEMORY;
    cq_symbols_init(&n.table, arena);
    for (size_t i = 0; i < model->guards.n; i++)
        add_constraint(&n, &model->guards.items[i], &known, onnx);
    cq_map_clear(&known);
    cq_symbols_clear(&n.table);
    cq_arena_free(arena);
    return onnx->status;
}

/* ---- structure ---- */

static bool is_flat(const cq_pt2_tree *t, bool keys_matter)
{
    if (t->is_leaf)
        return true;
    for (size_t i = 0; i < t->n; i++)
        if (!t->items[i].is_leaf)
            return false;
    return !keys_matter || !t->keys;
}

typedef CQ_VEC(const char *) leaf_names;

static cq_status add_structure(cq_onnx_model *onnx, const char *key, const cq_pt2_tree *t,
                               const leaf_names *leaves)
{
    cq_str    s = { 0 };
    cq_status status;

    cq_pt2_tree_json(&s, t, leaves->items, leaves->n);
    status = s.status;
    if (status == CQ_OK)
        cq_onnx_add_entry(onnx, &onnx->metadata_props, key, s.text);
    cq_str_clear(&s);
    return status;
}

/* The graph's inputs or outputs that are leaves, and their names in the model. */
static cq_status collect(leaf_names *to, const cq_pt2_arg *args, const cq_pt2_port *ports, size_t n,
                         bool outputs, const cq_onnx_graph *g)
{
    size_t next = 0;

    for (size_t i = 0; i < n; i++) {
        const bool there = ports[i].role == CQ_PT2_USER &&
                           (outputs ? args[i].kind != CQ_PT2_NONE : args[i].kind == CQ_PT2_SLOT);
        const size_t n_values = outputs ? g->output.n : g->input.n;
        const char  *name     = NULL;

        if (ports[i].role != CQ_PT2_USER && ports[i].role != CQ_PT2_FIXED)
            continue;
        if (there && next < n_values)
            name = outputs ? g->output.items[next]->name : g->input.items[next]->name;
        next += there;
        CQ_TRY(cq_vec_push(to, name));
    }
    return CQ_OK;
}

static cq_status add_structures(cq_onnx_model *onnx, const cq_pt2 *model)
{
    const cq_pt2_program *p      = model->program;
    leaf_names            leaves = { 0 };
    cq_status             status = CQ_OK;

    if (!is_flat(&model->arguments, false)) {
        status =
            collect(&leaves, p->graph->inputs, p->inputs, p->graph->n_inputs, false, onnx->graph);
        if (status == CQ_OK)
            status = add_structure(onnx, "structure:inputs", &model->arguments, &leaves);
    }
    leaves.n = 0;
    if (status == CQ_OK && !is_flat(&model->results, true)) {
        status =
            collect(&leaves, p->graph->outputs, p->outputs, p->graph->n_outputs, true, onnx->graph);
        if (status == CQ_OK)
            status = add_structure(onnx, "structure:outputs", &model->results, &leaves);
    }
    cq_vec_clear(&leaves);
    return status;
}

cq_status cq_pt2_add_metadata(cq_onnx_model *onnx, const cq_pt2 *model)
{
    add_ranges(onnx, model);
    CQ_TRY(add_constraints(onnx, model));
    CQ_TRY(add_structures(onnx, model));
    return onnx->status;
}
