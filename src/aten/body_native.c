/* What bodies compute here and now: numbers, lists, and what is known of tensors without their
 * data. Sizes stay symbolic as long as integers are all that is made of them. */
#include "aten/body_tree.h"

#include <math.h>
#include <stdlib.h>

cq_val cq_native_fail(cq_frame *f, cq_status status, const char *format, ...)
{
    va_list args;

    if (f->c->cx->status != CQ_OK)
        return CQ_NONE;
    va_start(args, format);
    cq_fail_v(status, f->c->op->schema->full, NULL, format, args);
    va_end(args);
    cq_ctx_fail(f->c->cx, status);
    return CQ_NONE;
}

cq_val cq_native_constant(cq_frame *f, cq_tensor *wide, cq_dtype dtype)
{
    cq_tensor *t = NULL;

    cq_ctx_fail(f->c->cx, cq_tensor_clone(&t, wide, dtype));
    cq_tensor_release(wide);
    return t ? TENSOR(cq_ctx_own_tensor(f->c->cx, t)) : CQ_NONE;
}

/* ---- symbols that become numbers ---- */

static bool same_symbol(cq_val a, cq_val b)
{
    return a.kind == b.kind && ((a.kind == CQ_VAL_INT && a.u.i.expr == b.u.i.expr) ||
                                (a.kind == CQ_VAL_FLOAT && a.u.f.origin == b.u.f.origin));
}

/* Tells the listener. An integer argument is a plain number from here on, as in cq_arg_i64. */
static void bake(cq_frame *f, cq_val v)
{
    const cq_schema   *s        = f->c->op->schema;
    const cq_listener *listener = f->c->cx->listener;
    const char        *what     = "a size";
    cq_int             value    = v.kind == CQ_VAL_INT ? v.u.i : cq_i((int64_t)v.u.f.value);

    if (f->looking)
        return;
    for (size_t i = 0; i < s->n_args; i++)
        if (same_symbol(f->c->args[i], v)) {
            what = s->args[i].name;
            if (v.kind == CQ_VAL_INT)
                f->c->args[i] = INT(v.u.i.value);
        }
    if (listener)
        listener->baked(f->c->cx->listener_self, f->c->cx, what, value);
}

/* A data-dependent number, in a tensor: what it is on the example. */
static cq_val number_of(cq_frame *f, cq_tensor *t)
{
    cq_tensor *data;
    cq_int     whole;

    if (cq_tensor_numel(t) != 1)
        return cq_native_fail(f, CQ_E_TYPE, "wants a number, not a tensor");
    if (cq_ctx_fail(f->c->cx, cq_call_data(f->c, &data, t)) != CQ_OK)
        return CQ_NONE;
    whole = cq_i(cq_tensor_get_i64(data, 0));
    if (data != t && !f->looking)
        f->c->cx->listener->baked(f->c->cx->listener_self, f->c->cx, "a number", whole);
    return cq_dtype_is_float(t->dtype) ? FLOAT(cq_tensor_get_f64(data, 0)) : SIZE(whole);
}

int64_t cq_native_i64(cq_frame *f, cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        v = number_of(f, v.u.tensor);
    if (v.kind == CQ_VAL_INT && v.u.i.expr)
        bake(f, v);
    switch (v.kind) {
    case CQ_VAL_INT: return v.u.i.value;
    case CQ_VAL_BOOL: return v.u.b.value;
    case CQ_VAL_FLOAT: return (int64_t)cq_native_f64(f, v);
    default:
        cq_native_fail(f, CQ_E_TYPE, "wants an int, not %s", cq_val_kind_name(v.kind));
        return 0;
    }
}

double cq_native_f64(cq_frame *f, cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        v = number_of(f, v.u.tensor);
    if (v.kind == CQ_VAL_FLOAT) {
        if (v.u.f.origin)
            bake(f, v);
        return v.u.f.value;
    }
    if (v.kind == CQ_VAL_COMPLEX)
        return v.u.c.re;
    return (double)cq_native_i64(f, v);
}

bool cq_native_truth(cq_frame *f, cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_NONE: return false;
    case CQ_VAL_BOOL: return v.u.b.value;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: return v.u.list->n > 0;
    case CQ_VAL_STR: return v.u.text->len > 0;
    default: return cq_native_f64(f, v) != 0;
    }
}

/* ---- lists ---- */

cq_val cq_native_list(cq_frame *f, const cq_val *items, size_t n)
{
    cq_list *list;

    if (f->c->cx->status != CQ_OK)
        return CQ_NONE;
    if (cq_list_new(&list, n) != CQ_OK) {
        cq_ctx_fail(f->c->cx, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    for (size_t i = 0; i < n && items; i++)
        list->items[i] = cq_val_retain(items[i]);
    return cq_ctx_own(f->c->cx, cq_val_of_list(list));
}

const cq_val *cq_native_items(const cq_val *v, size_t *n)
{
    *n = v->kind == CQ_VAL_NONE ? 0 : 1;
    if (v->kind != CQ_VAL_LIST && v->kind != CQ_VAL_TUPLE)
        return v;
    *n = v->u.list->n;
    return v->u.list->items;
}

cq_val cq_native_item(cq_frame *f, cq_val list, cq_val at)
{
    size_t        n;
    const cq_val *items = cq_native_items(&list, &n);
    int64_t       i     = cq_native_i64(f, at);

    if (i < -(int64_t)n || i >= (int64_t)n)
        return cq_native_fail(f, CQ_E_ARGUMENT, "index %lld is out of range for %zu", (long long)i,
                              n);
    return items[i < 0 ? i + (int64_t)n : i];
}

/* As Python clamps them. */
static size_t place(int64_t i, size_t n)
{
    i += i < 0 ? (int64_t)n : 0;
    return i < 0 ? 0 : i > (int64_t)n ? n : (size_t)i;
}

cq_val cq_native_range(cq_frame *f, cq_val list, cq_val from, cq_val to)
{
    size_t        n, start, end;
    const cq_val *items = cq_native_items(&list, &n);

    start = place(cq_native_i64(f, from), n);
    end   = to.kind == CQ_VAL_NONE ? n : place(cq_native_i64(f, to), n);
    return cq_native_list(f, n ? items + start : NULL, end > start ? end - start : 0);
}

static cq_val joined(cq_frame *f, cq_val a, cq_val b)
{
    size_t        n_a, n_b;
    const cq_val *left = cq_native_items(&a, &n_a), *right = cq_native_items(&b, &n_b);
    cq_val        out = cq_native_list(f, NULL, n_a + n_b);

    for (size_t i = 0; i < n_a + n_b && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = cq_val_retain(i < n_a ? left[i] : right[i - n_a]);
    return out;
}

static cq_val repeated(cq_frame *f, cq_val list, int64_t times)
{
    cq_val out = cq_native_list(f, NULL, 0);

    for (; times > 0 && f->c->cx->status == CQ_OK; times--)
        out = joined(f, out, list);
    return out;
}

/* ---- signs ---- */

bool cq_native_is_number(cq_val v)
{
    return v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL;
}

static double plain(cq_val v)
{
    return v.kind == CQ_VAL_FLOAT  ? v.u.f.value
           : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                   : (double)v.u.i.value;
}

bool cq_native_equal(cq_val a, cq_val b)
{
    size_t        n_a, n_b;
    const cq_val *left = cq_native_items(&a, &n_a), *right = cq_native_items(&b, &n_b);

    if (cq_native_is_number(a) && cq_native_is_number(b))
        return plain(a) == plain(b);
    if (a.kind == CQ_VAL_STR && b.kind == CQ_VAL_STR)
        return strcmp(a.u.text->text, b.u.text->text) == 0;
    if (left == &a || right == &b || n_a != n_b)
        return a.kind == CQ_VAL_NONE && b.kind == CQ_VAL_NONE;
    for (size_t i = 0; i < n_a; i++)
        if (!cq_native_equal(left[i], right[i]))
            return false;
    return true;
}

/* Whether a comparison of integers holds in every run: of a symbol with itself, or of a size with
 * a number below zero. */
static bool is_decided(const cq_binary *o, cq_int a, cq_int b)
{
    bool ends = o->sign == CQ_SIGN_LT || o->sign == CQ_SIGN_GE;

    return a.expr == b.expr ||
           (cq_int_is_natural(a) && !b.expr && (b.value < 0 || (b.value == 0 && ends)));
}

static cq_val compared(cq_frame *f, const cq_binary *o, cq_val a, cq_val b)
{
    double x, y;

    if (!cq_native_is_number(a) || !cq_native_is_number(b)) {
        if (o->sign != CQ_SIGN_EQ && o->sign != CQ_SIGN_NE)
            return cq_native_fail(f, CQ_E_TYPE, "the body compares %s and %s",
                                  cq_val_kind_name(a.kind), cq_val_kind_name(b.kind));
        return BOOL(cq_native_equal(a, b) == (o->sign == CQ_SIGN_EQ));
    }
    if (a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && is_decided(o, a.u.i, b.u.i)) {
        x = plain(a);
        y = plain(b);
    } else {
        x = cq_native_f64(f, a);
        y = cq_native_f64(f, b);
    }
    return BOOL(o->sign == CQ_SIGN_EQ   ? x == y
                : o->sign == CQ_SIGN_NE ? x != y
                : o->sign == CQ_SIGN_LT ? x < y
                : o->sign == CQ_SIGN_LE ? x <= y
                : o->sign == CQ_SIGN_GT ? x > y
                                        : x >= y);
}

static cq_int int_of(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i : cq_i(v.u.b.value);
}

static cq_val on_ints(cq_frame *f, const cq_binary *o, cq_int a, cq_int b)
{
    cq_symbols *symbols = f->c->cx->symbols;

    if (o->sign == CQ_SIGN_ADD)
        return SIZE(cq_int_add(symbols, a, b));
    if (o->sign == CQ_SIGN_SUB)
        return SIZE(cq_int_sub(symbols, a, b));
    if (o->sign == CQ_SIGN_MUL)
        return SIZE(cq_int_mul(symbols, a, b));
    if (b.value == 0)
        return cq_native_fail(f, CQ_E_ARGUMENT, "a division by zero");
    return SIZE(o->sign == CQ_SIGN_MOD ? cq_int_mod(symbols, a, b)
                                       : cq_int_floordiv(symbols, a, b));
}

cq_val cq_native_binary(cq_frame *f, const cq_binary *o, cq_val a, cq_val b)
{
    double x, y;

    if (o->strength == 1)
        return compared(f, o, a, b);
    if (!cq_native_is_number(a) && cq_native_is_number(b) && o->sign == CQ_SIGN_MUL)
        return repeated(f, a, cq_native_i64(f, b));
    if (!cq_native_is_number(a) && !cq_native_is_number(b) && o->sign == CQ_SIGN_ADD)
        return joined(f, a, b);
    if (!cq_native_is_number(a) || !cq_native_is_number(b))
        return cq_native_fail(f, CQ_E_TYPE, "the body has %s %s %s", cq_val_kind_name(a.kind),
                              o->token, cq_val_kind_name(b.kind));
    if (a.kind != CQ_VAL_FLOAT && b.kind != CQ_VAL_FLOAT && o->sign != CQ_SIGN_DIV &&
        o->sign != CQ_SIGN_POW)
        return on_ints(f, o, int_of(a), int_of(b));
    x = cq_native_f64(f, a);
    y = cq_native_f64(f, b);
    if (o->sign == CQ_SIGN_POW && a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && y >= 0)
        return INT((int64_t)pow(x, y));
    return FLOAT(o->sign == CQ_SIGN_ADD        ? x + y
                 : o->sign == CQ_SIGN_SUB      ? x - y
                 : o->sign == CQ_SIGN_MUL      ? x * y
                 : o->sign == CQ_SIGN_DIV      ? x / y
                 : o->sign == CQ_SIGN_FLOORDIV ? floor(x / y)
                 : o->sign == CQ_SIGN_MOD      ? x - floor(x / y) * y
                                               : pow(x, y));
}

const cq_binary cq_binaries[] = {
    { "**", "pow", "pow", 4, CQ_SIGN_POW },
    { "==", "eq", "eq", 1, CQ_SIGN_EQ },
    { "!=", "ne", "ne", 1, CQ_SIGN_NE },
    { ">=", "ge", "le", 1, CQ_SIGN_GE },
    { "<=", "le", "ge", 1, CQ_SIGN_LE },
    { ">", "gt", "lt", 1, CQ_SIGN_GT },
    { "<", "lt", "gt", 1, CQ_SIGN_LT },
    { "+", "add", "add", 2, CQ_SIGN_ADD },
    { "-", "sub", "rsub", 2, CQ_SIGN_SUB },
    { "*", "mul", "mul", 3, CQ_SIGN_MUL },
    { "//", "floor_divide", "floor_divide", 3, CQ_SIGN_FLOORDIV },
    { "/", "div", NULL, 3, CQ_SIGN_DIV },
    { "%", "remainder", "remainder", 3, CQ_SIGN_MOD },
    { "@", "matmul", "matmul", 3, CQ_SIGN_MATMUL },
    { 0 },
};

/* ---- of tensors ---- */

static cq_val shape(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return cq_ints(f->c->cx, args[0].u.tensor->sizes, args[0].u.tensor->rank);
}

static cq_val ndim(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return INT(args[0].u.tensor->rank);
}

static cq_val dtype(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return DTYPE(args[0].u.tensor->dtype);
}

static cq_val wrap_dim(cq_frame *f, const cq_val *args, size_t n)
{
    int64_t dim = cq_native_i64(f, args[0]), rank = cq_native_i64(f, args[1]),
            most = rank ? rank : 1;

    (void)n;
    if (dim < -most || dim >= most)
        return cq_native_fail(f, CQ_E_ARGUMENT,
                              "dim %lld is out of range for a tensor of %lld dimensions",
                              (long long)dim, (long long)rank);
    return INT(dim < 0 ? dim + most : dim);
}

static cq_val wrap_dims(cq_frame *f, const cq_val *args, size_t n)
{
    size_t        n_dims;
    const cq_val *dims = cq_native_items(&args[0], &n_dims);
    cq_val        out  = cq_native_list(f, dims, n_dims);

    (void)n;
    for (size_t i = 0; i < n_dims && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = wrap_dim(f, (cq_val[]){ dims[i], args[1] }, 2);
    return out;
}

static cq_val size(cq_frame *f, const cq_val *args, size_t n)
{
    const cq_tensor *t  = args[0].u.tensor;
    int64_t          at = cq_native_i64(f, args[1]);

    (void)n;
    if (at < -(int64_t)t->rank || at >= (int64_t)t->rank)
        return cq_native_fail(f, CQ_E_ARGUMENT,
                              "dim %lld is out of range for a tensor of %u dimensions",
                              (long long)at, (unsigned)t->rank);
    return SIZE(t->sizes[at < 0 ? at + (int64_t)t->rank : at]);
}

static cq_val numel(cq_frame *f, const cq_val *args, size_t n)
{
    const cq_tensor *t   = args[0].u.tensor;
    cq_int           all = cq_i(1);

    (void)n;
    for (size_t i = 0; i < t->rank; i++)
        all = cq_size_mul(f->c, all, t->sizes[i]);
    return SIZE(all);
}

static cq_val is_floating_point(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return BOOL(cq_dtype_is_float(args[0].u.tensor->dtype));
}

static cq_val is_complex(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return BOOL(args[0].kind == CQ_VAL_TENSOR ? cq_dtype_is_complex(args[0].u.tensor->dtype)
                                              : args[0].kind == CQ_VAL_COMPLEX);
}

/* Of a dtype, which is a number. */
static cq_val dtype_is_float(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_dtype_is_float(cq_dtype_from_torch(cq_native_i64(f, args[0]))));
}

static cq_val dtype_is_complex(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_dtype_is_complex(cq_dtype_from_torch(cq_native_i64(f, args[0]))));
}

static cq_val dtype_name(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return cq_str_val(f->c->cx, cq_dtype_name(cq_dtype_from_torch(cq_native_i64(f, args[0]))));
}

/* A tensor's sizes, or a list of them. */
static size_t sizes_of(cq_frame *f, cq_val v, cq_int *out)
{
    size_t        n;
    const cq_val *items = cq_native_items(&v, &n);

    if (v.kind == CQ_VAL_TENSOR) {
        memcpy(out, v.u.tensor->sizes, v.u.tensor->rank * sizeof *out);
        return v.u.tensor->rank;
    }
    if (n > CQ_MAX_RANK) {
        cq_native_fail(f, CQ_E_ARGUMENT, "%zu dimensions are too many", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = items[i].kind == CQ_VAL_INT ? items[i].u.i : cq_i(0);
    return n;
}

/* Of tensors, lists of sizes, or a list of tensors. */
static cq_val broadcast_shapes(cq_frame *f, const cq_val *args, size_t n)
{
    cq_int sizes[CQ_MAX_RANK], so_far[CQ_MAX_RANK], more[CQ_MAX_RANK];
    size_t rank = 0;

    if (n == 1)
        args = cq_native_items(args, &n);
    for (size_t i = 0; i < n; i++) {
        size_t n_more = sizes_of(f, args[i], more);

        memcpy(so_far, sizes, rank * sizeof *sizes);
        if (cq_ctx_fail(f->c->cx, cq_broadcast(f->c, &rank, sizes, rank, so_far, n_more, more)) !=
            CQ_OK)
            return CQ_NONE;
    }
    return cq_ints(f->c->cx, sizes, rank);
}

/* The elements of a tensor of integers. Sizes that it is known to hold stay symbols; what else is
 * data is fixed from here on. */
static cq_val tolist(cq_frame *f, const cq_val *args, size_t n)
{
    cq_tensor       *t = args[0].u.tensor, *data = t;
    const cq_schema *s   = f->c->op->schema;
    cq_val           out = cq_native_list(f, NULL, (size_t)cq_tensor_numel(t));

    if (!t->known && cq_ctx_fail(f->c->cx, cq_call_data(f->c, &data, t)) != CQ_OK)
        return CQ_NONE;
    n = out.kind == CQ_VAL_LIST ? out.u.list->n : 0;
    for (size_t i = 0; i < n; i++)
        out.u.list->items[i] =
            t->known ? SIZE(t->known[i]) : INT(cq_tensor_get_i64(data, (int64_t)i));
    for (size_t i = 0; i < s->n_args && data != t; i++)
        if (f->c->args[i].kind == CQ_VAL_TENSOR && f->c->args[i].u.tensor == t)
            f->c->cx->listener->baked(f->c->cx->listener_self, f->c->cx, s->args[i].name,
                                      cq_i((int64_t)n));
    return out;
}

/* Whether a number is the same in every run. */
static cq_val is_known(cq_frame *f, const cq_val *args, size_t n)
{
    cq_val v = args[0];

    (void)f, (void)n;
    return BOOL(v.kind == CQ_VAL_INT     ? !v.u.i.expr
                : v.kind == CQ_VAL_FLOAT ? !v.u.f.origin
                : v.kind == CQ_VAL_BOOL  ? !v.u.b.origin
                                         : v.kind != CQ_VAL_TENSOR);
}

static cq_val isinstance(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return BOOL((int64_t)args[0].kind == args[1].u.i.value);
}

static cq_val result_type(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f;
    if (n == 1)
        args = cq_native_items(args, &n);
    return DTYPE(cq_result_type(args, n));
}

/* ---- of numbers and lists ---- */

static cq_val len(cq_frame *f, const cq_val *args, size_t n)
{
    size_t count;

    (void)f, (void)n;
    cq_native_items(&args[0], &count);
    return INT((int64_t)count);
}

static cq_val all_items(cq_frame *f, const cq_val *args, size_t n, const cq_binary *o, cq_val first)
{
    size_t        count;
    const cq_val *items = cq_native_items(args, &count);

    (void)n;
    for (size_t i = 0; i < count; i++)
        first = cq_native_binary(f, o, first, items[i]);
    return first;
}

static cq_val sum(cq_frame *f, const cq_val *args, size_t n)
{
    static const cq_binary add = { .token = "+", .strength = 2, .sign = CQ_SIGN_ADD };

    return all_items(f, args, n, &add, INT(0));
}

static cq_val prod(cq_frame *f, const cq_val *args, size_t n)
{
    static const cq_binary mul = { .token = "*", .strength = 3, .sign = CQ_SIGN_MUL };

    return all_items(f, args, n, &mul, INT(1));
}

/* min(a, b) or min([a, b]) */
static cq_val extreme(cq_frame *f, const cq_val *args, size_t n, bool least)
{
    cq_val out;

    if (n == 1)
        args = cq_native_items(args, &n);
    if (n == 0)
        return cq_native_fail(f, CQ_E_ARGUMENT, "an empty list has no extremes");
    out = args[0];
    for (size_t i = 1; i < n; i++)
        if (out.kind == CQ_VAL_INT && args[i].kind == CQ_VAL_INT)
            out = SIZE(least ? cq_int_min(f->c->cx->symbols, out.u.i, args[i].u.i)
                             : cq_int_max(f->c->cx->symbols, out.u.i, args[i].u.i));
        else if ((cq_native_f64(f, args[i]) < cq_native_f64(f, out)) == least)
            out = args[i];
    return out;
}

static cq_val min(cq_frame *f, const cq_val *args, size_t n)
{
    return extreme(f, args, n, true);
}

static cq_val max(cq_frame *f, const cq_val *args, size_t n)
{
    return extreme(f, args, n, false);
}

/* The least integer has no opposite: the greatest is as far as it goes. */
static cq_val absolute(cq_frame *f, const cq_val *args, size_t n)
{
    int64_t i;

    (void)n;
    if (args[0].kind == CQ_VAL_FLOAT)
        return FLOAT(fabs(cq_native_f64(f, args[0])));
    i = cq_native_i64(f, args[0]);
    return INT(i == INT64_MIN ? INT64_MAX : llabs(i));
}

static cq_val to_int(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return INT(cq_native_i64(f, args[0]));
}

/* What a size is on the example, and the listener does not hear of it: for cases that need less
 * work but no other meaning. */
static cq_val size_hint(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return INT(args[0].u.i.value);
}

static cq_val to_float(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return args[0].kind == CQ_VAL_FLOAT ? args[0] : FLOAT(cq_native_f64(f, args[0]));
}

static cq_val to_bool(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return BOOL(cq_native_truth(f, args[0]));
}

static cq_val range(cq_frame *f, const cq_val *args, size_t n)
{
    int64_t start = n > 1 ? cq_native_i64(f, args[0]) : 0, end = cq_native_i64(f, args[n > 1]);
    int64_t count = end > start ? end - start : 0;
    cq_val  out   = cq_native_list(f, NULL, (size_t)count);

    for (int64_t i = 0; i < count && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = INT(start + i);
    return out;
}

static cq_val reverse(cq_frame *f, const cq_val *args, size_t n)
{
    const cq_val *items = cq_native_items(&args[0], &n);
    cq_val        out   = cq_native_list(f, items, n);

    for (size_t i = 0; i < n && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = items[n - 1 - i];
    return out;
}

static cq_val real(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? FLOAT(args[0].u.c.re) : args[0];
}

static cq_val imag(cq_frame *f, const cq_val *args, size_t n)
{
    (void)f, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? FLOAT(args[0].u.c.im) : INT(0);
}

/* Half way it goes to the even one, and no further than an int64 does. */
static cq_val nearest(cq_frame *f, const cq_val *args, size_t n)
{
    (void)n;
    return INT((int64_t)fmax(fmin(nearbyint(cq_native_f64(f, args[0])), 0x1p62), -0x1p62));
}

#define MATH(name, function)                                                                       \
    static cq_val name(cq_frame *f, const cq_val *args, size_t n)                                  \
    {                                                                                              \
        (void)n;                                                                                   \
        return FLOAT(function(cq_native_f64(f, args[0])));                                         \
    }

MATH(math_sqrt, sqrt)
MATH(math_exp, exp)
MATH(math_log, log)
MATH(math_floor, floor)
MATH(math_ceil, ceil)

#define A_TENSOR CQ_KIND(TENSOR)
#define NUMBER   CQ_KINDS_NUMBER
#define LIST     CQ_KIND(LIST)
#define ANY      CQ_KINDS_ANY

const cq_native cq_natives[] = {
    { ".shape", 1, 1, A_TENSOR, LIST, shape },
    { ".ndim", 1, 1, A_TENSOR, CQ_KIND(INT), ndim },
    { ".dtype", 1, 1, A_TENSOR, CQ_KIND(INT), dtype },
    { "dim", 1, 1, A_TENSOR, CQ_KIND(INT), ndim },
    { "size", 2, 2, A_TENSOR, CQ_KIND(INT), size },
    { "size", 1, 1, A_TENSOR, LIST, shape },
    { "numel", 1, 1, A_TENSOR, CQ_KIND(INT), numel },
    { "tolist", 1, 1, A_TENSOR, LIST, tolist },
    { "is_floating_point", 1, 1, A_TENSOR, CQ_KIND(BOOL), is_floating_point },
    { "is_complex", 1, 1, ANY, CQ_KIND(BOOL), is_complex },
    { ".is_floating_point", 1, 1, CQ_KIND(INT), CQ_KIND(BOOL), dtype_is_float },
    { ".is_complex", 1, 1, CQ_KIND(INT), CQ_KIND(BOOL), dtype_is_complex },
    { "dtype_name", 1, 1, CQ_KIND(INT), CQ_KIND(STR), dtype_name },
    { "broadcast_shapes", 1, 4, CQ_KIND(TENSOR) | CQ_KIND(LIST), CQ_KIND(LIST), broadcast_shapes },
    { "isinstance", 2, 2, ANY, CQ_KIND(BOOL), isinstance },
    { "size_hint", 1, 1, CQ_KIND(INT), CQ_KIND(INT), size_hint },
    { "is_known", 1, 1, ANY, CQ_KIND(BOOL), is_known },
    { "result_type", 1, 4, ANY, CQ_KIND(INT), result_type },
    { "wrap_dim", 2, 2, ANY, CQ_KIND(INT), wrap_dim },
    { "wrap_dims", 2, 2, ANY, LIST, wrap_dims },
    { "len", 1, 1, ANY, CQ_KIND(INT), len },
    { "sum", 1, 1, LIST, NUMBER, sum },
    { "prod", 1, 1, LIST, NUMBER, prod },
    { "min", 1, 8, NUMBER | LIST, NUMBER, min },
    { "max", 1, 8, NUMBER | LIST, NUMBER, max },
    { "abs", 1, 1, NUMBER, NUMBER, absolute },
    { "int", 1, 1, NUMBER, CQ_KIND(INT), to_int },
    { "float", 1, 1, NUMBER, CQ_KIND(FLOAT), to_float },
    { "bool", 1, 1, ANY, CQ_KIND(BOOL), to_bool },
    { "range", 1, 2, NUMBER, LIST, range },
    { "reversed", 1, 1, ANY, LIST, reverse },
    { "real", 1, 1, NUMBER, NUMBER, real },
    { "imag", 1, 1, NUMBER, NUMBER, imag },
    { "round", 1, 1, NUMBER, CQ_KIND(INT), nearest },
    { "waves", 7, 7, CQ_KIND(STR), A_TENSOR, cq_native_waves },
    { "kaiser", 3, 3, CQ_KIND(INT), A_TENSOR, cq_native_kaiser },
    { "einsum_labels", 2, 2, CQ_KIND(STR), LIST, cq_native_einsum_labels },
    { "floats", 1, 1, A_TENSOR, A_TENSOR, cq_native_floats },
    { "quantized", 4, 5, A_TENSOR, A_TENSOR, cq_native_quantized },
    { "regrid", 2, 2, A_TENSOR, A_TENSOR, cq_native_regrid },
    { "grid_dtype", 1, 1, A_TENSOR, CQ_KIND(INT), cq_native_grid_dtype },
    { "qparams", 1, 1, A_TENSOR, LIST | CQ_KIND(NONE), cq_native_qparams },
    { "narrow_range", 1, 1, CQ_KIND(BOOL), CQ_KIND(BOOL), cq_native_narrow_range },
    { "bias_on_grid", 3, 3, ANY, A_TENSOR | CQ_KIND(NONE), cq_native_bias_on_grid },
    { "math.sqrt", 1, 1, ANY, CQ_KIND(FLOAT), math_sqrt },
    { "math.exp", 1, 1, ANY, CQ_KIND(FLOAT), math_exp },
    { "math.log", 1, 1, ANY, CQ_KIND(FLOAT), math_log },
    { "math.floor", 1, 1, ANY, CQ_KIND(FLOAT), math_floor },
    { "math.ceil", 1, 1, ANY, CQ_KIND(FLOAT), math_ceil },
    { 0 },
};
