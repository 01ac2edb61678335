/* Overload resolution for operators, as in PyTorch: overloads are tried in the order of its
 * registry, first without and then with implicit conversions. The last resolver but one
 * (resolve.c). */
#include "script/builtins/builtin.h"

#include <stdio.h>

/* ---- matching a whole call ---- */

/* torch.zeros(2, 3): trailing ints are a list. */
static bool takes_rest(const cq_schema_arg *a, const cq_fncall *c, size_t from)
{
    if (a->type.base != CQ_SCHEMA_INT || a->type.list_depth != 1 || a->keyword_only)
        return false;
    for (size_t i = from; i < c->n; i++)
        if (c->args[i].kind != CQ_VAL_INT)
            return false;
    return c->n > from;
}

/* NumPy's names of arguments, which PyTorch also accepts. */
static bool is_alias(const char *given, const char *name)
{
    static const char *const aliases[][2] = {
        { "input", "self" },
        { "self", "input" },
        { "axis", "dim" },
        { "keepdims", "keepdim" },
    };

    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(given, aliases[i][0]) == 0 && strcmp(name, aliases[i][1]) == 0)
            return true;
    return false;
}

/* Counts arguments that no schema has and that do not change the result: zeros(3,
 * requires_grad=True). */
static size_t n_ignored(const cq_fncall *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_kw && c->ev->program->python; i++)
        n += strcmp(c->names[i], "requires_grad") == 0;
    return n;
}

static const cq_val *by_name(const cq_fncall *c, const char *name, size_t *used)
{
    for (size_t i = 0; i < c->n_kw; i++)
        if (strcmp(c->names[i], name) == 0 || is_alias(c->names[i], name)) {
            (*used)++;
            return &c->kw[i];
        }
    return NULL;
}

static bool match(const cq_schema *s, const cq_fncall *c, cq_match how, cq_val *out)
{
    size_t next = 0, used = 0;

    for (size_t i = 0; i < s->n_args; i++) {
        const cq_schema_arg *a     = &s->args[i];
        const cq_val        *given = NULL;

        if (!a->keyword_only && next < c->n) {
            given = &c->args[next];
            if (!cq_schema_accepts(&a->type, given, how) && takes_rest(a, c, next)) {
                if (cq_eval_list(c->ev, c->args + next, c->n - next, CQ_VAL_LIST, &out[i]) != CQ_OK)
                    return false;
                next = c->n;
                continue;
            }
            next++;
        } else {
            given = by_name(c, a->name, &used);
        }
        if (given) {
            if (!cq_schema_accepts(&a->type, given, how))
                return false;
            out[i] = *given;
        } else if (a->has_default) {
            out[i] = a->default_value;
        } else if (c->ev->dialect == CQ_DIALECT_EXPORTED &&
                   a->type.optional) { /* newer schemas have a default for it */
            out[i] = CQ_NONE;
        } else {
            return false;
        }
    }
    return next == c->n && used + n_ignored(c) == c->n_kw;
}

/* The builtin that converts a value to an argument's type; NULL if no conversion is needed. */
static const char *conversion(const cq_val *v, const cq_schema_type *want)
{
    if (want->list_depth)
        return NULL;
    switch (v->kind) {
    case CQ_VAL_TENSOR:
        return want->base == CQ_SCHEMA_TENSOR || want->base == CQ_SCHEMA_ANY ? NULL
               : want->base == CQ_SCHEMA_INT                                 ? "aten::Int"
               : want->base == CQ_SCHEMA_FLOAT                               ? "aten::Float"
                                                                             : "aten::item";
    case CQ_VAL_INT: return want->base == CQ_SCHEMA_FLOAT ? "aten::Float" : NULL;
    case CQ_VAL_BOOL: return want->base == CQ_SCHEMA_INT ? "aten::Int" : NULL;
    default: return NULL;
    }
}

/* Applies implicit conversions to the arguments of the chosen overload. */
static cq_status convert_args(cq_eval *ev, const cq_schema *s, cq_val *args)
{
    for (size_t i = 0; i < s->n_args; i++) {
        const char *builtin = conversion(&args[i], &s->args[i].type);

        if (builtin)
            CQ_TRY(cq_eval_call_name(ev, builtin, &args[i], 1, &args[i]));
    }
    return CQ_OK;
}

/* ---- tensors that hold sizes ---- */

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

/* Traced programs compute with sizes in tensors. The arithmetic is repeated on the corresponding
 * integers, so that a size stays a size. It runs before the call, which may change its arguments
 * in-place. */
static bool size_after(cq_eval *ev, const char *name, const cq_val *args, size_t n, cq_int *out)
{
    static cq_int (*const on_ints[])(cq_symbols *, cq_int, cq_int) = {
        [CQ_ON_SIZES_ADD] = cq_int_add, [CQ_ON_SIZES_SUB] = cq_int_sub,
        [CQ_ON_SIZES_MUL] = cq_int_mul, [CQ_ON_SIZES_FLOORDIV] = cq_int_floordiv,
        [CQ_ON_SIZES_MOD] = cq_int_mod,
    };
    const cq_op *first = cq_op_overloads(name);
    cq_on_sizes  on    = first ? first->traits.on_sizes : CQ_ON_SIZES_NONE;
    cq_symbols  *st    = ev->cx->symbols;
    cq_int       a, b = cq_i(0);

    if (!st || !n || on == CQ_ON_SIZES_NONE || !known_of(ev, args[0], &a))
        return false;
    *out = a;
    if (on == CQ_ON_SIZES_COPY)
        return true;
    if (n < 2 || !known_of(ev, args[1], &b))
        return false;
    if (n > 2 && args[2].kind == CQ_VAL_INT && !cq_int_is(args[2].u.i, 1))
        return false; /* add with an alpha other than 1 */
    if (n > 2 && args[2].kind == CQ_VAL_STR && !a.expr && !b.expr && (a.value < 0 || b.value < 0))
        return false; /* div may round up, which the arithmetic on sizes does not support */
    *out = on_ints[on](st, a, b);
    return true;
}

/* Records the size that a result holds. A tensor that speculative evaluation changed in-place is
 * skipped: it holds another number once the change is undone. */
static void set_size(cq_eval *ev, const cq_val *args, cq_val result, cq_int i)
{
    cq_tensor *t = result.kind == CQ_VAL_TENSOR ? result.u.tensor : NULL;

    if (!t || t->rank || cq_dtype_is_float(t->dtype) || t->storage ||
        (ev->journaling && args[0].kind == CQ_VAL_TENSOR && args[0].u.tensor == t))
        return;
    if (cq_builtin_set_known(t, i) != CQ_OK)
        cq_ctx_fail(ev->cx, CQ_E_NO_MEMORY);
}

/* ---- the call ---- */

static cq_status no_overload(const cq_fncall *c)
{
    char   text[512];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < c->n + c->n_kw && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", i ? ", " : "",
                               i < c->n ? "" : c->names[i - c->n], i < c->n ? "" : "=",
                               cq_eval_type_name(i < c->n ? c->args[i] : c->kw[i - c->n]));
    return cq_fail(CQ_E_TYPE, NULL, NULL, "no overload of %s takes (%s)", c->name, text);
}

/* Scalar-first arithmetic: 1 - x is not an operator of the table. */
static cq_status scalar_first(cq_fncall *c, const char *name)
{
    const cq_op *first = cq_op_overloads(name);
    cq_val       inverse;
    bool         wraps;

    if (c->n != 2 || c->n_kw || c->args[0].kind == CQ_VAL_TENSOR ||
        c->args[1].kind != CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    /* TorchScript compiles 0.5 - x to neg(x) + 0.5, and the negative of an integer wraps around. */
    wraps = c->args[0].kind == CQ_VAL_FLOAT && cq_dtype_is_integer(c->args[1].u.tensor->dtype);
    if (wraps && strcmp(name, "aten::sub") == 0) {
        CQ_TRY(CQ_CALL_OPERATOR(c->ev, &inverse, "aten::neg", c->args[1]));
        return CQ_CALL_OPERATOR(c->ev, &c->result, "aten::add", inverse, c->args[0]);
    }
    if (first && first->traits.reflected)
        return CQ_CALL_OPERATOR(c->ev, &c->result, first->traits.reflected, c->args[1], c->args[0]);
    if (strcmp(name, "aten::div") != 0)
        return cq_fncall_decline(c);
    CQ_TRY(CQ_CALL_OPERATOR(c->ev, &inverse, "aten::reciprocal", c->args[1]));
    return CQ_CALL_OPERATOR(c->ev, &c->result, "aten::mul", inverse, c->args[0]);
}

/* The effect of out= on its tensor: the tensor receives the result, in its own dtype. If the sizes
 * differ, the tensor is rebound. */
static cq_status write_out(cq_eval *ev, cq_tensor *to, cq_tensor *result)
{
    cq_ctx *cx   = ev->cx;
    bool    same = to->rank == result->rank;

    for (size_t i = 0; same && i < to->rank; i++)
        same = cq_int_same(to->sizes[i], result->sizes[i]);
    if (same) {
        CQ_OP(cx, "aten::copy_", TENSOR(to), TENSOR(result));
        return cx->status;
    }
    result = CQ_OP(cx, "aten::to.dtype", TENSOR(result), DTYPE(to->dtype));
    CQ_TRY(cx->status);
    return cq_eval_rebind(ev, to, result);
}

/* Handles out=: calls the operator without it and writes the result to the given tensor. */
static cq_status call_with_out(const cq_fncall *c, size_t at, cq_val *out)
{
    const char *names[CQ_EVAL_MAX_OPERANDS];
    cq_val      kw[CQ_EVAL_MAX_OPERANDS];
    cq_fncall   plain = *c;

    if (c->n_kw > CQ_EVAL_MAX_OPERANDS)
        return no_overload(c);
    plain.names = names;
    plain.kw    = kw;
    plain.n_kw  = 0;
    for (size_t i = 0; i < c->n_kw; i++)
        if (i != at) {
            names[plain.n_kw] = c->names[i];
            kw[plain.n_kw++]  = c->kw[i];
        }
    CQ_TRY(cq_fncall_run(&plain, CQ_CALL_OPERATOR));
    if (plain.result.kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "out= requires an operator whose only result is a tensor");
    *out = c->kw[at];
    return write_out(c->ev, out->u.tensor, plain.result.u.tensor);
}

cq_status cq_eval_rebind(cq_eval *ev, cq_tensor *t, cq_tensor *to)
{
    const cq_ctx *cx = ev->cx;

    if (cx->listener && (!t->tag.owner || t->tag.owner != to->tag.owner))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "return the new tensor instead",
                       "a weight of the model cannot become another tensor");
    /* Rebinding a handle cannot be undone: in speculative evaluation, only new tensors may be
     * rebound. */
    if (ev->journaling && cq_track_of_new(&ev->capture->tracks, t)->home != ev->capture->block)
        return cq_fail(
            CQ_E_UNSUPPORTED, NULL, "return the new tensor instead",
            "a tensor cannot become another one in a branch or loop that depends on data");
    return cq_tensor_become(t, to);
}

/* Traces store numbers of Python as 0-d constants of float64. PyTorch converts them back to numbers
 * before it adds, subtracts, multiplies or divides by one, so that integers times 0.5 are float32.
 * They stay tensors where the dtype does not depend on that. */
static bool is_number_of_trace(const cq_fncall *c)
{
    const cq_op     *first = cq_op_overloads(c->name);
    const cq_val    *all   = &c->ev->program->constants;
    const cq_tensor *x, *number;

    if (!first || !first->traits.with_numbers || c->n != 2 || c->args[0].kind != CQ_VAL_TENSOR ||
        c->args[1].kind != CQ_VAL_TENSOR || (all->kind != CQ_VAL_TUPLE && all->kind != CQ_VAL_LIST))
        return false;
    x      = c->args[0].u.tensor;
    number = c->args[1].u.tensor;
    if (number->rank || number->dtype != CQ_DTYPE_F64 || cq_tensor_is_fake(number) ||
        (x->rank && cq_dtype_is_float(x->dtype)) || cq_dtype_is_complex(x->dtype))
        return false;
    for (size_t i = 0; i < all->u.list->n; i++)
        if (all->u.list->items[i].kind == CQ_VAL_TENSOR && all->u.list->items[i].u.tensor == number)
            return true;
    return false;
}

cq_status cq_resolve_operands(cq_fncall *c)
{
    CQ_TRY(cq_fncall_unwrap(c));
    if (is_number_of_trace(c)) {
        const double *number = (const double *)cq_tensor_bytes(c->args[1].u.tensor);

        CQ_TRY(cq_fncall_set_args(c, (cq_val[]){ c->args[0], cq_val_of_f64(*number) }, 2));
    }
    CQ_TRY(cq_eval_spend_on_operator(c->ev));
    return cq_fncall_decline(c);
}

/* The overload that a call chooses, with the arguments that its schema has. */
typedef struct overload {
    const cq_op *op;
    const char  *name; /* of the operator, without the trailing _ of an in-place operator */
    char         plain[256];
    cq_val       args[CQ_EVAL_MAX_OPERANDS];
} overload;

/* Chooses the first overload that accepts the arguments, and returns whether there is one. */
static bool choose(overload *to, const cq_fncall *c, const cq_op *first, const char *suffix,
                   cq_match how)
{
    char full[512];

    for (const cq_op *op = first; op; op = op->next) {
        if (!match(op->schema, c, how, to->args))
            continue;
        to->op = op;
        if (suffix) {
            snprintf(full, sizeof full, op->schema->overload[0] ? "%s%s.%s" : "%s%s", to->plain,
                     suffix, op->schema->overload);
            to->op = cq_op_find(full);
        }
        if (to->op)
            return true;
    }
    return false;
}

/* Converts the name of an operator sign: `a |= b` is aten::__ior__, which lib/aten declares as
 * derived from "aten::bitwise_or_". */
static void spell_out_sign(char *name, size_t size)
{
    const cq_op *op;
    char         full[256];

    if (strncmp(name, "aten::__i", 9) != 0)
        return;
    if ((size_t)snprintf(full, sizeof full, "%s.Tensor", name) >= sizeof full)
        return;
    op = cq_op_find(full);
    if (op && op->inplace_of)
        snprintf(name, size, "%s", op->schema->name);
}

/* Chooses among the overloads in the order of PyTorch's registry, first without and then with
 * implicit conversions. Without a choice, the call is done or declined. */
static cq_status choose_by_arguments(overload *to, cq_fncall *c)
{
    size_t       len = strcspn(c->name, ".");
    const cq_op *first, *twin;
    const char  *suffix;

    if (len >= sizeof to->plain)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "unknown operator %s", c->name);
    memcpy(to->plain, c->name, len);
    to->plain[len] = '\0';
    spell_out_sign(to->plain, sizeof to->plain);
    len    = strlen(to->plain);
    first  = cq_op_overloads(to->plain);
    suffix = first ? NULL : cq_op_suffix(to->plain, len);
    if (suffix) {
        twin = cq_op_find(to->plain); /* normal_ is not an in-place variant of normal */
        if (twin && match(twin->schema, c, CQ_MATCH_EXACT, to->args)) {
            to->op = twin;
            return CQ_OK;
        }
        to->plain[len - strlen(suffix)] = '\0';
        first                           = cq_op_overloads(to->plain);
    }
    if (!first)
        return cq_fncall_decline(c);
    if (choose(to, c, first, suffix, CQ_MATCH_EXACT))
        return CQ_OK;
    if (!suffix) {
        CQ_TRY(scalar_first(c, to->plain));
        if (!c->declined)
            return CQ_OK;
    }
    c->declined = !choose(to, c, first, suffix, CQ_MATCH_IMPLICIT);
    return c->declined && c->ev->dialect == CQ_DIALECT_SCRIPT ? no_overload(c) : CQ_OK;
}

cq_status cq_resolve_operator(cq_fncall *c)
{
    cq_eval  *ev = c->ev;
    overload  to;
    cq_val    results[CQ_MAX_RESULTS];
    size_t    n_args, n_results;
    cq_int    size;
    bool      is_size;
    cq_status status;

    for (size_t i = 0; i < c->n_kw; i++)
        if (strcmp(c->names[i], "out") == 0 && c->kw[i].kind == CQ_VAL_TENSOR)
            return call_with_out(c, i, &c->result);
    to.op   = strchr(c->name, '.') ? cq_op_find(c->name) : NULL;
    to.name = c->name;
    if (!to.op || !match(to.op->schema, c, CQ_MATCH_IMPLICIT, to.args)) {
        /* Programs of torch.export may pass numbers for tensor arguments. */
        if (to.op && ev->dialect == CQ_DIALECT_SCRIPT)
            return no_overload(c);
        to.op   = NULL;
        to.name = to.plain;
        CQ_TRY(choose_by_arguments(&to, c));
        if (!to.op)
            return CQ_OK;
    }
    n_args    = to.op->schema->n_args;
    n_results = to.op->schema->n_results;
    CQ_TRY(convert_args(ev, to.op->schema, to.args));
    is_size = size_after(ev, to.name, to.args, n_args, &size);
    status  = cq_op_call(ev->cx, to.op, to.args, n_args, results, CQ_MAX_RESULTS);
    if (status == CQ_E_ARGUMENT)
        return CQ_E_TYPE; /* the caller adds the location: the program has the error */
    CQ_TRY(status);
    if (n_results == 1)
        c->result = results[0];
    else if (n_results)
        CQ_TRY(cq_eval_list(ev, results, n_results, CQ_VAL_TUPLE, &c->result));
    if (is_size)
        set_size(ev, to.args, c->result, size);
    return CQ_OK;
}
