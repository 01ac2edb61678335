/* Writes a graph that was read from an ONNX model back into that model. Nodes and tensors that no
 * pass changed keep their messages. Outputs keep their names; so do other values, unless two of
 * them collide in one scope. */
#include "export/front/onnx.h"

#include "onnx/schema.h"

#include "base/str.h"

#include <stdio.h>

typedef struct writer {
    cq_onnx_source *s;
    cq_graph       *g;
    cq_onnx_model  *m;
    cq_map          names; /* visible value names: name -> value */
    size_t          n_made;
} writer;

/* ---- results of blocks ---- */

static cq_value *identity_of(cq_block *b, cq_value *v)
{
    cq_node *n = cq_ir_node_new(b, NULL, "onnx::Identity", &CQ_OPERAND_OF(v), 1, 1);

    if (!n)
        return NULL;
    n->outputs[0]->type = v->type;
    return n->outputs[0];
}

/* A result of the model has a name that callers know. The value takes it, unless it is an input, a
 * constant, or another result. */
static cq_status name_results(writer *w)
{
    cq_block            *top    = w->g->top;
    const cq_onnx_graph *graph  = w->m->graph;
    cq_ptr_map           taken  = { 0 };
    cq_status            status = CQ_OK;

    for (size_t i = 0; i < top->returns.n && status == CQ_OK; i++) {
        cq_value   *v    = top->returns.items[i].u.value;
        const char *name = cq_ir_text(w->g, graph->output.items[i]->name);
        const bool  fits = v->node && v->node->block == top && !cq_ptr_map_get(&taken, v);

        if (!fits && v->name != name) {
            v = identity_of(top, v);
            if (!v) {
                status = w->g->status;
                continue;
            }
            top->returns.items[i] = CQ_OPERAND_OF(v);
        }
        v->name = name;
        status  = cq_ptr_map_set(&taken, v, v);
    }
    cq_ptr_map_clear(&taken);
    return status;
}

/* A result of an inner block must be computed in the block. */
static cq_status own_results(cq_node *n, void *user)
{
    writer *w = user;

    for (size_t i = 0; i < n->n_blocks; i++) {
        cq_block *b = n->blocks[i];

        for (size_t k = 0; k < b->returns.n; k++) {
            cq_value *v       = b->returns.items[k].u.value;
            bool      is_ours = v->node ? v->node->block == b : !v->data && v->block == b;

            for (size_t j = 0; j < k && is_ours; j++)
                is_ours = b->returns.items[j].u.value != v;
            if (is_ours)
                continue;
            v = identity_of(b, v);
            if (!v)
                return w->g->status;
            b->returns.items[k] = CQ_OPERAND_OF(v);
        }
    }
    return CQ_OK;
}

/* ---- names ---- */

static cq_status claim(writer *w, cq_value *v, const char *base)
{
    char        made[600];
    const char *name = v->name ? v->name : NULL;

    if (name && !*name && !v->n_uses)
        return CQ_OK; /* an omitted output */
    if (!name || !*name)
        name = base;
    for (size_t k = 0; cq_map_get(&w->names, name) && cq_map_get(&w->names, name) != v; k++) {
        snprintf(made, sizeof made, "%.500s_%zu", v->name && *v->name ? v->name : base,
                 k ? w->n_made++ : 1);
        name = made;
    }
    if (!v->name || strcmp(name, v->name) != 0)
        v->name = cq_ir_text(w->g, name);
    CQ_TRY(w->g->status);
    return cq_map_set(&w->names, v->name, v);
}

static const char *op_type_of(const cq_node *n)
{
    const char *colons = strstr(n->op, "::");

    return colons ? colons + 2 : n->op;
}

static cq_status name_node(writer *w, cq_node *n)
{
    char base[512];

    for (size_t i = 0; i < n->n_outputs; i++) {
        snprintf(base, sizeof base, "%.400s_output_%zu", op_type_of(n), i);
        CQ_TRY(claim(w, n->outputs[i], base));
    }
    if (n->def || n->name)
        return CQ_OK;
    snprintf(base, sizeof base, "%.400s", n->outputs[0]->name);
    n->name = cq_ir_text(w->g, base);
    return w->g->status;
}

static void release(writer *w, const cq_value *v)
{
    if (v->name && cq_map_get(&w->names, v->name) == v)
        (void)cq_map_set(&w->names, v->name, NULL);
}

/* Names of a block are visible in the block and in its inner blocks only. */
static cq_status name_block(writer *w, cq_block *b)
{
    for (size_t i = 0; i < b->params.n; i++)
        CQ_TRY(claim(w, b->params.items[i], "input"));
    for (cq_node *n = b->first; n; n = n->next)
        CQ_TRY(name_node(w, n));
    for (cq_node *n = b->first; n; n = n->next)
        for (size_t i = 0; i < n->n_blocks; i++)
            CQ_TRY(name_block(w, n->blocks[i]));
    if (b == w->g->top)
        return CQ_OK;
    for (size_t i = 0; i < b->params.n; i++)
        release(w, b->params.items[i]);
    for (const cq_node *n = b->first; n; n = n->next)
        for (size_t i = 0; i < n->n_outputs; i++)
            release(w, n->outputs[i]);
    return CQ_OK;
}

/* Names inputs and results first, so that no other value takes their names. */
static cq_status name_all(writer *w)
{
    cq_block *top = w->g->top;

    for (size_t i = 0; i < top->params.n; i++)
        CQ_TRY(claim(w, top->params.items[i], "input"));
    for (size_t i = 0; i < top->returns.n; i++)
        CQ_TRY(claim(w, top->returns.items[i].u.value, "output"));
    for (size_t i = 0; i < w->g->constants.n; i++)
        if (w->g->constants.items[i]->n_uses)
            CQ_TRY(claim(w, w->g->constants.items[i], "constant"));
    for (size_t i = 0; i < w->s->opaque.n; i++)
        CQ_TRY(claim(w, w->s->opaque.items[i].value, "constant"));
    return name_block(w, top);
}

/* ---- nodes ---- */

static bool same_list(const cq_operand *o, const cq_onnx_attribute *a)
{
    const size_t n = o->u.list.n;

    if (n != (a->type == CQ_ONNX_ATTR_INTS ? a->ints.n : a->floats.n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const cq_operand *item = &o->u.list.items[i];

        if (a->type == CQ_ONNX_ATTR_INTS
                ? item->kind != CQ_OPERAND_INT || item->u.i.value != a->ints.items[i]
                : item->kind != CQ_OPERAND_FLOAT || (float)item->u.f != a->floats.items[i])
            return false;
    }
    return true;
}

/* Whether no pass has changed an attribute. */
static bool is_same(const writer *w, const cq_operand *o, const cq_onnx_attribute *a)
{
    switch (o->kind) {
    case CQ_OPERAND_OPAQUE: return o->u.opaque == a;
    case CQ_OPERAND_INT: return a->type == CQ_ONNX_ATTR_INT && a->i == o->u.i.value;
    case CQ_OPERAND_FLOAT: return a->type == CQ_ONNX_ATTR_FLOAT && a->f == (float)o->u.f;
    case CQ_OPERAND_STR:
        return a->type == CQ_ONNX_ATTR_STRING && a->s.size == strlen(o->u.s) &&
               memcmp(a->s.data, o->u.s, a->s.size) == 0;
    case CQ_OPERAND_LIST:
        return (a->type == CQ_ONNX_ATTR_INTS || a->type == CQ_ONNX_ATTR_FLOATS) && same_list(o, a);
    case CQ_OPERAND_TENSOR: return a->t && cq_ptr_map_get(&w->s->messages, o->u.tensor) == a->t;
    default: return false;
    }
}

static void write_attributes(writer *w, const cq_node *n, cq_onnx_node *to)
{
    const cq_onnx_attributes old = to->attribute;

    to->attribute = (cq_onnx_attributes){ 0 };
    for (size_t i = 0; i < old.n; i++)
        if ((old.items[i]->g || old.items[i]->graphs.n) && n->n_blocks)
            cq_onnx_list_push(w->m, &to->attribute, old.items[i]);
    for (size_t i = 0; i < n->n_attrs; i++) {
        cq_onnx_attribute *kept = NULL;

        for (size_t k = 0; k < old.n && !kept; k++)
            if (old.items[k]->name && strcmp(old.items[k]->name, n->attrs[i].name) == 0)
                kept = old.items[k];
        if (kept && is_same(w, &n->attrs[i].value, kept))
            cq_onnx_list_push(w->m, &to->attribute, kept);
        else
            cq_export_add_attribute(w->m, to, &n->attrs[i]);
    }
}

static void write_op(writer *w, const cq_node *n, cq_onnx_node *to)
{
    const char *colons = strstr(n->op, "::"), *domain = to->domain;
    char        text[300];

    snprintf(text, sizeof text, "%.*s", colons ? (int)(colons - n->op) : 0, n->op);
    if (strcmp(text, "onnx") == 0)
        domain = domain && strcmp(domain, "ai.onnx") == 0 ? domain : NULL;
    else if (strcmp(text, "onnx (custom)") == 0)
        domain = "onnx";
    else
        domain = cq_onnx_text(w->m, text);
    if (!to->op_type || strcmp(to->op_type, op_type_of(n)) != 0) {
        to->op_type  = cq_onnx_text(w->m, op_type_of(n));
        to->overload = NULL;
    }
    to->domain = domain ? domain : to->domain && !*to->domain ? to->domain : NULL;
}

static void write_names(writer *w, const cq_node *n, cq_onnx_node *to)
{
    size_t n_inputs = n->n_inputs;

    to->input  = (cq_onnx_names){ 0 };
    to->output = (cq_onnx_names){ 0 };
    while (n_inputs && n->inputs[n_inputs - 1].kind != CQ_OPERAND_VALUE)
        n_inputs--;
    for (size_t i = 0; i < n_inputs; i++)
        cq_onnx_add_name(w->m, &to->input,
                         n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value->name : "");
    for (size_t i = 0; i < n->n_outputs; i++)
        cq_onnx_add_name(w->m, &to->output, n->outputs[i]->name ? n->outputs[i]->name : "");
}

static cq_status write_block(writer *w, cq_block *b, cq_onnx_graph *graph);

static cq_status write_node(writer *w, cq_node *n, cq_onnx_graph *graph)
{
    cq_onnx_node *to = (cq_onnx_node *)n->def;

    if (to)
        cq_onnx_list_push(w->m, &graph->node, to);
    else
        to = cq_onnx_graph_add_node(w->m, graph, op_type_of(n), NULL, n->name);
    if (!to)
        return w->m->status;
    write_op(w, n, to);
    write_names(w, n, to);
    write_attributes(w, n, to);
    for (size_t i = 0; i < n->n_blocks; i++) {
        cq_onnx_graph *inner = cq_ptr_map_get(&w->s->graphs, n->blocks[i]);

        if (!inner)
            return cq_fail(CQ_E_INTERNAL, n->name, NULL, "a block of %s has no graph", n->op);
        CQ_TRY(write_block(w, n->blocks[i], inner));
    }
    return w->m->status;
}

/* ---- values ---- */

static cq_onnx_type *type_of(writer *w, cq_type t)
{
    cq_onnx_axis axes[CQ_MAX_RANK];

    if (t.kind != CQ_TYPE_TENSOR || t.dtype == CQ_DTYPE_NONE)
        return NULL;
    for (int i = 0; i < t.rank; i++)
        axes[i] =
            (cq_onnx_axis){ t.sizes[i].expr ? t.sizes[i].expr->text : NULL, t.sizes[i].value };
    return cq_onnx_type_new_tensor(w->m, cq_dtype_to_onnx(t.dtype), t.rank < 0 ? 0 : (size_t)t.rank,
                                   t.rank < 0 ? NULL : axes);
}

static cq_onnx_value_info *info_of(const cq_onnx_value_infos *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i]->name && strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

/* Results of an inner block, by position while there are as many as before. */
static void write_results(writer *w, const cq_block *b, cq_onnx_graph *graph)
{
    const cq_onnx_value_infos old  = graph->output;
    const bool                same = old.n == b->returns.n;

    graph->output = (cq_onnx_value_infos){ 0 };
    for (size_t i = 0; i < b->returns.n; i++) {
        const cq_value     *v    = b->returns.items[i].u.value;
        cq_onnx_value_info *info = same ? old.items[i] : info_of(&old, v->name);

        if (info) {
            info->name = cq_onnx_text(w->m, v->name);
            cq_onnx_list_push(w->m, &graph->output, info);
        } else
            cq_onnx_add_value(w->m, &graph->output, v->name, type_of(w, v->type));
    }
}

static cq_status keep_infos(writer *w, const cq_block *b, cq_onnx_graph *graph)
{
    cq_map    ours   = { 0 };
    cq_status status = CQ_OK;
    uint32_t  n      = 0;

    for (const cq_node *node = b->first; node && status == CQ_OK; node = node->next)
        for (size_t i = 0; i < node->n_outputs && status == CQ_OK; i++)
            if (node->outputs[i]->name && *node->outputs[i]->name)
                status = cq_map_set(&ours, node->outputs[i]->name, w);
    for (size_t i = 0; i < b->returns.n && status == CQ_OK; i++)
        status = cq_map_set(&ours, b->returns.items[i].u.value->name, NULL);
    for (uint32_t i = 0; i < graph->value_info.n; i++) {
        const char *name = graph->value_info.items[i]->name;

        if (name && cq_map_get(&ours, name))
            graph->value_info.items[n++] = graph->value_info.items[i];
    }
    graph->value_info.n = n;
    cq_map_clear(&ours);
    return status;
}

static cq_status write_block(writer *w, cq_block *b, cq_onnx_graph *graph)
{
    graph->node.n = 0;
    if (b != w->g->top) {
        graph->initializer.n        = 0;
        graph->sparse_initializer.n = 0;
        for (size_t i = 0; i < b->params.n && i < graph->input.n; i++)
            graph->input.items[i]->name = cq_onnx_text(w->m, b->params.items[i]->name);
        write_results(w, b, graph);
    }
    for (cq_node *n = b->first; n; n = n->next)
        CQ_TRY(write_node(w, n, graph));
    return keep_infos(w, b, graph);
}

/* ---- initializers and inputs of the model ---- */

/* The initializer of the model that was read, if a constant still has its value and its name. */
static cq_onnx_tensor *original_of(const writer *w, const cq_value *v)
{
    cq_onnx_tensor *message = cq_ptr_map_get(&w->s->messages, v->data);

    return message && message->name && strcmp(message->name, v->name) == 0 ? message : NULL;
}

static cq_status write_constant(writer *w, const cq_value *v)
{
    cq_onnx_tensor *message = original_of(w, v);

    if (!message) {
        const cq_onnx_tensor *old = cq_ptr_map_get(&w->s->messages, v->data);

        message = cq_onnx_graph_add_initializer(w->m, w->m->graph, v->name, v->data);
        if (old && message) { /* by reference, and with its documentation */
            const char *name = message->name;

            *message      = *old;
            message->name = name;
        }
        return w->m->status;
    }
    cq_onnx_list_push(w->m, &w->m->graph->initializer, message);
    return w->m->status;
}

/* Defaults of inputs are kept. */
static cq_status write_initializers(writer *w)
{
    cq_onnx_graph            *graph    = w->m->graph;
    const cq_onnx_value_infos old      = graph->input;
    const bool                drops    = w->s->ex->options.flags & CQ_EXPORT_DROP_UNREAD_INPUTS;
    cq_map                    defaults = { 0 }, sparse = { 0 };
    cq_status                 status = CQ_OK;

    for (size_t i = 0; i < graph->initializer.n && status == CQ_OK; i++)
        if (graph->initializer.items[i]->name)
            status = cq_map_set(&defaults, graph->initializer.items[i]->name,
                                graph->initializer.items[i]);
    for (size_t i = 0; i < graph->sparse_initializer.n && status == CQ_OK; i++) {
        cq_onnx_sparse_tensor *t = graph->sparse_initializer.items[i];

        if (t->values && t->values->name)
            status = cq_map_set(&sparse, t->values->name, t);
    }
    memset(&graph->initializer, 0, sizeof graph->initializer);
    memset(&graph->sparse_initializer, 0, sizeof graph->sparse_initializer);
    graph->input = (cq_onnx_value_infos){ 0 };
    for (size_t i = 0; i < w->g->top->params.n && status == CQ_OK; i++) {
        const cq_value        *v       = w->g->top->params.items[i];
        cq_onnx_tensor        *message = cq_map_get(&defaults, v->name);
        cq_onnx_value_info    *info    = info_of(&old, v->name);
        cq_onnx_sparse_tensor *zeros   = cq_map_get(&sparse, v->name);

        if ((message || zeros || drops) && !v->n_uses)
            continue;
        cq_onnx_list_push(w->m, &graph->input, info);
        if (message)
            cq_onnx_list_push(w->m, &graph->initializer, message);
        else if (zeros)
            cq_onnx_list_push(w->m, &graph->sparse_initializer, zeros);
    }
    for (size_t i = 0; i < w->g->constants.n && status == CQ_OK; i++) {
        const cq_value     *v = w->g->constants.items[i];
        cq_onnx_value_info *info;

        if (!v->n_uses)
            continue;
        status = write_constant(w, v);
        if (w->m->ir_version >= 4)
            continue;
        info = info_of(&old, v->name);
        if (info && original_of(w, v)) /* a pass may have reshaped it */
            cq_onnx_list_push(w->m, &graph->input, info);
        else
            cq_onnx_add_value(w->m, &graph->input, v->name, type_of(w, v->type));
    }
    for (size_t i = 0; i < w->s->opaque.n && status == CQ_OK; i++) {
        const cq_onnx_opaque *o = &w->s->opaque.items[i];

        if (!o->value->n_uses)
            continue;
        if (o->tensor)
            o->tensor->name = cq_onnx_text(w->m, o->value->name);
        else
            o->sparse->values->name = cq_onnx_text(w->m, o->value->name);
        if (o->tensor)
            cq_onnx_list_push(w->m, &graph->initializer, o->tensor);
        else
            cq_onnx_list_push(w->m, &graph->sparse_initializer, o->sparse);
    }
    cq_map_clear(&defaults);
    cq_map_clear(&sparse);
    return status == CQ_OK ? w->m->status : status;
}

/* Imports com.microsoft if passes have created nodes of it. */
static cq_status import_domain(cq_node *n, void *user)
{
    writer *w = user;

    if (strncmp(n->op, "com.microsoft::", 15) == 0 &&
        cq_onnx_imported(&w->m->opset_import, "com.microsoft") < 1)
        cq_onnx_model_add_opset(w->m, "com.microsoft", 1);
    return w->m->status;
}

static cq_status write_all(writer *w)
{
    CQ_TRY(name_results(w));
    CQ_TRY(cq_ir_each_node(w->g->top, own_results, w));
    cq_ir_count_uses(w->g);
    CQ_TRY(name_all(w));
    CQ_TRY(write_initializers(w));
    CQ_TRY(cq_ir_each_node(w->g->top, import_domain, w));
    return write_block(w, w->g->top, w->m->graph);
}

cq_status cq_onnx_source_write(cq_onnx_source *s)
{
    writer    w = { .s = s, .g = s->ex->graph, .m = s->model };
    cq_status status;

    status = write_all(&w);
    cq_map_clear(&w.names);
    return status;
}
