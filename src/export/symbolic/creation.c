/* Creation operators. Tensors that are fixed at export become constants, computed by the operator
 * itself; others follow the sizes at run time. */
#include "export/symbolic/arith.h"
#include "export/symbolic/common.h"
#include "export/symbolic/positions.h"

enum { MAX_CONSTANT = 1024 }; /* elements; a larger uniform tensor is computed by a node */

static bool is_plain(cq_type t)
{
    for (int i = 0; i < t.rank; i++)
        if (t.sizes[i].expr)
            return false;
    return true;
}

static int64_t numel(cq_type t)
{
    int64_t n = 1;

    for (int i = 0; i < t.rank; i++)
        n *= t.sizes[i].value;
    return n;
}

/* ---- constants computed by the operator itself ---- */

static cq_val known(void *user, cq_ctx *cx, const cq_operand *o)
{
    bool *all = user;

    (void)cx;
    if (o->kind == CQ_OPERAND_INT && !o->u.i.expr)
        return cq_val_of_int(o->u.i);
    *all &= o->kind == CQ_OPERAND_NONE;
    return CQ_NONE;
}

/* The result as a constant, if it does not depend on run-time values; otherwise NULL. */
cq_value *cq_sym_computed(cq_sym *s)
{
    cq_val    args[CQ_MAX_ARGS], result = CQ_NONE;
    cq_ctx   *cx;
    cq_value *v  = NULL;
    bool      ok = true;

    if (s->status != CQ_OK || cq_sym_fail(s, cq_ctx_new(&cx)))
        return NULL;
    cx->default_float = s->node->block->graph->default_float;
    for (size_t i = 0; i < s->node->n_inputs && ok; i++)
        args[i] = cq_operand_val(&s->node->inputs[i], cx, known, &ok);
    if (ok && cq_op_call(cx, s->op, args, s->node->n_inputs, &result, 1) != CQ_OK)
        cq_sym_fail(s, cq_ctx_status(cx));
    if (result.kind == CQ_VAL_TENSOR)
        v = cq_sym_const(s, result.u.tensor);
    cq_ctx_free(cx);
    return v;
}

/* ---- filled ---- */

/* A tensor of these sizes, filled with value (0-d). */
cq_value *cq_sym_full(cq_sym *s, cq_type type, cq_value *value)
{
    cq_tensor *data = cq_sym_data(value), *one = NULL, *all = NULL;
    cq_value  *out;
    int64_t    sizes[CQ_MAX_RANK], single = 1;

    if (s->status != CQ_OK)
        return NULL;
    for (int i = 0; i < type.rank; i++)
        sizes[i] = type.sizes[i].value;
    if (data && is_plain(type) && (numel(type) <= MAX_CONSTANT || cq_sym_opset(s) < 8)) {
        cq_ctx *cx;

        if (cq_sym_fail(s, cq_ctx_new(&cx)) != CQ_OK)
            return NULL;
        if (cq_sym_fail(s, cq_tensor_new(&all, type.dtype, (size_t)type.rank, sizes, NULL)) ==
            CQ_OK) {
            cq_tensor *full = CQ_OP(cx, "aten::copy", TENSOR(all), TENSOR(data));

            cq_sym_fail(s, cq_ctx_status(cx));
            out = cq_sym_const(s, full);
        } else {
            out = NULL;
        }
        cq_tensor_release(all);
        cq_ctx_free(cx);
        return out;
    }
    if (!data || cq_sym_opset(s) < 9)
        return cq_sym_expand_any(s, cq_sym_cast(s, value, type.dtype), type.sizes,
                                 (size_t)type.rank);
    /* The number may have the dtype that the operator computes in, not that of the result. */
    if (cq_sym_fail(s, cq_tensor_clone(&all, data, type.dtype)) == CQ_OK)
        cq_sym_fail(s, cq_tensor_new(&one, type.dtype, 1, &single, cq_tensor_data(all)));
    cq_tensor_release(all);
    if (!one)
        return NULL;
    out = cq_sym_op(s, "ConstantOfShape", CQ_IN(cq_sym_of_ints(s, type.sizes, (size_t)type.rank)),
                    CQ_ATTR(cq_attr_t("value", one)));
    cq_tensor_release(one);
    cq_sym_set_dtype(s, out, type.dtype);
    return out;
}

/* x without an Expand that made it. A trace of x[i] = v broadcasts v to the sizes of its example
 * before it copies; the copy broadcasts anyway, to the run-time sizes. */
static cq_value *before_expand(cq_sym *s, cq_value *x, const cq_type *want)
{
    cq_value *from;
    int       lead;

    if (!x || !x->node || strcmp(x->node->op, "onnx::Expand") != 0)
        return x;
    from = x->node->inputs[0].u.value;
    if (from->type.kind != CQ_TYPE_TENSOR || from->type.rank < 0 || from->type.rank > want->rank)
        return x;
    lead = want->rank - from->type.rank;
    for (int i = 0; i < from->type.rank; i++)
        if (!cq_int_is(from->type.sizes[i], 1) &&
            from->type.sizes[i].value != want->sizes[lead + i].value)
            return x;
    (void)s;
    return from;
}

/* src instead of self. */
static cq_status copy(cq_sym *s)
{
    cq_type   want = cq_sym_result_type(s, 0);
    cq_value *x    = cq_sym_in(s, "src");
    bool      same = cq_sym_rank(s, x) == want.rank;

    for (int i = 0; i < want.rank && same; i++)
        same = cq_int_same(cq_sym_size(s, x, i), want.sizes[i]);
    if (!same)
        x = before_expand(s, x, &want);
    x = cq_sym_cast(s, x, want.dtype);
    return cq_sym_done(s, same ? x : cq_sym_expand(s, x, want.sizes, (size_t)want.rank));
}

/* ---- counted ---- */

/* Whether the operator has an argument with another value than this number. */
static bool is_other(const cq_sym *s, const char *arg, int64_t number)
{
    int               at = cq_schema_find(s->op->schema, arg);
    const cq_operand *o  = at < 0 ? NULL : &s->node->inputs[at];

    if (!o)
        return false;
    return o->kind == CQ_OPERAND_INT     ? !cq_int_is(o->u.i, number)
           : o->kind == CQ_OPERAND_FLOAT ? o->u.f != (double)number
                                         : true;
}

/* Whether an argument is a data-dependent number, or a size beside a fraction: then the number
 * of elements is not a known size. */
static bool is_counted_by_data(const cq_sym *s, cq_dtype dtype)
{
    static const char *const args[] = { "start", "end", "step" };
    bool                     open = false, fraction = false;

    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        int               at = cq_schema_find(s->op->schema, args[i]);
        const cq_operand *o  = at < 0 ? NULL : &s->node->inputs[at];

        if (o && o->kind == CQ_OPERAND_VALUE)
            return true;
        open |= o && o->kind == CQ_OPERAND_INT && o->u.i.expr;
        fraction |= o && o->kind == CQ_OPERAND_FLOAT;
    }
    return open && fraction && dtype != CQ_DTYPE_I64;
}

/* The number of elements, computed in double precision as PyTorch does. */
static cq_value *count_of_data(cq_sym *s, cq_value *start, cq_value *end, cq_value *step)
{
    cq_value *n = start ? CQ_2("Sub", end, start) : end;

    if (step)
        n = CQ_2("Div", cq_sym_cast(s, n, CQ_DTYPE_F64), cq_sym_cast(s, step, CQ_DTYPE_F64));
    if (cq_dtype_is_float(cq_sym_dtype(s, n)))
        n = CQ_1("Ceil", n);
    return cq_sym_count_to(s, cq_sym_cast(s, n, CQ_DTYPE_I64));
}

static cq_status arange_of_data(cq_sym *s, cq_dtype dtype)
{
    cq_value *start = is_other(s, "start", 0) ? cq_sym_in_as(s, "start", dtype) : NULL;
    cq_value *end   = cq_sym_in_as(s, "end", dtype);
    cq_value *step  = is_other(s, "step", 1) ? cq_sym_in_as(s, "step", dtype) : NULL, *x;

    if (cq_sym_opset(s) < 11) {
        x = cq_sym_cast(s, count_of_data(s, start, end, step), dtype);
        x = step ? CQ_2("Mul", x, step) : x;
        return cq_sym_done(s, start ? CQ_2("Add", x, start) : x);
    }
    start = start ? start : cq_sym_num(s, end, 0);
    step  = step ? step : cq_sym_num(s, end, 1);
    return cq_sym_done(s, cq_sym_op(s, "Range", CQ_IN(start, end, step), CQ_NO_ATTR));
}

static cq_status arange(cq_sym *s)
{
    cq_type   want = cq_sym_result_type(s, 0);
    cq_value *x    = cq_sym_computed(s);

    if (x || cq_sym_status(s) != CQ_OK)
        return cq_sym_done(s, x);
    if (is_counted_by_data(s, want.dtype))
        return arange_of_data(s, want.dtype);
    x = cq_sym_cast(s, cq_sym_iota(s, want.sizes[0]), want.dtype);
    if (is_other(s, "step", 1))
        x = CQ_2("Mul", x, cq_sym_operand(s, "step"));
    if (is_other(s, "start", 0))
        x = CQ_2("Add", x, cq_sym_operand(s, "start"));
    return cq_sym_done(s, x);
}

/* ---- matrices ---- */

static cq_status eye(cq_sym *s)
{
    cq_type   want = cq_sym_result_type(s, 0), zero = want;
    cq_value *x = numel(want) <= MAX_CONSTANT || cq_sym_opset(s) < 9 ? cq_sym_computed(s) : NULL;

    if (x || cq_sym_status(s) != CQ_OK)
        return cq_sym_done(s, x);
    if (!cq_sym_since(s, 9, "an identity matrix of dynamic size requires opset 9"))
        return s->status;
    zero.dtype = cq_dtype_is_float(want.dtype) ? CQ_DTYPE_F32 : CQ_DTYPE_I64;
    x          = cq_sym_full(
                 s, (cq_type){ .kind = CQ_TYPE_TENSOR, .dtype = zero.dtype, .rank = 2, .sizes = want.sizes },
                 cq_sym_const_f64(s, zero.dtype, 0));
    x = cq_sym_op(s, "EyeLike", CQ_IN(x), CQ_NO_ATTR);
    cq_sym_set_dtype(s, x, zero.dtype);
    return cq_sym_done(s, x);
}

/* ---- from numbers ---- */

static void each_number(const cq_operand *o, void (*fn)(const cq_operand *o, void *user),
                        void             *user)
{
    if (o->kind != CQ_OPERAND_LIST) {
        fn(o, user);
        return;
    }
    for (size_t i = 0; i < o->u.list.n; i++)
        each_number(&o->u.list.items[i], fn, user);
}

typedef struct parts {
    cq_sym   *s;
    cq_dtype  dtype;
    size_t    n;
    cq_value *items[256];
} parts;

static void add_part(const cq_operand *o, void *user)
{
    parts    *p    = user;
    cq_sym   *s    = p->s;
    int64_t   axis = 0;
    cq_value *v    = o->kind == CQ_OPERAND_VALUE   ? cq_sym_value(s, o->u.value)
                     : o->kind == CQ_OPERAND_FLOAT ? cq_sym_const_f64(s, p->dtype, o->u.f)
                     : o->kind == CQ_OPERAND_BOOL  ? cq_sym_const_f64(s, p->dtype, o->u.b)
                                                   : cq_sym_of_int(s, o->u.i);

    if (p->n == 256) {
        cq_sym_no(s, 0, "a tensor of more than 256 data-dependent numbers");
        return;
    }
    p->items[p->n++] = cq_sym_unsqueeze(s, cq_sym_cast(s, v, p->dtype), &axis, 1);
}

/* A list of numbers, some of which are only known when the model runs. */
static cq_status list(cq_sym *s)
{
    cq_type   want = cq_sym_result_type(s, 0);
    parts     p    = { .s = s, .dtype = want.dtype };
    cq_value *x    = cq_sym_computed(s);

    if (x || cq_sym_status(s) != CQ_OK)
        return cq_sym_done(s, x);
    each_number(&s->node->inputs[0], add_part, &p);
    x = cq_sym_concat(s, p.items, p.n, 0);
    return cq_sym_done(s, want.rank == 1 ? x : cq_sym_reshape(s, x, want.sizes, (size_t)want.rank));
}

const cq_symbolic cq_symbolics_creation[] = {
    { "aten::copy", 7, .fn = copy },
    { "aten::arange", 7, .fn = arange },
    { "aten::eye", 7, .fn = eye },
    { "aten::tensor", 7, .fn = list },
    { "aten::as_tensor.list", 7, .fn = list },
    { 0 },
};
