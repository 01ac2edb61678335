/* Looks up inferred facts about the values of a model, and adds nodes and constants; for
 * conversions of the opset (steps.c) and of sizes (sizes.c). */
#include "edit/opset.h"

#include "base/str.h"
#include "onnx/infer/values.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"

#include <calque/edit.h>

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

/* ---- new nodes and constants ---- */

void cq_opset_drop_attr(cq_onnx_node *n, const char *name)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n->attribute.n; i++)
        if (strcmp(n->attribute.items[i]->name, name) != 0)
            n->attribute.items[kept++] = n->attribute.items[i];
    n->attribute.n = kept;
}

void cq_opset_set_int(cq_opset_change *c, cq_onnx_node *n, const char *name, int64_t value)
{
    cq_opset_drop_attr(n, name);
    cq_onnx_attr_int(c->m, n, name, value);
}

int cq_opset_rank(const cq_opset_change *c, const char *value)
{
    return (int)(uintptr_t)cq_map_get(&c->ranks, value) - 1;
}

int64_t cq_opset_size(const cq_opset_change *c, const char *value, int64_t axis)
{
    const int64_t *sizes = cq_map_get(&c->shapes, value);
    const int      rank  = cq_opset_rank(c, value);

    axis += axis < 0 ? rank : 0;
    return sizes && axis >= 0 && axis < rank ? sizes[axis] : -1;
}

cq_tensor *cq_opset_constant(const cq_opset_change *c, const char *value)
{
    const cq_onnx_tensor *message = cq_map_get(&c->constants, value);
    cq_tensor            *t       = cq_map_get(&c->computed, value);

    if (!message && t)
        return cq_tensor_retain(t);
    return message && cq_onnx_tensor_to_tensor(&t, c->m, message) == CQ_OK ? t : NULL;
}

const char *cq_opset_name(cq_opset_change *c, const char *base)
{
    char        made[600];
    const char *text;

    do
        snprintf(made, sizeof made, "%.500s_%zu", base, c->n_made++);
    while (cq_map_has(&c->names, made));
    text = cq_onnx_text(c->m, made);
    if (!text || cq_map_set(&c->names, made, c) != CQ_OK)
        c->m->status = CQ_E_NO_MEMORY;
    return text ? text : "";
}

const char *cq_opset_tensor(cq_opset_change *c, const char *base, cq_tensor *t)
{
    const char     *name    = cq_opset_name(c, base);
    cq_onnx_tensor *message = cq_onnx_graph_add_initializer(c->m, NULL, name, t);

    if (message && cq_map_set(&c->constants, name, message) != CQ_OK)
        c->m->status = CQ_E_NO_MEMORY;
    if (message && c->m->ir_version < 4) { /* every initializer is an input, too */
        cq_onnx_axis axes[CQ_MAX_RANK];

        for (size_t i = 0; i < t->rank; i++)
            axes[i] = (cq_onnx_axis){ NULL, t->sizes[i].value };
        cq_onnx_add_value(c->m, &c->m->graph->input, name,
                          cq_onnx_type_new_tensor(c->m, cq_dtype_to_onnx(t->dtype), t->rank, axes));
    }
    return name;
}

const char *cq_opset_ints(cq_opset_change *c, const char *base, const int64_t *values, int64_t n)
{
    cq_tensor  *t = NULL;
    const char *name;

    if (cq_tensor_new(&t, CQ_DTYPE_I64, 1, &n, values) != CQ_OK) {
        c->m->status = CQ_E_NO_MEMORY;
        return "";
    }
    name = cq_opset_tensor(c, base, t);
    cq_tensor_release(t);
    return name;
}

const char *cq_opset_node(cq_opset_change *c, const char *op, const char *const *inputs, size_t n,
                          cq_onnx_node **made)
{
    cq_onnx_node *node = cq_onnx_alloc(c->m, sizeof *node);
    const char   *name = cq_opset_name(c, op);

    if (!node)
        return "";
    node->op_type = cq_onnx_text(c->m, op);
    node->name    = name;
    for (size_t i = 0; i < n; i++)
        cq_onnx_add_name(c->m, &node->input, inputs[i]);
    cq_onnx_add_name(c->m, &node->output, name);
    cq_onnx_list_push(c->m, c->out, node);
    if (made)
        *made = node;
    return name;
}

int cq_opset_type(const cq_opset_change *c, const char *value)
{
    const uintptr_t known = (uintptr_t)cq_map_get(&c->types, value);

    return known && (int)(known >> 8) == CQ_IKIND_TENSOR ? (int)(known & 255) - 1 : 0;
}

/* ---- what is known of values ---- */

static bool is_own_domain(const char *domain)
{
    return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

/* The elements of an integer tensor that follow from shapes, as of Shape and Gather. */
static cq_status learn_elements(cq_opset_change *c, const cq_ivalue *v, bool seen)
{
    const int64_t n    = v->data ? (int64_t)v->data->n : 0;
    int64_t      *ints = NULL;
    cq_tensor    *t    = NULL;

    cq_tensor_release(cq_map_get(&c->computed, v->name));
    CQ_TRY(cq_map_set(&c->computed, v->name, NULL));
    if (seen || !v->data || v->type.elem != CQ_ONNX_INT64 || !v->type.has_rank || v->type.rank > 1)
        return CQ_OK;
    ints = cq_onnx_alloc(c->m, ((size_t)n + 1) * sizeof *ints);
    for (int64_t i = 0; i < n && ints; i++) {
        if (v->data->items[i].kind != CQ_INUM_INT || !cq_int_is_plain(v->data->items[i].i))
            return CQ_OK;
        ints[i] = v->data->items[i].i.value;
    }
    if (!ints)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_I64, v->type.rank, &n, ints));
    return cq_map_set(&c->computed, v->name, t);
}

/* A name that two graphs have is in doubt. */
static cq_status learn_shape(cq_opset_change *c, const cq_ivalue *v, bool seen)
{
    int64_t *sizes = NULL;

    if (v->type.has_rank && v->type.rank && !seen) {
        sizes = cq_onnx_alloc(c->m, v->type.rank * sizeof *sizes);
        if (!sizes)
            return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; sizes && i < v->type.rank; i++)
        sizes[i] = cq_dim_is_plain(v->type.dims[i]) ? v->type.dims[i].size.value : -1;
    return cq_map_set(&c->shapes, v->name, sizes);
}

static cq_status learn(void *user, const cq_onnx_graph *graph, const cq_ivalue *v)
{
    cq_opset_change *c    = user;
    const uintptr_t  rank = v->type.has_rank ? v->type.rank + 1 : 0;
    const bool       seen = cq_map_has(&c->types, v->name);

    (void)graph;
    if (c->is_learned && seen)
        return CQ_OK;
    CQ_TRY(cq_map_set(&c->names, v->name, c));
    CQ_TRY(learn_shape(c, v, seen));
    CQ_TRY(learn_elements(c, v, seen));
    CQ_TRY(
        cq_map_set(&c->types, v->name,
                   seen ? NULL : (void *)(uintptr_t)(1 + v->type.elem + 256 * (int)v->type.kind)));
    if (seen && (uintptr_t)cq_map_get(&c->ranks, v->name) != rank)
        return cq_map_set(&c->ranks, v->name, NULL);
    return cq_map_set(&c->ranks, v->name, (void *)rank);
}

/* A name that two graphs have is in doubt, and not a constant. */
static cq_status add_constant(cq_map *out, const char *name, cq_onnx_tensor *t)
{
    return cq_map_set(out, name, cq_map_has(out, name) ? NULL : t);
}

static cq_status find_constants(cq_map *out, const cq_onnx_graph *g, int depth)
{
    if (!g || depth > MAX_DEPTH)
        return CQ_OK;
    for (size_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name)
            CQ_TRY(add_constant(out, g->initializer.items[i]->name, g->initializer.items[i]));
    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node      *n = g->node.items[i];
        const cq_onnx_attribute *a = cq_onnx_node_attr(n, "value");

        if (n->op_type && strcmp(n->op_type, "Constant") == 0 && is_own_domain(n->domain) && a &&
            a->t && n->output.n)
            CQ_TRY(add_constant(out, n->output.items[0], a->t));
        for (size_t k = 0; k < n->attribute.n; k++)
            CQ_TRY(find_constants(out, n->attribute.items[k]->g, depth + 1));
    }
    return CQ_OK;
}

/* A caller may replace the default of an input; before IR version 4 inputs have no defaults. */
cq_status cq_onnx_find_constants(cq_map *out, const cq_onnx_model *m)
{
    CQ_TRY(find_constants(out, m->graph, 0));
    for (size_t i = 0; i < m->graph->input.n && m->ir_version >= 4; i++)
        if (m->graph->input.items[i]->name)
            CQ_TRY(cq_map_set(out, m->graph->input.items[i]->name, NULL));
    return CQ_OK;
}

static int fact_rank(const cq_compose_facts *f, const char *value)
{
    return cq_opset_rank((const cq_opset_change *)f, value);
}

static int64_t fact_size(const cq_compose_facts *f, const char *value, int64_t axis)
{
    return cq_opset_size((const cq_opset_change *)f, value, axis);
}

static int fact_dtype(const cq_compose_facts *f, const char *value)
{
    return cq_opset_type((const cq_opset_change *)f, value);
}

static cq_tensor *fact_constant(const cq_compose_facts *f, const char *value)
{
    return cq_opset_constant((const cq_opset_change *)f, value);
}

static bool fact_is_taken(const cq_compose_facts *f, const char *name)
{
    return cq_map_has(&((const cq_opset_change *)f)->names, name);
}

static const cq_compose_facts facts = { fact_rank, fact_size, fact_dtype, fact_constant,
                                        fact_is_taken };

cq_status cq_opset_learn(cq_opset_change *c)
{
    c->facts = facts;
    CQ_TRY(cq_onnx_model_each_value(c->m, learn, c));
    c->is_learned = true;
    cq_map_clear(&c->constants);
    return cq_onnx_find_constants(&c->constants, c->m);
}

cq_status cq_opset_learn_function(cq_opset_change *c, const cq_onnx_function *f)
{
    cq_onnx_graph body = { .node = { f->node.items, f->node.n, f->node.cap } };

    c->facts = facts;
    cq_map_clear(&c->constants);
    for (size_t i = 0; i < f->input.n; i++)
        CQ_TRY(cq_map_set(&c->names, f->input.items[i], c));
    for (size_t i = 0; i < f->node.n; i++)
        for (size_t k = 0; k < f->node.items[i]->output.n; k++)
            CQ_TRY(cq_map_set(&c->names, f->node.items[i]->output.items[k], c));
    return find_constants(&c->constants, &body, 0);
}

void cq_opset_forget(cq_opset_change *c)
{
    for (size_t i = 0; i < c->computed.n; i++)
        cq_tensor_release(c->computed.entries[i].value);
    cq_map_clear(&c->computed);
    cq_map_clear(&c->ranks);
    cq_map_clear(&c->shapes);
    cq_map_clear(&c->types);
    cq_map_clear(&c->constants);
    cq_map_clear(&c->names);
}
