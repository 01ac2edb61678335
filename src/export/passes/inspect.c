/* Queries of a symbolic function about an unknown operator and its values. They are for functions
 * that are written once for every operator, as in other languages' bindings; rows of calque access
 * their arguments by name (build.c). Nothing here fails. */
#include "export/exporter.h"

/* ---- arguments ---- */

const char *cq_sym_name(const cq_sym *s)
{
    CQ_NEED_ELSE(s, NULL);
    return s->node->op;
}

size_t cq_sym_n_args(const cq_sym *s)
{
    CQ_NEED_ELSE(s, 0);
    return s->op ? s->node->n_inputs : 0;
}

const char *cq_sym_arg_name(const cq_sym *s, size_t i)
{
    CQ_NEED_ELSE(s, NULL);
    return i < cq_sym_n_args(s) ? s->op->schema->args[i].name : NULL;
}

static cq_sym_arg_kind kind_of(const cq_operand *o)
{
    switch (o->kind) {
    case CQ_OPERAND_NONE: return CQ_SYM_ARG_NONE;
    case CQ_OPERAND_VALUE: return CQ_SYM_ARG_TENSOR;
    case CQ_OPERAND_INT: return o->u.i.expr ? CQ_SYM_ARG_TENSOR : CQ_SYM_ARG_INT;
    case CQ_OPERAND_FLOAT: return CQ_SYM_ARG_FLOAT;
    case CQ_OPERAND_BOOL: return CQ_SYM_ARG_BOOL;
    case CQ_OPERAND_STR: return CQ_SYM_ARG_STRING;
    default: return CQ_SYM_ARG_OTHER;
    }
}

/* If one item of a list of ints is a size of the graph, all items are values. */
static cq_sym_arg_kind kind_of_list(const cq_operand *items, size_t n)
{
    cq_sym_arg_kind kind = n ? kind_of(&items[0]) : CQ_SYM_ARG_INT;

    for (size_t i = 1; i < n; i++) {
        const cq_sym_arg_kind other = kind_of(&items[i]);

        if (other == kind)
            continue;
        if (other == CQ_SYM_ARG_STRING || other == CQ_SYM_ARG_OTHER || kind == CQ_SYM_ARG_STRING)
            return CQ_SYM_ARG_OTHER;
        kind = CQ_SYM_ARG_TENSOR;
    }
    switch (kind) {
    case CQ_SYM_ARG_INT: return CQ_SYM_ARG_INTS;
    case CQ_SYM_ARG_FLOAT: return CQ_SYM_ARG_FLOATS;
    case CQ_SYM_ARG_BOOL: return CQ_SYM_ARG_BOOLS;
    case CQ_SYM_ARG_NONE:
    case CQ_SYM_ARG_TENSOR: return CQ_SYM_ARG_TENSORS;
    default: return CQ_SYM_ARG_OTHER;
    }
}

cq_sym_arg_kind cq_sym_kind(const cq_sym *s, const char *arg)
{
    CQ_NEED_ELSE(s && arg, CQ_SYM_ARG_NONE);
    const int         at = s->op ? cq_schema_find(s->op->schema, arg) : -1;
    const cq_operand *o;

    if (at < 0 || (size_t)at >= s->node->n_inputs)
        return CQ_SYM_ARG_NONE;
    o = &s->node->inputs[at];
    return o->kind == CQ_OPERAND_LIST ? kind_of_list(o->u.list.items, o->u.list.n) : kind_of(o);
}

/* ---- values ---- */

CQ_API int cq_value_rank(const cq_value *v)
{
    CQ_NEED_ELSE(v, -1);
    switch (v->type.kind) {
    case CQ_TYPE_INT:
    case CQ_TYPE_FLOAT:
    case CQ_TYPE_BOOL: return 0;
    case CQ_TYPE_TENSOR: return v->type.rank;
    default: return -1;
    }
}

CQ_API cq_dtype cq_value_dtype(const cq_value *v)
{
    CQ_NEED_ELSE(v, CQ_DTYPE_NONE);
    switch (v->type.kind) {
    case CQ_TYPE_INT: return CQ_DTYPE_I64;
    case CQ_TYPE_FLOAT: return CQ_DTYPE_F32;
    case CQ_TYPE_BOOL: return CQ_DTYPE_BOOL;
    case CQ_TYPE_TENSOR: return v->type.dtype;
    default: return CQ_DTYPE_NONE;
    }
}

CQ_API const char *cq_value_op(const cq_value *v)
{
    CQ_NEED_ELSE(v, "");
    return v->node ? v->node->op : "";
}

CQ_API cq_value *cq_value_input(const cq_value *v, size_t i)
{
    CQ_NEED_ELSE(v, NULL);
    const cq_operand *o = v->node && i < v->node->n_inputs ? &v->node->inputs[i] : NULL;

    return o && o->kind == CQ_OPERAND_VALUE ? o->u.value : NULL;
}

CQ_API size_t cq_value_n_inputs(const cq_value *v)
{
    CQ_NEED_ELSE(v, 0);
    return v->node ? v->node->n_inputs : 0;
}
