/* Functions that only replacements of patterns call (lib/onnx/rewrites.py): questions about the
 * nodes that were matched, and changes of the graph. natives.c has those that symbolic functions
 * call, too. Each has a line in docs/architecture/export.md. */
#include "export/passes/fuse.h"

#include <math.h>

enum { MAX_NUMBERS = 1 << 16 };

static cq_value *value_of(cq_sym_run *r, const cq_sym_args *e, size_t i)
{
    return i < e->n && e->items[i].kind != CQ_VAL_NONE ? cq_sym_graph_of(r, e->items[i]) : NULL;
}

static cq_node *node_of(cq_sym_run *r, const cq_sym_args *e, size_t i)
{
    cq_value *v = value_of(r, e, i);

    return v ? v->node : NULL;
}

static int64_t int_of(cq_sym_run *r, const cq_sym_args *e, size_t i, int64_t otherwise)
{
    return i < e->n ? cq_lang_i64(&r->lang, e->items[i]) : otherwise;
}

/* ---- the match ---- */

static cq_val matched(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_val_of_graph(r, r->s->fuser->match->root->outputs[0]);
}

static cq_val for_onnxruntime(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_val_of_bool(r->s->ex->for_onnxruntime);
}

/* ---- values ---- */

/* -1 if the number of dimensions is unknown or differs between runs. */
static cq_val rank(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_value *v = value_of(r, e, 0);

    return cq_val_of_i64(v && v->type.kind == CQ_TYPE_TENSOR && !v->rank_varies ? v->type.rank
                                                                                : -1);
}

static cq_val same(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_bool(value_of(r, e, 0) == value_of(r, e, 1));
}

static cq_val n_uses(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_value *v = value_of(r, e, 0);

    return cq_val_of_i64(v ? v->n_uses : 0);
}

/* The number that a constant with one element holds; None for other values. */
static cq_val constant(cq_sym_run *r, const cq_sym_args *e)
{
    cq_tensor *t = cq_sym_data(value_of(r, e, 0));

    return t && cq_tensor_numel(t) == 1 ? cq_val_of_f64(cq_tensor_get_f64(t, 0)) : CQ_NONE;
}

static cq_val is_constant(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_bool(cq_sym_data(value_of(r, e, 0)) != NULL);
}

/* The integers of a constant; None for other values. */
static cq_val constants(cq_sym_run *r, const cq_sym_args *e)
{
    cq_tensor *t = cq_sym_data(value_of(r, e, 0));
    cq_val     list;

    if (!t || !cq_dtype_is_integer(t->dtype) || cq_tensor_numel(t) > MAX_NUMBERS)
        return CQ_NONE;
    list = cq_lang_list(&r->lang, NULL, (size_t)cq_tensor_numel(t));
    for (size_t i = 0; list.kind == CQ_VAL_LIST && i < list.u.list->n; i++)
        list.u.list->items[i] = cq_val_of_i64(cq_tensor_get_i64(t, (int64_t)i));
    return list;
}

/* Ones of float32 with these sizes; None if they are dynamic or too many. */
static cq_val ones(cq_sym_run *r, const cq_sym_args *e)
{
    cq_tensor *t = NULL;
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    fixed[CQ_MAX_RANK], n = 1;
    size_t     rank;
    cq_value  *v;

    if (!cq_sym_ints_of(r, e->items[0], sizes, &rank, CQ_MAX_RANK))
        return CQ_NONE;
    for (size_t i = 0; i < rank; i++) {
        fixed[i] = sizes[i].value;
        if (sizes[i].expr || __builtin_mul_overflow(n, fixed[i], &n) || n > MAX_NUMBERS)
            return CQ_NONE;
    }
    if (cq_sym_fail(r->s, cq_tensor_new(&t, CQ_DTYPE_F32, rank, fixed, NULL)))
        return CQ_NONE;
    for (int64_t i = 0; i < n; i++)
        ((float *)cq_tensor_data(t))[i] = 1;
    v = cq_sym_const(r->s, t);
    cq_tensor_release(t);
    return cq_val_of_graph(r, v);
}

/* A constant vector of float32 as int32 in steps; None for other values, and if a number is too
 * large. */
static cq_val in_steps(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_tensor *numbers = cq_sym_data(value_of(r, e, 0));
    const double     step    = (float)cq_lang_f64(&r->lang, e->items[1]);
    cq_tensor       *t       = NULL;
    cq_value        *v       = NULL;
    int64_t          n, i = 0;

    if (!numbers || numbers->rank != 1 || numbers->dtype != CQ_DTYPE_F32)
        return CQ_NONE;
    n = cq_tensor_numel(numbers);
    if (cq_sym_fail(r->s, cq_tensor_new(&t, CQ_DTYPE_I32, 1, &n, NULL)))
        return CQ_NONE;
    for (; i < n; i++) {
        const double whole = nearbyint(cq_tensor_get_f64(numbers, i) / step);

        if (!(fabs(whole) <= INT32_MAX))
            break;
        ((int32_t *)cq_tensor_data(t))[i] = (int32_t)whole;
    }
    if (i == n)
        v = cq_sym_const(r->s, t);
    cq_tensor_release(t);
    return cq_val_of_graph(r, v);
}

/* ---- nodes ---- */

/* The operator that computes a value, without the domain of ONNX; "" for inputs and weights. */
static cq_val op_of(cq_sym_run *r, const cq_sym_args *e)
{
    static const char domain[] = "onnx::";
    const cq_node    *n        = node_of(r, e, 0);
    const char       *op       = n ? n->op : "";

    return cq_lang_text(&r->lang, cq_starts_with(op, domain) ? op + sizeof domain - 1 : op);
}

static cq_val inputs_of(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_node *n    = node_of(r, e, 0);
    cq_val         list = cq_lang_list(&r->lang, NULL, n ? n->n_inputs : 0);

    for (size_t i = 0; list.kind == CQ_VAL_LIST && i < list.u.list->n; i++)
        list.u.list->items[i] = cq_val_of_graph(r, cq_fuse_input(n, i));
    return list;
}

static cq_val attribute(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_node    *n = node_of(r, e, 0);
    const cq_operand *o =
        n && e->items[1].kind == CQ_VAL_STR ? cq_ir_attr(n, e->items[1].u.text->text) : NULL;

    return o ? cq_val_of_operand(r, o) : e->items[2];
}

/* Whether the block of its node returns the value. */
static cq_val is_returned(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_value *v = value_of(r, e, 0);

    return cq_val_of_bool(v && v->node && cq_export_is_returned(v));
}

/* Whether a value is computed in the block of the match. */
static cq_val is_in_block(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_node *n = node_of(r, e, 0);

    return cq_val_of_bool(n && n->block == r->s->fuser->match->root->block);
}

static cq_status notice(cq_node *n, void *user)
{
    const cq_value **wanted = user;

    for (size_t i = 0; i < n->n_inputs; i++)
        if (cq_fuse_input(n, i) == *wanted)
            *wanted = NULL;
    return CQ_OK;
}

/* Whether a value is computed in the block of the match, and no node reads it before the match: the
 * replacement may then compute it. */
static cq_val may_move(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_node  *root = r->s->fuser->match->root, *from = node_of(r, e, 0);
    const cq_value *wanted = value_of(r, e, 0);

    if (!from || from->block != root->block)
        return cq_val_of_bool(false);
    for (cq_node *n = from->next; n && n != root && wanted; n = n->next) {
        notice(n, &wanted);
        for (size_t i = 0; i < n->n_blocks && wanted; i++)
            cq_ir_each_node(n->blocks[i], notice, &wanted);
    }
    return cq_val_of_bool(wanted != NULL);
}

/* ---- changes ---- */

/* The following nodes are placed before the node of a value, with its source location. */
static cq_val emit_before(cq_sym_run *r, const cq_sym_args *e)
{
    cq_node *n = node_of(r, e, 0);

    if (!n)
        return cq_sym_wrong(r, "emit_before expects a value that a node computes");
    r->s->node   = n;
    r->s->block  = n->block;
    r->s->before = n;
    return CQ_NONE;
}

/* The node of a value with other inputs. */
static cq_val copy(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_node *from  = node_of(r, e, 0);
    const int64_t  n_out = int_of(r, e, 2, 1);
    cq_value      *in[CQ_LANG_MAX_ITEMS], *out[CQ_LANG_MAX_ITEMS];
    cq_val         values[CQ_LANG_MAX_ITEMS];
    size_t         n;
    const cq_val  *items = cq_lang_items(&e->items[1], &n);

    if (!from || n > CQ_LANG_MAX_ITEMS || n_out < 1 || n_out > CQ_LANG_MAX_ITEMS)
        return cq_sym_wrong(r, "copy expects a value that a node computes, and at most %d inputs",
                            CQ_LANG_MAX_ITEMS);
    for (size_t i = 0; i < n; i++)
        in[i] = cq_sym_input_of(r, items[i], NULL);
    cq_sym_op_n(r->s, from->op, in, n, from->attrs, from->n_attrs, out, (size_t)n_out);
    if (cq_sym_status(r->s) != CQ_OK)
        return CQ_NONE;
    out[0]->type = from->outputs[0]->type;
    for (size_t i = 0; i < (size_t)n_out; i++)
        values[i] = cq_val_of_graph(r, out[i]);
    return n_out == 1 ? values[0] : cq_lang_tuple(&r->lang, values, (size_t)n_out);
}

static cq_val set_input(cq_sym_run *r, const cq_sym_args *e)
{
    cq_node      *n  = node_of(r, e, 0);
    const int64_t at = int_of(r, e, 1, 0);
    cq_value     *v  = value_of(r, e, 2);

    if (!n || !v || at < 0 || at >= n->n_inputs)
        return cq_sym_wrong(r, "set_input expects a node, one of its inputs, and a value");
    n->inputs[at]        = CQ_OPERAND_OF(v);
    r->s->fuser->changed = true;
    return CQ_NONE;
}

static cq_val replace(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *old = value_of(r, e, 0), *by = value_of(r, e, 1);

    if (!old || !by)
        return cq_sym_wrong(r, "replace expects two values");
    cq_fuse_replace(r->s->fuser, old, by);
    return CQ_NONE;
}

/* An output between others that is left out. */
static cq_val omit(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v = value_of(r, e, 0);

    if (v)
        v->name = "";
    return CQ_NONE;
}

/* ---- values that several replacements share ---- */

static cq_val recall(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v     = value_of(r, e, 0);
    cq_value *known = v ? cq_ptr_map_get(&r->s->fuser->known, v) : NULL;

    return cq_val_of_graph(r, known && known->block == r->s->block ? known : NULL);
}

static cq_val remember(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v = value_of(r, e, 0), *known = value_of(r, e, 1);

    if (v && known)
        cq_sym_fail(r->s, cq_ptr_map_set(&r->s->fuser->known, v, known));
    return cq_val_of_graph(r, known);
}

const cq_sym_native cq_replacement_natives[] = {
    { "matched", 0, 0, .fn = matched, .needs_match = true },
    { "for_onnxruntime", 0, 0, .fn = for_onnxruntime },
    { "rank", 1, 1, .fn = rank },
    { "same", 2, 2, .fn = same },
    { "n_uses", 1, 1, .fn = n_uses },
    { "constant", 1, 1, .fn = constant },
    { "is_constant", 1, 1, .fn = is_constant },
    { "constants", 1, 1, .fn = constants },
    { "ones", 1, 1, .fn = ones },
    { "in_steps", 2, 2, .fn = in_steps },
    { "op_of", 1, 1, .fn = op_of },
    { "inputs_of", 1, 1, .fn = inputs_of },
    { "attribute", 3, 3, .fn = attribute },
    { "is_returned", 1, 1, .fn = is_returned },
    { "is_in_block", 1, 1, .fn = is_in_block, .needs_match = true },
    { "may_move", 1, 1, .fn = may_move, .needs_match = true },
    { "emit_before", 1, 1, .fn = emit_before },
    { "copy", 2, 3, .fn = copy },
    { "set_input", 3, 3, .fn = set_input, .needs_match = true },
    { "replace", 2, 2, .fn = replace, .needs_match = true },
    { "omit", 1, 1, .fn = omit },
    { "recall", 1, 1, .fn = recall, .needs_match = true },
    { "remember", 2, 2, .fn = remember, .needs_match = true },
    { 0 },
};
