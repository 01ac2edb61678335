/* Emits nodes, their attributes and subgraphs. */
#include "export/exporter.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- attributes ---- */

cq_attr cq_attr_i(const char *name, int64_t value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_INT, .u.i = { value, NULL } } };
}

cq_attr cq_attr_f(const char *name, double value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_FLOAT, .u.f = value } };
}

cq_attr cq_attr_s(const char *name, const char *value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_STR, .u.s = value } };
}

cq_attr cq_attr_t(const char *name, cq_tensor *value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_TENSOR, .u.tensor = value } };
}

static cq_operand *list_attr(cq_sym *s, cq_attr *a, const char *name, size_t n)
{
    a->name               = name;
    a->value.kind         = CQ_OPERAND_LIST;
    a->value.u.list.n     = n;
    a->value.u.list.items = cq_arena_array(s->ex->graph->arena, n, sizeof *a->value.u.list.items);
    if (!a->value.u.list.items) {
        a->value.u.list.n = 0;
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    }
    return a->value.u.list.items;
}

cq_attr cq_attr_is(cq_sym *s, const char *name, const int64_t *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = { values[i], NULL } };
    return a;
}

cq_attr cq_attr_fs(cq_sym *s, const char *name, const double *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = values[i] };
    return a;
}

cq_attr cq_attr_ss(cq_sym *s, const char *name, const char *const *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = values[i] };
    return a;
}

cq_attr cq_attr_ts(cq_sym *s, const char *name, cq_tensor *const *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_TENSOR, .u.tensor = values[i] };
    return a;
}

/* ---- nodes ---- */

cq_node *cq_sym_node(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, size_t n_out)
{
    cq_operand  small[16], *inputs = small;
    char        buffer[160];
    const char *name = op;
    cq_node    *node;
    cq_origin  *origin;

    if (s->status != CQ_OK)
        return NULL;
    while (n_in && !in[n_in - 1])
        n_in--; /* omitted optional inputs at the end are dropped */
    if (n_in > 16)
        inputs = cq_arena_array(s->ex->graph->arena, n_in, sizeof *inputs);
    if (!inputs) {
        cq_sym_fail(s, CQ_E_NO_MEMORY);
        return NULL;
    }
    for (size_t i = 0; i < n_in; i++)
        inputs[i] = in[i] ? CQ_OPERAND_OF(in[i]) : (cq_operand){ 0 };
    if (!strstr(op, "::"))
        name = snprintf(buffer, sizeof buffer, "onnx::%s", op) < (int)sizeof buffer
                   ? buffer
                   : cq_arena_printf(s->ex->graph->arena, "onnx::%s", op);
    node = name ? cq_ir_node_new(s->block, s->before, name, inputs, n_in, n_out) : NULL;
    if (!node) {
        cq_sym_fail(s, s->ex->graph->status);
        return NULL;
    }
    origin         = s->node ? (cq_origin *)s->node->origin : NULL;
    node->origin   = origin;
    node->location = s->node ? s->node->location : (cq_location){ 0 };
    if (s->node) {
        node->notes   = s->node->notes;
        node->n_notes = s->node->n_notes;
        node->marks   = s->node->marks;
    }
    return node;
}

static int by_name(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool same_type_as_input(const char *op)
{
    /* clang-format off */
    static const char *const names[] = { /* sorted, for binary search */
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu",
        "Clip", "Cos", "Cosh", "CumSum", "Dropout", "Elu", "Erf", "Exp", "Floor", "HardSigmoid",
        "HardSwish", "Identity", "InstanceNormalization", "LayerNormalization", "LeakyRelu",
        "Log", "LogSoftmax", "LpNormalization", "Neg", "Not", "Reciprocal", "Relu", "Round",
        "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt",
        "Tan", "Tanh", "ThresholdedRelu", "Trilu",
    };
    /* clang-format on */

    return bsearch(op, names, sizeof names / sizeof *names, sizeof *names, by_name) != NULL;
}

void cq_sym_op_n(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, const cq_attr *attrs,
                 size_t n_attrs, cq_value **out, size_t n_out)
{
    cq_node *node = cq_sym_node(s, op, in, n_in, n_out);

    for (size_t i = 0; i < n_out; i++)
        out[i] = node ? node->outputs[i] : NULL;
    if (!node)
        return;
    for (size_t i = 0; i < n_attrs; i++)
        if (attrs[i].name)
            cq_sym_fail(s, cq_ir_attr_set(node, attrs[i].name, attrs[i].value));
    if (n_in && in[0] && same_type_as_input(op))
        out[0]->type = in[0]->type;
}

cq_value *cq_sym_op(cq_sym *s, const char *op, cq_value *const *in, size_t n_in,
                    const cq_attr *attrs, size_t n_attrs)
{
    cq_value *out;

    cq_sym_op_n(s, op, in, n_in, attrs, n_attrs, &out, 1);
    return s->status == CQ_OK ? out : NULL;
}

static bool has_items(const void *const *items, size_t n)
{
    for (size_t i = 0; i < n && items; i++)
        if (!items[i])
            return false;
    return items || !n;
}

static bool has_value(const cq_sym_attr *a)
{
    switch (a->kind) {
    case CQ_SYM_ATTR_STRING: return a->s;
    case CQ_SYM_ATTR_TENSOR: return a->t;
    case CQ_SYM_ATTR_INTS: return a->ints || !a->n;
    case CQ_SYM_ATTR_FLOATS: return a->floats || !a->n;
    case CQ_SYM_ATTR_STRINGS: return has_items((const void *const *)a->strings, a->n);
    case CQ_SYM_ATTR_TENSORS: return has_items((const void *const *)a->tensors, a->n);
    default: return true;
    }
}

static cq_attr public_attr(cq_sym *s, const cq_sym_attr *a)
{
    switch (a->kind) {
    case CQ_SYM_ATTR_INT: return cq_attr_i(a->name, a->i);
    case CQ_SYM_ATTR_FLOAT: return cq_attr_f(a->name, a->f);
    case CQ_SYM_ATTR_STRING: return cq_attr_s(a->name, a->s);
    case CQ_SYM_ATTR_TENSOR: return cq_attr_t(a->name, a->t);
    case CQ_SYM_ATTR_INTS: return cq_attr_is(s, a->name, a->ints, a->n);
    case CQ_SYM_ATTR_FLOATS: return cq_attr_fs(s, a->name, a->floats, a->n);
    case CQ_SYM_ATTR_STRINGS: return cq_attr_ss(s, a->name, a->strings, a->n);
    case CQ_SYM_ATTR_TENSORS: return cq_attr_ts(s, a->name, a->tensors, a->n);
    }
    cq_sym_fail(
        s, cq_fail(CQ_E_ARGUMENT, a->name, NULL, "unknown kind of attribute %d", (int)a->kind));
    return (cq_attr){ 0 };
}

void cq_sym_emit(cq_sym *s, const char *op, size_t n_in, cq_value *const *in, size_t n_attrs,
                 const cq_sym_attr *attrs, size_t n_out, cq_value **out)
{
    CQ_SYM_NEED(s, op && (in || !n_in) && (attrs || !n_attrs) && out && n_out, );
    cq_sym_op_n(s, op, in, n_in, NULL, 0, out, n_out);
    for (size_t i = 0; i < n_attrs && s->status == CQ_OK; i++) {
        CQ_SYM_NEED(s, attrs[i].name && has_value(&attrs[i]), );
        cq_sym_fail(s,
                    cq_ir_attr_set(out[0]->node, attrs[i].name, public_attr(s, &attrs[i]).value));
    }
}

cq_value *cq_sym_emit1(cq_sym *s, const char *op, size_t n_in, cq_value *const *in, size_t n_attrs,
                       const cq_sym_attr *attrs)
{
    CQ_NEED_ELSE(s, NULL);
    cq_value *out = NULL;

    cq_sym_emit(s, op, n_in, in, n_attrs, attrs, 1, &out);
    return s->status == CQ_OK ? out : NULL;
}

cq_block *cq_sym_push_block(cq_sym *s, cq_node *node)
{
    cq_block *b = s->status == CQ_OK && node ? cq_ir_node_block(node) : NULL;

    if (b)
        s->block = b;
    else
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    return b;
}

void cq_sym_pop_block(cq_sym *s, cq_value *const *returns, size_t n)
{
    if (s->status != CQ_OK)
        return;
    for (size_t i = 0; i < n; i++)
        cq_sym_fail(s, cq_vec_push(&s->block->returns, CQ_OPERAND_OF(returns[i])));
    s->block = s->block->owner->block;
}

/* ---- graphs of a user's symbolic ---- */

void cq_sym_graph_begin(cq_sym *s, cq_value *result, const char *name)
{
    CQ_SYM_NEED(s, name, );
    cq_block *b;

    if (s->status != CQ_OK)
        return;
    if (!result || !result->node) {
        cq_sym_fail(s, cq_fail(CQ_E_ARGUMENT, name, NULL,
                               "a graph needs a node, but no node computes this value"));
        return;
    }
    b = cq_sym_push_block(s, result->node);
    if (b)
        b->attr = cq_ir_text(s->ex->graph, name);
    s->n_open++;
}

static bool is_open(cq_sym *s)
{
    if (s->status == CQ_OK && !s->n_open)
        cq_sym_fail(s, cq_fail(CQ_E_ARGUMENT, s->node->op, "call cq_sym_graph_begin first",
                               "no graph is open"));
    return s->status == CQ_OK;
}

cq_value *cq_sym_graph_input(cq_sym *s, cq_dtype dtype, int rank)
{
    CQ_NEED_ELSE(s, NULL);
    cq_graph *g = s->ex->graph;
    cq_int    sizes[CQ_MAX_RANK];
    cq_value *v;

    if (!is_open(s))
        return NULL;
    if (rank > CQ_MAX_RANK) {
        cq_sym_fail(s, cq_fail(CQ_E_ARGUMENT, s->node->op, NULL,
                               "%d dimensions exceed the limit of %d", rank, CQ_MAX_RANK));
        return NULL;
    }
    v = cq_ir_param_new(s->block, (cq_type){ .kind = CQ_TYPE_TENSOR, .dtype = dtype, .rank = -1 });
    if (!v) {
        cq_sym_fail(s, CQ_E_NO_MEMORY);
        return NULL;
    }
    for (int i = 0; i < rank; i++)
        sizes[i] = cq_symbol_fresh(&g->symbols, "d", 1, v, i);
    if (rank >= 0)
        v->type = cq_ir_tensor_type(g, dtype, (size_t)rank, sizes);
    return v;
}

void cq_sym_graph_end(cq_sym *s, size_t n_results, cq_value *const *results)
{
    CQ_SYM_NEED(s, results || !n_results, );
    if (!is_open(s))
        return;
    CQ_SYM_NEED(s, has_items((const void *const *)results, n_results), );
    cq_sym_pop_block(s, results, n_results);
    s->n_open--;
}
