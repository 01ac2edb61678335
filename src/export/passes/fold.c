/* Constant folding: nodes whose inputs are all weights or constants are computed now, with the
 * operators of the ATen table, or by the runtime if the table has no such operator and the inputs
 * are small. Nodes that only move elements (a transposed weight) give a view of the original
 * memory, so folding a large weight copies nothing.
 *
 * A folded weight is named after the original weight and the operation, fc.weight.Transpose, so
 * that it cannot be confused with the original. */
#include "export/exporter.h"
#include "base/str.h"

enum {
    SMALL       = 64,    /* elements: stays a Constant node, larger ones become initializers */
    SMALL_SHAPE = 16384, /* elements of a constant that is computed from its shape */
    SHARE       = 256    /* … or this fraction of the weights of a large file */
};

typedef struct folder {
    cq_exporter *ex;
    cq_ctx      *cx;
    int64_t      max_shape; /* elements of a constant that is computed from its shape */
    cq_map       made;      /* identity of the memory -> the constant made of it */
} folder;

/* ---- operators that can be folded ---- */

typedef struct fold_call {
    cq_ctx        *cx;
    const cq_node *n;
    const char    *aten;   /* the equivalent ATen operator; NULL: fn computes the result */
    size_t         output; /* index of the requested output */
    int64_t        max_shape;
    cq_tensor     *in[16];
} fold_call;

static int64_t attr_i(const fold_call *f, const char *name, int64_t otherwise)
{
    const cq_operand *o = cq_ir_attr(f->n, name);

    return o && o->kind == CQ_OPERAND_INT ? o->u.i.value : otherwise;
}

static size_t attr_is(const fold_call *f, const char *name, int64_t *out, size_t max)
{
    const cq_operand *o = cq_ir_attr(f->n, name);
    size_t            n = o && o->kind == CQ_OPERAND_LIST ? o->u.list.n : 0;

    if (n > max)
        return 0;
    for (size_t i = 0; i < n; i++)
        out[i] = o->u.list.items[i].u.i.value;
    return n;
}

static size_t tensor_is(const cq_tensor *t, int64_t *out, size_t max)
{
    int64_t n = t ? cq_tensor_numel(t) : 0;

    if (n > (int64_t)max)
        return 0;
    for (int64_t i = 0; i < n; i++)
        out[i] = cq_tensor_get_i64(t, i);
    return (size_t)n;
}

/* An operand that became an input in a later version: an attribute before. */
static size_t either_is(const fold_call *f, const char *attr, size_t input, int64_t *out,
                        size_t max)
{
    return input < f->n->n_inputs && f->in[input] ? tensor_is(f->in[input], out, max)
                                                  : attr_is(f, attr, out, max);
}

static cq_tensor *fold_transpose(fold_call *f)
{
    int64_t perm[CQ_MAX_RANK];
    size_t  n = attr_is(f, "perm", perm, CQ_MAX_RANK);

    for (; n < f->in[0]->rank; n++)
        perm[n] = (int64_t)f->in[0]->rank - 1 - (int64_t)n;
    return CQ_OP(f->cx, "aten::permute", TENSOR(f->in[0]), cq_i64s(f->cx, perm, n));
}

static cq_tensor *fold_reshape(fold_call *f)
{
    int64_t shape[CQ_MAX_RANK];
    size_t  n = tensor_is(f->in[1], shape, CQ_MAX_RANK);

    for (size_t i = 0; i < n; i++)
        if (shape[i] == 0 && i < f->in[0]->rank && !attr_i(f, "allowzero", 0))
            shape[i] = f->in[0]->sizes[i].value;
    return CQ_OP(f->cx, "aten::reshape", TENSOR(f->in[0]), cq_i64s(f->cx, shape, n));
}

static cq_tensor *fold_unsqueeze(fold_call *f)
{
    int64_t    axes[CQ_MAX_RANK];
    size_t     n = either_is(f, "axes", 1, axes, CQ_MAX_RANK), rank = f->in[0]->rank + n;
    cq_tensor *t = f->in[0];

    for (size_t i = 0; i < n; i++)
        if (axes[i] < 0)
            axes[i] += (int64_t)rank;
    for (size_t d = 0; d < rank; d++) /* in ascending order */
        for (size_t i = 0; i < n; i++)
            if (axes[i] == (int64_t)d)
                t = CQ_OP(f->cx, "aten::unsqueeze", TENSOR(t), INT((int64_t)d));
    return t;
}

static cq_tensor *fold_squeeze(fold_call *f)
{
    int64_t    axes[CQ_MAX_RANK];
    size_t     n = either_is(f, "axes", 1, axes, CQ_MAX_RANK), rank = f->in[0]->rank;
    cq_tensor *t = f->in[0];

    if (n == 0)
        return CQ_OP(f->cx, "aten::squeeze", TENSOR(t));
    for (size_t d = rank; d-- > 0;)
        for (size_t i = 0; i < n; i++)
            if ((axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i]) == (int64_t)d)
                t = CQ_OP(f->cx, "aten::squeeze.dim", TENSOR(t), INT((int64_t)d));
    return t;
}

static cq_tensor *fold_slice(fold_call *f)
{
    int64_t    starts[CQ_MAX_RANK], ends[CQ_MAX_RANK], axes[CQ_MAX_RANK], steps[CQ_MAX_RANK];
    size_t     n = either_is(f, "starts", 1, starts, CQ_MAX_RANK);
    size_t     n_axes, n_steps;
    cq_tensor *t = f->in[0];

    either_is(f, "ends", 2, ends, CQ_MAX_RANK);
    n_axes  = either_is(f, "axes", 3, axes, CQ_MAX_RANK);
    n_steps = f->n->n_inputs > 4 && f->in[4] ? tensor_is(f->in[4], steps, CQ_MAX_RANK) : 0;
    for (size_t i = 0; i < n; i++) {
        if (n_steps && steps[i] <= 0)
            return NULL;
        t = CQ_OP(f->cx, "aten::slice.Tensor", TENSOR(t), INT(n_axes ? axes[i] : (int64_t)i),
                  INT(starts[i]), INT(ends[i]), INT(n_steps ? steps[i] : 1));
    }
    return t;
}

/* Without sizes all parts are equal. */
static cq_tensor *fold_split(fold_call *f)
{
    int64_t sizes[CQ_MAX_RANK], axis = attr_i(f, "axis", 0), from = 0, rank = f->in[0]->rank;
    int64_t parts = f->n->n_outputs;
    size_t  n     = either_is(f, "split", 1, sizes, CQ_MAX_RANK);

    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || parts > CQ_MAX_RANK || (n && n != (size_t)parts) ||
        (!n && f->in[0]->sizes[axis].value % parts))
        return NULL;
    for (size_t i = n; i < (size_t)parts; i++)
        sizes[i] = f->in[0]->sizes[axis].value / parts;
    for (size_t i = 0; i < f->output; i++)
        from += sizes[i];
    return CQ_OP(f->cx, "aten::slice.Tensor", TENSOR(f->in[0]), INT(axis), INT(from),
                 INT(from + sizes[f->output]), INT(1));
}

static cq_tensor *fold_concat(fold_call *f)
{
    return CQ_OP(f->cx, "aten::cat", cq_tensors(f->cx, f->in, f->n->n_inputs),
                 INT(attr_i(f, "axis", 0)));
}

static cq_tensor *fold_cast(fold_call *f)
{
    cq_dtype   to = cq_dtype_from_onnx(attr_i(f, "to", 0)), from = f->in[0]->dtype;
    cq_tensor *t = NULL;

    /* An 8-bit weight is not dequantized: as floats it would be four times as large. */
    if (f->n->inputs[0].u.value->is_weight && cq_tensor_numel(f->in[0]) > SMALL &&
        (from == CQ_DTYPE_I8 || cq_dtype_since(from) > 1) && cq_dtype_size(from) == 1 &&
        cq_dtype_is_float(to) && cq_dtype_size(to) > 1)
        return NULL;
    if (to != CQ_DTYPE_NONE && cq_dtype_to_torch(to) < 0) /* int4: ATen has no such dtype */
        return cq_tensor_clone(&t, f->in[0], to) == CQ_OK ? cq_ctx_own_tensor(f->cx, t) : NULL;
    return to == CQ_DTYPE_NONE ? NULL : CQ_OP(f->cx, "aten::to.dtype", TENSOR(f->in[0]), DTYPE(to));
}

/* A scalar index removes the axis; a list of indices keeps it. */
static cq_tensor *fold_gather(fold_call *f)
{
    cq_tensor *index = f->in[1];
    int64_t    axis  = attr_i(f, "axis", 0);

    if (index->rank == 0)
        return CQ_OP(f->cx, "aten::select.int", TENSOR(f->in[0]), INT(axis),
                     INT(cq_tensor_get_i64(index, 0)));
    if (index->rank == 1 && index->dtype == CQ_DTYPE_I64)
        return CQ_OP(f->cx, "aten::index_select", TENSOR(f->in[0]), INT(axis), TENSOR(index));
    return NULL;
}

static cq_tensor *fold_unary(fold_call *f)
{
    return CQ_OP(f->cx, f->aten, TENSOR(f->in[0]));
}

static cq_tensor *fold_binary(fold_call *f)
{
    return f->in[0]->dtype == f->in[1]->dtype && f->n->n_inputs == 2
               ? CQ_OP(f->cx, f->aten, TENSOR(f->in[0]), TENSOR(f->in[1]))
               : NULL;
}

static cq_tensor *fold_div(fold_call *f)
{
    if (cq_dtype_is_float(f->in[0]->dtype) || f->in[0]->dtype != f->in[1]->dtype)
        return fold_binary(f);
    return CQ_OP(f->cx, "aten::div.Tensor_mode", TENSOR(f->in[0]), TENSOR(f->in[1]),
                 cq_str_val(f->cx, "trunc"));
}

/* ONNX's Expand broadcasts in both directions; aten's expand requires all axes. A view takes no
 * memory, but is written in full. */
static cq_tensor *fold_expand(fold_call *f)
{
    int64_t    sizes[CQ_MAX_RANK], rank = f->in[0]->rank;
    int64_t    n       = (int64_t)tensor_is(f->in[1], sizes, CQ_MAX_RANK);
    int64_t    missing = rank > n ? rank - n : 0;
    cq_tensor *t;

    memmove(sizes + missing, sizes, (size_t)n * sizeof *sizes);
    for (int64_t i = 0; i < missing + n; i++)
        if (i < missing || (sizes[i] == 1 && i >= missing + n - rank))
            sizes[i] = -1;
    t = CQ_OP(f->cx, "aten::expand", TENSOR(f->in[0]),
              cq_i64s(f->cx, sizes, (size_t)(missing + n)));
    return t && cq_tensor_numel(t) <= f->max_shape ? t : NULL;
}

static cq_tensor *fold_tile(fold_call *f)
{
    int64_t repeats[CQ_MAX_RANK], total = cq_tensor_numel(f->in[0]);
    size_t  n = tensor_is(f->in[1], repeats, CQ_MAX_RANK);

    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(total, repeats[i], &total) || total > f->max_shape)
            return NULL;
    return n == f->in[0]->rank
               ? CQ_OP(f->cx, "aten::tile", TENSOR(f->in[0]), cq_i64s(f->cx, repeats, n))
               : NULL;
}

static cq_tensor *fold_clip(fold_call *f)
{
    return CQ_OP(f->cx, "aten::clamp.Tensor", TENSOR(f->in[0]), TENSOR(f->in[1]), TENSOR(f->in[2]));
}

/* Only small ones: a file must not grow by numbers that a node can compute. */
static cq_tensor *fold_constant_of_shape(fold_call *f)
{
    const cq_operand *value = cq_ir_attr(f->n, "value");
    int64_t           sizes[CQ_MAX_RANK], total = 1;
    size_t            rank = tensor_is(f->in[0], sizes, CQ_MAX_RANK);

    for (size_t i = 0; i < rank; i++)
        if (sizes[i] < 0 || __builtin_mul_overflow(total, sizes[i], &total) || total > f->max_shape)
            return NULL;
    if (rank != (size_t)cq_tensor_numel(f->in[0]))
        return NULL;
    if (!value)
        return CQ_OP(f->cx, "aten::zeros", cq_i64s(f->cx, sizes, rank));
    if (value->kind != CQ_OPERAND_TENSOR)
        return NULL;
    return CQ_OP(
        f->cx, "aten::expand",
        TENSOR(CQ_OP(f->cx, "aten::reshape", TENSOR(value->u.tensor), cq_i64s(f->cx, NULL, 0))),
        cq_i64s(f->cx, sizes, rank));
}

/* The sign is the divisor's, or with fmod the dividend's. */
static cq_tensor *fold_mod(fold_call *f)
{
    for (int64_t i = 0; i < cq_tensor_numel(f->in[1]); i++)
        if (!cq_dtype_is_float(f->in[1]->dtype) && cq_tensor_get_i64(f->in[1], i) == 0)
            return NULL;
    f->aten = attr_i(f, "fmod", 0) ? "aten::fmod.Tensor" : "aten::remainder.Tensor";
    return fold_binary(f);
}

static cq_tensor *fold_where(fold_call *f)
{
    return f->in[1]->dtype == f->in[2]->dtype && f->in[0]->dtype == CQ_DTYPE_BOOL
               ? CQ_OP(f->cx, "aten::where.self", TENSOR(f->in[0]), TENSOR(f->in[1]),
                       TENSOR(f->in[2]))
               : NULL;
}

static const struct fold_rule {
    const char *op;
    cq_tensor *(*fold)(fold_call *f);
    size_t      needs; /* number of required inputs */
    const char *aten;
} rules[] = {
    { "Transpose", fold_transpose, 1, NULL },
    { "Reshape", fold_reshape, 2, NULL },
    { "Unsqueeze", fold_unsqueeze, 1, NULL },
    { "Squeeze", fold_squeeze, 1, NULL },
    { "Slice", fold_slice, 1, NULL },
    { "Split", fold_split, 1, NULL },
    { "Concat", fold_concat, 1, NULL },
    { "Cast", fold_cast, 1, NULL },
    { "Gather", fold_gather, 2, NULL },
    { "Div", fold_div, 2, "aten::div.Tensor" },
    { "Mod", fold_mod, 2, NULL },
    { "ConstantOfShape", fold_constant_of_shape, 1, NULL },
    { "Expand", fold_expand, 2, NULL },
    { "Tile", fold_tile, 2, NULL },
    { "Clip", fold_clip, 2, NULL },
    { "Where", fold_where, 3, NULL },
    { "Sqrt", fold_unary, 1, "aten::sqrt" },
    { "Neg", fold_unary, 1, "aten::neg" },
    { "Exp", fold_unary, 1, "aten::exp" },
    { "Abs", fold_unary, 1, "aten::abs" },
    { "Reciprocal", fold_unary, 1, "aten::reciprocal" },
    { "Identity", fold_unary, 1, "aten::alias" },
    { "Not", fold_unary, 1, "aten::logical_not" },
    { "Floor", fold_unary, 1, "aten::floor" },
    { "Ceil", fold_unary, 1, "aten::ceil" },
    { "Add", fold_binary, 2, "aten::add.Tensor" },
    { "Sub", fold_binary, 2, "aten::sub.Tensor" },
    { "Mul", fold_binary, 2, "aten::mul.Tensor" },
    { "Min", fold_binary, 2, "aten::minimum" },
    { "Max", fold_binary, 2, "aten::maximum" },
    { "And", fold_binary, 2, "aten::logical_and" },
    { "Or", fold_binary, 2, "aten::logical_or" },
    { "Equal", fold_binary, 2, "aten::eq.Tensor" },
    { "Less", fold_binary, 2, "aten::lt.Tensor" },
    { "LessOrEqual", fold_binary, 2, "aten::le.Tensor" },
    { "Greater", fold_binary, 2, "aten::gt.Tensor" },
    { "GreaterOrEqual", fold_binary, 2, "aten::ge.Tensor" },
};

static const struct fold_rule *rule_of(const cq_node *n)
{
    if (strncmp(n->op, "onnx::", 6) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (cq_is(n->op + 6, rules[i].op))
            return &rules[i];
    return NULL;
}

/* ---- replacing nodes ---- */

static void follow(cq_operand *o)
{
    if (o->kind == CQ_OPERAND_VALUE)
        while (o->u.value->instead)
            o->u.value = o->u.value->instead;
}

/* The weight that lends its name, NULL if none of the inputs is one. */
static const cq_value *weight_among(const cq_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].kind == CQ_OPERAND_VALUE && n->inputs[i].u.value->is_weight)
            return n->inputs[i].u.value;
    return NULL;
}

/* A weight that is transposed twice is one constant, and one that is passed through is itself: such
 * views have the same memory. Computed tensors have separate memory. */
static cq_value *constant_of(folder *f, cq_tensor *t, const cq_value *weight, const char *op)
{
    cq_graph *g   = f->ex->graph;
    cq_str    key = { 0 };
    cq_value *v   = NULL;

    cq_tensor_identity(&key, t);
    if (key.status == CQ_OK)
        v = cq_map_get(&f->made, key.text);
    if (!v && key.status == CQ_OK && (v = cq_ir_constant_new(g, t, weight != NULL))) {
        if (weight && weight->name)
            v->name = cq_arena_printf(g->arena, "%s.%s", weight->name, op);
        if (weight)
            v->position = weight->position;
        if (cq_map_set(&f->made, key.text, v) != CQ_OK)
            v = NULL;
    }
    cq_str_clear(&key);
    return v;
}

static cq_status replace(folder *f, cq_node *n, size_t output, cq_tensor *t)
{
    cq_graph       *g      = f->ex->graph;
    const cq_value *weight = weight_among(n);
    cq_value       *v;

    if (!weight && cq_tensor_numel(t) <= SMALL && n->n_outputs == 1) { /* becomes a Constant node */
        n->op       = cq_ir_text(g, "onnx::Constant");
        n->n_inputs = 0;
        n->n_attrs  = 0;
        n->n_notes  = 0;
        CQ_TRY(
            cq_ir_attr_set(n, "value", (cq_operand){ .kind = CQ_OPERAND_TENSOR, .u.tensor = t }));
        n->outputs[0]->type = cq_ir_type_of(g, t);
        return g->status;
    }
    v = constant_of(f, t, weight, n->op + 6);
    if (!v)
        return g->status != CQ_OK ? g->status : CQ_E_NO_MEMORY;
    n->outputs[output]->instead = v;
    v->n_uses += n->outputs[output]->n_uses;
    return CQ_OK;
}

/* Shape of a value whose sizes are all plain. */
static cq_status fold_shape(folder *f, cq_node *n)
{
    cq_type t = n->inputs[0].kind == CQ_OPERAND_VALUE ? n->inputs[0].u.value->type : (cq_type){ 0 };
    int64_t sizes[CQ_MAX_RANK], rank;
    cq_tensor *shape;
    cq_status  status;

    if (t.kind != CQ_TYPE_TENSOR || t.rank < 0 || n->n_attrs)
        return CQ_OK;
    for (int i = 0; i < t.rank; i++) {
        if (t.sizes[i].expr)
            return CQ_OK;
        sizes[i] = t.sizes[i].value;
    }
    rank = t.rank;
    CQ_TRY(cq_tensor_new(&shape, CQ_DTYPE_I64, 1, &rank, sizes));
    n->n_inputs = 0;
    status      = replace(f, n, 0, shape);
    cq_tensor_release(shape);
    return status;
}

/* ---- uniform tensors: all elements are equal ---- */

/* A uniform tensor stays uniform when its elements are gathered or reshaped. Large ones are not
 * written to the file: the node that computes it stays. */
static cq_status fold_uniform(folder *f, cq_node *n)
{
    static const char *const ops[] = { "onnx::Gather",    "onnx::Slice",   "onnx::Reshape",
                                       "onnx::Transpose", "onnx::Squeeze", "onnx::Unsqueeze",
                                       "onnx::Expand",    "onnx::Tile" };
    const cq_value          *x =
        n->n_inputs && n->inputs[0].kind == CQ_OPERAND_VALUE ? n->inputs[0].u.value : NULL;
    const cq_operand *value =
        x && x->node && strcmp(x->node->op, "onnx::ConstantOfShape") == 0 && CQ_IS_AMONG(n->op, ops)
            ? cq_ir_attr(x->node, "value")
            : NULL;
    const cq_type t = n->n_outputs == 1 ? n->outputs[0]->type : (cq_type){ 0 };
    int64_t       sizes[CQ_MAX_RANK];
    cq_value     *shape;

    if (!value || n->is_anchor || n->n_notes || t.kind != CQ_TYPE_TENSOR || t.rank < 0)
        return CQ_OK;
    for (int i = 0; i < t.rank; i++) {
        if (t.sizes[i].expr)
            return CQ_OK;
        sizes[i] = t.sizes[i].value;
    }
    shape = cq_export_ints(n, sizes, t.rank);
    if (!shape)
        return CQ_E_NO_MEMORY;
    n->op        = cq_ir_text(f->ex->graph, "onnx::ConstantOfShape");
    n->inputs[0] = CQ_OPERAND_OF(shape);
    n->n_inputs  = 1;
    n->n_attrs   = 0;
    return cq_ir_attr_set(n, "value", *value);
}

/* ---- the pass ---- */

/* The outputs of a node, if all of them can be computed. A rule that cannot leaves the node to the
 * runtime. */
static cq_status fold_outputs(folder *f, cq_node *n, const struct fold_rule *rule, fold_call *c)
{
    cq_tensor *made[CQ_MAX_RANK] = { NULL };
    bool       all               = n->n_outputs <= CQ_MAX_RANK;

    for (; all && c->output < n->n_outputs; c->output++) {
        cq_alloc_budget before = cq_export_budget_enter(f->ex);

        made[c->output] = rule->fold(c);
        all             = !cq_export_budget_leave(f->ex, before, f->cx) && made[c->output] &&
              f->cx->status == CQ_OK;
    }
    if (f->cx->status == CQ_E_NO_MEMORY)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; all && i < c->output; i++)
        CQ_TRY(replace(f, n, i, made[i]));
    return CQ_OK;
}

/* Whether a computed tensor may be written to the file, which must not grow by numbers that a node
 * makes. cq_export_compute limits bytes; an export counts elements, as its rules do. */
static bool fits(const folder *f, const fold_call *c, const cq_tensor *t)
{
    int64_t most = f->max_shape;

    for (size_t i = 0; i < c->n->n_inputs; i++)
        if (c->in[i] && cq_tensor_numel(c->in[i]) > most)
            most = cq_tensor_numel(c->in[i]);
    return f->ex->optimizes || !t || cq_tensor_numel(t) <= most;
}

/* Operators without a rule are computed by the runtime. */
static cq_status fold_by_runtime(folder *f, cq_node *n, const fold_call *c)
{
    cq_tensor *made[CQ_MAX_RANK] = { NULL };
    bool       done              = false;
    cq_status  status            = CQ_OK;

    if (n->is_anchor || n->n_blocks || n->n_outputs > CQ_MAX_RANK || !n->n_inputs ||
        strncmp(n->op, "onnx::", 6) != 0)
        return CQ_OK;
    CQ_TRY(cq_export_compute(f->ex, n, c->in, made, &done));
    for (size_t i = 0; i < n->n_outputs; i++)
        done &= fits(f, c, made[i]);
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (done && status == CQ_OK && made[i])
            status = replace(f, n, i, made[i]);
        cq_tensor_release(made[i]);
    }
    return status;
}

/* Views of a file may be unaligned, which computing operators do not accept. */
static cq_tensor *aligned(const folder *f, const cq_node *n, cq_tensor *t)
{
    static const char *const views[] = { "onnx::Transpose", "onnx::Reshape", "onnx::Unsqueeze",
                                         "onnx::Squeeze",   "onnx::Slice",   "onnx::Split",
                                         "onnx::Identity",  "onnx::Flatten" };
    cq_tensor               *copy    = NULL;

    if (!t || !cq_tensor_has_data(t) || CQ_IS_AMONG(n->op, views) ||
        (uintptr_t)cq_tensor_bytes(t) % cq_dtype_size(t->dtype) == 0)
        return t;
    return cq_tensor_clone(&copy, t, t->dtype) == CQ_OK ? cq_ctx_own_tensor(f->cx, copy) : NULL;
}

static bool is_folded(const cq_node *n)
{
    return strcmp(n->op, "onnx::Constant") == 0 || (n->n_outputs && n->outputs[0]->instead);
}

static cq_status fold_node(cq_node *n, void *user)
{
    folder                 *f = user;
    const struct fold_rule *rule;
    fold_call               c = { .cx = f->cx, .n = n, .max_shape = f->max_shape };
    cq_status               status;

    for (size_t i = 0; i < n->n_inputs; i++)
        follow(&n->inputs[i]);
    if (strcmp(n->op, "onnx::Shape") == 0)
        return fold_shape(f, n);
    CQ_TRY(fold_uniform(f, n));
    rule = rule_of(n);
    if (n->is_anchor || n->n_inputs > 16 || (rule && n->n_inputs < rule->needs))
        return CQ_OK;
    for (size_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].kind != CQ_OPERAND_NONE && !(c.in[i] = cq_sym_data(n->inputs[i].u.value)))
            return CQ_OK;
    for (size_t i = 0; i < n->n_inputs; i++) /* after the check, because it may copy */
        if (c.in[i] && !(c.in[i] = aligned(f, n, c.in[i])))
            return CQ_OK;
    c.aten        = rule ? rule->aten : NULL;
    status        = rule ? fold_outputs(f, n, rule, &c) : CQ_OK;
    f->cx->status = CQ_OK;
    if (status == CQ_OK && !is_folded(n) && (!rule || f->ex->optimizes))
        status = fold_by_runtime(f, n, &c);
    cq_ctx_pop(f->cx, 0, NULL, 0);
    return status;
}

static cq_status note_constants(folder *f)
{
    const cq_graph *g      = f->ex->graph;
    cq_str          key    = { 0 };
    cq_status       status = CQ_OK;

    f->max_shape = 0;
    for (size_t i = 0; i < g->constants.n && status == CQ_OK; i++) {
        key.len = 0;
        f->max_shape += cq_tensor_numel(g->constants.items[i]->data) / SHARE;
        cq_tensor_identity(&key, g->constants.items[i]->data);
        status = key.status == CQ_OK ? cq_map_set(&f->made, key.text, g->constants.items[i])
                                     : key.status;
    }
    f->max_shape = f->max_shape < SMALL_SHAPE ? SMALL_SHAPE : f->max_shape;
    cq_str_clear(&key);
    return status;
}

/* A result of a block must be computed by a node of the block: an Identity returns a folded one. */
static cq_status hand_through(const cq_exporter *ex, cq_block *block)
{
    for (size_t i = 0; i < block->returns.n; i++) {
        cq_value *made = block->returns.items[i].u.value, *v = made->instead;
        cq_node  *handed;

        if (!v)
            continue;
        handed = cq_ir_node_new(block, NULL, "onnx::Identity", &CQ_OPERAND_OF(v), 1, 1);
        if (!handed)
            return ex->graph->status;
        handed->outputs[0]->type        = made->type;
        block->returns.items[i].u.value = handed->outputs[0];
    }
    return CQ_OK;
}

static cq_status hand_through_blocks(cq_node *n, void *ex)
{
    for (size_t i = 0; i < n->n_blocks; i++)
        CQ_TRY(hand_through(ex, n->blocks[i]));
    return CQ_OK;
}

cq_status cq_export_fold(cq_exporter *ex)
{
    folder    f = { .ex = ex };
    cq_status status;

    CQ_TRY(cq_export_budget_begin(&f.cx, ex));
    status = note_constants(&f);
    if (status == CQ_OK)
        status = cq_ir_each_node(ex->graph->top, fold_node, &f);
    if (status == CQ_OK)
        status = cq_ir_each_node(ex->graph->top, hand_through_blocks, ex);
    if (status == CQ_OK)
        status = hand_through(ex, ex->graph->top);
    cq_map_clear(&f.made);
    cq_ctx_free(f.cx);
    return status;
}
