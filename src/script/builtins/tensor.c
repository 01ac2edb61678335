/* Conversions between tensors and other values: numbers from tensors, tensors from numbers and
 * lists, and queries of tensors whose results are not tensors. */
#include "script/builtins/number.h"
#include "script/values/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

/* ---- numbers from tensors ---- */

static cq_dtype dtype_of(cq_val_kind kind)
{
    return kind == CQ_VAL_INT ? CQ_DTYPE_I64 : kind == CQ_VAL_FLOAT ? CQ_DTYPE_F64 : CQ_DTYPE_BOOL;
}

/* Converts a data-dependent number to another kind. If it is a size, converting it back to int
 * gives that size. */
static cq_status from_graph(cq_eval *ev, cq_val v, cq_val_kind kind, cq_val *out)
{
    cq_tensor *t;

    CQ_TRY(cq_eval_as_tensor(ev, v, &t));
    t = CQ_OP(ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(dtype_of(kind)));
    if (t && v.kind == CQ_VAL_INT)
        CQ_TRY(cq_builtin_set_known(t, v.u.i));
    return t ? cq_builtin_number_of(ev, t, kind, out) : ev->cx->status;
}

static cq_status from_number(cq_eval *ev, cq_val v, cq_val_kind kind, cq_val *out)
{
    const double f = cq_val_real(v);

    *out = v;
    if (v.kind == kind)
        return CQ_OK;
    if (cq_val_is_symbolic(v) && !(v.kind == CQ_VAL_INT && ev->tracing))
        return from_graph(ev, v, kind, out);
    if (kind == CQ_VAL_INT && !(f > -0x1p63 && f < 0x1p63))
        return cq_fail(CQ_E_ARGUMENT, "int", NULL, "%g does not fit in a 64-bit integer", f);
    *out = kind == CQ_VAL_INT     ? cq_val_of_i64((int64_t)f)
           : kind == CQ_VAL_FLOAT ? cq_val_of_f64(f)
                                  : cq_val_of_bool(f != 0);
    return CQ_OK;
}

static cq_status from_text(const char *text, cq_val_kind kind, cq_val *out)
{
    char     *end;
    double    f = 0;
    long long i = 0;

    errno = 0;
    if (kind == CQ_VAL_INT)
        i = strtoll(text, &end, 10);
    else
        f = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r\n")])
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "\"%s\" is not a number", text);
    if (kind == CQ_VAL_INT && errno)
        return cq_fail(CQ_E_UNSUPPORTED, "int", NULL, "%.40s does not fit in 64 bits", text);
    *out = kind == CQ_VAL_INT ? cq_val_of_i64(i) : cq_val_of_f64(f);
    return CQ_OK;
}

static cq_status to_number(cq_eval *ev, cq_val v, cq_val_kind kind, cq_val *out)
{
    if (v.kind == CQ_VAL_TENSOR)
        return cq_builtin_number_of(ev, v.u.tensor, kind, out);
    if (cq_val_is_number(v) && v.kind != CQ_VAL_COMPLEX)
        return from_number(ev, v, kind, out);
    if (kind == CQ_VAL_BOOL)
        return cq_eval_truth(ev, v, out);
    if (v.kind == CQ_VAL_STR)
        return from_text(v.u.text->text, kind, out);
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s is not a number", cq_eval_type_name(v));
}

/* int(v), float(v), bool(v); row.how is the kind. */
static cq_status to_kind(cq_fncall *c)
{
    return to_number(c->ev, c->args[0], (cq_val_kind)c->row->how, &c->result);
}

static cq_status number_in(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_dtype d;

    *out = v;
    if (v.kind != CQ_VAL_TENSOR)
        return CQ_OK;
    d = v.u.tensor->dtype;
    return cq_builtin_number_of(ev, v.u.tensor,
                                cq_dtype_is_float(d) ? CQ_VAL_FLOAT
                                : d == CQ_DTYPE_BOOL ? CQ_VAL_BOOL
                                                     : CQ_VAL_INT,
                                out);
}

static cq_status item(cq_fncall *c)
{
    return number_in(c->ev, c->args[0], &c->result);
}

static cq_status to_complex(cq_fncall *c)
{
    double parts[2] = { 0, 0 };
    cq_val f;

    if (c->n == 2 && c->args[0].kind == CQ_VAL_TENSOR && c->args[1].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c); /* the operator of that name converts the elements of the
                                      * tensor */
    for (size_t i = 0; i < c->n && i < 2; i++) {
        CQ_TRY(to_number(c->ev, c->args[i], CQ_VAL_FLOAT, &f));
        parts[i] = f.u.f.value;
    }
    c->result = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { parts[0], parts[1] } };
    return CQ_OK;
}

/* ---- tensors from numbers and lists ---- */

static cq_status num_to_tensor(cq_fncall *c)
{
    cq_tensor *t;

    CQ_TRY(cq_eval_as_tensor(c->ev, c->args[0], &t));
    c->result = cq_val_of_tensor(t);
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
            return cq_fail(CQ_E_TYPE, "tensor", NULL,
                           "lists of different lengths cannot be converted to a tensor");
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
        return cq_fail(CQ_E_TYPE, "tensor", NULL, "%s is not a number", cq_eval_type_name(v));
    s->symbolic |= cq_val_is_symbolic(v);
    s->has_float |= v.kind == CQ_VAL_FLOAT;
    s->has_int |= v.kind == CQ_VAL_INT;
    s->has_complex |= v.kind == CQ_VAL_COMPLEX;
    return CQ_OK;
}

typedef struct filling {
    double  *f; /* where the next number is written, by type */
    int64_t *i;
} filling;

static cq_status fill(cq_visit *w, cq_val v)
{
    filling *to = w->user;

    if (to->f)
        *to->f++ = cq_val_real(v);
    else
        *to->i++ = cq_val_int(v).value;
    return CQ_OK;
}

/* A tensor of known numbers, as a constant. */
static cq_status constant(cq_fncall *c, cq_val v, const shape *s, cq_dtype dtype)
{
    cq_tensor *wide, *t;
    filling    to = { 0 };
    cq_visit   w  = { .each = fill, .user = &to };
    cq_status  status;

    CQ_TRY(
        cq_tensor_new(&wide, s->has_float ? CQ_DTYPE_F64 : CQ_DTYPE_I64, s->rank, s->sizes, NULL));
    to.f   = s->has_float ? cq_tensor_data(wide) : NULL;
    to.i   = cq_tensor_data(wide);
    status = cq_val_each(&w, v);
    if (status == CQ_OK)
        status = cq_tensor_clone(&t, wide, dtype);
    cq_tensor_release(wide);
    CQ_TRY(status);
    CQ_TRY(cq_eval_own(c->ev, cq_val_of_tensor(t), &c->result));
    return c->ev->capture ? cq_capture_constant(c->ev->capture, t) : CQ_OK;
}

/* Assembles a tensor in the graph: some of its numbers are data-dependent. */
static cq_status assembled(cq_eval *ev, cq_val v, cq_dtype dtype, cq_val *out)
{
    cq_tensor *t;
    cq_val     list, part;

    if (!cq_val_is_list(v)) {
        CQ_TRY(cq_eval_as_tensor(ev, v, &t));
        *out = cq_val_of_tensor(CQ_OP(ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(dtype)));
        if (out->kind == CQ_VAL_TENSOR && t->known && !out->u.tensor->known &&
            !cq_dtype_is_float(dtype))
            CQ_TRY(cq_builtin_set_known(out->u.tensor, t->known[0]));
        return ev->cx->status;
    }
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < v.u.list->n; i++) {
        CQ_TRY(assembled(ev, v.u.list->items[i], dtype, &part));
        CQ_TRY(cq_list_push(list.u.list, part));
    }
    return cq_eval_operator(ev, "aten::stack", &list, 1, out);
}

static cq_status new_tensor(cq_fncall *c)
{
    cq_val   v = cq_builtin_arg(c, 0), asked = cq_builtin_arg(c, 1);
    shape    s = { 0 };
    cq_dtype dtype;

    if (cq_object_as(v, CQ_OBJECT_INSTANCE) && cq_object_of(v)->type &&
        strcmp(cq_object_of(v)->type->cls->name, "ndarray") == 0)
        CQ_TRY(cq_eval_attribute(c->ev, v, "tensor", &v));
    if (v.kind == CQ_VAL_TENSOR) {
        c->result = v;
        return asked.kind == CQ_VAL_INT ? CQ_CALL_OPERATOR(c->ev, &c->result, "aten::to", v, asked)
                                        : CQ_OK;
    }
    CQ_TRY(measure(c->ev, v, &s, 0));
    if (s.has_complex)
        return cq_fail(CQ_E_UNSUPPORTED, "tensor", NULL, "complex tensors are not supported");
    dtype = asked.kind == CQ_VAL_INT ? cq_dtype_from_torch(asked.u.i.value)
            : s.has_float || (s.rank && !s.has_int && s.sizes[0] == 0)
                ? cq_default_float(c->ev->cx->default_float)
            : s.has_int ? CQ_DTYPE_I64
                        : CQ_DTYPE_BOOL;
    if (dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, "tensor", NULL, "this dtype is not supported");
    return s.symbolic ? assembled(c->ev, v, dtype, &c->result) : constant(c, v, &s, dtype);
}

/* x.copy_(y.expand(…)): copy_ broadcasts, so the expand is omitted. Traced programs record its
 * sizes as plain numbers of the example. */
static cq_status copy_expanded(cq_fncall *c)
{
    cq_track *t;

    if (!c->ev->capture || !cq_is_tracked(&c->ev->capture->tracks, c->args[1].u.tensor))
        return cq_fncall_decline(c);
    t = cq_track_of(&c->ev->capture->tracks, c->ev->cx, c->args[1].u.tensor);
    if (!t || !t->base || strcmp(t->op->schema->full, "aten::expand") != 0)
        return cq_fncall_decline(c);
    return CQ_CALL_OPERATOR(c->ev, &c->result, "aten::copy_", c->args[0], t->args[0]);
}

/* ---- queries ---- */

static cq_status tensor_size(cq_fncall *c)
{
    cq_tensor *t;
    cq_val     dim = cq_builtin_arg(c, 1);
    int64_t    d;

    t = c->args[0].u.tensor;
    if (dim.kind == CQ_VAL_NONE) {
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, c->ev->program->python ? CQ_VAL_TUPLE : CQ_VAL_LIST,
                            &c->result));
        c->result.u.list->is_size = c->ev->program->python != NULL;
        for (size_t i = 0; i < t->rank; i++)
            CQ_TRY(cq_list_push(c->result.u.list, cq_val_of_int(t->sizes[i])));
        return CQ_OK;
    }
    CQ_TRY(cq_eval_plain(c->ev, dim, &d));
    if (d < 0)
        d += t->rank;
    if (d < 0 || d >= (int64_t)t->rank)
        return cq_fail(CQ_E_ARGUMENT, "size", NULL, "dim %lld is out of range for %u dimensions",
                       (long long)d, t->rank);
    c->result = cq_val_of_int(t->sizes[d]);
    return CQ_OK;
}

static cq_status tensor_dtype(cq_fncall *c)
{
    c->result = cq_val_of_i64(cq_dtype_to_torch(c->args[0].u.tensor->dtype));
    return CQ_OK;
}

static cq_status new_device(cq_fncall *c)
{
    const char *name = c->n && c->args[0].kind == CQ_VAL_STR ? c->args[0].u.text->text : "cpu";

    CQ_TRY(cq_builtin_text(c->ev, name, strlen(name), &c->result));
    c->result.kind = CQ_VAL_DEVICE;
    return CQ_OK;
}

static cq_status answer_bool(cq_fncall *c)
{
    c->result = cq_val_of_bool(c->row->how);
    return CQ_OK;
}

static cq_status is_quantized(cq_fncall *c)
{
    c->result = cq_val_of_bool(c->args[0].kind == CQ_VAL_TENSOR && c->args[0].u.tensor->qparams);
    return CQ_OK;
}

static cq_status answer_zero(cq_fncall *c)
{
    c->result = cq_val_of_i64(0);
    return CQ_OK;
}

static cq_status answer_none(cq_fncall *c)
{
    (void)c;
    return CQ_OK;
}

/* x.set_(y) makes x a view of y's memory. */
static cq_status set_tensor(cq_fncall *c)
{
    cq_tensor *alias;

    if (c->args[0].kind != CQ_VAL_TENSOR || c->args[1].kind != CQ_VAL_TENSOR || c->n != 2)
        return cq_fail(CQ_E_UNSUPPORTED, "set_", NULL, "set_ expects one argument, a tensor");
    alias = CQ_OP(c->ev->cx, "aten::detach", c->args[1]);
    CQ_TRY(c->ev->cx->status);
    c->result = c->args[0];
    return cq_eval_rebind(c->ev, c->args[0].u.tensor, alias);
}

/* Another handle of the current value of t, which keeps the value if t is rebound. */
static cq_tensor *twin_of(cq_ctx *cx, const cq_tensor *t)
{
    cq_tensor *twin;
    cq_status  status = cq_tensor_new_fake(&twin, t->dtype, t->rank, t->sizes);

    if (status == CQ_OK)
        status = cq_tensor_become(twin, t);
    if (status == CQ_OK)
        return cq_ctx_own_tensor(cx, twin);
    cq_ctx_fail(cx, status);
    return NULL;
}

enum { RESIZE = 1, RESIZE_AS };

/* The first elements of x's memory with new sizes; additional elements are zero (PyTorch leaves
 * them undefined). */
static cq_status resized(cq_eval *ev, cq_val x, cq_val sizes, cq_val *out)
{
    cq_int have, want;
    cq_val flat, more;

    CQ_TRY(CQ_CALL(ev, out, "aten::new_zeros", x, sizes));
    have = cq_tensor_numel_int(ev->cx->symbols, x.u.tensor);
    want = cq_tensor_numel_int(ev->cx->symbols, out->u.tensor);
    if (cq_int_is(have, 0))
        return CQ_OK;
    if (!cq_tensor_is_contiguous(x.u.tensor) ||
        (!cq_int_same(have, want) && (have.expr || want.expr)))
        return cq_fail(CQ_E_UNSUPPORTED, "resize_", "make a new tensor instead",
                       "expected a contiguous tensor with a known number of elements");
    CQ_TRY(CQ_CALL(ev, &flat, "aten::flatten", x));
    if (want.value < have.value)
        CQ_TRY(CQ_CALL(ev, &flat, "aten::slice", flat, INT(0), INT(0), SIZE(want)));
    if (want.value > have.value) {
        more = cq_i64s(ev->cx, &(int64_t){ want.value - have.value }, 1);
        CQ_TRY(CQ_CALL(ev, &more, "aten::new_zeros", x, more));
        CQ_TRY(cq_eval_list(ev, (cq_val[]){ flat, more }, 2, CQ_VAL_LIST, &more));
        CQ_TRY(CQ_CALL(ev, &flat, "aten::cat", more));
    }
    return CQ_CALL(ev, out, "aten::view", flat, sizes);
}

/* The view that x.unsqueeze_(0) leaves in x, made by the operator without _; or the result of
 * resize_. */
static cq_status changed_view(cq_fncall *c, cq_tensor *old, cq_val *view)
{
    cq_val args[8] = { cq_val_of_tensor(old) }, sizes;
    char   plain[64];

    if (c->row->how == RESIZE)
        return resized(c->ev, args[0], c->args[1], view);
    if (c->row->how == RESIZE_AS) {
        CQ_TRY(CQ_CALL(c->ev, &sizes, "aten::size", c->args[1]));
        return resized(c->ev, args[0], sizes, view);
    }
    memcpy(&args[1], &c->args[1], (c->n - 1) * sizeof *args);
    snprintf(plain, sizeof plain, "%.*s", (int)strlen(c->name) - 1, c->name);
    return cq_eval_call_name(c->ev, plain, args, c->n, view);
}

/* In-slot views such as x.unsqueeze_(0) rebind x to a view of itself. */
static cq_status view_in_place(cq_fncall *c)
{
    cq_eval   *ev   = c->ev;
    cq_tensor *self = c->args[0].u.tensor, *old;
    cq_val     view;

    if (ev->capture && !cq_track_of(&ev->capture->tracks, ev->cx, self))
        return ev->cx->status;
    old = twin_of(ev->cx, self);
    CQ_TRY(ev->cx->status);
    CQ_TRY(changed_view(c, old, &view));
    c->result = c->args[0];
    if (view.u.tensor == old)
        return CQ_OK;
    CQ_TRY(cq_eval_rebind(ev, self, view.u.tensor));
    if (!ev->capture)
        return CQ_OK;
    cq_track_of_new(&ev->capture->tracks, old)->moved =
        old; /* existing views keep referring to the old tensor */
    CQ_TRY(cq_vec_push(&ev->capture->tracks.retained, cq_val_of_tensor(old)));
    cq_tensor_retain(old);
    return CQ_OK;
}

/* Whether the tape records the computation. */
static cq_status grad_enabled(cq_fncall *c)
{
    cq_ctx *cx = c->ev->cx;

    c->result = cq_val_of_bool(cx->listener && !c->ev->capture && !cx->no_grad);
    return CQ_OK;
}

static cq_status set_grad_enabled(cq_fncall *c)
{
    if (c->n && c->args[0].kind == CQ_VAL_BOOL)
        c->ev->cx->no_grad = !c->args[0].u.b.value;
    c->result = CQ_NONE;
    return CQ_OK;
}

/* x.data: the same memory without gradients. */
static cq_status detached(cq_fncall *c)
{
    c->result = c->args[0];
    if (!c->ev->capture && c->result.kind == CQ_VAL_TENSOR)
        c->result = cq_val_of_tensor(CQ_OP(c->ev->cx, "aten::detach", c->result));
    return c->ev->cx->status;
}

static cq_status answer_first(cq_fncall *c)
{
    c->result = c->args[0];
    return CQ_OK;
}

static cq_status unwrap_optional(cq_fncall *c)
{
    c->result = c->args[0];
    return c->result.kind == CQ_VAL_NONE
               ? cq_fail(CQ_E_ARGUMENT, c->name, NULL, "the value is None")
               : CQ_OK;
}

/* Whether a tensor of the graph can be converted to a list element by element. */
static bool is_readable(const cq_eval *ev, const cq_tensor *t)
{
    for (size_t i = 0; i < t->rank; i++)
        if (t->sizes[i].expr)
            return false;
    return ev->capture && !ev->tracing && cq_tensor_numel(t) <= CQ_EVAL_MAX_UNROLL;
}

/* A vector of dynamic size is a sequence of numbers, in the types of Python. */
static cq_status to_sequence(cq_eval *ev, cq_tensor *t, cq_val *out)
{
    const bool   is_float = cq_dtype_is_float(t->dtype);
    cq_val_kind  kind     = t->dtype == CQ_DTYPE_BOOL ? CQ_VAL_BOOL
                            : is_float                ? CQ_VAL_FLOAT
                                                      : CQ_VAL_INT;
    cq_dtype     dtype    = t->dtype == CQ_DTYPE_BOOL ? CQ_DTYPE_BOOL
                            : is_float                ? CQ_DTYPE_F64
                                                      : CQ_DTYPE_I64;
    cq_tensor   *wide     = CQ_OP(ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(dtype));
    cq_item_type item;

    CQ_TRY(ev->cx->status);
    CQ_TRY(cq_sequence_split(ev, wide, 0, cq_i(1), false, out));
    item      = cq_sequence_of(*out)->item;
    item.kind = kind;
    return cq_sequence_list(ev, cq_sequence_of(*out)->value, &item, t->sizes[0], out);
}

static cq_status to_list(cq_eval *ev, cq_tensor *t, cq_val *out)
{
    const cq_listener *to   = ev->cx->listener;
    cq_tensor         *data = t;

    if (!t->rank)
        return number_in(ev, cq_val_of_tensor(t), out);
    if (ev->capture && !ev->tracing && t->rank == 1 && t->sizes[0].expr &&
        !cq_dtype_is_complex(t->dtype) && !cq_capture_has_data(ev->capture, ev->cx, t))
        return to_sequence(ev, t, out);
    if (!cq_capture_has_data(ev->capture, ev->cx, t) && !is_readable(ev, t)) {
        CQ_TRY(to->materialize(ev->cx->listener_self, ev->cx, &data, t));
        to->baked(ev->cx->listener_self, ev->cx, "the contents of a tensor",
                  cq_i(cq_tensor_numel(t)));
    }
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, out));
    for (int64_t i = 0; i < data->sizes[0].value; i++) {
        cq_val element, part;

        CQ_TRY(cq_eval_get_item(ev, cq_val_of_tensor(data), cq_val_of_i64(i), &element));
        CQ_TRY(to_list(ev, element.u.tensor, &part));
        CQ_TRY(cq_list_push(out->u.list, part));
    }
    return CQ_OK;
}

static cq_status tensor_to_list(cq_fncall *c)
{
    return to_list(c->ev, c->args[0].u.tensor, &c->result);
}

/* ---- comparisons of two tensors ---- */

/* Whether all elements of a data-dependent comparison of two tensors are true. */
static cq_status all_true(cq_fncall *c, const char *op)
{
    cq_fncall each = *c;

    each.name = op;
    CQ_TRY(cq_fncall_run(&each, CQ_CALL_OPERATOR));
    CQ_TRY(cq_eval_operator(c->ev, "aten::all", &each.result, 1, &each.result));
    return to_number(c->ev, each.result, CQ_VAL_BOOL, &c->result);
}

static bool is_of_run(const cq_fncall *c)
{
    const cq_eval *ev = c->ev;

    if (!ev->capture || ev->tracing || c->args[0].kind != CQ_VAL_TENSOR ||
        c->args[1].kind != CQ_VAL_TENSOR)
        return false;
    return !cq_capture_has_data(ev->capture, ev->cx, c->args[0].u.tensor) ||
           !cq_capture_has_data(ev->capture, ev->cx, c->args[1].u.tensor);
}

/* Whether two tensors have the same sizes and elements. If that is data-dependent, the example
 * decides, with a warning. */
static cq_status equal_tensors(cq_fncall *c)
{
    const cq_tensor *a, *b;

    if (!is_of_run(c))
        return cq_fncall_decline(c);
    a         = c->args[0].u.tensor;
    b         = c->args[1].u.tensor;
    c->result = cq_val_of_bool(false);
    if (a->rank != b->rank)
        return CQ_OK;
    for (size_t i = 0; i < a->rank; i++) {
        if (cq_int_same(a->sizes[i], b->sizes[i]))
            continue;
        return a->sizes[i].expr || b->sizes[i].expr ? cq_fncall_decline(c) : CQ_OK;
    }
    return all_true(c, "aten::eq");
}

static cq_status close_tensors(cq_fncall *c)
{
    return is_of_run(c) ? all_true(c, "aten::isclose") : cq_fncall_decline(c);
}

/* einsum(equation, a, b) is einsum(equation, [a, b]); row.how is the index of the first tensor. */
static cq_status list_tensors(cq_fncall *c)
{
    size_t first = (size_t)c->row->how;
    cq_val args[2];

    args[0] = c->args[0];
    CQ_TRY(cq_eval_list(c->ev, c->args + first, c->n - first, CQ_VAL_LIST, &args[first]));
    CQ_TRY(cq_fncall_set_args(c, args, first + 1));
    return cq_fncall_decline(c);
}

/* x.long() and the like; row.how is the dtype. */
static cq_status cast_tensor(cq_fncall *c)
{
    const cq_val dtype = cq_val_of_i64(cq_dtype_to_torch((cq_dtype)c->row->how));

    return CQ_CALL(c->ev, &c->result, "aten::to", c->args[0], dtype);
}

/* device.type is the type without the index. tensor.type(dtype) converts the tensor. */
static cq_status type_name(cq_fncall *c)
{
    if (c->n == 2
            ? c->args[1].kind == CQ_VAL_STR || cq_object_as(c->args[1], CQ_OBJECT_INSTANCE)
            : c->args[0].kind == CQ_VAL_TENSOR && cq_object_as(c->callee, CQ_OBJECT_METHOD) != NULL)
        return cq_fncall_decline(c); /* a type of tensors: the builtin in native.c converts to it */
    if (c->n == 2)
        return cq_eval_call_name(c->ev, "aten::to", c->args, 2, &c->result);
    if (c->args[0].kind == CQ_VAL_DEVICE)
        return cq_builtin_text(c->ev, c->args[0].u.text->text,
                               strcspn(c->args[0].u.text->text, ":"), &c->result);
    return c->args[0].kind == CQ_VAL_TENSOR ? cq_builtin_text(c->ev, "cpu", 3, &c->result)
                                            : cq_fncall_decline(c);
}

/* Indices may be int32, as in PyTorch 2.0 and later: they become int64. */
static cq_status widen_indices(cq_fncall *c)
{
    const cq_list *given = c->args[1].u.list;
    cq_val         args[8], indices;
    bool           found = false;

    if (!cq_val_is_list(c->args[1]) || c->n > sizeof args / sizeof *args)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < given->n; i++)
        found |= given->items[i].kind == CQ_VAL_TENSOR &&
                 given->items[i].u.tensor->dtype == CQ_DTYPE_I32;
    if (!found)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &indices));
    for (size_t i = 0; i < given->n; i++) {
        cq_val v = given->items[i];

        if (v.kind == CQ_VAL_TENSOR && v.u.tensor->dtype == CQ_DTYPE_I32)
            v = TENSOR(CQ_OP(c->ev->cx, "aten::to.dtype", v, DTYPE(CQ_DTYPE_I64)));
        CQ_TRY(c->ev->cx->status);
        CQ_TRY(cq_list_push(indices.u.list, v));
    }
    memcpy(args, c->args, c->n * sizeof *args);
    args[1] = indices;
    return cq_eval_call_name(c->ev, c->name, args, c->n, &c->result);
}

static bool all_tensors(const cq_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind != CQ_VAL_TENSOR)
            return false;
    return true;
}

static cq_status list_gradients(cq_fncall *c, cq_tensor **found)
{
    cq_eval       *ev     = c->ev;
    const cq_list *inputs = c->args[1].u.list;
    cq_val         create = cq_builtin_arg(c, 4), allow_unused = cq_builtin_arg(c, 5);
    bool           no_grad = ev->cx->no_grad;
    cq_status      status;

    ev->cx->no_grad |= !(create.kind == CQ_VAL_BOOL && create.u.b.value);
    status = cq_capture_gradients(ev->capture, ev->cx, c->args[0].u.list, cq_builtin_arg(c, 2),
                                  inputs, found);
    ev->cx->no_grad = no_grad;
    CQ_TRY(status);
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = 0; i < inputs->n; i++) {
        if (!found[i] && !(allow_unused.kind == CQ_VAL_BOOL && allow_unused.u.b.value))
            return cq_fail(CQ_E_ARGUMENT, NULL, "pass allow_unused=True",
                           "the outputs do not depend on input %zu of the gradient", i);
        CQ_TRY(cq_list_push(c->result.u.list, found[i] ? cq_val_of_tensor(found[i]) : CQ_NONE));
    }
    return CQ_OK;
}

/* torch.autograd.grad. Without create_graph the results are constants for other gradients. */
static cq_status gradients(cq_fncall *c)
{
    cq_eval       *ev      = c->ev;
    const cq_list *outputs = c->args[0].u.list, *inputs = c->args[1].u.list;
    cq_tensor    **found;
    cq_status      status;

    if (!cq_val_is_list(c->args[0]) || !cq_val_is_list(c->args[1]) || !all_tensors(outputs) ||
        !all_tensors(inputs) || inputs->n > CQ_MAX_TENSORS)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "expected lists of tensors as outputs and inputs of the gradient");
    ev->program->needs_tape = true;
    if (!ev->capture)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "export the model and run the exported file",
                       "torch.autograd.grad cannot run while gradients or state are recorded");
    found = cq_alloc_array(inputs->n + 1, sizeof *found);
    if (!found)
        return CQ_E_NO_MEMORY;
    status = list_gradients(c, found);
    cq_free(found);
    return status;
}

const cq_builtin cq_builtins_tensor[] = {
    { "Int(self)", .fn = to_kind, .how = CQ_VAL_INT },
    { "int(self)", .fn = to_kind, .how = CQ_VAL_INT },
    { "IntImplicit(self)", .fn = to_kind, .how = CQ_VAL_INT },
    { "Float(self)", .fn = to_kind, .how = CQ_VAL_FLOAT },
    { "float(self)", .fn = to_kind, .how = CQ_VAL_FLOAT },
    { "FloatImplicit(self)", .fn = to_kind, .how = CQ_VAL_FLOAT },
    { "Bool(self)", .fn = to_kind, .how = CQ_VAL_BOOL },
    { "bool(self)", .fn = to_kind, .how = CQ_VAL_BOOL },
    { "Complex(real, imag?)", .fn = to_complex },
    { "complex(real, imag?)", .fn = to_complex },
    { "ScalarImplicit(self)", .fn = item },
    { "item(self)", .fn = item },
    { "einsum(str equation, tensor a, ...)", .fn = list_tensors, .how = 1 },
    { "meshgrid(tensor a, ...)", .fn = list_tensors, .how = 0 },
    { "broadcast_tensors(tensor a, ...)", .fn = list_tensors, .how = 0 },
    { "block_diag(tensor a, ...)", .fn = list_tensors, .how = 0 },
    { "cartesian_prod(tensor a, ...)", .fn = list_tensors, .how = 0 },
    { "cast_bfloat16(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_BF16 },
    { "cast_bool(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_BOOL },
    { "cast_byte(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_U8 },
    { "cast_cdouble(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_C128 },
    { "cast_cfloat(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_C64 },
    { "cast_char(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_I8 },
    { "cast_double(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_F64 },
    { "cast_float(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_F32 },
    { "cast_half(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_F16 },
    { "cast_int(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_I32 },
    { "cast_long(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_I64 },
    { "cast_short(tensor self)", .fn = cast_tensor, .how = CQ_DTYPE_I16 },
    { "NumToTensor(self)", .fn = num_to_tensor },
    { "tensor(data, dtype?, ...)", .fn = new_tensor },
    { "as_tensor(data, dtype?, ...)", .fn = new_tensor },
    { "copy_(tensor self, tensor src, ...)", .fn = copy_expanded },
    { "tolist(tensor self, ...)", .fn = tensor_to_list },
    { "is_nonzero(self)", .fn = to_kind, .how = CQ_VAL_BOOL },
    { "equal(self, other)", .fn = equal_tensors },
    { "allclose(self, other, ...)", .fn = close_tensors },
    { "index(tensor self, list indices)", .fn = widen_indices },
    { "index_put(tensor self, list indices, values, accumulate?)", .fn = widen_indices },
    { "index_put_(tensor self, list indices, values, accumulate?)", .fn = widen_indices },
    { "Size(list sizes)", .fn = answer_first },
    { "size(tensor self, dim?)", .fn = tensor_size },
    { "shape(tensor self)", .fn = tensor_size },
    { "dtype(tensor self)", .fn = tensor_dtype },
    { "device(type?, ...)", .fn = new_device },
    { "layout(self)", .fn = answer_zero },
    { "type(self, ...)", .fn = type_name },
    { "set_(self, source, ...)", .fn = set_tensor },
    { "unsqueeze_(tensor self, dim)", .fn = view_in_place },
    { "squeeze_(tensor self, dim?)", .fn = view_in_place },
    { "t_(tensor self)", .fn = view_in_place },
    { "resize_(tensor self, list size, memory_format?)", .fn = view_in_place, .how = RESIZE },
    { "resize_as_(tensor self, tensor other, memory_format?)", .fn = view_in_place,
      .how = RESIZE_AS },
    { "transpose_(tensor self, dim0, dim1)", .fn = view_in_place },
    { "swapaxes_(tensor self, axis0, axis1)", .fn = view_in_place },
    { "swapdims_(tensor self, dim0, dim1)", .fn = view_in_place },
    { "data(self)", .fn = detached },
    { "cpu(self, ...)", .fn = answer_first },
    { "cuda(self, ...)", .fn = answer_first },
    { "pin_memory(self, ...)", .fn = answer_first },
    { "requires_grad_(self, ...)", .fn = answer_first },
    { "wait(self)", .fn = answer_first },
    { "unchecked_unwrap_optional(self)", .fn = answer_first, .of_all_lists = true },
    { "_unwrap_optional(self)", .fn = unwrap_optional, .of_all_lists = true },
    { "_no_grad_enter(...)", .fn = answer_none },
    { "grad(self)", .fn = answer_none },
    { "grad(list outputs, list inputs, grad_outputs?, retain_graph?, create_graph?, allow_unused?)",
      .fn = gradients },
    { "is_cuda(self)", .fn = answer_bool, .how = false },
    { "is_cpu(self)", .fn = answer_bool, .how = true },
    { "is_sparse(self)", .fn = answer_bool, .how = false },
    { "is_mkldnn(self)", .fn = answer_bool, .how = false },
    { "is_quantized(self)", .fn = is_quantized },
    { "is_nested(self)", .fn = answer_bool, .how = false },
    { "is_meta(self)", .fn = answer_bool, .how = false },
    { "is_xla(self)", .fn = answer_bool, .how = false },
    { "is_mps(self)", .fn = answer_bool, .how = false },
    { "is_xpu(self)", .fn = answer_bool, .how = false },
    { "is_hpu(self)", .fn = answer_bool, .how = false },
    { "is_leaf(self)", .fn = answer_bool, .how = true },
    { "requires_grad(self)", .fn = answer_bool, .how = false },
    { "is_grad_enabled()", .fn = grad_enabled },
    { "is_autocast_enabled()", .fn = answer_bool, .how = false },
    { "is_autocast_cpu_enabled()", .fn = answer_bool, .how = false },
    { "is_inference(self)", .fn = answer_bool, .how = false },
    { "has_torch_function(...)", .fn = answer_bool, .how = false },
    { "set_grad_enabled(mode?)", .fn = set_grad_enabled },
    { "no_grad(...)", .fn = answer_none },
    { "inference_mode(...)", .fn = answer_none },
    { "manual_seed(...)", .fn = answer_none },
    { "is_tracing()", .fn = answer_bool, .how = false },
    { "is_scripting()", .fn = answer_bool, .how = true },
    { "is_in_onnx_export()", .fn = answer_bool, .how = true },
    { "warn(...)", .fn = answer_none },
    { "backward(...)", .fn = answer_none },
    { 0 },
};
