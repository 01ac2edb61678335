/* Names. A node is named after its module and operator, its outputs after the node:
 * `/features/0/Conv`, `/features/0/Conv_output_0`. Inputs, weights and outputs have the names of
 * the model or the user. All are unique, and the same graph gets the same names. */
#include "export/exporter.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct namer {
    cq_exporter *ex;
    cq_ptr_map   used; /* every name, a text of the graph -> 1 + how many were derived from it */
} namer;

static size_t uses_of(const namer *n, const char *text)
{
    return (size_t)(uintptr_t)cq_ptr_map_get(&n->used, text);
}

static cq_status use(namer *n, const char *text, size_t uses)
{
    CQ_TRY(n->ex->graph->status);
    return cq_ptr_map_set(&n->used, text, (void *)(uintptr_t)uses);
}

static cq_status claim(namer *n, const char *name, const char *what)
{
    const char *text = cq_ir_text(n->ex->graph, name);

    if (uses_of(n, text))
        return cq_fail(CQ_E_ARGUMENT, NULL, "give every input, output and parameter its own name",
                       "the name \"%s\" of %s is already taken", name, what);
    return use(n, text, 1);
}

/* base, or base_1, base_2, … */
static const char *unique(namer *n, const char *base)
{
    cq_graph   *g = n->ex->graph;
    char        name[512];
    const char *text;
    size_t      k;

    if (strlen(base) >= sizeof name) {
        snprintf(name, sizeof name, "%.511s", base);
        base = name;
    }
    base = text = cq_ir_text(g, base);
    k           = uses_of(n, base);
    while (uses_of(n, text)) {
        snprintf(name, sizeof name, "%.480s_%zu", base, k++);
        text = cq_ir_text(g, name);
    }
    if (k && use(n, base, k) != CQ_OK)
        return NULL;
    return use(n, text, 1) == CQ_OK ? text : NULL;
}

/* The user's names come first, so that no other value takes them. */
static cq_status name_inputs(namer *n)
{
    const cq_export_options *o    = &n->ex->options;
    cq_graph                *g    = n->ex->graph;
    size_t                   next = 0;
    char                     name[64];

    for (; next < g->top->params.n && next < o->n_input_names; next++) {
        g->top->params.items[next]->name = cq_ir_text(g, o->input_names[next]);
        CQ_TRY(claim(n, o->input_names[next], "an input"));
    }
    for (size_t i = next; i < g->top->params.n; i++) {
        cq_value *v = g->top->params.items[i];

        snprintf(name, sizeof name, "input_%zu", i);
        if (!(v->name = unique(n, v->name ? v->name : name)))
            return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; i < g->constants.n; i++) {
        cq_value *v = g->constants.items[i];

        if (!v->n_uses || !v->is_weight)
            continue;
        if (next < o->n_input_names)
            v->name = cq_ir_text(g, o->input_names[next++]);
        if (v->name)
            CQ_TRY(claim(n, v->name, "a parameter"));
    }
    if (next < o->n_input_names)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "%zu input names were given, but there are %zu inputs and parameters",
                       o->n_input_names, next);
    return CQ_OK;
}

static cq_status name_outputs(namer *n)
{
    const cq_export_options *o         = &n->ex->options;
    cq_graph                *g         = n->ex->graph;
    const cq_graph          *source    = n->ex->source;
    size_t                   n_named   = source->named_outputs.n;
    size_t                   n_outputs = g->top->returns.n - n_named;

    if (o->n_output_names > n_outputs)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "%zu output names were given, but the model has %zu output%s",
                       o->n_output_names, n_outputs, n_outputs == 1 ? "" : "s");
    for (size_t i = 0; i < n_outputs; i++) {
        cq_value   *v = g->top->returns.items[i].u.value;
        const char *own;
        char        name[64];

        if (i < o->n_output_names) {
            v->name = cq_ir_text(g, o->output_names[i]);
            CQ_TRY(claim(n, v->name, "an output"));
            continue;
        }
        own = i < source->return_names.n ? source->return_names.items[i] : NULL;
        snprintf(name, sizeof name, "output_%zu", i);
        if (!(v->name = unique(n, own ? own : name)))
            return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; i < n_named; i++) {
        cq_value *v = g->top->returns.items[n_outputs + i].u.value;

        v->name = cq_ir_text(g, source->named_outputs.items[i]);
        CQ_TRY(claim(n, v->name, "an output"));
    }
    return CQ_OK;
}

/* A value that is returned twice, or an input that is returned unchanged, needs a separate name. */
static cq_status separate_outputs(cq_graph *g)
{
    cq_ptr_map returned = { 0 };
    cq_status  status   = CQ_OK;

    for (size_t i = 0; i < g->top->returns.n && status == CQ_OK; i++) {
        cq_operand *o = &g->top->returns.items[i];
        cq_value   *v = o->u.value;
        cq_node    *node;

        if (v->node && !cq_ptr_map_get(&returned, v)) {
            status = cq_ptr_map_set(&returned, v, v);
            continue;
        }
        node = cq_ir_node_new(g->top, NULL, "onnx::Identity", o, 1, 1);
        if (!node) {
            status = g->status;
            continue;
        }
        node->outputs[0]->type = v->type;
        o->u.value             = node->outputs[0];
    }
    cq_ptr_map_clear(&returned);
    return status;
}

static cq_status name_node(cq_node *node, void *user)
{
    namer      *n    = user;
    const char *op   = strstr(node->op, "::");
    const char *path = node->origin ? node->origin->path : "";
    char        base[512];
    size_t      at = 0;

    base[at++] = '/';
    for (; *path && at < 400; path++)
        base[at++] = *path == '.' ? '/' : *path;
    if (at > 1)
        base[at++] = '/';
    snprintf(base + at, sizeof base - at, "%s", op ? op + 2 : node->op);
    node->name = unique(n, node->name ? node->name : base);
    if (!node->name)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i]->name)
            continue;
        snprintf(base, sizeof base, "%.480s_output_%zu", node->name, i);
        node->outputs[i]->name = unique(n, base);
        if (!node->outputs[i]->name)
            return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; i < node->n_blocks; i++)
        for (size_t k = 0; k < node->blocks[i]->params.n; k++) {
            cq_value *v = node->blocks[i]->params.items[k];

            snprintf(base, sizeof base, "%.470s_input_%zu", node->name, k);
            if (!v->name)
                v->name = unique(n, base);
            if (!v->name)
                return CQ_E_NO_MEMORY;
        }
    return CQ_OK;
}

cq_status cq_export_name_inputs(cq_exporter *ex)
{
    namer     n      = { .ex = ex };
    cq_status status = name_inputs(&n);

    cq_ptr_map_clear(&n.used);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const cq_value *v = *(cq_value *const *)a, *w = *(cq_value *const *)b;

    if (v->position != w->position)
        return v->position < w->position ? -1 : 1;
    return v->id < w->id ? -1 : v->id > w->id;
}

/* Given names are unique; of names derived from one weight, the later ones get a number. */
static cq_status claim_inputs(namer *n)
{
    cq_graph *g = n->ex->graph;

    for (size_t i = 0; i < g->top->params.n; i++)
        CQ_TRY(claim(n, g->top->params.items[i]->name, "an input"));
    for (size_t i = 0; i < g->constants.n; i++) {
        cq_value *v = g->constants.items[i];

        if (v->n_uses && v->name && !(v->name = unique(n, v->name)))
            return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

cq_status cq_export_name_outputs(cq_exporter *ex)
{
    cq_graph *g = ex->graph;
    namer     n = { .ex = ex };
    cq_status status;

    CQ_TRY(separate_outputs(g));
    cq_ir_count_uses(g);
    if (g->constants.n)
        qsort(g->constants.items, g->constants.n, sizeof *g->constants.items, by_place);
    status = claim_inputs(&n);
    if (status == CQ_OK)
        status = name_outputs(&n);
    cq_ptr_map_clear(&n.used);
    return status;
}

static cq_status reserve_names(namer *n)
{
    cq_graph *g = n->ex->graph;

    for (size_t i = 0; i < g->top->params.n; i++)
        CQ_TRY(use(n, cq_ir_text(g, g->top->params.items[i]->name), 1));
    for (size_t i = 0; i < g->constants.n; i++)
        if (g->constants.items[i]->name)
            CQ_TRY(use(n, cq_ir_text(g, g->constants.items[i]->name), 1));
    for (size_t i = 0; i < g->top->returns.n; i++)
        CQ_TRY(use(n, cq_ir_text(g, g->top->returns.items[i].u.value->name), 1));
    return CQ_OK;
}

cq_status cq_export_name(cq_exporter *ex)
{
    namer     n = { .ex = ex };
    cq_status status;

    status = reserve_names(&n);
    for (size_t i = 0; i < ex->graph->constants.n && status == CQ_OK; i++) {
        cq_value *v = ex->graph->constants.items[i];

        if (!v->name && !(v->name = unique(&n, "constant")))
            status = CQ_E_NO_MEMORY;
    }
    if (status == CQ_OK)
        status = cq_ir_each_node(ex->graph->top, name_node, &n);
    cq_ptr_map_clear(&n.used);
    return status;
}
