/* Converts ATen nodes to ONNX nodes by the rows. A composed operator without a row is decomposed;
 * operators that still have none are collected, and all of them are reported at once. */
#include "aten/core/body.h"
#include "aten/core/custom.h"
#include "export/symbolic/arith.h"
#include "export/exporter.h"
#include "tensor/convert.h"
#include "export/symbolic/host.h"
#include "base/cancel.h"
#include "base/progress.h"
#include "base/warn.h"

#include <stdio.h>

static cq_status convert_block(cq_exporter *ex, cq_block *from, cq_block *to);

/* ---- values ---- */

cq_value *cq_sym_value(cq_sym *s, const cq_value *source)
{
    cq_value *v = (cq_value *)source;

    if (s->status != CQ_OK)
        return NULL;
    if (!v->onnx && v->data) {
        cq_value *c = cq_ir_constant_new(s->ex->graph, v->data, v->is_weight);

        if (!c) {
            cq_sym_fail(s, s->ex->graph->status);
            return NULL;
        }
        c->name = cq_ir_text(s->ex->graph, v->name);
        v->onnx = c;
    }
    if (!v->onnx)
        cq_sym_fail(s, cq_fail(CQ_E_INTERNAL, s->node ? s->node->op : NULL, NULL,
                               "value %u is used before it is computed", v->id));
    return v->onnx;
}

/* ---- operators that are kept unchanged ---- */

/* A list of integers, which may be sizes; NULL if it holds anything else. */
static cq_value *value_of_ints(cq_sym *s, const cq_operand *items, size_t n)
{
    cq_arena *arena  = s->ex->graph->arena;
    cq_int   *ints   = cq_arena_array(arena, n, sizeof *ints);
    int64_t  *values = cq_arena_array(arena, n, sizeof *values);
    bool      plain  = true;

    if (n && (!ints || !values)) {
        cq_sym_fail(s, CQ_E_NO_MEMORY);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != CQ_OPERAND_INT)
            return NULL;
        ints[i]   = items[i].u.i;
        values[i] = ints[i].value;
        plain &= !ints[i].expr;
    }
    return plain ? cq_sym_const_i64s(s, values, n) : cq_sym_of_ints(s, ints, n);
}

static cq_value *operand_value(cq_sym *s, const cq_operand *o)
{
    switch (o->kind) {
    case CQ_OPERAND_VALUE: return cq_sym_value(s, o->u.value);
    case CQ_OPERAND_INT: return cq_sym_of_int(s, o->u.i);
    case CQ_OPERAND_FLOAT: return cq_sym_const_f64(s, CQ_DTYPE_F64, o->u.f);
    case CQ_OPERAND_BOOL: return cq_sym_const_f64(s, CQ_DTYPE_BOOL, o->u.b);
    case CQ_OPERAND_LIST: return value_of_ints(s, o->u.list.items, o->u.list.n);
    default: return NULL;
    }
}

static bool is_list_of_tensors(const cq_operand *o)
{
    return o->kind == CQ_OPERAND_LIST && o->u.list.n && o->u.list.items[0].kind == CQ_OPERAND_VALUE;
}

/* Tensors of a list are separate inputs; every other argument is one input. */
static cq_value **plain_inputs(cq_sym *s, size_t *n)
{
    cq_value **in;
    size_t     max = 0;

    for (size_t i = 0; i < s->node->n_inputs; i++)
        max += is_list_of_tensors(&s->node->inputs[i]) ? s->node->inputs[i].u.list.n : 1;
    in = cq_arena_array(s->ex->graph->arena, max, sizeof *in);
    *n = 0;
    for (size_t i = 0; i < s->node->n_inputs && in; i++) {
        const cq_operand *o       = &s->node->inputs[i];
        const bool        tensors = is_list_of_tensors(o);

        for (size_t k = 0; k < (tensors ? o->u.list.n : 1); k++)
            in[(*n)++] = operand_value(s, tensors ? &o->u.list.items[k] : o);
    }
    if (!in && max)
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    return in;
}

/* A node of PyTorch's own domain: under its name, or as ATen with the name as an attribute. */
static cq_status keep_operator(cq_sym *s, bool as_aten)
{
    const char *full = s->node->op, *name = strstr(full, "::"), *dot;
    size_t      n_in, n_out               = s->node->n_outputs;
    cq_value  **in  = plain_inputs(s, &n_in);
    cq_value  **out = cq_arena_array(s->ex->graph->arena, n_out, sizeof *out);
    char       *op, *qualified;

    name = name ? name + 2 : full;
    dot  = strchr(name, '.');
    op   = cq_arena_strndup(s->ex->graph->arena, name, dot ? (size_t)(dot - name) : strlen(name));
    if (s->status != CQ_OK || !op || (!out && n_out))
        return s->status != CQ_OK ? s->status : CQ_E_NO_MEMORY;
    if (as_aten) {
        cq_sym_op_n(
            s, "org.pytorch.aten::ATen", in, n_in,
            CQ_ATTR(cq_attr_s("operator", op), cq_attr_s("overload_name", dot ? dot + 1 : "")), out,
            n_out);
    } else {
        const bool aten = strncmp(full, "aten::", 6) == 0;

        qualified = cq_arena_printf(s->ex->graph->arena, "%.*s::%s",
                                    aten ? 16 : (int)(strstr(full, "::") - full),
                                    aten ? "org.pytorch.aten" : full, op);
        if (!qualified)
            return CQ_E_NO_MEMORY;
        cq_sym_op_n(s, qualified, in, n_in, CQ_NO_ATTR, out, n_out);
    }
    return cq_sym_done_n(s, out, n_out);
}

/* ---- decomposition ---- */

static void count_use(cq_value *v, void *user)
{
    (void)user;
    v->n_uses++;
}

/* Whether the row defers to the operator's decomposition in lib/aten. */
static bool by_parts(const cq_symbolic *row, const cq_node *n)
{
    return row && row->parts && n->def && ((const cq_op *)n->def)->decomposition;
}

static cq_status decompose(cq_opcall *c)
{
    return cq_body_run(c->op->decomposition, c);
}

/* The parts of n: its decomposition for the export, or its body. */
static cq_status parts_of(cq_block **out, cq_exporter *ex, const cq_node *n,
                          const cq_symbolic_found *found)
{
    *out = cq_ir_block_new(ex->source, NULL);
    if (!*out)
        return CQ_E_NO_MEMORY;
    return cq_capture_parts(*out, n, by_parts(found->row, n) ? decompose : cq_op_compose);
}

static cq_status convert_parts(cq_exporter *ex, cq_node *n, cq_block *parts, cq_block *to)
{
    for (cq_node *p = parts->first; p; p = p->next) {
        p->origin   = n->origin;
        p->location = n->location;
        p->marks    = n->marks;
        for (size_t i = 0; i < p->n_inputs; i++)
            cq_ir_each_use(&p->inputs[i], count_use, NULL);
    }
    for (size_t i = 0; i < parts->returns.n; i++)
        parts->returns.items[i].u.value->n_uses++;
    CQ_TRY(convert_block(ex, parts, to));
    for (size_t i = 0; i < parts->returns.n && i < n->n_outputs; i++) {
        cq_sym s = { .ex = ex, .block = to, .node = n };

        n->outputs[i]->onnx =
            ex->missing.n ? NULL : cq_sym_value(&s, parts->returns.items[i].u.value);
        CQ_TRY(s.status);
    }
    return CQ_OK;
}

/* ---- one node ---- */

static cq_status apply_row(cq_sym *s, const cq_symbolic *row)
{
    cq_value **in;
    size_t     n = 0;

    if (row->no)
        return cq_sym_no(s, 0, "%s", row->no);
    if (row->parts && !row->fn && !row->op && !row->function) {
        s->declined = true; /* for its parts */
        return CQ_E_UNSUPPORTED;
    }
    if (row->user_fn)
        return row->user_fn(s, row->user);
    if (row->fn)
        return row->fn(s);
    if (row->function)
        return cq_sym_run_function(s, row->function, row->promotes);
    if (s->op && cq_sym_arity(row->op))
        return cq_sym_elementwise(s, row->op);
    in = cq_arena_array(s->ex->graph->arena, s->node->n_inputs, sizeof *in);
    if (!in && s->node->n_inputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s->node->n_inputs; i++)
        if (s->node->inputs[i].kind == CQ_OPERAND_VALUE)
            in[n++] = cq_sym_value(s, s->node->inputs[i].u.value);
    return cq_sym_done(s, cq_sym_op(s, row->op, in, n, CQ_NO_ATTR));
}

/* PyTorch's ATen node can only represent PyTorch's own operators. */
static bool can_be_kept(const cq_node *n, cq_operator_export_type mode)
{
    return mode == CQ_OPERATORS_ONNX_FALLTHROUGH ||
           (mode != CQ_OPERATORS_ONNX && strncmp(n->op, "aten::", 6) == 0);
}

/* Warns once for each unknown operator that stays in the model. */
static cq_status warn_of_guess(cq_exporter *ex, const cq_node *n)
{
    const cq_op *op = n->def;

    if (!op || !(op->def->flags & CQ_OP_GUESSED) || cq_map_has(&ex->guessed, n->op))
        return CQ_OK;
    cq_warn(n->op,
            "unknown operator: its result is assumed to be %s with the type and sizes of its first "
            "tensor; --define FILE.py defines it",
            n->n_outputs == 1 ? "one tensor" : "one tensor per unpacked variable");
    return cq_map_set(&ex->guessed, n->op, NULL);
}

/* Complex tensors are represented as pairs of real numbers; only these two operators may access
 * complex values. */
static bool is_complex(const cq_operand *o)
{
    if (o->kind == CQ_OPERAND_LIST) {
        for (size_t i = 0; i < o->u.list.n; i++)
            if (is_complex(&o->u.list.items[i]))
                return true;
        return false;
    }
    return o->kind == CQ_OPERAND_VALUE && o->u.value->type.kind == CQ_TYPE_TENSOR &&
           cq_dtype_is_complex(o->u.value->type.dtype);
}

static bool stays_complex(const cq_node *n)
{
    bool complex = strcmp(n->op, "aten::view_as_complex") != 0 && n->n_outputs &&
                   is_complex(&CQ_OPERAND_OF(n->outputs[0]));

    for (size_t i = 0; i < n->n_inputs && strcmp(n->op, "aten::view_as_real") != 0; i++)
        complex |= is_complex(&n->inputs[i]);
    return complex;
}

/* Whether the user defined the row. calque's own rows rely on the schema of the operator table; an
 * extension's operator of the same name, or a manipulated file, may have any arguments. */
static bool is_of_user(const cq_exporter *ex, const cq_symbolic *row)
{
    return ex->user_rows.n && row >= ex->user_rows.items &&
           row < ex->user_rows.items + ex->user_rows.n;
}

/* Whether the row only states why the operator cannot be exported, for all arguments. */
static bool is_reason(const cq_symbolic *row)
{
    return row && row->no;
}

static cq_status refuse_complex(cq_sym *s, char reason[CQ_ERROR_MESSAGE_SIZE])
{
    s->declined = true;
    snprintf(reason, CQ_ERROR_MESSAGE_SIZE, "not supported for complex tensors");
    return CQ_E_UNSUPPORTED;
}

/* A row may decline: then reason explains it, and a later opset may support the call. Nodes that it
 * made before are dead; the final clean-up removes them. */
static cq_status convert_by(const cq_symbolic *row, cq_sym *s, cq_symbolic_found *found,
                            char reason[CQ_ERROR_MESSAGE_SIZE])
{
    cq_status status = apply_row(s, row);

    if (status != CQ_OK && s->declined) {
        snprintf(reason, CQ_ERROR_MESSAGE_SIZE, "%s", cq_last_error()->message);
        if (s->declined_opset)
            found->later = s->declined_opset;
    }
    return status;
}

static cq_status convert_node(cq_exporter *ex, cq_node *n, cq_block *to)
{
    cq_sym                  s = { .ex = ex, .block = to, .node = n, .op = n->def };
    cq_symbolic_found       found;
    const cq_symbolic      *row;
    cq_operator_export_type mode           = ex->options.operators;
    const cq_function      *function       = cq_op_function(s.op);
    bool                    can_take_apart = s.op && cq_op_is_composed(s.op) &&
                          !(function && (ex->options.flags & CQ_EXPORT_NO_AUTOGRAD_INLINING));
    cq_symbolic own                           = { .name = n->op };
    char        reason[CQ_ERROR_MESSAGE_SIZE] = "";
    cq_status   status;

    CQ_TRY(cq_symbolic_find(&found, ex, n->op, ex->options.opset));
    row = cq_export_is_unknown(n) && !is_of_user(ex, found.row) && !is_reason(found.row)
              ? NULL
              : found.row;
    if (!row && function && function->symbolic) {
        own.user_fn = function->symbolic;
        own.user    = function->user;
        row         = &own;
    }
    if (mode == CQ_OPERATORS_ONNX_ATEN && strncmp(n->op, "aten::", 6) == 0)
        status = keep_operator(&s, true);
    else if (stays_complex(n) && !can_take_apart)
        status = refuse_complex(&s, reason);
    else
        status = row ? convert_by(row, &s, &found, reason) : CQ_E_UNSUPPORTED;
    if (status != CQ_OK && row && !s.declined)
        return cq_error_add_where(status, "%s", n->op);
    if (status != CQ_OK && (can_take_apart || by_parts(row, n))) {
        cq_block *parts;

        status = parts_of(&parts, ex, n, &found);
        if (status != CQ_E_UNSUPPORTED || can_take_apart)
            return status == CQ_OK ? convert_parts(ex, n, parts, to) : status;
        snprintf(reason, sizeof reason, "%s", cq_last_error()->message);
    }
    if (status != CQ_OK && can_be_kept(n, mode)) {
        s      = (cq_sym){ .ex = ex, .block = to, .node = n, .op = n->def };
        status = keep_operator(&s, mode != CQ_OPERATORS_ONNX_FALLTHROUGH);
    }
    if (status != CQ_OK) {
        CQ_TRY(cq_export_note_missing(ex, n, reason[0] ? reason : NULL, found.later));
        return CQ_OK; /* continue, to find all missing operators */
    }
    CQ_TRY(warn_of_guess(ex, n));
    for (size_t i = 0; i < n->n_outputs && i < s.n_done; i++)
        n->outputs[i]->onnx = s.done[i];
    return CQ_OK;
}

/* ---- control flow ---- */

static bool is_returned(const cq_block *block, const cq_value *v)
{
    for (size_t i = 0; i < block->returns.n; i++)
        if (block->returns.items[i].u.value == v)
            return true;
    return false;
}

/* A result of a block must be computed in the block and must be returned only once: ONNX Runtime
 * gives the second of two equal results no value. */
static cq_status return_value(cq_exporter *ex, const cq_node *n, cq_block *to, const cq_operand *o,
                              const cq_type *type)
{
    cq_sym    s = { .ex = ex, .block = to, .node = n };
    cq_value *v = cq_sym_value(&s, o->u.value);

    if (v && type->kind == CQ_TYPE_TENSOR && cq_sym_dtype(&s, v) != type->dtype)
        v = cq_sym_cast(&s, v, type->dtype);
    if (v && (!v->node || v->node->block != to || is_returned(to, v))) {
        cq_type same = v->type;

        v = cq_sym_op(&s, "Identity", CQ_IN(v), CQ_NO_ATTR);
        if (v)
            v->type = same;
    }
    CQ_TRY(s.status);
    return cq_vec_push(&to->returns, CQ_OPERAND_OF(v));
}

static bool is_if(const cq_node *n)
{
    return strcmp(n->op, "prim::If") == 0;
}

/* Unused results of an If are omitted; those of a Loop may be loop-carried. */
static bool keeps_output(const cq_node *n, size_t i)
{
    return !is_if(n) || n->outputs[i]->n_uses > 0;
}

static cq_status convert_inner(cq_exporter *ex, cq_node *n, size_t index, cq_node *node)
{
    cq_block *from = n->blocks[index], *to = cq_ir_node_block(node);

    if (!to)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < from->params.n; i++) {
        from->params.items[i]->onnx = cq_ir_param_new(to, from->params.items[i]->type);
        if (!from->params.items[i]->onnx)
            return CQ_E_NO_MEMORY;
    }
    CQ_TRY(convert_block(ex, from, to));
    for (size_t i = 0; i < from->returns.n && !ex->missing.n; i++) {
        /* The first result of a loop's body is its condition. */
        cq_type type = is_if(n) ? n->outputs[i]->type
                       : i      ? n->outputs[i - 1]->type
                                : (cq_type){ .kind = CQ_TYPE_UNKNOWN };

        if (is_if(n) && !keeps_output(n, i))
            continue;
        CQ_TRY(return_value(ex, n, to, &from->returns.items[i], &type));
    }
    return CQ_OK;
}

/* ---- branches that fail ---- */

/* ONNX has no exceptions, but an index out of range is an error at run time. The index is computed
 * from the condition, so that it is not a constant that could be folded. */
static cq_value *failing(cq_sym *s, cq_value *condition, size_t side)
{
    cq_value *index = side ? cq_sym_op(s, "Not", CQ_IN(condition), CQ_NO_ATTR) : condition;

    index = cq_sym_cast(s, index, CQ_DTYPE_I64);
    return cq_sym_op(s, "Gather", CQ_IN(cq_sym_const_f32s(s, (float[]){ 0 }, 1), index),
                     CQ_NO_ATTR);
}

static bool can_fail(const cq_exporter *ex, const cq_node *n, size_t side)
{
    bool can = is_if(n) && n->untaken == side + 1 && ex->options.operators == CQ_OPERATORS_ONNX;

    for (size_t i = 0; i < n->n_outputs; i++)
        can &= !keeps_output(n, i) || n->outputs[i]->type.kind == CQ_TYPE_TENSOR ||
               n->outputs[i]->type.kind == CQ_TYPE_INT ||
               n->outputs[i]->type.kind == CQ_TYPE_BOOL ||
               n->outputs[i]->type.kind == CQ_TYPE_FLOAT;
    return can;
}

/* Forgets missing operators that only the replaced branch needs. */
static const char *forget_missing(cq_exporter *ex)
{
    const char *first = ex->missing.n ? ex->missing.items[0].op : cq_last_error()->message;

    for (size_t i = 0; i < ex->missing.n; i++)
        cq_map_set(&ex->missing_by_name, ex->missing.items[i].op, NULL);
    ex->missing.n = 0;
    return cq_ir_text(ex->graph, first);
}

/* Replaces nodes that cannot be exported: the run fails if it reaches them. */
static cq_status make_failing(cq_exporter *ex, cq_node *n, size_t side, cq_node *node)
{
    static const cq_dtype dtypes[] = {
        [CQ_TYPE_INT] = CQ_DTYPE_I64, [CQ_TYPE_FLOAT] = CQ_DTYPE_F32, [CQ_TYPE_BOOL] = CQ_DTYPE_BOOL
    };
    cq_block   *to  = node->blocks[side];
    cq_sym      s   = { .ex = ex, .block = to, .node = n };
    const char *why = forget_missing(ex);
    char        location[CQ_LOCATION_SIZE];

    to->first = to->last = NULL;
    to->returns.n        = 0;
    for (size_t i = 0; i < n->n_outputs; i++) {
        const cq_type *type = &n->outputs[i]->type;
        cq_value      *v    = failing(&s, node->inputs[0].u.value, side);
        cq_int         sizes[CQ_MAX_RANK];

        if (!keeps_output(n, i))
            continue;
        for (int k = 0; type->kind == CQ_TYPE_TENSOR && k < type->rank; k++)
            sizes[k] = cq_i(type->sizes[k].value);
        if (type->kind == CQ_TYPE_TENSOR && type->rank > 0)
            v = cq_sym_op(&s, "Expand", CQ_IN(v, cq_sym_of_ints(&s, sizes, (size_t)type->rank)),
                          CQ_NO_ATTR);
        v = cq_sym_cast(&s, v, type->kind == CQ_TYPE_TENSOR ? type->dtype : dtypes[type->kind]);
        CQ_TRY(s.status);
        CQ_TRY(cq_vec_push(&to->returns, CQ_OPERAND_OF(v)));
    }
    if (strcmp(why, CQ_RAISE) != 0) /* the capture has warned about it */
        cq_warn(cq_location_text(n->location, location),
                "the branch that the example does not take cannot be exported (%s): a run that "
                "takes it fails",
                why);
    return s.status;
}

/* Until opset 13 branches and loops can return only tensors. */
static cq_status check_sequences(const cq_exporter *ex, const cq_node *n)
{
    for (size_t i = 0; i < n->n_outputs && ex->options.opset < 13; i++)
        if (n->outputs[i]->type.kind == CQ_TYPE_LIST && keeps_output(n, i))
            return cq_fail(
                CQ_E_UNSUPPORTED, NULL, "use opset 13 or newer",
                "a %s returns a list of data-dependent length, which opset %d does not support",
                is_if(n) ? "branch" : "loop", ex->options.opset);
    return CQ_OK;
}

static bool can_be_one_shape(const cq_operand *a, const cq_operand *b)
{
    const cq_type *s = &a->u.value->type, *t = &b->u.value->type;

    if (s->kind != CQ_TYPE_TENSOR || t->kind != CQ_TYPE_TENSOR || s->rank < 0 || t->rank < 0)
        return true;
    for (int i = 0; i < s->rank && s->rank == t->rank; i++)
        if (!s->sizes[i].expr != !t->sizes[i].expr ||
            (!s->sizes[i].expr && s->sizes[i].value != t->sizes[i].value))
            return false;
    return s->rank == t->rank;
}

/* Until opset 11 both branches of an If must have the same shape. ONNX Runtime rejects other
 * models, and also applies a fixed size of one branch to the other. */
static cq_status check_shapes(const cq_exporter *ex, const cq_node *n)
{
    for (size_t i = 0; i < n->n_outputs && is_if(n) && ex->options.opset < 11; i++)
        if (keeps_output(n, i) &&
            !can_be_one_shape(&n->blocks[0]->returns.items[i], &n->blocks[1]->returns.items[i]))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, "use opset 11 or newer",
                           "the branches of an if return tensors of different shapes, which opset "
                           "%d does not support",
                           ex->options.opset);
    return CQ_OK;
}

/* prim::If and prim::Loop have the inputs of ONNX's If and Loop: condition; trip count, condition,
 * carried values. */
static cq_status convert_control(cq_exporter *ex, cq_node *n, cq_block *to)
{
    cq_sym     s  = { .ex = ex, .block = to, .node = n };
    cq_value **in = cq_arena_array(ex->graph->arena, n->n_inputs, sizeof *in);
    cq_node   *node;
    size_t     n_kept = 0;

    if (!in)
        return CQ_E_NO_MEMORY;
    if (stays_complex(n))
        return cq_fail(CQ_E_UNSUPPORTED, n->op, "return torch.view_as_real of it",
                       "a branch or loop returns a complex tensor, which ONNX does not support");
    CQ_TRY(check_sequences(ex, n));
    CQ_TRY(check_shapes(ex, n));
    for (size_t i = 0; i < n->n_inputs; i++)
        in[i] = operand_value(&s, &n->inputs[i]);
    for (size_t i = 0; i < n->n_outputs; i++)
        n_kept += keeps_output(n, i);
    node = cq_sym_node(&s, is_if(n) ? "If" : "Loop", in, n->n_inputs, n_kept);
    CQ_TRY(s.status);
    for (size_t i = 0; i < n->n_blocks; i++) {
        const bool      is_whole = !ex->missing.n;
        const cq_status status   = convert_inner(ex, n, i, node);

        if (is_whole && (ex->missing.n || status == CQ_E_UNSUPPORTED) && can_fail(ex, n, i))
            CQ_TRY(make_failing(ex, n, i, node));
        else
            CQ_TRY(status);
    }
    for (size_t i = 0, k = 0; i < n->n_outputs; i++)
        if (keeps_output(n, i)) {
            node->outputs[k]->type        = n->outputs[i]->type;
            node->outputs[k]->rank_varies = n->outputs[i]->rank_varies;
            n->outputs[i]->onnx           = node->outputs[k++];
        }
    return CQ_OK;
}

/* An Identity that no pass removes. */
static cq_status convert_anchor(cq_exporter *ex, cq_node *n, cq_block *to)
{
    cq_sym    s = { .ex = ex, .block = to, .node = n };
    cq_value *v =
        cq_sym_op(&s, "Identity", CQ_IN(cq_sym_value(&s, n->inputs[0].u.value)), CQ_NO_ATTR);

    CQ_TRY(s.status);
    v->type             = n->outputs[0]->type;
    v->node->name       = cq_ir_text(ex->graph, n->name);
    v->node->is_anchor  = true;
    n->outputs[0]->onnx = v;
    return CQ_OK;
}

/* After a missing operator its results are placeholders, so that the rest of the graph can still be
 * converted. */
static cq_status placeholders(cq_exporter *ex, cq_node *n)
{
    for (size_t i = 0; i < n->n_outputs; i++)
        if (!n->outputs[i]->onnx) {
            n->outputs[i]->onnx = cq_ir_value_new(ex->graph, n->outputs[i]->type);
            if (!n->outputs[i]->onnx)
                return CQ_E_NO_MEMORY;
        }
    return CQ_OK;
}

static bool is_used(const cq_node *n)
{
    bool used = n->n_outputs == 0 || (n->is_anchor && n->name);

    for (size_t i = 0; i < n->n_outputs; i++)
        used |= n->outputs[i]->n_uses > 0;
    return used;
}

static void unuse(cq_value *v, void *user)
{
    (void)user;
    v->n_uses--;
}

/* Nodes that only unused nodes read are also unused. */
static void ignore_unused(cq_block *b)
{
    for (cq_node *n = b->last; n; n = n->prev) {
        if (!is_used(n) && !n->n_blocks)
            for (size_t i = 0; i < n->n_inputs; i++)
                cq_ir_each_use(&n->inputs[i], unuse, NULL);
        else
            for (size_t i = 0; i < n->n_blocks; i++)
                ignore_unused(n->blocks[i]);
    }
}

static cq_status convert_block(cq_exporter *ex, cq_block *from, cq_block *to)
{
    for (cq_node *n = from->first; n; n = n->next) {
        if (from == ex->source->top)
            cq_progress_step(1);
        if (!is_used(n))
            continue;
        CQ_TRY(cq_check_cancelled());
        CQ_TRY(n->is_anchor  ? convert_anchor(ex, n, to)
               : n->n_blocks ? convert_control(ex, n, to)
                             : convert_node(ex, n, to));
        if (ex->missing.n)
            CQ_TRY(placeholders(ex, n));
    }
    return CQ_OK;
}

static cq_status forget_node(cq_node *n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n->n_outputs; i++)
        n->outputs[i]->onnx = NULL;
    return CQ_OK;
}

/* A graph may be exported more than once. */
static void forget_earlier_export(cq_graph *g)
{
    for (size_t i = 0; i < g->top->params.n; i++)
        g->top->params.items[i]->onnx = NULL;
    for (size_t i = 0; i < g->constants.n; i++)
        g->constants.items[i]->onnx = NULL;
    cq_ir_each_node(g->top, forget_node, NULL);
}

/* Converts all nodes; deferred ones come last. */
static cq_status convert_top(cq_exporter *ex)
{
    uint64_t  n_nodes = 0;
    cq_status status;

    for (const cq_node *n = ex->source->top->first; n; n = n->next)
        n_nodes++;
    cq_progress_begin("exporting", n_nodes);
    status = convert_block(ex, ex->source->top, ex->graph->top);
    cq_progress_end();
    return status;
}

/* ---- complex numbers at the ends ---- */

static bool wants_pairs(const cq_exporter *ex, const cq_value *v)
{
    return ex->options.flags & CQ_EXPORT_COMPLEX_AS_PAIRS && v->type.kind == CQ_TYPE_TENSOR &&
           cq_dtype_is_complex(v->type.dtype) && v->type.rank < CQ_MAX_RANK;
}

static cq_type type_of_pairs(cq_graph *g, cq_type complex)
{
    cq_int sizes[CQ_MAX_RANK];

    for (int i = 0; i < complex.rank; i++)
        sizes[i] = complex.sizes[i];
    sizes[complex.rank] = cq_i(2);
    return cq_ir_tensor_type(g, cq_dtype_part(complex.dtype), (size_t)complex.rank + 1, sizes);
}

/* p is a complex input that no node computes; v is the input of the model. */
static cq_status stand_for_pairs(cq_exporter *ex, cq_value *p, cq_value *v)
{
    p->onnx = cq_ir_value_new(ex->graph, p->type);
    if (!p->onnx)
        return CQ_E_NO_MEMORY;
    p->onnx->pairs = v;
    return CQ_OK;
}

static cq_status convert_input(cq_exporter *ex, cq_value *p)
{
    cq_graph *to    = ex->graph;
    bool      pairs = wants_pairs(ex, p);
    cq_value *v     = cq_ir_param_new(to->top, pairs ? type_of_pairs(to, p->type) : p->type);

    if (!v)
        return CQ_E_NO_MEMORY;
    if (p->type.dtype == CQ_DTYPE_BF16 && ex->options.opset < 13)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "use opset 13 or newer",
                       "input %s has dtype bfloat16, which requires opset 13",
                       p->name ? p->name : "");
    if (cq_dtype_since(p->type.dtype) > ex->options.opset)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "use a newer opset",
                       "input %s has dtype %s, which requires opset %d", p->name ? p->name : "",
                       cq_dtype_name(p->type.dtype), cq_dtype_since(p->type.dtype));
    v->name    = cq_ir_text(to, p->name);
    v->example = p->example; /* the source graph retains it */
    p->onnx    = v;
    return pairs ? stand_for_pairs(ex, p, v) : CQ_OK;
}

static cq_status convert_output(cq_exporter *ex, cq_sym *s, size_t i)
{
    const cq_operand *from = &ex->source->top->returns.items[i];
    cq_value         *v    = cq_sym_value(s, from->u.value), *pairs;

    CQ_TRY(s->status);
    pairs = wants_pairs(ex, v) ? cq_export_pairs(ex, v) : NULL;
    CQ_TRY(ex->graph->status);
    if (!pairs && is_complex(from))
        return cq_fail(CQ_E_UNSUPPORTED, NULL,
                       "return torch.view_as_real of it, or use --complex-as-pairs",
                       "output %zu is a complex tensor, which ONNX does not support", i);
    v = pairs ? pairs : v;
    if (!v->node) { /* an input or a weight needs a node that makes it an output */
        cq_type type = v->type;

        v = cq_sym_op(s, "Identity", CQ_IN(v), CQ_NO_ATTR);
        CQ_TRY(s->status);
        v->type = type;
    }
    return cq_vec_push(&ex->graph->top->returns, CQ_OPERAND_OF(v));
}

cq_status cq_export_convert(cq_exporter *ex)
{
    cq_graph *from = ex->source, *to = ex->graph;
    cq_sym    s = { .ex = ex, .block = to->top };

    forget_earlier_export(from);
    CQ_TRY(cq_export_move_optionals(from));
    if (ex->options.opset < 13)
        CQ_TRY(cq_export_scan_lists(from, ex->options.opset));
    cq_ir_count_uses(from);
    CQ_TRY(cq_export_find_reads(ex));
    ignore_unused(from->top);
    for (size_t i = 0; i < from->top->params.n; i++)
        CQ_TRY(convert_input(ex, from->top->params.items[i]));
    for (size_t i = 0; i < from->constants.n; i++)
        if (from->constants.items[i]->n_uses && from->constants.items[i]->is_weight)
            cq_sym_value(&s, from->constants.items[i]);
    CQ_TRY(s.status);
    CQ_TRY(convert_top(ex));
    if (ex->missing.n)
        return cq_export_report_missing(ex);
    for (size_t i = 0; i < from->top->returns.n; i++)
        CQ_TRY(convert_output(ex, &s, i));
    return to->status;
}
