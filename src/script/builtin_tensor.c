/* Where tensors meet other values: numbers from tensors, tensors from numbers and lists, and
 * questions about tensors whose answers are not tensors. */
#include "script/builtin.h"

#include <stdlib.h>

/* ---- numbers from tensors ---- */

static cq_status to_number(cq_builtin_call *c, cq_val_kind kind, cq_val *out)
{
    cq_val v = c->args[0];

    switch (v.kind) {
    case CQ_VAL_TENSOR: return cq_builtin_number_of(c->ev, v.u.tensor, kind, out);
    case CQ_VAL_INT:
        if (kind == CQ_VAL_INT) {
            *out = v;
            return CQ_OK;
        }
        if (v.u.i.expr) {
            cq_tensor *t;

            if (c->ev->tracing) {
                *out = kind == CQ_VAL_FLOAT ? cq_val_of_f64((double)v.u.i.value)
                                            : cq_val_of_bool(v.u.i.value != 0);
                return CQ_OK;
            }
            CQ_TRY(cq_eval_as_tensor(c->ev, v, &t));
            t = CQ_OP(c->ev->cx, "aten::to.dtype", T(t),
                      DTYPE(kind == CQ_VAL_FLOAT ? CQ_DTYPE_F64 : CQ_DTYPE_BOOL));
            if (t) { /* it is still that size, should it become an int again */
                cq_free(t->known);
                t->known = cq_alloc(sizeof(cq_int));
                if (!t->known)
                    return CQ_E_NO_MEMORY;
                t->known[0] = v.u.i;
            }
            return t ? cq_builtin_number_of(c->ev, t, kind, out) : c->ev->cx->status;
        }
        *out = kind == CQ_VAL_FLOAT ? cq_val_of_f64((double)v.u.i.value)
                                    : cq_val_of_bool(v.u.i.value != 0);
        return CQ_OK;
    case CQ_VAL_FLOAT:
        if (v.u.f.origin && kind != CQ_VAL_FLOAT) {
            cq_tensor *t = cq_capture_tensor(c->ev->capture, c->ev->cx, v.u.f.origin);

            t = CQ_OP(c->ev->cx, "aten::to.dtype", T(t),
                      DTYPE(kind == CQ_VAL_INT ? CQ_DTYPE_I64 : CQ_DTYPE_BOOL));
            return t ? cq_builtin_number_of(c->ev, t, kind, out) : c->ev->cx->status;
        }
        if (kind == CQ_VAL_FLOAT)
            *out = v;
        else if (kind == CQ_VAL_INT && !(v.u.f.value > -0x1p63 && v.u.f.value < 0x1p63))
            return cq_fail(CQ_E_ARGUMENT, "int", NULL, "%g is no integer", v.u.f.value);
        else
            *out = kind == CQ_VAL_INT ? cq_val_of_i64((int64_t)v.u.f.value)
                                      : cq_val_of_bool(v.u.f.value != 0);
        return CQ_OK;
    case CQ_VAL_BOOL:
        if (v.u.b.origin && kind != CQ_VAL_BOOL) {
            cq_tensor *t = cq_capture_tensor(c->ev->capture, c->ev->cx, v.u.b.origin);

            t = CQ_OP(c->ev->cx, "aten::to.dtype", T(t),
                      DTYPE(kind == CQ_VAL_INT ? CQ_DTYPE_I64 : CQ_DTYPE_F64));
            return t ? cq_builtin_number_of(c->ev, t, kind, out) : c->ev->cx->status;
        }
        *out = kind == CQ_VAL_INT     ? cq_val_of_i64(v.u.b.value)
               : kind == CQ_VAL_FLOAT ? cq_val_of_f64(v.u.b.value)
                                      : v;
        return CQ_OK;
    case CQ_VAL_STR: {
        char  *end;
        double f = strtod(v.u.text->text, &end);

        if (kind == CQ_VAL_BOOL) {
            *out = cq_val_of_bool(v.u.text->len > 0);
            return CQ_OK;
        }
        if (end == v.u.text->text || *end)
            return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "\"%s\" is no number", v.u.text->text);
        *out = kind == CQ_VAL_INT ? cq_val_of_i64(strtoll(v.u.text->text, NULL, 10))
                                  : cq_val_of_f64(f);
        return CQ_OK;
    }
    default: {
        bool      known, truth;
        cq_value *symbol;

        if (kind != CQ_VAL_BOOL)
            return cq_fail(CQ_E_TYPE, c->name, NULL, "%s is no number", cq_eval_type_name(v));
        CQ_TRY(cq_eval_truth(c->ev, v, &known, &truth, &symbol));
        *out = cq_val_of_bool(truth);
        return CQ_OK;
    }
    }
}

static cq_status to_int(cq_builtin_call *c, cq_val *out)
{
    return to_number(c, CQ_VAL_INT, out);
}

static cq_status to_float(cq_builtin_call *c, cq_val *out)
{
    return to_number(c, CQ_VAL_FLOAT, out);
}

static cq_status to_bool(cq_builtin_call *c, cq_val *out)
{
    return to_number(c, CQ_VAL_BOOL, out);
}

static cq_status item(cq_builtin_call *c, cq_val *out)
{
    cq_dtype d;

    if (c->args[0].kind != CQ_VAL_TENSOR) {
        *out = c->args[0];
        return CQ_OK;
    }
    d = c->args[0].u.tensor->dtype;
    return to_number(c,
                     cq_dtype_is_float(d) ? CQ_VAL_FLOAT
                     : d == CQ_DTYPE_BOOL ? CQ_VAL_BOOL
                                          : CQ_VAL_INT,
                     out);
}

static cq_status to_complex(cq_builtin_call *c, cq_val *out)
{
    double parts[2] = { 0, 0 };

    if (c->n == 2 && c->args[0].kind == CQ_VAL_TENSOR && c->args[1].kind == CQ_VAL_TENSOR)
        return cq_builtin_decline(c); /* an operator of that name makes a tensor of them */
    for (size_t i = 0; i < c->n && i < 2; i++) {
        cq_builtin_call one = *c;
        cq_val          f;

        one.args = &c->args[i];
        CQ_TRY(to_number(&one, CQ_VAL_FLOAT, &f));
        parts[i] = f.u.f.value;
    }
    *out = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { parts[0], parts[1] } };
    return CQ_OK;
}

/* ---- tensors from numbers and lists ---- */

static cq_status num_to_tensor(cq_builtin_call *c, cq_val *out)
{
    cq_tensor *t;

    if (c->args[0].kind == CQ_VAL_TENSOR) {
        *out = c->args[0];
        return CQ_OK;
    }
    CQ_TRY(cq_eval_as_tensor(c->ev, c->args[0], &t));
    *out = cq_val_of_tensor(t);
    return CQ_OK;
}

typedef struct shape {
    int64_t sizes[CQ_MAX_RANK];
    size_t  rank;
    bool    symbolic, has_float, has_int, has_complex;
} shape;

static cq_status measure(cq_eval *ev, cq_val v, shape *s, size_t depth)
{
    if (cq_val_is_list(v)) {
        if (depth >= CQ_MAX_RANK)
            return cq_fail(CQ_E_TYPE, "tensor", NULL, "lists are nested too deep");
        CQ_TRY(cq_eval_spend(ev, CQ_EVAL_STEP_ITEMS + v.u.list->n));
        if (depth == s->rank) {
            s->sizes[s->rank++] = (int64_t)v.u.list->n;
        } else if (s->sizes[depth] != (int64_t)v.u.list->n) {
            return cq_fail(CQ_E_TYPE, "tensor", NULL, "lists of different lengths make no tensor");
        }
        for (size_t i = 0; i < v.u.list->n; i++)
            CQ_TRY(measure(ev, v.u.list->items[i], s, depth + 1));
        return CQ_OK;
    }
    if (v.kind == CQ_VAL_TENSOR) {
        s->symbolic = true;
        s->has_float |= cq_dtype_is_float(v.u.tensor->dtype);
        s->has_int |= !cq_dtype_is_float(v.u.tensor->dtype);
        return CQ_OK;
    }
    if (!cq_val_is_number(v))
        return cq_fail(CQ_E_TYPE, "tensor", NULL, "%s is no number", cq_eval_type_name(v));
    s->symbolic |= (v.kind == CQ_VAL_INT && v.u.i.expr) ||
                   (v.kind == CQ_VAL_FLOAT && v.u.f.origin) ||
                   (v.kind == CQ_VAL_BOOL && v.u.b.origin);
    s->has_float |= v.kind == CQ_VAL_FLOAT;
    s->has_int |= v.kind == CQ_VAL_INT;
    s->has_complex |= v.kind == CQ_VAL_COMPLEX;
    return CQ_OK;
}

static void fill(cq_val v, double **f, int64_t **i, bool reals)
{
    if (cq_val_is_list(v)) {
        for (size_t k = 0; k < v.u.list->n; k++)
            fill(v.u.list->items[k], f, i, reals);
        return;
    }
    if (reals)
        *(*f)++ = v.kind == CQ_VAL_FLOAT ? v.u.f.value
                  : v.kind == CQ_VAL_INT ? (double)v.u.i.value
                                         : v.u.b.value;
    else
        *(*i)++ = v.kind == CQ_VAL_INT ? v.u.i.value : v.u.b.value;
}

/* A tensor of numbers that are known: data, no operator. */
static cq_status constant(cq_builtin_call *c, cq_val v, const shape *s, cq_dtype dtype, cq_val *out)
{
    cq_tensor *wide, *t;
    cq_status  status;
    double    *f;
    int64_t   *i;

    CQ_TRY(
        cq_tensor_new(&wide, s->has_float ? CQ_DTYPE_F64 : CQ_DTYPE_I64, s->rank, s->sizes, NULL));
    f = cq_tensor_data(wide);
    i = cq_tensor_data(wide);
    fill(v, &f, &i, s->has_float);
    status = cq_tensor_clone(&t, wide, dtype);
    cq_tensor_release(wide);
    CQ_TRY(status);
    *out = cq_ctx_own(c->ev->cx, cq_val_of_tensor(t));
    CQ_TRY(c->ev->cx->status);
    return c->ev->capture ? cq_capture_constant(c->ev->capture, t) : CQ_OK;
}

/* Some numbers are of the graph: they are put together there. */
static cq_status assembled(cq_builtin_call *c, cq_val v, cq_dtype dtype, cq_val *out)
{
    cq_tensor *t;

    if (!cq_val_is_list(v)) {
        CQ_TRY(cq_eval_as_tensor(c->ev, v, &t));
        *out = cq_val_of_tensor(CQ_OP(c->ev->cx, "aten::to.dtype", T(t), DTYPE(dtype)));
        if (out->kind == CQ_VAL_TENSOR && t->known && !out->u.tensor->known &&
            !cq_dtype_is_float(dtype)) {
            out->u.tensor->known = cq_alloc(sizeof(cq_int));
            if (!out->u.tensor->known)
                return CQ_E_NO_MEMORY;
            out->u.tensor->known[0] = t->known[0];
        }
        return c->ev->cx->status;
    }
    {
        cq_val list, item_;

        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
        for (size_t i = 0; i < v.u.list->n; i++) {
            CQ_TRY(assembled(c, v.u.list->items[i], dtype, &item_));
            CQ_TRY(cq_list_push(list.u.list, item_));
        }
        return cq_eval_operator(c->ev, "aten::stack", &list, 1, NULL, NULL, 0, out);
    }
}

static cq_status new_tensor(cq_builtin_call *c, cq_val *out)
{
    cq_val   v = cq_builtin_arg(c, 0, "data"), asked = cq_builtin_arg(c, 1, "dtype");
    shape    s = { 0 };
    cq_dtype dtype;

    if (v.kind == CQ_VAL_TENSOR) {
        if (asked.kind == CQ_VAL_INT) {
            cq_val args[2] = { v, asked };

            return cq_eval_operator(c->ev, "aten::to", args, 2, NULL, NULL, 0, out);
        }
        *out = v;
        return CQ_OK;
    }
    CQ_TRY(measure(c->ev, v, &s, 0));
    if (s.has_complex)
        return cq_fail(CQ_E_UNSUPPORTED, "tensor", NULL, "complex tensors are not supported");
    dtype = asked.kind == CQ_VAL_INT ? cq_dtype_from_torch(asked.u.i.value)
            : s.has_float || (s.rank && !s.has_int && s.sizes[0] == 0) ? CQ_DTYPE_F32
            : s.has_int                                                ? CQ_DTYPE_I64
                                                                       : CQ_DTYPE_BOOL;
    if (dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, "tensor", NULL, "this dtype is not supported");
    return s.symbolic ? assembled(c, v, dtype, out) : constant(c, v, &s, dtype, out);
}

/* x.copy_(y.expand(…)): copying expands by itself, to sizes that may differ from the example's,
 * which traced programs have as plain numbers. */
static cq_status copy_expanded(cq_builtin_call *c, cq_val *out)
{
    cq_val    args[2];
    cq_track *t;

    if (c->n < 2 || c->args[0].kind != CQ_VAL_TENSOR || c->args[1].kind != CQ_VAL_TENSOR ||
        !c->ev->capture || !cq_is_tracked(&c->ev->capture->tracks, c->args[1].u.tensor))
        return cq_builtin_decline(c);
    t = cq_track_of(&c->ev->capture->tracks, c->ev->cx, c->args[1].u.tensor);
    if (!t || !t->base || strcmp(t->op->schema->full, "aten::expand") != 0)
        return cq_builtin_decline(c);
    args[0] = c->args[0];
    args[1] = t->args[0];
    return cq_eval_operator(c->ev, "aten::copy_", args, 2, NULL, NULL, 0, out);
}

/* ---- questions ---- */

static bool is_tensor(const cq_builtin_call *c)
{
    return c->n && c->args[0].kind == CQ_VAL_TENSOR;
}

static cq_status tensor_size(cq_builtin_call *c, cq_val *out)
{
    cq_tensor *t;
    cq_val     dim = cq_builtin_arg(c, 1, "dim");
    int64_t    d;

    if (!is_tensor(c))
        return cq_builtin_decline(c);
    t = c->args[0].u.tensor;
    if (dim.kind == CQ_VAL_NONE) {
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
        for (size_t i = 0; i < t->rank; i++)
            CQ_TRY(cq_list_push(out->u.list, cq_val_of_int(t->sizes[i])));
        return CQ_OK;
    }
    CQ_TRY(cq_eval_plain(c->ev, dim, &d));
    if (d < 0)
        d += t->rank;
    if (d < 0 || d >= (int64_t)t->rank)
        return cq_fail(CQ_E_ARGUMENT, "size", NULL, "dim %lld is out of range for %u dimensions",
                       (long long)d, t->rank);
    *out = cq_val_of_int(t->sizes[d]);
    return CQ_OK;
}

static cq_status tensor_dtype(cq_builtin_call *c, cq_val *out)
{
    if (!is_tensor(c))
        return cq_builtin_decline(c);
    *out = cq_val_of_i64(cq_dtype_to_torch(c->args[0].u.tensor->dtype));
    return CQ_OK;
}

static cq_status new_device(cq_builtin_call *c, cq_val *out)
{
    const char *name = c->n && c->args[0].kind == CQ_VAL_STR ? c->args[0].u.text->text : "cpu";

    CQ_TRY(cq_builtin_text(c, name, strlen(name), out));
    out->kind = CQ_VAL_DEVICE;
    return CQ_OK;
}

static cq_status answer_false(cq_builtin_call *c, cq_val *out)
{
    (void)c;
    *out = cq_val_of_bool(false);
    return CQ_OK;
}

static cq_status is_quantized(cq_builtin_call *c, cq_val *out)
{
    *out = cq_val_of_bool(c->args[0].kind == CQ_VAL_TENSOR && c->args[0].u.tensor->qparams);
    return CQ_OK;
}

static cq_status answer_true(cq_builtin_call *c, cq_val *out)
{
    (void)c;
    *out = cq_val_of_bool(true);
    return CQ_OK;
}

static cq_status answer_zero(cq_builtin_call *c, cq_val *out)
{
    (void)c;
    *out = cq_val_of_i64(0);
    return CQ_OK;
}

static cq_status answer_none(cq_builtin_call *c, cq_val *out)
{
    (void)c;
    (void)out;
    return CQ_OK;
}

/* x.set_(y): x shows y's memory from now on. */
static cq_status set_tensor(cq_builtin_call *c, cq_val *out)
{
    cq_tensor *alias;

    if (c->args[0].kind != CQ_VAL_TENSOR || c->args[1].kind != CQ_VAL_TENSOR || c->n != 2)
        return cq_fail(CQ_E_UNSUPPORTED, "set_", NULL,
                       "set_ takes another tensor, and nothing else");
    alias = CQ_OP(c->ev->cx, "aten::detach", c->args[1]);
    CQ_TRY(c->ev->cx->status);
    *out = c->args[0];
    return cq_eval_rebind(c->ev, c->args[0].u.tensor, alias);
}

/* Whether a tape notes what the program computes. */
static cq_status grad_enabled(cq_builtin_call *c, cq_val *out)
{
    cq_ctx *cx = c->ev->cx;

    *out = cq_val_of_bool(cx->listener && !c->ev->capture && !cx->no_grad);
    return CQ_OK;
}

static cq_status set_grad_enabled(cq_builtin_call *c, cq_val *out)
{
    if (c->n && c->args[0].kind == CQ_VAL_BOOL)
        c->ev->cx->no_grad = !c->args[0].u.b.value;
    *out = CQ_NONE;
    return CQ_OK;
}

/* x.data: the same numbers, and no gradient. */
static cq_status detached(cq_builtin_call *c, cq_val *out)
{
    *out = c->args[0];
    if (!c->ev->capture && out->kind == CQ_VAL_TENSOR)
        *out = cq_val_of_tensor(CQ_OP(c->ev->cx, "aten::detach", *out));
    return c->ev->cx->status;
}

static cq_status answer_first(cq_builtin_call *c, cq_val *out)
{
    *out = c->args[0];
    return CQ_OK;
}

static cq_status unwrap_optional(cq_builtin_call *c, cq_val *out)
{
    *out = c->args[0];
    return out->kind == CQ_VAL_NONE ? cq_fail(CQ_E_ARGUMENT, c->name, NULL, "the value is None")
                                    : CQ_OK;
}

/* Whether a list can be made of a tensor of the graph element by element. */
static bool is_readable(const cq_eval *ev, const cq_tensor *t)
{
    for (size_t i = 0; i < t->rank; i++)
        if (t->sizes[i].expr)
            return false;
    return ev->capture && !ev->tracing && cq_tensor_numel(t) <= CQ_EVAL_MAX_UNROLL;
}

static cq_status tensor_to_list(cq_builtin_call *c, cq_val *out)
{
    cq_tensor *t, *data;

    if (!is_tensor(c))
        return cq_builtin_decline(c);
    t = c->args[0].u.tensor;
    if (t->rank == 0)
        return item(c, out);
    data = t;
    if (!cq_capture_has_data(c->ev->capture, c->ev->cx, t)) {
        const cq_listener *to = c->ev->cx->listener;

        if (!is_readable(c->ev, t)) {
            CQ_TRY(to->materialize(c->ev->cx->listener_self, c->ev->cx, &data, t));
            to->baked(c->ev->cx->listener_self, c->ev->cx, "the contents of a tensor",
                      cq_i(cq_tensor_numel(t)));
        }
    }
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (int64_t i = 0; i < data->sizes[0].value; i++) {
        cq_builtin_call one = *c;
        cq_val          element, number;

        CQ_TRY(cq_eval_get_item(c->ev, cq_val_of_tensor(data), cq_val_of_i64(i), &element));
        one.args = &element;
        CQ_TRY(tensor_to_list(&one, &number));
        CQ_TRY(cq_list_push(out->u.list, number));
    }
    return CQ_OK;
}

/* ---- a truth about two tensors ---- */

/* Whether all elements of what an operator says of two tensors are true, if only the run tells. */
static cq_status all_true(cq_builtin_call *c, const char *op, cq_val *out)
{
    cq_eval        *ev  = c->ev;
    cq_builtin_call one = *c;
    cq_val          each, all;

    CQ_TRY(cq_eval_operator(ev, op, c->args, c->n, c->kw_names, c->kw, c->n_kw, &each));
    CQ_TRY(cq_eval_operator(ev, "aten::all", &each, 1, NULL, NULL, 0, &all));
    one.args = &all;
    one.n    = 1;
    one.n_kw = 0;
    return to_bool(&one, out);
}

static bool is_of_run(const cq_builtin_call *c)
{
    const cq_eval *ev = c->ev;

    if (!ev->capture || ev->tracing || c->args[0].kind != CQ_VAL_TENSOR ||
        c->args[1].kind != CQ_VAL_TENSOR)
        return false;
    return !cq_capture_has_data(ev->capture, ev->cx, c->args[0].u.tensor) ||
           !cq_capture_has_data(ev->capture, ev->cx, c->args[1].u.tensor);
}

/* Whether two tensors have the same elements; of other sizes they have not. Where only the run
 * knows whether sizes are the same, the operator reads the example, and says so. */
static cq_status equal_tensors(cq_builtin_call *c, cq_val *out)
{
    const cq_tensor *a, *b;

    if (!is_of_run(c))
        return cq_builtin_decline(c);
    a    = c->args[0].u.tensor;
    b    = c->args[1].u.tensor;
    *out = cq_val_of_bool(false);
    if (a->rank != b->rank)
        return CQ_OK;
    for (size_t i = 0; i < a->rank; i++) {
        if (cq_int_same(a->sizes[i], b->sizes[i]))
            continue;
        return a->sizes[i].expr || b->sizes[i].expr ? cq_builtin_decline(c) : CQ_OK;
    }
    return all_true(c, "aten::eq", out);
}

static cq_status close_tensors(cq_builtin_call *c, cq_val *out)
{
    return is_of_run(c) ? all_true(c, "aten::isclose", out) : cq_builtin_decline(c);
}

/* Of a device: what it is, without its number. */
static cq_status type_name(cq_builtin_call *c, cq_val *out)
{
    if (c->args[0].kind == CQ_VAL_DEVICE)
        return cq_builtin_text(c, c->args[0].u.text->text, strcspn(c->args[0].u.text->text, ":"),
                               out);
    return is_tensor(c) ? cq_builtin_text(c, "cpu", 3, out) : cq_builtin_decline(c);
}

const cq_builtin cq_builtins_tensor[] = {
    { "Int", to_int, 1 },
    { "int", to_int, 1 },
    { "IntImplicit", to_int, 1 },
    { "Float", to_float, 1 },
    { "float", to_float, 1 },
    { "FloatImplicit", to_float, 1 },
    { "Bool", to_bool, 1 },
    { "bool", to_bool, 1 },
    { "Complex", to_complex, 1 },
    { "complex", to_complex, 1 },
    { "ScalarImplicit", item, 1 },
    { "item", item, 1 },
    { "NumToTensor", num_to_tensor, 1 },
    { "tensor", new_tensor, 1 },
    { "as_tensor", new_tensor, 1 },
    { "copy_", copy_expanded, 2 },
    { "tolist", tensor_to_list, 1 },
    { "is_nonzero", to_bool, 1 },
    { "equal", equal_tensors, 2 },
    { "allclose", close_tensors, 2 },
    { "size", tensor_size, 1 },
    { "shape", tensor_size, 1 },
    { "dtype", tensor_dtype, 1 },
    { "device", new_device, 0 },
    { "layout", answer_zero, 1 },
    { "type", type_name, 1 },
    { "set_", set_tensor, 2 },
    { "data", detached, 1 },
    { "cpu", answer_first, 1 },
    { "cuda", answer_first, 1 },
    { "pin_memory", answer_first, 1 },
    { "requires_grad_", answer_first, 1 },
    { "wait", answer_first, 1 },
    { "unchecked_unwrap_optional", answer_first, 1 },
    { "_unwrap_optional", unwrap_optional, 1 },
    { "_no_grad_enter", answer_none, 0 },
    { "grad", answer_none, 1 },
    { "is_cuda", answer_false, 1 },
    { "is_cpu", answer_true, 1 },
    { "is_sparse", answer_false, 1 },
    { "is_mkldnn", answer_false, 1 },
    { "is_quantized", is_quantized, 1 },
    { "is_nested", answer_false, 1 },
    { "is_meta", answer_false, 1 },
    { "is_xla", answer_false, 1 },
    { "is_mps", answer_false, 1 },
    { "is_leaf", answer_true, 1 },
    { "requires_grad", answer_false, 1 },
    { "is_grad_enabled", grad_enabled, 0 },
    { "is_autocast_enabled", answer_false, 0 },
    { "is_autocast_cpu_enabled", answer_false, 0 },
    { "is_inference", answer_false, 1 },
    { "has_torch_function", answer_false, 0 },
    { "set_grad_enabled", set_grad_enabled, 0 },
    { "no_grad", answer_none, 0 },
    { "inference_mode", answer_none, 0 },
    { "manual_seed", answer_none, 0 },
    { "is_tracing", answer_false, 0 },
    { "is_scripting", answer_true, 0 },
    { "is_in_onnx_export", answer_true, 0 },
    { "warn", answer_none, 0 },
    { "backward", answer_none, 0 },
    { 0 },
};
