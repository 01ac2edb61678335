/* Compares two models: pairs their nodes as `calque diff` does, finds the differences within a
 * pair, and measures the deviation of the values of pairs in a run on the same inputs. */
#include "view/view.h"

#include "edit/proof.h"
#include "onnx/diff/diff.h"
#include "tensor/convert.h"

#include <math.h>
#include <stdio.h>

/* Models with more weights are not run. */
#define MOST_WEIGHTS ((uint64_t)2 << 30)

enum { BLOCK = 512 /* elements that are compared at once */ };

/* ---- pairs ---- */

/* Two graphs, and the scopes that enclose them. */
typedef struct graph_pair {
    const cq_onnx_graph *a, *b;
    const cq_diff_scope *around_a, *around_b;
    uint32_t             depth;
} graph_pair;

static void note_pairs(cq_view *a, cq_view *b, const cq_diff_scope *x, const cq_diff_scope *y)
{
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        cq_view_op *op = cq_view_op_of(a, x->nodes[i]);
        cq_view_op *other =
            x->pairs[i] == CQ_DIFF_NONE ? NULL : cq_view_op_of(b, y->nodes[x->pairs[i]]);

        if (!op) /* a Constant */
            continue;
        if (!other) {
            op->state = CQ_VIEW_REMOVED;
            continue;
        }
        op->twin    = (uint32_t)(other - b->ops.items);
        other->twin = (uint32_t)(op - a->ops.items);
    }
    for (uint32_t i = 0; i < y->n_nodes; i++) {
        cq_view_op *op = cq_view_op_of(b, y->nodes[i]);

        if (op && op->twin == CQ_VIEW_NONE)
            op->state = CQ_VIEW_ADDED;
    }
}

static cq_status pair_graphs(cq_view *a, cq_view *b, cq_arena *arena, graph_pair g);

/* The attribute of a node with this name that is a graph; NULL if there is none. */
static const cq_onnx_graph *body_of(const cq_onnx_node *node, const char *name)
{
    for (uint32_t i = 0; name && i < node->attribute.n; i++) {
        const cq_onnx_attribute *x = node->attribute.items[i];

        if (x->g && x->name && strcmp(x->name, name) == 0)
            return x->g;
    }
    return NULL;
}

/* Pairs the bodies of paired nodes. */
static cq_status pair_bodies(cq_view *a, cq_view *b, cq_arena *arena, const cq_diff_scope *x,
                             const cq_diff_scope *y, uint32_t depth)
{
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        if (x->pairs[i] == CQ_DIFF_NONE)
            continue;
        for (uint32_t k = 0; k < x->nodes[i]->attribute.n; k++) {
            const cq_onnx_attribute *attribute = x->nodes[i]->attribute.items[k];
            const cq_onnx_graph     *other =
                attribute->g ? body_of(y->nodes[x->pairs[i]], attribute->name) : NULL;

            if (other)
                CQ_TRY(
                    pair_graphs(a, b, arena, (graph_pair){ attribute->g, other, x, y, depth + 1 }));
        }
    }
    return CQ_OK;
}

/* A node without a pair exists in one model only. */
static cq_status pair_graphs(cq_view *a, cq_view *b, cq_arena *arena, graph_pair g)
{
    cq_diff_scope x = { 0 }, y = { 0 };
    cq_status     status;

    if (g.depth > CQ_VIEW_MAX_BODIES)
        return CQ_OK;
    status = cq_diff_open_graph(&x, arena, g.a, g.around_a);
    if (status == CQ_OK)
        status = cq_diff_open_graph(&y, arena, g.b, g.around_b);
    if (status == CQ_OK)
        status = cq_diff_pair(&x, &y);
    if (status == CQ_OK) {
        note_pairs(a, b, &x, &y);
        status = pair_bodies(a, b, arena, &x, &y, g.depth);
    }
    cq_diff_close(&x);
    cq_diff_close(&y);
    return status;
}

/* ---- differences within a pair ---- */

static cq_status note_change(cq_view *a, cq_view *b, const cq_onnx_finding *f)
{
    const char *text = cq_view_finding_text(a, f);
    cq_view_op *op   = cq_view_op_at(a, f->where);

    if (!text)
        return CQ_E_NO_MEMORY;
    if (!op || op->twin == CQ_VIEW_NONE) /* of the model, or a node that has no pair anyway */
        return op || cq_view_op_at(b, f->where) ? CQ_OK : cq_vec_push(&a->notes, text);
    op->state                    = CQ_VIEW_CHANGED;
    b->ops.items[op->twin].state = CQ_VIEW_CHANGED;
    return cq_vec_push(&op->notes, text);
}

static cq_status note_changes(cq_view *a, cq_view *b)
{
    cq_onnx_findings *findings = NULL;
    cq_status         status   = cq_onnx_model_diff(&findings, a->model, b->model, 0, 0);

    for (size_t i = 0; status == CQ_OK && i < cq_onnx_findings_count(findings); i++)
        status = note_change(a, b, cq_onnx_findings_at(findings, i));
    cq_onnx_findings_free(findings);
    return status;
}

/* ---- deviations ---- */

typedef struct pair {
    uint32_t of_a, of_b; /* values */
} pair;

typedef struct comparison {
    cq_view *a, *b;
    CQ_VEC(pair) pairs;
    CQ_VEC(const char *) names[2];
    cq_input_set    inputs[2];
    cq_session     *sessions[2];
    cq_onnx_value **results[2];
} comparison;

/* Pairs the results of paired nodes by position. */
static cq_status collect_pairs(comparison *c)
{
    for (size_t i = 0; i < c->a->ops.n; i++) {
        const cq_view_op *op = &c->a->ops.items[i], *twin;

        if (op->twin == CQ_VIEW_NONE)
            continue;
        twin = &c->b->ops.items[op->twin];
        for (uint32_t k = 0; k < op->n_outputs && k < twin->n_outputs; k++) {
            const pair p = { op->outputs[k], twin->outputs[k] };

            if (p.of_a == CQ_VIEW_NONE || p.of_b == CQ_VIEW_NONE ||
                c->a->values.items[p.of_a].graph != c->a->main_graph)
                continue; /* a session cannot fetch the values of a body */
            CQ_TRY(cq_vec_push(&c->pairs, p));
            CQ_TRY(cq_vec_push(&c->names[0], c->a->values.items[p.of_a].name));
            CQ_TRY(cq_vec_push(&c->names[1], c->b->values.items[p.of_b].name));
        }
    }
    return CQ_OK;
}

static cq_status run(comparison *c, int which)
{
    const cq_onnx_model *m = which ? c->b->model : c->a->model;
    cq_session_options   options;
    size_t               n;

    if (!c->sessions[which]) {
        cq_session_options_init(&options);
        options.fetch   = c->names[which].items;
        options.n_fetch = c->names[which].n;
        CQ_TRY(cq_session_prepare(&c->sessions[which], m, &options));
    }
    n                 = cq_session_n_outputs(c->sessions[which]);
    c->results[which] = cq_zalloc((n + 1) * sizeof *c->results[which]);
    if (!c->results[which])
        return CQ_E_NO_MEMORY;
    return cq_session_run(c->sessions[which], NULL, c->inputs[which].items, c->inputs[which].n,
                          c->results[which]);
}

static void clear_run(comparison *c, int which)
{
    const size_t n = c->sessions[which] ? cq_session_n_outputs(c->sessions[which]) : 0;

    for (size_t i = 0; i < n && c->results[which]; i++)
        cq_onnx_value_release(c->results[which][i]);
    cq_free(c->results[which]);
    c->results[which] = NULL;
    cq_input_set_clear(&c->inputs[which]);
}

/* Random inputs that the first model accepts. */
static cq_status run_both(comparison *c)
{
    cq_status status = CQ_E_TYPE;

    for (int i = 0; i < CQ_N_INPUT_CHOICES && status != CQ_OK; i++) {
        clear_run(c, 0);
        status =
            cq_input_set_random(&c->inputs[0], c->a->model, c->b->model, &cq_input_choices[i], 0);
        if (status == CQ_OK)
            status = run(c, 0);
    }
    if (status == CQ_OK)
        status = cq_input_set_map(&c->inputs[1], &c->inputs[0], c->a->model, c->b->model);
    return status == CQ_OK ? run(c, 1) : status;
}

static void measure(cq_view_value *x, const cq_tensor *s, const cq_tensor *t)
{
    const int64_t numel = cq_tensor_numel(s);
    double        p[BLOCK], q[BLOCK];

    if (cq_tensor_numel(t) != numel)
        return;
    x->deviation = 0;
    for (int64_t at = 0, n; at < numel; at += n) {
        n = numel - at < BLOCK ? numel - at : BLOCK;
        cq_tensor_get_f64_run(p, s, at, n);
        cq_tensor_get_f64_run(q, t, at, n);
        for (int64_t i = 0; i < n; i++) {
            if (isfinite(p[i] - q[i]))
                x->deviation = fmax(x->deviation, fabs(p[i] - q[i]));
            if (isfinite(p[i]))
                x->largest = fmax(x->largest, fabs(p[i]));
        }
    }
}

/* Fetched values follow the outputs of the model. */
static void measure_all(comparison *c)
{
    const size_t skip_a = cq_session_n_outputs(c->sessions[0]) - c->pairs.n;
    const size_t skip_b = cq_session_n_outputs(c->sessions[1]) - c->pairs.n;

    for (size_t i = 0; i < c->pairs.n; i++) {
        cq_view_value   *x = &c->a->values.items[c->pairs.items[i].of_a];
        cq_view_value   *y = &c->b->values.items[c->pairs.items[i].of_b];
        const cq_tensor *s = cq_onnx_value_tensor(c->results[0][skip_a + i]);
        const cq_tensor *t = cq_onnx_value_tensor(c->results[1][skip_b + i]);

        if (!s || !t)
            continue;
        measure(x, s, t);
        y->deviation = x->deviation;
        y->largest   = x->largest;
    }
}

/* If a model cannot be run, only the structures are compared. */
static cq_status compare_values(cq_view *a, cq_view *b)
{
    comparison  c      = { .a = a, .b = b };
    cq_status   status = collect_pairs(&c);
    const char *reason = "the weights exceed 2 GB";

    if (status == CQ_OK &&
        cq_proof_weight_bytes(a->model) + cq_proof_weight_bytes(b->model) <= MOST_WEIGHTS) {
        status = run_both(&c);
        if (status == CQ_OK)
            measure_all(&c);
        reason = status == CQ_OK ? NULL : cq_last_error()->message;
    }
    if (status != CQ_E_NO_MEMORY && reason) {
        const char *text = cq_arena_printf(a->arena, "values were not compared: %s", reason);

        status = text ? cq_vec_push(&a->notes, text) : CQ_E_NO_MEMORY;
    }
    for (int i = 0; i < 2; i++) {
        clear_run(&c, i);
        cq_session_free(c.sessions[i]);
        cq_vec_clear(&c.names[i]);
    }
    cq_vec_clear(&c.pairs);
    return status;
}

cq_status cq_view_compare(cq_view *a, cq_view *b)
{
    cq_arena *arena = cq_arena_new();
    cq_status status =
        arena ? pair_graphs(a, b, arena, (graph_pair){ .a = a->model->graph, .b = b->model->graph })
              : CQ_E_NO_MEMORY;

    cq_arena_free(arena);
    if (status == CQ_OK)
        status = note_changes(a, b);
    return status == CQ_OK ? compare_values(a, b) : status;
}
