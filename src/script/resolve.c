/* Finding the overload of an operator for the arguments of a call, as PyTorch does: overloads
 * in the order of its registry, first without and then with implicit conversions. */
#include "script/builtin.h"
#include "script/foreign.h"

#include <stdio.h>

/* ---- does a value fit an argument ---- */

static bool fits(const cq_val *v, const cq_schema_type *want, bool convert);

static bool items_fit(const cq_val *v, const cq_schema_type *want, bool convert)
{
    cq_schema_type element = *want;

    element.list_depth--;
    element.list_size = 0;
    element.optional  = want->element_optional;
    for (size_t i = 0; i < v->u.list->n; i++)
        if (!fits(&v->u.list->items[i], &element, convert))
            return false;
    return true;
}

static bool fits(const cq_val *v, const cq_schema_type *want, bool convert)
{
    if (v->kind == CQ_VAL_NONE)
        return want->optional || want->base == CQ_SCHEMA_ANY || want->base == CQ_SCHEMA_NONE;
    if (want->list_depth) {
        if (cq_val_is_list(*v))
            return items_fit(v, want, convert);
        /* One number for a list of fixed size. */
        return want->list_size > 0 && ((want->base == CQ_SCHEMA_INT && v->kind == CQ_VAL_INT) ||
                                       (want->base == CQ_SCHEMA_FLOAT && v->kind == CQ_VAL_FLOAT));
    }
    switch (want->base) {
    case CQ_SCHEMA_TENSOR: return v->kind == CQ_VAL_TENSOR;
    case CQ_SCHEMA_INT:
        return v->kind == CQ_VAL_INT ||
               (convert && (v->kind == CQ_VAL_TENSOR || v->kind == CQ_VAL_BOOL));
    case CQ_SCHEMA_FLOAT:
        return v->kind == CQ_VAL_FLOAT ||
               (convert && (v->kind == CQ_VAL_TENSOR || v->kind == CQ_VAL_INT));
    case CQ_SCHEMA_BOOL: return v->kind == CQ_VAL_BOOL || (convert && v->kind == CQ_VAL_INT);
    case CQ_SCHEMA_COMPLEX: return v->kind == CQ_VAL_COMPLEX;
    case CQ_SCHEMA_SCALAR:
        return v->kind == CQ_VAL_INT || v->kind == CQ_VAL_FLOAT || v->kind == CQ_VAL_COMPLEX ||
               (convert && (v->kind == CQ_VAL_TENSOR || v->kind == CQ_VAL_BOOL));
    case CQ_SCHEMA_STR: return v->kind == CQ_VAL_STR;
    case CQ_SCHEMA_DEVICE: return v->kind == CQ_VAL_DEVICE || (convert && v->kind == CQ_VAL_STR);
    case CQ_SCHEMA_GENERATOR: return false;
    case CQ_SCHEMA_DICT: return v->kind == CQ_VAL_DICT;
    default: return true;
    }
}

/* ---- matching a whole call ---- */

/* torch.zeros(2, 3): trailing ints stand for a list of them. */
static bool takes_rest(const cq_schema_arg *a, const cq_call_args *c, size_t from)
{
    if (a->type.base != CQ_SCHEMA_INT || a->type.list_depth != 1 || a->keyword_only)
        return false;
    for (size_t i = from; i < c->n; i++)
        if (c->args[i].kind != CQ_VAL_INT)
            return false;
    return c->n > from;
}

static const cq_val *by_name(const cq_call_args *c, const char *name, size_t *used)
{
    for (size_t i = 0; i < c->n_kw; i++)
        if (strcmp(c->names[i], name) == 0 ||
            (strcmp(name, "self") == 0 && strcmp(c->names[i], "input") == 0)) {
            (*used)++;
            return &c->kw[i];
        }
    return NULL;
}

static bool match(cq_eval *ev, const cq_schema *s, const cq_call_args *c, bool convert, cq_val *out)
{
    size_t next = 0, used = 0;

    for (size_t i = 0; i < s->n_args; i++) {
        const cq_schema_arg *a     = &s->args[i];
        const cq_val        *given = NULL;

        if (!a->keyword_only && next < c->n) {
            given = &c->args[next];
            if (!fits(given, &a->type, convert) && takes_rest(a, c, next)) {
                if (cq_eval_list(ev, c->args + next, c->n - next, CQ_VAL_LIST, &out[i]) != CQ_OK)
                    return false;
                next = c->n;
                continue;
            }
            next++;
        } else {
            given = by_name(c, a->name, &used);
        }
        if (given) {
            if (!fits(given, &a->type, convert))
                return false;
            out[i] = *given;
        } else if (a->has_default) {
            out[i] = a->default_value;
        } else {
            return false;
        }
    }
    return next == c->n && used == c->n_kw;
}

/* Implicit conversions, once the overload is chosen. */
static cq_status convert_args(cq_eval *ev, const cq_schema *s, cq_val *args)
{
    for (size_t i = 0; i < s->n_args; i++) {
        const cq_schema_type *t = &s->args[i].type;
        bool                  found;

        if (args[i].kind == CQ_VAL_TENSOR && !t->list_depth && t->base != CQ_SCHEMA_TENSOR &&
            t->base != CQ_SCHEMA_ANY) {
            cq_val v = args[i];

            CQ_TRY(cq_eval_builtin(ev,
                                   t->base == CQ_SCHEMA_INT     ? "aten::Int"
                                   : t->base == CQ_SCHEMA_FLOAT ? "aten::Float"
                                                                : "aten::item",
                                   &v, 1, NULL, NULL, 0, &args[i], &found));
        } else if (!t->list_depth && ((args[i].kind == CQ_VAL_INT && t->base == CQ_SCHEMA_FLOAT) ||
                                      (args[i].kind == CQ_VAL_BOOL && t->base == CQ_SCHEMA_INT))) {
            cq_val v = args[i];

            CQ_TRY(cq_eval_builtin(ev, t->base == CQ_SCHEMA_INT ? "aten::Int" : "aten::Float", &v,
                                   1, NULL, NULL, 0, &args[i], &found));
        }
    }
    return CQ_OK;
}

/* ---- integers that shape tensors hold ---- */

static bool known_of(cq_eval *ev, cq_val v, cq_int *out)
{
    if (v.kind == CQ_VAL_INT) {
        *out = v.u.i;
        return true;
    }
    if (v.kind != CQ_VAL_TENSOR || cq_tensor_numel(v.u.tensor) != 1 ||
        cq_dtype_is_float(v.u.tensor->dtype))
        return false;
    if (v.u.tensor->known) {
        *out = v.u.tensor->known[0];
        return true;
    }
    if (!cq_capture_has_data(ev->capture, ev->cx, v.u.tensor))
        return false;
    *out = cq_i(cq_tensor_get_i64(v.u.tensor, 0));
    return true;
}

/* Traced programs compute with sizes in tensors: the arithmetic is repeated on the integers
 * that they stand for, so that a size is still a size when it comes out again. Asked before the
 * call, which may change its arguments in place. */
static bool size_after(cq_eval *ev, const char *name, const cq_val *args, size_t n, cq_int *out)
{
    cq_symbols *st = ev->cx->symbols;
    cq_int      a, b = cq_i(0);

    if (!st || !n || !known_of(ev, args[0], &a))
        return false;
    *out = a;
    if (strcmp(name, "aten::to") == 0 || strcmp(name, "aten::clone") == 0 ||
        strcmp(name, "aten::detach") == 0 || strcmp(name, "prim::NumToTensor") == 0 ||
        strcmp(name, "aten::contiguous") == 0)
        return true;
    if (n < 2 || !known_of(ev, args[1], &b))
        return false;
    if (n > 2 && args[2].kind == CQ_VAL_INT && !cq_int_is(args[2].u.i, 1))
        return false; /* add with another alpha */
    if (n > 2 && args[2].kind == CQ_VAL_STR && !a.expr && !b.expr && (a.value < 0 || b.value < 0))
        return false; /* div may round up; of sizes it does not */
    if (strcmp(name, "aten::add") == 0)
        *out = cq_int_add(st, a, b);
    else if (strcmp(name, "aten::sub") == 0)
        *out = cq_int_sub(st, a, b);
    else if (strcmp(name, "aten::mul") == 0)
        *out = cq_int_mul(st, a, b);
    else if (strcmp(name, "aten::floor_divide") == 0 || strcmp(name, "aten::div") == 0)
        *out = cq_int_floordiv(st, a, b);
    else if (strcmp(name, "aten::remainder") == 0)
        *out = cq_int_mod(st, a, b);
    else
        return false;
    return true;
}

/* A tensor that a path changed in place holds something else when the path is taken back. */
static void set_size(cq_eval *ev, const cq_val *args, cq_val result, cq_int i)
{
    cq_tensor *t = result.kind == CQ_VAL_TENSOR ? result.u.tensor : NULL;

    if (!t || t->rank || cq_dtype_is_float(t->dtype) || t->storage ||
        (ev->journaling && args[0].kind == CQ_VAL_TENSOR && args[0].u.tensor == t))
        return;
    if (!t->known)
        t->known = cq_alloc(sizeof i);
    if (t->known)
        t->known[0] = i;
}

/* ---- the call ---- */

static cq_status describe_call(const cq_call_args *c, const char *name)
{
    char   text[512];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < c->n + c->n_kw && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", i ? ", " : "",
                               i < c->n ? "" : c->names[i - c->n], i < c->n ? "" : "=",
                               cq_eval_type_name(i < c->n ? c->args[i] : c->kw[i - c->n]));
    return cq_fail(CQ_E_TYPE, NULL, NULL, "no overload of %s takes (%s)", name, text);
}

static cq_status call_overload(cq_eval *ev, const cq_op *op, const char *name, cq_val *args,
                               cq_val *out)
{
    cq_val    results[CQ_MAX_RESULTS];
    size_t    n = op->schema->n_results;
    cq_int    size;
    bool      is_size;
    cq_status status;

    CQ_TRY(convert_args(ev, op->schema, args));
    is_size = size_after(ev, name, args, op->schema->n_args, &size);
    status  = cq_op_call(ev->cx, op, args, op->schema->n_args, results, CQ_MAX_RESULTS);
    if (status == CQ_E_ARGUMENT)
        return CQ_E_TYPE; /* the program calls it wrongly, not the user of the program */
    CQ_TRY(status);
    if (n == 1)
        *out = results[0];
    else if (n == 0)
        *out = CQ_NONE;
    else
        CQ_TRY(cq_eval_list(ev, results, n, CQ_VAL_TUPLE, out));
    if (is_size)
        set_size(ev, args, *out, size);
    return CQ_OK;
}

/* Scalar-first arithmetic: 1 - x is not an operator of the table. */
static cq_status scalar_first(cq_eval *ev, const char *name, const cq_val *args, cq_val *out,
                              bool *done)
{
    static const struct {
        const char *name, *swapped;
    } rows[] = {
        { "aten::add", "aten::add" }, { "aten::mul", "aten::mul" }, { "aten::eq", "aten::eq" },
        { "aten::ne", "aten::ne" },   { "aten::lt", "aten::gt" },   { "aten::le", "aten::ge" },
        { "aten::gt", "aten::lt" },   { "aten::ge", "aten::le" },   { "aten::sub", "aten::rsub" },
    };
    cq_val swapped[2] = { args[1], args[0] };

    *done = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return cq_eval_operator(ev, rows[i].swapped, swapped, 2, NULL, NULL, 0, out);
    if (strcmp(name, "aten::div") == 0) {
        CQ_TRY(cq_eval_operator(ev, "aten::reciprocal", &args[1], 1, NULL, NULL, 0, &swapped[0]));
        return cq_eval_operator(ev, "aten::mul", swapped, 2, NULL, NULL, 0, out);
    }
    *done = false;
    return CQ_OK;
}

/* What out= does to its tensor: it holds the result, in its own dtype. Where the sizes are others
 * than before, the tensor is another one from now on. */
static cq_status write_out(cq_eval *ev, cq_tensor *to, cq_tensor *result)
{
    cq_ctx *cx   = ev->cx;
    bool    same = to->rank == result->rank;

    for (size_t i = 0; same && i < to->rank; i++)
        same = cq_int_same(to->sizes[i], result->sizes[i]);
    if (same) {
        CQ_OP(cx, "aten::copy_", T(to), T(result));
        return cx->status;
    }
    result = CQ_OP(cx, "aten::to.dtype", T(result), DTYPE(to->dtype));
    CQ_TRY(cx->status);
    return cq_eval_rebind(ev, to, result);
}

/* A call with out=: the operator without it, then the result is put there. */
static cq_status call_with_out(cq_eval *ev, const char *name, const cq_call_args *c, size_t at,
                               cq_val *out)
{
    const char *names[CQ_EVAL_MAX_OPERANDS];
    cq_val      kw[CQ_EVAL_MAX_OPERANDS];
    size_t      n = 0;

    for (size_t i = 0; i < c->n_kw; i++)
        if (i != at) {
            names[n] = c->names[i];
            kw[n++]  = c->kw[i];
        }
    CQ_TRY(cq_eval_operator(ev, name, c->args, c->n, names, kw, n, out));
    if (out->kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_UNSUPPORTED, name, NULL,
                       "out= is for operators with one tensor as result");
    CQ_TRY(write_out(ev, c->kw[at].u.tensor, out->u.tensor));
    *out = c->kw[at];
    return CQ_OK;
}

cq_status cq_eval_rebind(cq_eval *ev, cq_tensor *t, cq_tensor *to)
{
    const cq_ctx *cx = ev->cx;

    if (cx->listener && (!t->capture || t->capture != to->capture))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "return the new tensor instead",
                       "a weight of the model cannot become another tensor");
    /* A handle of its own cannot be taken back: on a path, only what the path made may change. */
    if (ev->journaling && ((cq_track *)t->track)->home != ev->capture->block)
        return cq_fail(
            CQ_E_UNSUPPORTED, NULL, "return the new tensor instead",
            "a tensor cannot become another one in a branch or loop that depends on data");
    return cq_tensor_become(t, to);
}

/* Traces hold numbers of Python as constants of float64 without dimensions. PyTorch makes them
 * numbers again before it adds, subtracts, multiplies or divides by one, so that integers times 0.5
 * are float32. Where that makes no difference they stay tensors. */
static bool is_number_of_trace(const cq_eval *ev, const char *name, const cq_val *args,
                               size_t n_args)
{
    static const char *const ops[] = { "aten::add", "aten::sub", "aten::mul", "aten::div" };
    const cq_val            *all   = &ev->program->constants;
    const cq_tensor         *x, *number;
    bool                     known = false;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        known |= strcmp(name, ops[i]) == 0;
    if (!known || n_args != 2 || args[0].kind != CQ_VAL_TENSOR || args[1].kind != CQ_VAL_TENSOR ||
        (all->kind != CQ_VAL_TUPLE && all->kind != CQ_VAL_LIST))
        return false;
    x      = args[0].u.tensor;
    number = args[1].u.tensor;
    if (number->rank || number->dtype != CQ_DTYPE_F64 || cq_tensor_is_fake(number) ||
        (x->rank && cq_dtype_is_float(x->dtype)) || cq_dtype_is_complex(x->dtype))
        return false;
    for (size_t i = 0; i < all->u.list->n; i++)
        if (all->u.list->items[i].kind == CQ_VAL_TENSOR && all->u.list->items[i].u.tensor == number)
            return true;
    return false;
}

cq_status cq_eval_operator(cq_eval *ev, const char *name, const cq_val *args, size_t n_args,
                           const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out)
{
    cq_call_args c = { cq_eval_unwrapped(ev, args, n_args), kw, names, n_args, n_kw };
    cq_val       filled[CQ_EVAL_MAX_OPERANDS], number[2];
    char         plain[256], full[512];
    const char  *overload = strchr(name, '.'), *suffix;
    const cq_op *first;
    size_t       len = overload ? (size_t)(overload - name) : strlen(name);
    bool         done;

    *out = CQ_NONE;
    if (is_number_of_trace(ev, name, c.args, n_args)) {
        number[0] = c.args[0];
        number[1] = cq_val_of_f64(*(const double *)cq_tensor_bytes(c.args[1].u.tensor));
        c.args    = number;
    }
    args = c.args;
    CQ_TRY(cq_eval_spend_on_operator(ev));
    if (ev->program->n_definitions) {
        CQ_TRY(cq_eval_defined(ev, name, &c, out, &done));
        if (done)
            return CQ_OK;
    }
    for (size_t i = 0; i < n_kw && n_kw < CQ_EVAL_MAX_OPERANDS; i++)
        if (strcmp(names[i], "out") == 0 && kw[i].kind == CQ_VAL_TENSOR)
            return call_with_out(ev, name, &c, i, out);
    if (overload && cq_op_find(name)) { /* an overload named outright */
        const cq_op *op = cq_op_find(name);

        if (match(ev, op->schema, &c, true, filled))
            return call_overload(ev, op, name, filled, out);
        return describe_call(&c, name);
    }
    if (len >= sizeof plain)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there is no operator %s", name);
    snprintf(plain, sizeof plain, "%.*s", (int)len, name);
    first  = cq_op_overloads(plain);
    suffix = first ? NULL : cq_op_suffix(plain, len);
    if (suffix) {
        plain[len - strlen(suffix)] = '\0';
        first                       = cq_op_overloads(plain);
    }
    if (!first)
        return cq_eval_undefined(ev, name, &c, out);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && !suffix && n_args == 2 && !n_kw && args[0].kind != CQ_VAL_TENSOR &&
            args[1].kind == CQ_VAL_TENSOR) {
            CQ_TRY(scalar_first(ev, plain, args, out, &done));
            if (done)
                return CQ_OK;
        }
        for (const cq_op *op = first; op; op = op->next) {
            const cq_op *target = op;

            if (!match(ev, op->schema, &c, pass == 1, filled))
                continue;
            if (suffix) {
                snprintf(full, sizeof full, op->schema->overload[0] ? "%s%s.%s" : "%s%s", plain,
                         suffix, op->schema->overload);
                target = cq_op_find(full);
                if (!target)
                    continue;
            }
            return call_overload(ev, target, plain, filled, out);
        }
    }
    return describe_call(&c, name);
}
