/* The functions of rules: questions about the operator's arguments, and what symbolics in C call
 * too. Each has a line in docs/rules.md. */
#include "export/symbolic/rule.h"
#include "export/symbolic/arith.h"
#include "export/symbolic/common.h"
#include "export/symbolic/places.h"

#include <float.h>
#include <math.h>

enum { MAX_FACTORS = 64, MAX_FIRST = 1 << 20 };

/* ---- arguments of a function ---- */

static cq_rule_term item(cq_rule_run *r, const cq_rule_expr *e, size_t i)
{
    return i < e->n ? cq_rule_eval(r, e->items[i]) : (cq_rule_term){ 0 };
}

static cq_value *value(cq_rule_run *r, const cq_rule_expr *e, size_t i)
{
    cq_rule_term t = item(r, e, i);

    return cq_rule_term_value(r, &t, NULL);
}

static double number(cq_rule_run *r, const cq_rule_expr *e, size_t i, double otherwise)
{
    cq_rule_term t = item(r, e, i);
    double       f = otherwise;

    if (i < e->n && !cq_rule_term_number(&t, &f) && r->s->status == CQ_OK)
        cq_sym_no(r->s, 0, "a number in %s must be known when the model is exported", e->text);
    return f;
}

static const char *text(cq_rule_run *r, const cq_rule_expr *e, size_t i)
{
    cq_rule_term t = item(r, e, i);

    if (t.kind == CQ_RULE_TERM_TEXT)
        return t.u.s;
    cq_rule_wrong(r, e, "a text");
    return "";
}

static cq_rule_term of_int(cq_int i)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_INT, .u.i = i };
}

static cq_rule_term of_number(double f)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_FLOAT, .u.f = f };
}

static cq_rule_term of_dtype(cq_dtype d)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_DTYPE, .u.dtype = d };
}

static cq_rule_term of_sizes(cq_rule_run *r, const cq_int *sizes, int rank)
{
    cq_rule_term t = cq_rule_term_of_list(r, rank > 0 ? (size_t)rank : 0);

    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = of_int(sizes[i]);
    return t;
}

static int axis_of(cq_rule_run *r, const cq_rule_expr *e, size_t i, int rank)
{
    int64_t axis = (int64_t)number(r, e, i, 0), n = rank ? rank : 1;

    if (r->s->status == CQ_OK && (axis < -n || axis >= n))
        cq_sym_no(r->s, 0, "dimension %lld is out of range for %d dimensions", (long long)axis,
                  rank);
    return r->s->status == CQ_OK ? (int)(axis < 0 ? axis + n : axis) : 0;
}

/* ---- questions about arguments ---- */

/* The argument that a function is about, as the operator was given it. */
static const cq_operand *operand(cq_rule_run *r, const cq_rule_expr *e, bool must)
{
    int at = -1;

    if (e->items[0]->kind == CQ_RULE_ARGUMENT)
        at = cq_rule_argument(r->s, e->items[0]->text);
    if (at >= 0)
        return &r->s->node->inputs[at];
    if (must)
        cq_rule_wrong(r, e, "an argument of the operator");
    return NULL;
}

static cq_rule_term given(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_operand *o = operand(r, e, false);

    return item(r, e, o && o->kind != CQ_OPERAND_NONE ? 0 : 1);
}

static cq_rule_term known(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_operand *o = operand(r, e, true);
    double            f;

    return cq_rule_term_of_bool(o && cq_operand_number(o, &f));
}

/* Whether a size is a number, the same in every run. */
static cq_rule_term fixed(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);
    double       f;

    return cq_rule_term_of_bool(cq_rule_term_number(&t, &f));
}

/* What a number is on the example. */
static cq_rule_term hint(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);

    return t.kind == CQ_RULE_TERM_INT ? cq_rule_term_of_i64(t.u.i.value) : t;
}

static cq_rule_term is_tensor(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_operand *o = operand(r, e, true);

    return cq_rule_term_of_bool(o && o->kind == CQ_OPERAND_VALUE);
}

static cq_rule_term raw(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_operand *o = operand(r, e, true);

    return cq_rule_term_of_value(o && o->kind == CQ_OPERAND_VALUE ? cq_sym_value(r->s, o->u.value)
                                                                  : NULL);
}

static cq_rule_term used(cq_rule_run *r, const cq_rule_expr *e)
{
    return cq_rule_term_of_bool(cq_sym_result_used(r->s, (size_t)number(r, e, 0, 0)));
}

static cq_rule_term results(cq_rule_run *r, const cq_rule_expr *e)
{
    (void)e;
    return cq_rule_term_of_i64((int64_t)cq_sym_n_results(r->s));
}

static cq_rule_term opset(cq_rule_run *r, const cq_rule_expr *e)
{
    (void)e;
    return cq_rule_term_of_i64(cq_sym_opset(r->s));
}

/* ---- types ---- */

static cq_rule_term rank(cq_rule_run *r, const cq_rule_expr *e)
{
    return cq_rule_term_of_i64(cq_sym_rank(r->s, value(r, e, 0)));
}

static cq_rule_term size(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *v = value(r, e, 0);

    return of_int(cq_sym_size(r->s, v, axis_of(r, e, 1, cq_sym_rank(r->s, v))));
}

static cq_rule_term sizes(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *v = value(r, e, 0);
    int       n = cq_sym_rank(r->s, v);

    return of_sizes(r, v ? v->type.sizes : NULL, r->s->status == CQ_OK ? n : 0);
}

static cq_rule_term numel(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *v = value(r, e, 0);

    return of_int(r->s->status == CQ_OK ? cq_sym_numel(r->s, v) : cq_i(0));
}

static cq_rule_term axis(cq_rule_run *r, const cq_rule_expr *e)
{
    return cq_rule_term_of_i64(axis_of(r, e, 0, cq_sym_rank(r->s, value(r, e, 1))));
}

static cq_rule_term dtype(cq_rule_run *r, const cq_rule_expr *e)
{
    return of_dtype(cq_sym_dtype(r->s, value(r, e, 0)));
}

static cq_rule_term fits(cq_rule_run *r, const cq_rule_expr *e)
{
    const char *op = text(r, e, 0);

    return cq_rule_term_of_bool(cq_sym_fits(r->s, op, cq_sym_dtype(r->s, value(r, e, 1))));
}

static cq_rule_term result_dtype(cq_rule_run *r, const cq_rule_expr *e)
{
    return of_dtype(cq_sym_result_type(r->s, (size_t)number(r, e, 0, 0)).dtype);
}

static cq_rule_term result_sizes(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_type type = cq_sym_result_type(r->s, (size_t)number(r, e, 0, 0));

    return of_sizes(r, type.sizes, type.rank);
}

/* ---- other dtypes ---- */

/* A list of numbers as a tensor: a constant if all are known. */
static cq_value *row_of(cq_rule_run *r, const cq_rule_term *t, cq_dtype dtype)
{
    float  row[64];
    double f;
    size_t n = 0;

    while (n < t->u.list.n && n < 64 && cq_rule_term_number(&t->u.list.items[n], &f))
        row[n++] = (float)f;
    if (n == t->u.list.n && dtype == CQ_DTYPE_F32)
        return cq_sym_const_f32s(r->s, row, n);
    return cq_sym_cast(r->s, cq_rule_term_value(r, t, NULL), dtype);
}

static cq_rule_term cast(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0), to = item(r, e, 1);

    if (r->s->status != CQ_OK)
        return (cq_rule_term){ 0 };
    if (t.kind == CQ_RULE_TERM_INT || t.kind == CQ_RULE_TERM_FLOAT || t.kind == CQ_RULE_TERM_BOOL) {
        cq_value as = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = cq_rule_term_dtype(r, &to) } };

        return cq_rule_term_of_value(cq_rule_term_value(r, &t, &as));
    }
    if (t.kind == CQ_RULE_TERM_LIST)
        return cq_rule_term_of_value(row_of(r, &t, cq_rule_term_dtype(r, &to)));
    return cq_rule_term_of_value(
        cq_sym_cast(r->s, cq_rule_term_value(r, &t, NULL), cq_rule_term_dtype(r, &to)));
}

/* A number as a tensor, of the dtype of another. */
static cq_rule_term like(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);

    return cq_rule_term_of_value(cq_rule_term_value(r, &t, value(r, e, 1)));
}

/* A tensor like the operator's first result, all of it one number. */
static cq_rule_term full(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_type        type = cq_sym_result_type(r->s, 0);
    const cq_value as   = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = type.dtype } };
    cq_rule_term   t    = item(r, e, 0);

    if (r->each) { /* computed in another dtype than that of the result, perhaps */
        cq_value *v = cq_rule_term_value(r, &t, NULL);

        return cq_rule_term_of_value(v ? cq_sym_full(r->s, type, v) : NULL);
    }
    return cq_rule_term_of_value(cq_sym_full(r->s, type, cq_rule_term_value(r, &t, &as)));
}

static cq_rule_term constant(cq_rule_run *r, const cq_rule_expr *e)
{
    (void)e;
    return cq_rule_term_of_value(cq_sym_computed(r->s));
}

static cq_rule_term fit(cq_rule_run *r, const cq_rule_expr *e)
{
    const char *op = text(r, e, 0);
    cq_value   *x  = value(r, e, 1);

    return cq_rule_term_of_value(
        x ? cq_sym_cast(r->s, x, cq_sym_fit(r->s, op, cq_sym_dtype(r->s, x))) : NULL);
}

/* All arguments, in order; sizes as tensors. */
static cq_rule_term arguments(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = cq_rule_term_of_list(r, r->s->node->n_inputs);

    (void)e;
    for (size_t i = 0; i < t.u.list.n; i++) {
        const cq_operand *o = &r->s->node->inputs[i];

        t.u.list.items[i] =
            cq_rule_term_of_value(o->kind == CQ_OPERAND_VALUE ? cq_sym_value(r->s, o->u.value)
                                  : o->kind == CQ_OPERAND_INT ? cq_sym_of_int(r->s, o->u.i)
                                                              : NULL);
    }
    return t;
}

static cq_rule_term without_bfloat16(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *x = value(r, e, 0);

    return cq_rule_term_of_value(
        x && cq_sym_dtype(r->s, x) == CQ_DTYPE_BF16 ? cq_sym_cast(r->s, x, CQ_DTYPE_F32) : x);
}

/* ONNX Runtime makes one node of a Pad with zeros and a pool: a MaxPool then pads with -inf, and an
 * AveragePool refuses a padding as wide as its window. What it does not see through, the greatest
 * of one tensor, keeps them apart. */
static cq_value *apart_from_pad(cq_sym *s, cq_value *x)
{
    return x && x->node && strcmp(x->node->op, "onnx::Pad") == 0 ? cq_sym_unary(s, "Max", x) : x;
}

static cq_rule_term computable(cq_rule_run *r, const cq_rule_expr *e)
{
    return cq_rule_term_of_value(cq_sym_computable(r->s, value(r, e, 0), (int)number(r, e, 1, 7)));
}

/* ---- arithmetic that ONNX has not ---- */

static cq_rule_term trunc_of(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);
    double       f;

    if (t.kind != CQ_RULE_TERM_VALUE && cq_rule_term_number(&t, &f))
        return of_number(trunc(f));
    return cq_rule_term_of_value(t.u.v ? cq_sym_trunc(r->s, t.u.v) : NULL);
}

/* The highest finite number of a dtype of floats. */
static cq_rule_term highest(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);
    cq_dtype     d = cq_rule_term_dtype(r, &t);

    return of_number(d == CQ_DTYPE_F16   ? 65504
                     : d == CQ_DTYPE_F64 ? DBL_MAX
                     : d == CQ_DTYPE_F32 ? FLT_MAX
                                         : 3.3895313892515355e38);
}

static cq_rule_term expand(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *x = value(r, e, 0);
    cq_rule_term t = item(r, e, 1);
    cq_int       to[CQ_MAX_RANK];
    size_t       n;

    if (cq_rule_term_ints(r, &t, to, &n, CQ_MAX_RANK))
        return cq_rule_term_of_value(cq_sym_expand_any(r->s, x, to, n));
    cq_rule_wrong(r, e, "a list of sizes");
    return (cq_rule_term){ 0 };
}

static cq_rule_term polynomial(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *x = value(r, e, 0), *sum;
    cq_rule_term a = item(r, e, 1);

    if (a.kind != CQ_RULE_TERM_LIST || !a.u.list.n) {
        cq_rule_wrong(r, e, "a list of numbers");
        return (cq_rule_term){ 0 };
    }
    sum = cq_rule_term_value(r, &a.u.list.items[a.u.list.n - 1], x);
    for (size_t i = a.u.list.n - 1; i-- > 0;) {
        sum = cq_sym_apply(r->s, "Mul", CQ_IN(sum, x), CQ_NO_ATTR);
        sum = cq_sym_apply(r->s, "Add", CQ_IN(sum, cq_rule_term_value(r, &a.u.list.items[i], x)),
                           CQ_NO_ATTR);
    }
    return cq_rule_term_of_value(sum);
}

static cq_rule_term abs_of(cq_rule_run *r, const cq_rule_expr *e)
{
    return of_number(fabs(number(r, e, 0, 0)));
}

/* ---- dimensions ---- */

static cq_rule_term swap(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *x = value(r, e, 0);
    int       n = cq_sym_rank(r->s, x);

    return cq_rule_term_of_value(
        cq_sym_swap_dims(r->s, x, axis_of(r, e, 1, n), axis_of(r, e, 2, n)));
}

static cq_rule_term as_result(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *x = value(r, e, 0);

    return cq_rule_term_of_value(x ? cq_sym_in_sizes_of(r->s, x, (size_t)number(r, e, 1, 0))
                                   : NULL);
}

/* A tensor that is known to have the sizes of another, or of a list. */
static cq_rule_term sized(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *x    = value(r, e, 0);
    cq_rule_term like = item(r, e, 1);
    cq_dtype     d    = cq_sym_dtype(r->s, x);
    cq_int       to[CQ_MAX_RANK];
    size_t       n;

    if (like.kind == CQ_RULE_TERM_VALUE)
        cq_sym_set_type_of(x, like.u.v);
    else if (cq_rule_term_ints(r, &like, to, &n, CQ_MAX_RANK))
        cq_sym_set_type(r->s, x, d, n, to);
    cq_sym_set_dtype(r->s, x, d);
    return cq_rule_term_of_value(x);
}

/* A tensor that is known to be of a dtype. */
static cq_rule_term typed(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *x = value(r, e, 0);
    cq_rule_term t = item(r, e, 1);

    cq_sym_set_dtype(r->s, x, cq_rule_term_dtype(r, &t));
    return cq_rule_term_of_value(x);
}

static cq_rule_term slice(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *x         = value(r, e, 0);
    bool         is_ranked = x && x->type.kind == CQ_TYPE_TENSOR && x->type.rank >= 0;
    int          at        = axis_of(r, e, 1, is_ranked ? x->type.rank : CQ_MAX_RANK);
    cq_rule_term from = item(r, e, 2), to = item(r, e, 3);
    cq_int       start, end;
    size_t       n;

    if (to.kind == CQ_RULE_TERM_NONE)
        to = cq_rule_term_of_i64(INT64_MAX);
    if (!cq_rule_term_ints(r, &from, &start, &n, 1) || !cq_rule_term_ints(r, &to, &end, &n, 1)) {
        cq_rule_wrong(r, e, "integers for the bounds");
        return (cq_rule_term){ 0 };
    }
    return cq_rule_term_of_value(
        cq_sym_slice(r->s, x, at, start, end, (int64_t)number(r, e, 4, 1)));
}

/* Over the dimensions that the operator's "dim" names, all of them without one; they stay, with
 * size 1, if its "keepdim" says so, or the third argument does. The fourth names other ones. */
static cq_rule_term reduce(cq_rule_run *r, const cq_rule_expr *e)
{
    const char  *op   = text(r, e, 0);
    cq_value    *x    = value(r, e, 1);
    cq_reduction c    = e->n > 3 ? (cq_reduction){ .keep = true } : cq_sym_reduction(r->s);
    bool         keep = e->n > 2 ? number(r, e, 2, 0) != 0 : c.keep;
    cq_rule_term axes = item(r, e, 3);

    if (e->n > 3 && cq_rule_term_axes(&axes, c.axes, &c.n, CQ_MAX_RANK))
        return cq_rule_term_of_value(cq_sym_reduce(r->s, op, x, c.axes, c.n, keep));
    return cq_rule_term_of_value(x ? cq_sym_reduce_by(r->s, &c, op, x, keep) : NULL);
}

static cq_rule_term reduced_count(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_reduction c = cq_sym_reduction(r->s);

    (void)e;
    return of_int(cq_sym_reduced_count(r->s, &c));
}

static cq_rule_term reduced_axes(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_reduction c = cq_sym_reduction(r->s);
    cq_rule_term t = cq_rule_term_of_list(r, c.n);

    (void)e;
    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = cq_rule_term_of_i64(c.axes[i]);
    return t;
}

/* 0 … n - 1, or from … n - 1: not as a tensor, but as a list. */
static cq_rule_term range(cq_rule_run *r, const cq_rule_expr *e)
{
    double       from = e->n > 1 ? number(r, e, 0, 0) : 0, to = number(r, e, e->n - 1, 0);
    cq_rule_term t;

    if (to - from > CQ_RULE_MAX_LISTED || fabs(from) > MAX_FIRST ||
        (to > from && (*r->n_items += (size_t)(to - from)) > CQ_RULE_MAX_LISTED))
        cq_rule_wrong(r, e, "fewer items");
    t = cq_rule_term_of_list(r, r->s->status == CQ_OK && to > from ? (size_t)(to - from) : 0);
    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = cq_rule_term_of_i64((int64_t)from + (int64_t)i);
    return t;
}

static cq_rule_term length(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);

    if (t.kind != CQ_RULE_TERM_LIST)
        cq_rule_wrong(r, e, "a list");
    return cq_rule_term_of_i64(r->s->status == CQ_OK ? (int64_t)t.u.list.n : 0);
}

static cq_int whole(cq_rule_run *r, const cq_rule_expr *e, size_t i)
{
    cq_rule_term t = item(r, e, i);
    cq_int       n = cq_i(0);
    size_t       one;

    if (!cq_rule_term_ints(r, &t, &n, &one, 1))
        cq_rule_wrong(r, e, "an integer");
    return n;
}

static cq_rule_term least(cq_rule_run *r, const cq_rule_expr *e)
{
    return of_int(cq_int_min(CQ_SYMBOLS(r->s), whole(r, e, 0), whole(r, e, 1)));
}

static cq_rule_term product(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);
    cq_int       all[MAX_FACTORS], product = cq_i(1);
    size_t       n;

    if (!cq_rule_term_ints(r, &t, all, &n, MAX_FACTORS))
        cq_rule_wrong(r, e, "a list of integers");
    for (size_t i = 0; i < n && r->s->status == CQ_OK; i++)
        product = cq_sym_int_mul(r->s, product, all[i]);
    return of_int(product);
}

/* Tensors added up. */
static cq_rule_term sum(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t   = item(r, e, 0);
    cq_value    *all = NULL;

    if (t.kind != CQ_RULE_TERM_LIST)
        cq_rule_wrong(r, e, "a list of tensors");
    for (size_t i = 0; r->s->status == CQ_OK && i < t.u.list.n; i++) {
        cq_value *v = cq_rule_term_value(r, &t.u.list.items[i], all);

        all = all ? cq_sym_apply(r->s, "Add", CQ_IN(all, v), CQ_NO_ATTR) : v;
    }
    return cq_rule_term_of_value(all);
}

/* A row of equal numbers. */
static cq_rule_term filled(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_dtype d = cq_sym_dtype(r->s, value(r, e, 2));

    return cq_rule_term_of_value(cq_sym_filled(r->s, d, whole(r, e, 0), number(r, e, 1, 0)));
}

static cq_rule_term of_pair(cq_rule_run *r, cq_value *const *both)
{
    cq_rule_term t = cq_rule_term_of_list(r, 2);

    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = cq_rule_term_of_value(both[i]);
    return t;
}

static cq_rule_term spread(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *both[2] = { value(r, e, 0), value(r, e, 1) };

    cq_sym_spread(r->s, &both[0], &both[1]);
    return of_pair(r, both);
}

/* A number for each of n axes: the argument's, or its only one for all; otherwise's if it is empty.
 */
static cq_rule_term per_axis(cq_rule_run *r, const cq_rule_expr *e)
{
    double       axes      = number(r, e, 1, 0);
    size_t       n         = axes > 0 && axes <= CQ_MAX_RANK ? (size_t)axes : 0;
    cq_rule_term otherwise = item(r, e, 2), t = cq_rule_term_of_list(r, n);
    cq_int       given[CQ_MAX_RANK];
    size_t       n_given =
        operand(r, e, true) ? cq_sym_ints(r->s, e->items[0]->text, given, CQ_MAX_RANK) : 0;

    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = n_given ? of_int(given[n_given == n ? i : 0])
                            : otherwise.kind == CQ_RULE_TERM_LIST && i < otherwise.u.list.n
                                ? otherwise.u.list.items[i]
                                : cq_rule_term_of_i64(0);
    return t;
}

static cq_rule_term iota(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = item(r, e, 0);

    return cq_rule_term_of_value(t.kind == CQ_RULE_TERM_VALUE ? cq_sym_count_to(r->s, t.u.v)
                                                              : cq_sym_iota(r->s, whole(r, e, 0)));
}

/* start, start + step, … as a tensor: n numbers. */
static cq_rule_term places(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_int start = whole(r, e, 0), n = whole(r, e, 1);

    return cq_rule_term_of_value(cq_sym_places(r->s, start, n, (int64_t)number(r, e, 2, 1)));
}

/* Indices that may count from the end of a dimension of this size. */
static cq_rule_term from_begin(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *index = value(r, e, 0);

    return cq_rule_term_of_value(cq_sym_from_begin(r->s, index, whole(r, e, 1), true));
}

static cq_rule_term write_slices(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *x = value(r, e, 0), *index = value(r, e, 2), *source = value(r, e, 3);

    return cq_rule_term_of_value(
        cq_sym_write_slices(r->s, x, axis_of(r, e, 1, cq_sym_rank(r->s, x)), index, source));
}

static cq_rule_term unit_kernels(cq_rule_run *r, const cq_rule_expr *e)
{
    double high = number(r, e, 0, 0), wide = number(r, e, 1, 0);

    if (!(high > 0 && wide > 0 && high * wide < MAX_FIRST))
        cq_rule_wrong(r, e, "a window");
    return cq_rule_term_of_value(
        r->s->status == CQ_OK ? cq_sym_unit_kernels(r->s, (int64_t)high, (int64_t)wide) : NULL);
}

static cq_rule_term sorted(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value *x = value(r, e, 0), *both[2] = { NULL, NULL };

    cq_sym_sorted(r->s, x, whole(r, e, 1), axis_of(r, e, 2, cq_sym_rank(r->s, x)),
                  number(r, e, 3, 0) != 0, both);
    return of_pair(r, both);
}

/* ---- the other ending ---- */

static cq_rule_term no(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_sym_no(r->s, (int)number(r, e, 1, 0), "%s", text(r, e, 0));
    return (cq_rule_term){ 0 };
}

/* Functions that are those of C symbolics take tensors as they are, and numbers in the dtype of the
 * tensor beside them. */
static cq_rule_term of_tensors(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_rule_function *f = e->function;
    cq_rule_term            a = item(r, e, 0), b = item(r, e, 1);
    const cq_value         *as = a.kind == CQ_RULE_TERM_VALUE   ? a.u.v
                                 : b.kind == CQ_RULE_TERM_VALUE ? b.u.v
                                                                : NULL;
    cq_value               *x  = cq_rule_term_value(r, &a, as);
    cq_value               *y  = cq_rule_term_value(r, &b, as);

    if (r->s->status != CQ_OK || !x)
        return (cq_rule_term){ 0 };
    if (f->of_dtype)
        return cq_rule_term_of_bool(f->of_dtype(cq_sym_dtype(r->s, x)));
    return cq_rule_term_of_value(f->one ? f->one(r->s, x) : f->two(r->s, x, y));
}

cq_rule_term cq_rule_call(cq_rule_run *r, const cq_rule_expr *e)
{
    return e->function->fn ? e->function->fn(r, e) : of_tensors(r, e);
}

static const cq_rule_function functions[] = {
    { "given", 2, 2, .fn = given },
    { "known", 1, 1, .fn = known },
    { "fixed", 1, 1, .fn = fixed },
    { "hint", 1, 1, .fn = hint },
    { "is_tensor", 1, 1, .fn = is_tensor },
    { "raw", 1, 1, .fn = raw },
    { "used", 1, 1, .fn = used },
    { "results", 0, 0, .fn = results },
    { "opset", 0, 0, .fn = opset },
    { "rank", 1, 1, .fn = rank },
    { "size", 2, 2, .fn = size },
    { "sizes", 1, 1, .fn = sizes },
    { "numel", 1, 1, .fn = numel },
    { "axis", 2, 2, .fn = axis },
    { "dtype", 1, 1, .fn = dtype },
    { "is_float", 1, 1, .of_dtype = cq_dtype_is_float },
    { "is_integer", 1, 1, .of_dtype = cq_dtype_is_integer },
    { "is_signed", 1, 1, .of_dtype = cq_dtype_is_signed },
    { "fits", 2, 2, .fn = fits },
    { "result_dtype", 0, 1, .fn = result_dtype },
    { "result_sizes", 0, 1, .fn = result_sizes },
    { "cast", 2, 2, .fn = cast },
    { "like", 2, 2, .fn = like },
    { "full", 1, 1, .fn = full },
    { "constant", 0, 0, .fn = constant },
    { "fit", 2, 2, .fn = fit },
    { "arguments", 0, 0, .fn = arguments },
    { "widen", 1, 1, .one = cq_sym_widen },
    { "only_float", 1, 1, .one = cq_sym_only_float },
    { "only_small_float", 1, 1, .one = cq_sym_only_small_float },
    { "apart_from_pad", 1, 1, .one = apart_from_pad },
    { "without_bfloat16", 1, 1, .fn = without_bfloat16 },
    { "computable", 1, 2, .fn = computable },
    { "remainder", 2, 2, .two = cq_sym_remainder },
    { "fmod", 2, 2, .two = cq_sym_fmod },
    { "trunc", 1, 1, .fn = trunc_of },
    { "is_negative", 1, 1, .one = cq_sym_is_negative },
    { "polynomial", 2, 2, .fn = polynomial },
    { "abs", 1, 1, .fn = abs_of },
    { "highest", 1, 1, .fn = highest },
    { "expand", 2, 2, .fn = expand },
    { "swap", 3, 3, .fn = swap },
    { "flat", 1, 1, .one = cq_sym_flat },
    { "with_dims", 1, 1, .one = cq_sym_with_dims },
    { "as_result", 1, 2, .fn = as_result },
    { "sized", 2, 2, .fn = sized },
    { "typed", 2, 2, .fn = typed },
    { "slice", 4, 5, .fn = slice },
    { "reduce", 2, 4, .fn = reduce },
    { "reduced_axes", 0, 0, .fn = reduced_axes },
    { "reduced_count", 0, 0, .fn = reduced_count },
    { "range", 1, 2, .fn = range },
    { "len", 1, 1, .fn = length },
    { "product", 1, 1, .fn = product },
    { "least", 2, 2, .fn = least },
    { "sum", 1, 1, .fn = sum },
    { "filled", 3, 3, .fn = filled },
    { "spread", 2, 2, .fn = spread },
    { "corner", 2, 2, .two = cq_sym_corner },
    { "per_axis", 2, 3, .fn = per_axis },
    { "iota", 1, 1, .fn = iota },
    { "places", 3, 3, .fn = places },
    { "from_begin", 2, 2, .fn = from_begin },
    { "write_slices", 4, 4, .fn = write_slices },
    { "unit_kernels", 2, 2, .fn = unit_kernels },
    { "sorted", 4, 4, .fn = sorted },
    { "summable", 1, 1, .one = cq_sym_summable },
    { "no", 1, 2, .fn = no },
};

const cq_rule_function *cq_rule_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    for (const cq_rule_function *f = cq_rule_functions; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}
