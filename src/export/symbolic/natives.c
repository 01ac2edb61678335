/* Functions that symbolic functions call and that are in C: queries of values and of the operator,
 * and functions shared with symbolic functions in C. Each has a line in
 * docs/symbolic-functions.md. */
#include "export/symbolic/arith.h"
#include "export/symbolic/common.h"
#include "export/symbolic/host.h"
#include "export/symbolic/positions.h"

#include <float.h>
#include <math.h>

enum { MAX_WINDOW = 1 << 20, MAX_TENSOR = 256 };

/* ---- arguments of a function ---- */

static cq_val item(const cq_sym_args *e, size_t i)
{
    return i < e->n ? e->items[i] : CQ_NONE;
}

static cq_val wrong(cq_sym_run *r, const cq_sym_args *e, const char *expected)
{
    return cq_sym_wrong(r, "%s expects %s", e->function->name, expected);
}

static cq_value *value(cq_sym_run *r, const cq_sym_args *e, size_t i)
{
    cq_val t = item(e, i);

    return cq_sym_input_of(r, t, NULL);
}

static double number(cq_sym_run *r, const cq_sym_args *e, size_t i, double otherwise)
{
    cq_val t = item(e, i);
    double f = otherwise;

    if (i < e->n && !cq_sym_number_of(t, &f) && r->s->status == CQ_OK)
        cq_sym_no(r->s, 0, "a number in %s must be known when the model is exported",
                  e->function->name);
    return f;
}

static const char *text(cq_sym_run *r, const cq_sym_args *e, size_t i)
{
    cq_val t = item(e, i);

    if (t.kind == CQ_VAL_STR)
        return t.u.text->text;
    wrong(r, e, "a text");
    return "";
}

static cq_val of_sizes(cq_sym_run *r, const cq_int *sizes, int rank)
{
    cq_val t = cq_lang_list(&r->lang, NULL, rank > 0 ? (size_t)rank : 0);

    for (size_t i = 0; t.kind == CQ_VAL_LIST && i < t.u.list->n; i++)
        t.u.list->items[i] = cq_val_of_int(sizes[i]);
    return t;
}

static int axis_of(cq_sym_run *r, const cq_sym_args *e, size_t i, int rank)
{
    int64_t axis = (int64_t)number(r, e, i, 0), n = rank ? rank : 1;

    if (r->s->status == CQ_OK && (axis < -n || axis >= n))
        cq_sym_no(r->s, 0, "dimension %lld is out of range for %d dimensions", (long long)axis,
                  rank);
    return r->s->status == CQ_OK ? (int)(axis < 0 ? axis + n : axis) : 0;
}

/* ---- queries of arguments ---- */

/* Whether a number is the same in every run. */
static cq_val is_known(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = item(e, 0);
    double f;

    (void)r;
    return cq_val_of_bool(cq_sym_number_of(t, &f));
}

/* The value of a number on the example. */
static cq_val hint(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = item(e, 0);

    (void)r;
    return t.kind == CQ_VAL_INT ? cq_val_of_i64(t.u.i.value) : t;
}

static cq_val is_tensor(cq_sym_run *r, const cq_sym_args *e)
{
    (void)r;
    return cq_val_of_bool(cq_sym_is_graph(e->items[0]));
}

/* The tensor as the operator was given it. */
static cq_val unpromoted(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_operand *o = cq_sym_operand_of(e->items[0]);

    return o ? cq_val_of_graph(r, cq_sym_value(r->s, o->u.value))
             : wrong(r, e, "an argument of the operator");
}

static cq_val is_used(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_bool(cq_sym_result_used(r->s, (size_t)number(r, e, 0, 0)));
}

static cq_val n_results(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_val_of_i64((int64_t)cq_sym_n_results(r->s));
}

/* Without the overload. */
static cq_val operator_name(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_lang_text(&r->lang, r->s->op ? r->s->op->schema->name : r->s->node->op);
}

/* ---- readers of results ---- */

static bool mentions(const cq_operand *o, const cq_value *v)
{
    if (o->kind == CQ_OPERAND_VALUE)
        return o->u.value == v;
    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        if (mentions(&o->u.list.items[i], v))
            return true;
    return false;
}

static bool any_mentions(const cq_operand *operands, size_t n, const cq_value *v)
{
    for (size_t i = 0; i < n; i++)
        if (mentions(&operands[i], v))
            return true;
    return false;
}

static bool has_effect(const cq_node *n)
{
    bool used = n->n_blocks != 0;

    for (size_t i = 0; i < n->n_outputs; i++)
        used |= n->outputs[i]->n_uses > 0;
    return used;
}

/* Names of the operators of this block that read result i; "return" if the block returns it. */
static cq_val readers(cq_sym_run *r, const cq_sym_args *e)
{
    const size_t    i     = (size_t)number(r, e, 0, 0);
    const cq_block *block = r->s->node->block;
    cq_val          names = cq_lang_list(&r->lang, NULL, 0);
    const cq_value *v     = i < r->s->node->n_outputs ? r->s->node->outputs[i] : NULL;

    if (names.kind != CQ_VAL_LIST)
        return names;
    if (any_mentions(block->returns.items, block->returns.n, v))
        cq_sym_fail(r->s, cq_list_push(names.u.list, cq_lang_text(&r->lang, "return")));
    for (const cq_node *n = r->s->node->next; n; n = n->next)
        if (any_mentions(n->inputs, n->n_inputs, v) && has_effect(n))
            cq_sym_fail(r->s, cq_list_push(names.u.list, cq_lang_text(&r->lang, n->op)));
    return names;
}

/* The first n results keep the types of their values: padded tensors stand for packed ones. */
static cq_val keep_types(cq_sym_run *r, const cq_sym_args *e)
{
    r->n_kept_types = (size_t)number(r, e, 0, 0);
    return CQ_NONE;
}

static cq_val opset(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_val_of_i64(cq_sym_opset(r->s));
}

/* ---- types ---- */

static cq_val ndim(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_i64(cq_sym_rank(r->s, value(r, e, 0)));
}

static cq_val size(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v = value(r, e, 0);

    return cq_val_of_int(cq_sym_size(r->s, v, axis_of(r, e, 1, cq_sym_rank(r->s, v))));
}

/* The size that an argument has in PyTorch: that of its value may differ (keep_types). */
static cq_val torch_size(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_operand *o = cq_sym_operand_of(e->items[0]);

    if (!o)
        return wrong(r, e, "an argument of the operator");
    return cq_val_of_int(cq_sym_size(r->s, o->u.value, axis_of(r, e, 1, o->u.value->type.rank)));
}

static cq_val shape(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v = value(r, e, 0);
    int       n = cq_sym_rank(r->s, v);

    return of_sizes(r, v ? v->type.sizes : NULL, r->s->status == CQ_OK ? n : 0);
}

static cq_val numel(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *v = value(r, e, 0);

    return cq_val_of_int(r->s->status == CQ_OK ? cq_sym_numel(r->s, v) : cq_i(0));
}

static cq_val axis(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_i64(axis_of(r, e, 0, cq_sym_rank(r->s, value(r, e, 1))));
}

static cq_val dtype(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_dtype(cq_sym_dtype(r->s, value(r, e, 0)));
}

static cq_val fits(cq_sym_run *r, const cq_sym_args *e)
{
    const char *op = text(r, e, 0);

    return cq_val_of_bool(cq_sym_fits(r->s, op, cq_sym_dtype(r->s, value(r, e, 1))));
}

static cq_val result_dtype(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_dtype(cq_sym_result_type(r->s, (size_t)number(r, e, 0, 0)).dtype);
}

static cq_val result_shape(cq_sym_run *r, const cq_sym_args *e)
{
    cq_type type = cq_sym_result_type(r->s, (size_t)number(r, e, 0, 0));

    return of_sizes(r, type.sizes, type.rank);
}

/* ---- other dtypes ---- */

/* A list of numbers as a tensor: a constant if all are known. */
static cq_value *row_of(cq_sym_run *r, const cq_val *t, cq_dtype dtype)
{
    float  row[64];
    double f;
    size_t n = 0;

    while (n < t->u.list->n && n < 64 && cq_sym_number_of(t->u.list->items[n], &f))
        row[n++] = (float)f;
    if (n == t->u.list->n && dtype == CQ_DTYPE_F32)
        return cq_sym_const_f32s(r->s, row, n);
    return cq_sym_cast(r->s, cq_sym_input_of(r, *t, NULL), dtype);
}

static cq_val cast(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = item(e, 0), to = item(e, 1);

    if (r->s->status != CQ_OK)
        return CQ_NONE;
    if (t.kind == CQ_VAL_INT || t.kind == CQ_VAL_FLOAT || t.kind == CQ_VAL_BOOL) {
        cq_value as = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = cq_sym_dtype_of(r, to) } };

        return cq_val_of_graph(r, cq_sym_input_of(r, t, &as));
    }
    if (t.kind == CQ_VAL_LIST)
        return cq_val_of_graph(r, row_of(r, &t, cq_sym_dtype_of(r, to)));
    return cq_val_of_graph(r,
                           cq_sym_cast(r->s, cq_sym_input_of(r, t, NULL), cq_sym_dtype_of(r, to)));
}

/* A number as a tensor, of the dtype of another. */
static cq_val like(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = item(e, 0);

    return cq_val_of_graph(r, cq_sym_input_of(r, t, value(r, e, 1)));
}

/* A tensor like the operator's first result, filled with one number. */
static cq_val full(cq_sym_run *r, const cq_sym_args *e)
{
    cq_type        type = cq_sym_result_type(r->s, 0);
    const cq_value as   = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = type.dtype } };
    cq_val         t    = item(e, 0);

    if (r->promotes) { /* computed in another dtype than that of the result, perhaps */
        cq_value *v = cq_sym_input_of(r, t, NULL);

        return cq_val_of_graph(r, v ? cq_sym_full(r->s, type, v) : NULL);
    }
    return cq_val_of_graph(r, cq_sym_full(r->s, type, cq_sym_input_of(r, t, &as)));
}

/* Whether all elements of a tensor are 0, as torch.zeros makes it. */
static cq_val is_zeros(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_value   *v     = value(r, e, 0);
    const cq_node    *n     = v ? v->node : NULL;
    const cq_operand *value = n ? cq_ir_attr(n, "value") : NULL;

    return cq_val_of_bool(n && strcmp(n->op, "onnx::ConstantOfShape") == 0 &&
                          (!value || cq_tensor_get_f64(value->u.tensor, 0) == 0));
}

/* The number of dimensions depends on data. */
static cq_value *varying_rank(cq_sym *s, cq_value *x)
{
    (void)s;
    if (x)
        x->rank_varies = true;
    return x;
}

static cq_val computed(cq_sym_run *r, const cq_sym_args *e)
{
    (void)e;
    return cq_val_of_graph(r, cq_sym_computed(r->s));
}

static cq_val fit(cq_sym_run *r, const cq_sym_args *e)
{
    const char *op = text(r, e, 0);
    cq_value   *x  = value(r, e, 1);

    return cq_val_of_graph(r, x ? cq_sym_cast(r->s, x, cq_sym_fit(r->s, op, cq_sym_dtype(r->s, x)))
                                : NULL);
}

/* All arguments, in order; sizes as tensors. */
static cq_val arguments(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = cq_lang_list(&r->lang, NULL, r->s->node->n_inputs);

    (void)e;
    for (size_t i = 0; i < t.u.list->n; i++) {
        const cq_operand *o = &r->s->node->inputs[i];

        t.u.list->items[i] =
            cq_val_of_graph(r, o->kind == CQ_OPERAND_VALUE ? cq_sym_value(r->s, o->u.value)
                               : o->kind == CQ_OPERAND_INT ? cq_sym_of_int(r->s, o->u.i)
                                                           : NULL);
    }
    return t;
}

static cq_val without_bfloat16(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0);

    return cq_val_of_graph(
        r, x && cq_sym_dtype(r->s, x) == CQ_DTYPE_BF16 ? cq_sym_cast(r->s, x, CQ_DTYPE_F32) : x);
}

/* ONNX Runtime fuses a Pad with zeros and a pooling: a MaxPool then pads with -inf, and an
 * AveragePool rejects a padding as wide as its window. A Max of one tensor between them prevents
 * the fusion. */
static cq_value *apart_from_pad(cq_sym *s, cq_value *x)
{
    return x && x->node && strcmp(x->node->op, "onnx::Pad") == 0 ? cq_sym_unary(s, "Max", x) : x;
}

static cq_val computable(cq_sym_run *r, const cq_sym_args *e)
{
    return cq_val_of_graph(r, cq_sym_computable(r->s, value(r, e, 0), (int)number(r, e, 1, 7)));
}

/* ---- arithmetic that ONNX lacks ---- */

static cq_val trunc_of(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val t = item(e, 0);
    double f;

    if (!cq_sym_is_graph(t) && cq_sym_number_of(t, &f))
        return cq_val_of_f64(trunc(f));
    return cq_val_of_graph(r, cq_sym_trunc(r->s, value(r, e, 0)));
}

static cq_val expand(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0);
    cq_val    t = item(e, 1);
    cq_int    to[CQ_MAX_RANK];
    size_t    n;

    if (cq_sym_ints_of(r, t, to, &n, CQ_MAX_RANK))
        return cq_val_of_graph(r, cq_sym_expand_any(r->s, x, to, n));
    wrong(r, e, "a list of sizes");
    return CQ_NONE;
}

/* ---- dimensions ---- */

static cq_val swap_dims(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0);
    int       n = cq_sym_rank(r->s, x);

    return cq_val_of_graph(r, cq_sym_swap_dims(r->s, x, axis_of(r, e, 1, n), axis_of(r, e, 2, n)));
}

static cq_val as_result(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0);

    return cq_val_of_graph(r, x ? cq_sym_in_sizes_of(r->s, x, (size_t)number(r, e, 1, 0)) : NULL);
}

/* A tensor that is known to have the sizes of another, or of a list. */
static cq_val with_shape(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x    = value(r, e, 0);
    cq_val    like = item(e, 1);
    cq_dtype  d    = cq_sym_dtype(r->s, x);
    cq_int    to[CQ_MAX_RANK];
    size_t    n;

    if (!x)
        return CQ_NONE;
    if (cq_sym_is_graph(like))
        cq_sym_set_type_of(x, cq_sym_graph_of(r, like));
    else if (cq_sym_ints_of(r, like, to, &n, CQ_MAX_RANK))
        cq_sym_set_type(r->s, x, d, n, to);
    cq_sym_set_dtype(r->s, x, d);
    return cq_val_of_graph(r, x);
}

/* A tensor that is known to be of a dtype. */
static cq_val with_dtype(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0);
    cq_val    t = item(e, 1);

    cq_sym_set_dtype(r->s, x, cq_sym_dtype_of(r, t));
    return cq_val_of_graph(r, x);
}

static cq_val slice(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x         = value(r, e, 0);
    bool      is_ranked = x && x->type.kind == CQ_TYPE_TENSOR && x->type.rank >= 0;
    int       at        = axis_of(r, e, 1, is_ranked ? x->type.rank : CQ_MAX_RANK);
    cq_val    from = item(e, 2), to = item(e, 3);
    cq_int    start, end;
    size_t    n;

    if (to.kind == CQ_VAL_NONE)
        to = cq_val_of_i64(INT64_MAX);
    if (!cq_sym_ints_of(r, from, &start, &n, 1) || !cq_sym_ints_of(r, to, &end, &n, 1)) {
        wrong(r, e, "integers for the bounds");
        return CQ_NONE;
    }
    return cq_val_of_graph(r, cq_sym_slice(r->s, x, at, start, end, (int64_t)number(r, e, 4, 1)));
}

/* Parts of these fixed sizes. */
static cq_val split_sizes(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value     *x    = value(r, e, 0);
    int           axis = axis_of(r, e, 1, cq_sym_rank(r->s, x));
    size_t        n;
    cq_val        sizes = item(e, 2), parts;
    const cq_val *items = cq_lang_items(&sizes, &n);
    cq_arena     *arena = r->s->ex->scratch;
    int64_t      *plain = cq_arena_array(arena, n + 1, sizeof *plain);
    cq_value    **out   = cq_arena_array(arena, n + 1, sizeof(cq_value *));

    if (!plain || !out)
        cq_sym_fail(r->s, CQ_E_NO_MEMORY);
    if (r->s->status != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < n; i++) {
        double f;

        if (!cq_sym_number_of(items[i], &f))
            return wrong(r, e, "a list of fixed sizes");
        plain[i] = (int64_t)f;
    }
    cq_sym_split(r->s, x, axis, plain, n, out);
    parts = cq_lang_list(&r->lang, NULL, n);
    for (size_t i = 0; i < n && parts.kind == CQ_VAL_LIST; i++)
        parts.u.list->items[i] = cq_val_of_graph(r, out[i]);
    return parts;
}

/* An input of the graph whose body=lambda: … is being built. */
static cq_val graph_input(cq_sym_run *r, const cq_sym_args *e)
{
    cq_dtype dtype = cq_sym_dtype_of(r, item(e, 0));

    return cq_val_of_graph(r, cq_sym_graph_input(r->s, dtype, (int)number(r, e, 1, 0)));
}

/* Over some axes; over all of them without any. */
static cq_val reduce(cq_sym_run *r, const cq_sym_args *e)
{
    const char *op = text(r, e, 0);
    cq_value   *x  = value(r, e, 1);
    int64_t     axes[CQ_MAX_RANK];
    size_t      n;

    if (!cq_sym_axes_of(item(e, 2), axes, &n, CQ_MAX_RANK))
        return wrong(r, e, "a list of axes");
    return cq_val_of_graph(r, cq_sym_reduce(r->s, op, x, axes, n, number(r, e, 3, 0) != 0));
}

static cq_int whole(cq_sym_run *r, const cq_sym_args *e, size_t i)
{
    cq_val t = item(e, i);
    cq_int n = cq_i(0);
    size_t one;

    if (!cq_sym_ints_of(r, t, &n, &one, 1))
        wrong(r, e, "an integer");
    return n;
}

/* A row of equal numbers. */
static cq_val filled(cq_sym_run *r, const cq_sym_args *e)
{
    cq_dtype d = cq_sym_dtype(r->s, value(r, e, 2));

    return cq_val_of_graph(r, cq_sym_filled(r->s, d, whole(r, e, 0), number(r, e, 1, 0)));
}

/* 0 … n - 1, or start, start + step …, as a tensor; n may be a tensor without dimensions. */
static cq_val iota(cq_sym_run *r, const cq_sym_args *e)
{
    if (e->n > 1) {
        cq_int start = whole(r, e, 1), n = whole(r, e, 0);

        return cq_val_of_graph(r, cq_sym_positions(r->s, start, n, (int64_t)number(r, e, 2, 1)));
    }
    if (cq_sym_is_graph(e->items[0]))
        return cq_val_of_graph(r, cq_sym_count_to(r->s, cq_sym_graph_of(r, e->items[0])));
    return cq_val_of_graph(r, cq_sym_iota(r->s, whole(r, e, 0)));
}

/* Indices that may count from the end of a dimension of this size. */
static cq_val non_negative(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *index = value(r, e, 0);

    return cq_val_of_graph(r, cq_sym_from_begin(r->s, index, whole(r, e, 1), true));
}

static cq_val write_slices(cq_sym_run *r, const cq_sym_args *e)
{
    cq_value *x = value(r, e, 0), *index = value(r, e, 2), *source = value(r, e, 3);

    return cq_val_of_graph(
        r, cq_sym_write_slices(r->s, x, axis_of(r, e, 1, cq_sym_rank(r->s, x)), index, source));
}

static cq_val unit_kernels(cq_sym_run *r, const cq_sym_args *e)
{
    double high = number(r, e, 0, 0), wide = number(r, e, 1, 0);

    if (!(high > 0 && wide > 0 && high * wide < MAX_WINDOW))
        wrong(r, e, "a window");
    return cq_val_of_graph(
        r, r->s->status == CQ_OK ? cq_sym_unit_kernels(r->s, (int64_t)high, (int64_t)wide) : NULL);
}

/* ---- names that PyTorch's symbolic functions use ---- */

/* A number that must be known. */
static cq_val number_of(cq_sym_run *r, const cq_sym_args *e)
{
    cq_val v = item(e, 0);

    return cq_sym_is_graph(v) ? cq_val_of_f64(number(r, e, 0, 0)) : v;
}

/* x.type() is x: it has the methods of the type. */
static cq_val type(cq_sym_run *r, const cq_sym_args *e)
{
    (void)r;
    return e->items[0];
}

/* "Float", as the types of TorchScript are called. */
static cq_val scalar_type(cq_sym_run *r, const cq_sym_args *e)
{
    static const char *const names[] = { "Byte",        "Char",         "Short",         "Int",
                                         "Long",        "Half",         "Float",         "Double",
                                         "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool" };
    int                      at      = cq_dtype_to_torch(cq_sym_dtype(r->s, value(r, e, 0)));

    return cq_lang_text(&r->lang, at == 15 ? "BFloat16"
                                  : at >= 0 && at < (int)(sizeof names / sizeof *names)
                                      ? names[at]
                                      : "Undefined");
}

/* torch.tensor of a number or a list: int64, or float32 if one is a float. */
static cq_val new_tensor(cq_sym_run *r, const cq_sym_args *e)
{
    size_t        n;
    cq_val        v      = item(e, 0);
    const cq_val *items  = cq_lang_items(&v, &n);
    bool          floats = false;
    int64_t       whole[MAX_TENSOR];
    float         real[MAX_TENSOR];

    for (size_t i = 0; i < n && n <= MAX_TENSOR; i++) {
        double f;

        if (!cq_sym_number_of(items[i], &f))
            return wrong(r, e, "numbers");
        floats |= items[i].kind == CQ_VAL_FLOAT;
        whole[i] = (int64_t)f;
        real[i]  = (float)f;
    }
    if (n > MAX_TENSOR)
        return wrong(r, e, "fewer numbers");
    if (items == &v)
        return cq_val_of_graph(r, floats ? cq_sym_const_f64(r->s, CQ_DTYPE_F32, real[0])
                                         : cq_sym_const_i64(r->s, whole[0]));
    return cq_val_of_graph(r, floats ? cq_sym_const_f32s(r->s, real, n)
                                     : cq_sym_const_i64s(r->s, whole, n));
}

/* ---- declining a call ---- */

static cq_val unsupported(cq_sym_run *r, const cq_sym_args *e)
{
    cq_sym_no(r->s, (int)number(r, e, 1, 0), "%s", text(r, e, 0));
    return CQ_NONE;
}

/* Functions of C symbolics take tensors unchanged, and numbers in the dtype of the tensor beside
 * them. */
static cq_val of_tensors(cq_sym_run *r, const cq_sym_args *e)
{
    const cq_sym_native *f = e->function;
    cq_val               a = item(e, 0), b = item(e, 1);
    const cq_value      *as = cq_sym_is_graph(a) ? cq_sym_graph_of(r, a) : cq_sym_graph_of(r, b);
    cq_value            *x  = cq_sym_input_of(r, a, as);
    cq_value            *y  = cq_sym_input_of(r, b, as);

    if (r->s->status != CQ_OK || !x)
        return CQ_NONE;
    if (f->of_dtype)
        return cq_val_of_bool(f->of_dtype(cq_sym_dtype(r->s, x)));
    return cq_val_of_graph(r, f->one ? f->one(r->s, x) : f->two(r->s, x, y));
}

cq_val cq_sym_native_call(cq_sym_run *r, const cq_sym_native *f, const cq_val *args, size_t n)
{
    const cq_sym_args e = { f, args, n };

    if (f->needs_match && !r->s->fuser)
        return cq_sym_wrong(r, "%s may only be called in lib/onnx/rewrites.py", f->name);
    return f->fn ? f->fn(r, &e) : of_tensors(r, &e);
}

static const cq_sym_native natives[] = {
    { ".ndim", 1, 1, .fn = ndim },
    { ".dtype", 1, 1, .fn = dtype },
    { ".shape", 1, 1, .fn = shape },
    { "size", 2, 2, .fn = size },
    { "numel", 1, 1, .fn = numel },
    { "is_float", 1, 1, .of_dtype = cq_dtype_is_float },
    { "is_integer", 1, 1, .of_dtype = cq_dtype_is_integer },
    { "is_signed", 1, 1, .of_dtype = cq_dtype_is_signed },
    { "is_tensor", 1, 1, .fn = is_tensor },
    { "is_known", 1, 1, .fn = is_known },
    { "hint", 1, 1, .fn = hint },
    { "axis_of", 2, 2, .fn = axis },
    { "opset", 0, 0, .fn = opset },
    { "operator_name", 0, 0, .fn = operator_name },
    { "readers", 1, 1, .fn = readers },
    { "keep_types", 1, 1, .fn = keep_types },
    { "torch_size", 2, 2, .fn = torch_size },
    { "is_zeros", 1, 1, .fn = is_zeros },
    { "split_sizes", 3, 3, .fn = split_sizes },
    { "graph_input", 2, 2, .fn = graph_input },
    { "is_used", 1, 1, .fn = is_used },
    { "n_results", 0, 0, .fn = n_results },
    { "result_dtype", 0, 1, .fn = result_dtype },
    { "result_shape", 0, 1, .fn = result_shape },
    { "arguments", 0, 0, .fn = arguments },
    { "unpromoted", 1, 1, .fn = unpromoted },
    { "fits", 2, 2, .fn = fits },
    { "fit", 2, 2, .fn = fit },
    { "cast", 2, 2, .fn = cast },
    { "like", 2, 2, .fn = like },
    { "full", 1, 1, .fn = full },
    { "filled", 3, 3, .fn = filled },
    { "iota", 1, 3, .fn = iota },
    { "computed", 0, 0, .fn = computed },
    { "widen", 1, 1, .one = cq_sym_widen },
    { "without_bfloat16", 1, 1, .fn = without_bfloat16 },
    { "computable", 1, 2, .fn = computable },
    { "only_float", 1, 1, .one = cq_sym_only_float },
    { "only_small_float", 1, 1, .one = cq_sym_only_small_float },
    { "apart_from_pad", 1, 1, .one = apart_from_pad },
    { "remainder", 2, 2, .two = cq_sym_remainder },
    { "fmod", 2, 2, .two = cq_sym_fmod },
    { "trunc", 1, 1, .fn = trunc_of },
    { "is_negative", 1, 1, .one = cq_sym_is_negative },
    { "varying_rank", 1, 1, .one = varying_rank },
    { "swap_dims", 3, 3, .fn = swap_dims },
    { "flatten", 1, 1, .one = cq_sym_flat },
    { "at_least_1d", 1, 1, .one = cq_sym_with_dims },
    { "slice", 4, 5, .fn = slice },
    { "expand", 2, 2, .fn = expand },
    { "as_result", 1, 2, .fn = as_result },
    { "with_shape", 2, 2, .fn = with_shape },
    { "with_dtype", 2, 2, .fn = with_dtype },
    { "reduce", 4, 4, .fn = reduce },
    { "non_negative", 2, 2, .fn = non_negative },
    { "write_slices", 4, 4, .fn = write_slices },
    { "unit_kernels", 2, 2, .fn = unit_kernels },
    { "unsupported", 1, 2, .fn = unsupported },
    { "number", 1, 1, .fn = number_of },
    { "type", 1, 1, .fn = type },
    { "scalarType", 1, 1, .fn = scalar_type },
    { "sizes", 1, 1, .fn = shape },
    { "dim", 1, 1, .fn = ndim },
    { "torch.tensor", 1, 1, .fn = new_tensor },
};

const cq_sym_native *cq_sym_native_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
        if (strcmp(natives[i].name, name) == 0 && n >= natives[i].min && n <= natives[i].max)
            return &natives[i];
    for (const cq_sym_native *f = cq_replacement_natives; f->name; f++)
        if (strcmp(f->name, name) == 0 && n >= f->min && n <= f->max)
            return f;
    return NULL;
}
