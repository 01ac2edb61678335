/* Operators of ONNX that rules write in their newest form, and that older opsets write otherwise:
 * axes that were attributes, comparisons that were for integers, operators that were not there.
 * forms.c and arith.c know how. */
#include "export/rule.h"
#include "export/arith.h"
#include "export/symbolic/places.h"

/* The operands of an element-wise operator; numbers take the dtype of the first tensor. */
static bool operands(cq_rule_run *r, const cq_rule_term *in, size_t n, cq_value **out)
{
    const cq_value *like = NULL;

    for (size_t i = 0; i < n && !like; i++)
        like = in[i].kind == CQ_RULE_TERM_VALUE ? in[i].u.v : NULL;
    for (size_t i = 0; i < n; i++)
        out[i] = cq_rule_term_value(r, &in[i], like);
    return r->s->status == CQ_OK;
}

static bool where(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                  cq_value **out, size_t n_out)
{
    cq_value *v[2];

    (void)n_out;
    if (n != 3 || e->n_attrs || in[0].kind != CQ_RULE_TERM_VALUE)
        return false;
    if (operands(r, in + 1, 2, v))
        out[0] = cq_sym_where(r->s, in[0].u.v, v[0], v[1]);
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
static bool clip(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                 cq_value **out, size_t n_out)
{
    cq_value *v[3] = { NULL, NULL, NULL };

    (void)n_out;
    if (n < 2 || n > 3 || e->n_attrs || in[0].kind != CQ_RULE_TERM_VALUE)
        return false;
    if (operands(r, in, n, v))
        out[0] = cq_sym_bounded(r->s, v[0], v[1], v[2]);
    return true;
}

/* ---- axes ---- */

static bool tensor_and_axes(const cq_rule_expr *e, const cq_rule_term *in, size_t n, int64_t *axes,
                            size_t *n_axes)
{
    return n == 2 && !e->n_attrs && in[0].kind == CQ_RULE_TERM_VALUE &&
           in[1].kind != CQ_RULE_TERM_VALUE && cq_rule_term_axes(&in[1], axes, n_axes, CQ_MAX_RANK);
}

typedef cq_value *axes_fn(cq_sym *s, cq_value *x, const int64_t *axes, size_t n);

static bool change_axes(axes_fn *change, cq_rule_run *r, const cq_rule_expr *e,
                        const cq_rule_term *in, size_t n, cq_value **out)
{
    int64_t axes[CQ_MAX_RANK];
    size_t  n_axes;

    if (!tensor_and_axes(e, in, n, axes, &n_axes))
        return false;
    out[0] = n_axes ? change(r->s, in[0].u.v, axes, n_axes) : in[0].u.v;
    return true;
}

static bool squeeze(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                    cq_value **out, size_t n_out)
{
    (void)n_out;
    return change_axes(cq_sym_squeeze, r, e, in, n, out);
}

static bool unsqueeze(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                      cq_value **out, size_t n_out)
{
    (void)n_out;
    return change_axes(cq_sym_unsqueeze, r, e, in, n, out);
}

static bool reduce(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                   cq_value **out, size_t n_out)
{
    int64_t      axes[CQ_MAX_RANK];
    size_t       n_axes = 0;
    cq_rule_term keep   = cq_rule_term_of_i64(1);
    double       f      = 1;

    (void)n_out;
    if (n < 1 || n > 2 || in[0].kind != CQ_RULE_TERM_VALUE || e->n_attrs > 1 ||
        (e->n_attrs && strcmp(e->attr_names[0], "keepdims") != 0) ||
        (n == 2 && in[1].kind != CQ_RULE_TERM_NONE &&
         !cq_rule_term_axes(&in[1], axes, &n_axes, CQ_MAX_RANK)))
        return false;
    if (e->n_attrs)
        keep = cq_rule_eval(r, e->attrs[0]);
    if (!cq_rule_term_number(&keep, &f))
        return false;
    out[0] = cq_sym_reduce(r->s, e->text, in[0].u.v, axes, n_axes, f != 0);
    return true;
}

/* ---- parts ---- */

/* Dimensions may be counted from the back; in their own order there is nothing to do. */
static bool transpose(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                      cq_value **out, size_t n_out)
{
    int64_t      perm[CQ_MAX_RANK];
    bool         same = true;
    size_t       n_perm;
    cq_rule_term t;

    (void)n_out;
    if (n != 1 || e->n_attrs != 1 || strcmp(e->attr_names[0], "perm") != 0)
        return false;
    t = cq_rule_eval(r, e->attrs[0]);
    if (in[0].kind != CQ_RULE_TERM_VALUE || !cq_rule_term_axes(&t, perm, &n_perm, CQ_MAX_RANK))
        return false;
    for (size_t i = 0; i < n_perm; i++) {
        perm[i] += perm[i] < 0 ? (int64_t)n_perm : 0;
        same &= perm[i] == (int64_t)i;
    }
    out[0] = same ? in[0].u.v : cq_sym_transpose(r->s, in[0].u.v, perm, n_perm);
    return true;
}

static bool gather(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                   cq_value **out, size_t n_out)
{
    static const cq_value whole = { .type = { .kind = CQ_TYPE_TENSOR, .dtype = CQ_DTYPE_I64 } };
    double                axis  = 0;
    cq_rule_term          t;

    (void)n_out;
    if (n != 2 || e->n_attrs != 1 || in[0].kind != CQ_RULE_TERM_VALUE ||
        strcmp(e->attr_names[0], "axis") != 0)
        return false;
    t = cq_rule_eval(r, e->attrs[0]);
    if (!cq_rule_term_number(&t, &axis) || axis < 0)
        return false;
    out[0] = cq_sym_gather(r->s, in[0].u.v, cq_rule_term_value(r, &in[1], &whole), (int)axis);
    return true;
}

static bool concat(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                   cq_value **out, size_t n_out)
{
    cq_value    *parts[256];
    cq_rule_term t;
    double       axis;

    (void)n_out;
    if (n > 256 || e->n_attrs != 1 || strcmp(e->attr_names[0], "axis") != 0)
        return false;
    t = cq_rule_eval(r, e->attrs[0]);
    if (!cq_rule_term_number(&t, &axis) || axis < 0)
        return false;
    if (operands(r, in, n, parts))
        out[0] = cq_sym_concat(r->s, parts, n, (int)axis);
    return true;
}

/* ScatterElements<axis = a, reduction = "add">(x, index, source), which was Scatter before 11. */
static bool scatter(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                    cq_value **out, size_t n_out)
{
    const char *reduction = NULL;
    double      axis      = 0;

    (void)n_out;
    for (size_t i = 0; i < e->n_attrs; i++) {
        cq_rule_term t = cq_rule_eval(r, e->attrs[i]);

        if (t.kind == CQ_RULE_TERM_TEXT && strcmp(e->attr_names[i], "reduction") == 0)
            reduction = t.u.s;
        else if (strcmp(e->attr_names[i], "axis") != 0 || !cq_rule_term_number(&t, &axis))
            return false;
    }
    if (n != 3 || axis < 0 || in[0].kind != CQ_RULE_TERM_VALUE || in[1].kind != CQ_RULE_TERM_VALUE)
        return false;
    out[0] = cq_sym_scatter(r->s, in[0].u.v, (int)axis, in[1].u.v,
                            cq_rule_term_value(r, &in[2], in[0].u.v), reduction);
    return true;
}

static bool cumsum(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                   cq_value **out, size_t n_out)
{
    double axis;

    (void)n_out;
    if (n != 2 || e->n_attrs || in[0].kind != CQ_RULE_TERM_VALUE ||
        !cq_rule_term_number(&in[1], &axis) || axis < 0)
        return false;
    out[0] = cq_sym_cumsum(r->s, in[0].u.v, (int)axis);
    return true;
}

static bool tensor_and_sizes(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in,
                             size_t n, cq_int *sizes, size_t *n_sizes)
{
    return n == 2 && !e->n_attrs && in[0].kind == CQ_RULE_TERM_VALUE &&
           in[1].kind == CQ_RULE_TERM_LIST &&
           cq_rule_term_ints(r, &in[1], sizes, n_sizes, CQ_MAX_RANK);
}

static bool expand(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                   cq_value **out, size_t n_out)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t n_sizes;

    (void)n_out;
    if (!tensor_and_sizes(r, e, in, n, sizes, &n_sizes))
        return false;
    out[0] = cq_sym_expand(r->s, in[0].u.v, sizes, n_sizes);
    return true;
}

/* A size of -1 or 0 means what it means in ONNX. */
static bool reshape(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                    cq_value **out, size_t n_out)
{
    cq_int  sizes[CQ_MAX_RANK];
    int64_t plain[CQ_MAX_RANK];
    size_t  n_sizes;
    bool    special = false;

    (void)n_out;
    if (!tensor_and_sizes(r, e, in, n, sizes, &n_sizes))
        return false;
    for (size_t i = 0; i < n_sizes; i++) {
        plain[i] = sizes[i].value;
        special |= !sizes[i].expr && sizes[i].value < 1;
    }
    out[0] = special ? cq_sym_reshape_i64(r->s, in[0].u.v, plain, n_sizes)
                     : cq_sym_reshape(r->s, in[0].u.v, sizes, n_sizes);
    return true;
}

/* Pad<mode = m>(x, pads, value): beginnings first, then ends, as ONNX has them. */
static bool pad(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                cq_value **out, size_t n_out)
{
    cq_int       pads[2 * CQ_MAX_RANK];
    int64_t      fixed[2 * CQ_MAX_RANK];
    size_t       n_pads;
    bool         all_fixed = true;
    cq_value    *value;
    cq_rule_term mode;

    (void)n_out;
    if (n < 2 || n > 3 || e->n_attrs != 1 || in[0].kind != CQ_RULE_TERM_VALUE ||
        !cq_rule_term_ints(r, &in[1], pads, &n_pads, 2 * CQ_MAX_RANK))
        return false;
    mode = cq_rule_eval(r, e->attrs[0]);
    if (strcmp(e->attr_names[0], "mode") != 0 || mode.kind != CQ_RULE_TERM_TEXT)
        return false;
    for (size_t i = 0; i < n_pads; i++) {
        fixed[i] = pads[i].value;
        all_fixed &= !pads[i].expr;
    }
    value = n > 2 ? cq_rule_term_value(r, &in[2], in[0].u.v) : NULL;
    if (all_fixed || cq_sym_opset(r->s) < 11) {
        out[0] = cq_sym_pad(r->s, in[0].u.v, mode.u.s, fixed, n_pads, value);
        return true;
    }
    out[0] = cq_sym_op(r->s, "Pad", CQ_IN(in[0].u.v, cq_sym_of_ints(r->s, pads, n_pads), value),
                       CQ_ATTR(cq_attr_s("mode", mode.u.s)));
    cq_sym_set_dtype(r->s, out[0], cq_sym_dtype(r->s, in[0].u.v));
    return true;
}

/* TopK<axis = a, largest = b>(x, [k]) */
static bool topk(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                 cq_value **out, size_t n_out)
{
    double    axis = -1, largest = 1;
    cq_value *both[2];
    cq_int    k;
    size_t    n_k;
    int       rank;

    if (n != 2 || n_out > 2 || in[0].kind != CQ_RULE_TERM_VALUE ||
        in[1].kind != CQ_RULE_TERM_LIST || !cq_rule_term_ints(r, &in[1], &k, &n_k, 1))
        return false;
    for (size_t i = 0; i < e->n_attrs; i++) {
        bool         is_axis = strcmp(e->attr_names[i], "axis") == 0;
        cq_rule_term t       = cq_rule_eval(r, e->attrs[i]);

        if ((!is_axis && strcmp(e->attr_names[i], "largest") != 0) ||
            !cq_rule_term_number(&t, is_axis ? &axis : &largest))
            return false;
    }
    rank = cq_sym_rank(r->s, in[0].u.v);
    axis += axis < 0 ? rank : 0;
    if (r->s->status != CQ_OK || axis < 0 || axis >= rank)
        return false;
    cq_sym_topk(r->s, in[0].u.v, k, (int)axis, largest != 0, both);
    memcpy(out, both, n_out * sizeof *out);
    return true;
}

bool cq_rule_form_apply(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n,
                        cq_value **out, size_t n_out)
{
    const cq_rule_form *f = e->form;
    cq_value           *v[2];

    if (f->fn)
        return f->fn(r, e, in, n, out, n_out);
    if (n != (f->one ? 1 : 2) || n_out != 1 || e->n_attrs)
        return false;
    if (operands(r, in, n, v))
        out[0] = f->one ? f->one(r->s, v[0]) : f->two(r->s, v[0], v[1]);
    return true;
}

static const cq_rule_form forms[] = {
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
    { "Expand", .fn = expand },
    { "Reshape", .fn = reshape },
    { "Shape", .one = cq_sym_shape },
    { "Pad", .fn = pad },
    { "TopK", .fn = topk },
};

const cq_rule_form *cq_rule_form_find(const char *op)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].op, op) == 0)
            return &forms[i];
    return NULL;
}
