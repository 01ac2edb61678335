/* Converts operators from their newest form, which symbolic functions use, to the forms of older
 * opsets: axes as attributes, comparisons of integers only, missing operators. forms.c and arith.c
 * build them. */
#include "export/symbolic/arith.h"
#include "export/symbolic/host.h"
#include "export/symbolic/positions.h"

enum { MAX_PARTS = 256 };

/* ---- inputs and attributes ---- */

/* The operands of an element-wise operator; numbers take the dtype of the first tensor. */
static bool operands(const cq_sym_call *c, size_t from, size_t n, cq_value **out)
{
    const cq_val   *in   = c->in + from;
    const cq_value *like = NULL;

    for (size_t i = 0; i < n && !like; i++)
        like = cq_sym_graph_of(c->r, in[i]);
    for (size_t i = 0; i < n; i++)
        out[i] = cq_sym_input_of(c->r, in[i], like);
    return c->r->s->status == CQ_OK;
}

/* The first input, if the number of inputs is right for the form. */
static cq_value *tensor(const cq_sym_call *c, size_t least, size_t most)
{
    return c->n >= least && c->n <= most ? cq_sym_graph_of(c->r, c->in[0]) : NULL;
}

static bool is_list(cq_val v)
{
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;
}

/* The attributes that a form supports: numbers or texts. */
typedef struct wanted {
    const char  *name;
    double      *number;
    const char **text;
} wanted;

/* Reads the given ones; false if there is another one, or one of another kind. */
static bool attributes(const cq_sym_call *c, const wanted *known, size_t n_known)
{
    for (size_t i = 0; i < c->n_attrs; i++) {
        cq_val v = c->attrs[i];
        size_t k = 0;

        while (k < n_known && strcmp(known[k].name, c->attr_names[i]) != 0)
            k++;
        if (k == n_known)
            return false;
        if (v.kind == CQ_VAL_NONE)
            continue;
        if (known[k].text && v.kind == CQ_VAL_STR)
            *known[k].text = v.u.text->text;
        else if (!known[k].number || !cq_sym_number_of(v, known[k].number))
            return false;
    }
    return true;
}

/* Reads the axis, counted from the front; false if there are other attributes. */
static bool only_axis(const cq_sym_call *c, double *axis)
{
    return c->n_attrs == 1 && attributes(c, &(wanted){ "axis", axis, NULL }, 1) && *axis >= 0;
}

/* ---- element-wise ---- */

static bool where(const cq_sym_call *c)
{
    cq_value *condition = tensor(c, 3, 3), *v[2];

    if (!condition || c->n_attrs)
        return false;
    if (operands(c, 1, 2, v))
        c->out[0] = cq_sym_where(c->r->s, condition, v[0], v[1]);
    return true;
}

static cq_value *greater_of(cq_sym *s, cq_value *x, cq_value *y)
{
    return cq_sym_larger(s, x, y, false);
}

static cq_value *less_of(cq_sym *s, cq_value *x, cq_value *y)
{
    return cq_sym_larger(s, x, y, true);
}

static cq_value *at_least(cq_sym *s, cq_value *x, cq_value *y)
{
    return cq_sym_at_most(s, y, x);
}

/* Either bound may be None. */
static bool clip(const cq_sym_call *c)
{
    cq_value *v[3] = { NULL, NULL, NULL };

    if (!tensor(c, 2, 3) || c->n_attrs)
        return false;
    if (operands(c, 0, c->n, v))
        c->out[0] = cq_sym_bounded(c->r->s, v[0], v[1], v[2]);
    return true;
}

/* ---- axes ---- */

typedef cq_value *axes_fn(cq_sym *s, cq_value *x, const int64_t *axes, size_t n);

static bool change_axes(axes_fn *change, const cq_sym_call *c)
{
    cq_value *x = tensor(c, 2, 2);
    int64_t   axes[CQ_MAX_RANK];
    size_t    n;

    if (!x || c->n_attrs || cq_sym_is_graph(c->in[1]) ||
        !cq_sym_axes_of(c->in[1], axes, &n, CQ_MAX_RANK))
        return false;
    c->out[0] = n ? change(c->r->s, x, axes, n) : x;
    return true;
}

static bool squeeze(const cq_sym_call *c)
{
    return change_axes(cq_sym_squeeze, c);
}

static bool unsqueeze(const cq_sym_call *c)
{
    return change_axes(cq_sym_unsqueeze, c);
}

static bool reduce(const cq_sym_call *c)
{
    cq_value *x = tensor(c, 1, 2);
    int64_t   axes[CQ_MAX_RANK];
    size_t    n    = 0;
    double    keep = 1;

    if (!x || !attributes(c, &(wanted){ "keepdims", &keep, NULL }, 1) ||
        (c->n == 2 && c->in[1].kind != CQ_VAL_NONE &&
         !cq_sym_axes_of(c->in[1], axes, &n, CQ_MAX_RANK)))
        return false;
    c->out[0] = cq_sym_reduce(c->r->s, c->op, x, axes, n, keep != 0);
    return true;
}

/* ---- parts ---- */

/* Dimensions may be counted from the back; in their own order there is nothing to do. */
static bool transpose(const cq_sym_call *c)
{
    cq_value *x = tensor(c, 1, 1);
    int64_t   perm[CQ_MAX_RANK];
    bool      same = true;
    size_t    n;

    if (!x || c->n_attrs != 1 || strcmp(c->attr_names[0], "perm") != 0)
        return false;
    if (!cq_sym_axes_of(c->attrs[0], perm, &n, CQ_MAX_RANK))
        return false;
    for (size_t i = 0; i < n; i++) {
        perm[i] += perm[i] < 0 ? (int64_t)n : 0;
        same &= perm[i] == (int64_t)i;
    }
    c->out[0] = same ? x : cq_sym_transpose(c->r->s, x, perm, n);
    return true;
}

static bool gather(const cq_sym_call *c)
{
    static const cq_value whole = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = CQ_DTYPE_I64 } };
    cq_value             *x     = tensor(c, 2, 2);
    double                axis;

    if (!x || !only_axis(c, &axis))
        return false;
    c->out[0] = cq_sym_gather(c->r->s, x, cq_sym_input_of(c->r, c->in[1], &whole), (int)axis);
    return true;
}

static bool concat(const cq_sym_call *c)
{
    cq_value *parts[MAX_PARTS];
    double    axis;

    if (c->n > MAX_PARTS || !only_axis(c, &axis))
        return false;
    if (operands(c, 0, c->n, parts))
        c->out[0] = cq_sym_concat(c->r->s, parts, c->n, (int)axis);
    return true;
}

/* ScatterElements(x, index, source, axis=a, reduction="add"), which was Scatter before 11. */
static bool scatter(const cq_sym_call *c)
{
    cq_value   *x         = tensor(c, 3, 3);
    const char *reduction = NULL;
    double      axis      = 0;
    wanted      known[]   = { { "axis", &axis, NULL }, { "reduction", NULL, &reduction } };

    if (!x || !attributes(c, known, 2) || axis < 0 || !cq_sym_is_graph(c->in[1]))
        return false;
    c->out[0] = cq_sym_scatter(c->r->s, x, (int)axis, cq_sym_graph_of(c->r, c->in[1]),
                               cq_sym_input_of(c->r, c->in[2], x), reduction);
    return true;
}

static bool cumsum(const cq_sym_call *c)
{
    cq_value *x = tensor(c, 2, 2);
    double    axis;

    if (!x || c->n_attrs || !cq_sym_number_of(c->in[1], &axis) || axis < 0)
        return false;
    c->out[0] = cq_sym_cumsum(c->r->s, x, (int)axis);
    return true;
}

/* A tensor and sizes, or other integers that need not be fixed. */
static cq_value *tensor_and_ints(const cq_sym_call *c, size_t most, cq_int *ints, size_t *n,
                                 size_t max)
{
    cq_value *x = tensor(c, 2, most);

    return x && is_list(c->in[1]) && cq_sym_ints_of(c->r, c->in[1], ints, n, max) ? x : NULL;
}

static bool expand(const cq_sym_call *c)
{
    cq_int    sizes[CQ_MAX_RANK];
    size_t    n;
    cq_value *x = tensor_and_ints(c, 2, sizes, &n, CQ_MAX_RANK);

    if (!x || c->n_attrs)
        return false;
    c->out[0] = cq_sym_expand(c->r->s, x, sizes, n);
    return true;
}

/* Zeros of sizes that need not be fixed. */
static bool constant_of_shape(const cq_sym_call *c)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t n;

    if (c->n != 1 || c->n_attrs || !is_list(c->in[0]) ||
        !cq_sym_ints_of(c->r, c->in[0], sizes, &n, CQ_MAX_RANK))
        return false;
    if (cq_sym_since(c->r->s, 9, "a tensor of dynamic sizes requires opset 9"))
        c->out[0] = cq_sym_op(c->r->s, "ConstantOfShape", CQ_IN(cq_sym_of_ints(c->r->s, sizes, n)),
                              CQ_NO_ATTR);
    cq_sym_set_type(c->r->s, c->out[0], CQ_DTYPE_F32, n, sizes);
    return true;
}

static bool has_size(const cq_int *sizes, size_t n, int64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (cq_int_is(sizes[i], value))
            return true;
    return false;
}

static bool all_plain(const cq_int *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sizes[i].expr)
            return false;
    return true;
}

/* A size of -1 or 0 has the meaning of ONNX; but a tensor that is always empty has a 0, so a 0 is a
 * size then. */
static bool reshape(const cq_sym_call *c)
{
    cq_int    sizes[CQ_MAX_RANK];
    int64_t   plain[CQ_MAX_RANK];
    size_t    n;
    cq_sym   *s = c->r->s;
    cq_value *x = tensor_and_ints(c, 2, sizes, &n, CQ_MAX_RANK);
    bool      empty, open;

    if (!x || c->n_attrs)
        return false;
    open  = has_size(sizes, n, -1);
    empty = !open && x->type.rank > 0 && has_size(x->type.sizes, (size_t)x->type.rank, 0);
    for (size_t i = 0; i < n; i++) {
        if (cq_int_is(sizes[i], 0) && !empty && x->type.rank > (int)i)
            sizes[i] = x->type.sizes[i];
        plain[i] = sizes[i].expr && x->type.rank > (int)i && cq_int_same(sizes[i], x->type.sizes[i])
                       ? 0
                       : sizes[i].value;
        if (plain[i] == 0 && open)
            sizes[i] = cq_i(0);
    }
    if (!open)
        c->out[0] = cq_sym_reshape(s, x, sizes, n);
    else if (all_plain(sizes, n))
        c->out[0] = cq_sym_reshape_i64(s, x, plain, n);
    else
        c->out[0] = cq_sym_op(s, "Reshape", CQ_IN(x, cq_sym_of_ints(s, sizes, n)), CQ_NO_ATTR);
    return true;
}

/* Pad(x, pads, value, mode=m): beginnings first, then ends, as ONNX has them. */
static bool pad(const cq_sym_call *c)
{
    cq_int      pads[2 * CQ_MAX_RANK];
    int64_t     plain[2 * CQ_MAX_RANK];
    size_t      n;
    bool        all_fixed = true;
    const char *mode      = "constant";
    cq_value   *x         = tensor_and_ints(c, 3, pads, &n, 2 * CQ_MAX_RANK), *value;

    if (!x || !attributes(c, &(wanted){ "mode", NULL, &mode }, 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        plain[i] = pads[i].value;
        all_fixed &= !pads[i].expr;
    }
    value = c->n > 2 ? cq_sym_input_of(c->r, c->in[2], x) : NULL;
    if (all_fixed || cq_sym_opset(c->r->s) < 11) {
        c->out[0] = cq_sym_pad(c->r->s, x, mode, plain, n, value);
        return true;
    }
    c->out[0] = cq_sym_op(c->r->s, "Pad", CQ_IN(x, cq_sym_of_ints(c->r->s, pads, n), value),
                          CQ_ATTR(cq_attr_s("mode", mode)));
    cq_sym_set_dtype(c->r->s, c->out[0], cq_sym_dtype(c->r->s, x));
    return true;
}

/* TopK(x, [k], axis=a, largest=b) */
static bool topk(const cq_sym_call *c)
{
    double    axis = -1, largest = 1;
    cq_value *both[2];
    cq_int    k;
    size_t    n;
    wanted    known[] = { { "axis", &axis, NULL }, { "largest", &largest, NULL } };
    cq_value *x       = tensor_and_ints(c, 2, &k, &n, 1);
    int       rank;

    if (!x || c->n_out > 2 || !attributes(c, known, 2))
        return false;
    rank = cq_sym_rank(c->r->s, x);
    axis += axis < 0 ? rank : 0;
    if (c->r->s->status != CQ_OK || axis < 0 || axis >= rank)
        return false;
    cq_sym_topk(c->r->s, x, k, (int)axis, largest != 0, both);
    memcpy(c->out, both, c->n_out * sizeof *both);
    return true;
}

bool cq_node_form_apply(const cq_sym_call *c, const cq_node_form *f)
{
    cq_value *v[2];

    if (f->fn)
        return f->fn(c);
    if (c->n != (f->one ? 1 : 2) || c->n_out != 1 || c->n_attrs)
        return false;
    if (operands(c, 0, c->n, v))
        c->out[0] = f->one ? f->one(c->r->s, v[0]) : f->two(c->r->s, v[0], v[1]);
    return true;
}

static const cq_node_form forms[] = {
    { "Where", .fn = where },
    { "Equal", .two = cq_sym_equal },
    { "LessOrEqual", .two = cq_sym_at_most },
    { "GreaterOrEqual", .two = at_least },
    { "Max", .two = greater_of },
    { "Min", .two = less_of },
    { "IsNaN", .one = cq_sym_is_nan },
    { "Sign", .one = cq_sym_sign },
    { "Round", .one = cq_sym_round },
    { "Clip", .fn = clip },
    { "Squeeze", .fn = squeeze },
    { "Unsqueeze", .fn = unsqueeze },
    { "ReduceSum", .fn = reduce },
    { "ReduceMean", .fn = reduce },
    { "ReduceProd", .fn = reduce },
    { "ReduceMax", .fn = reduce },
    { "ReduceMin", .fn = reduce },
    { "ReduceL1", .fn = reduce },
    { "ReduceL2", .fn = reduce },
    { "ReduceSumSquare", .fn = reduce },
    { "ReduceLogSum", .fn = reduce },
    { "ReduceLogSumExp", .fn = reduce },
    { "Transpose", .fn = transpose },
    { "Gather", .fn = gather },
    { "Concat", .fn = concat },
    { "CumSum", .fn = cumsum },
    { "ScatterElements", .fn = scatter },
    { "ConstantOfShape", .fn = constant_of_shape },
    { "Expand", .fn = expand },
    { "Reshape", .fn = reshape },
    { "Shape", .one = cq_sym_shape },
    { "Pad", .fn = pad },
    { "TopK", .fn = topk },
};

const cq_node_form *cq_node_form_find(const char *op)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].op, op) == 0)
            return &forms[i];
    return NULL;
}
