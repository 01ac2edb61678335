/* The interface of a row to its call: arguments by name, and results. */
#include "aten/core/ctx.h"

static const cq_val none = { .kind = CQ_VAL_NONE };

static const cq_val *find(const cq_opcall *c, const char *name)
{
    int at = cq_schema_find(c->op->schema, name);

    if (at >= 0)
        return &c->args[at];
    cq_ctx_fail(c->cx,
                cq_fail(CQ_E_INTERNAL, c->op->schema->full, NULL,
                        "the row asks for an argument \"%s\" that its schema has not", name));
    return &none;
}

static void wrong(const cq_opcall *c, const char *name, const char *want, cq_val_kind got)
{
    cq_ctx_fail(c->cx,
                cq_fail(CQ_E_TYPE, c->op->schema->full, NULL,
                        "argument \"%s\" should be %s, not %s", name, want, cq_val_kind_name(got)));
}

int64_t cq_size_baked(const cq_opcall *c, cq_int i, const char *what)
{
    cq_ctx *cx = c->cx;

    if (i.expr && cx->listener)
        cx->listener->baked(cx->listener_self, cx, what, i);
    return i.value;
}

cq_val cq_arg_val(const cq_opcall *c, const char *name)
{
    return *find(c, name);
}

bool cq_arg_is_none(const cq_opcall *c, const char *name)
{
    return find(c, name)->kind == CQ_VAL_NONE;
}

cq_tensor *cq_arg_tensor(const cq_opcall *c, const char *name)
{
    const cq_val *v = find(c, name);

    if (v->kind == CQ_VAL_TENSOR)
        return v->u.tensor;
    if (v->kind != CQ_VAL_NONE)
        wrong(c, name, "a tensor", v->kind);
    return NULL;
}

cq_int cq_arg_int(const cq_opcall *c, const char *name)
{
    const cq_val *v = find(c, name);

    switch (v->kind) {
    case CQ_VAL_INT: return v->u.i;
    case CQ_VAL_BOOL: return cq_i(v->u.b.value);
    case CQ_VAL_FLOAT: return cq_i((int64_t)v->u.f.value);
    default: wrong(c, name, "an int", v->kind); return cq_i(0);
    }
}

/* A baked-in number is a plain number from here on: the graph shows and exports it as such. */
int64_t cq_arg_i64(const cq_opcall *c, const char *name)
{
    cq_int i  = cq_arg_int(c, name);
    int    at = cq_schema_find(c->op->schema, name);

    if (!i.expr)
        return i.value;
    c->args[at] = cq_val_of_i64(i.value);
    return cq_size_baked(c, i, name);
}

/* A data-dependent number, read off the example. */
static double number_of_data(const cq_opcall *c, const char *name, cq_tensor *t)
{
    cq_opcall  call = *c;
    cq_tensor *data;

    if (cq_tensor_numel(t) != 1) {
        wrong(c, name, "a number", CQ_VAL_TENSOR);
        return 0;
    }
    if (cq_ctx_fail(c->cx, cq_call_data(&call, &data, t)) != CQ_OK)
        return 0;
    if (data != t)
        c->cx->listener->baked(c->cx->listener_self, c->cx, name, cq_i(cq_tensor_get_i64(data, 0)));
    return cq_tensor_get_f64(data, 0);
}

/* A composition has read a number, so its graph is fixed to that number. */
static void decided_by(const cq_opcall *c, const char *name, const cq_val *v)
{
    if (cq_op_is_composed(c->op) && c->cx->listener && v->kind == CQ_VAL_FLOAT && v->u.f.origin)
        c->cx->listener->baked(c->cx->listener_self, c->cx, name, cq_i((int64_t)v->u.f.value));
    else if (cq_op_is_composed(c->op) && v->kind == CQ_VAL_INT)
        cq_size_baked(c, v->u.i, name);
}

double cq_arg_f64(const cq_opcall *c, const char *name)
{
    const cq_val *v = find(c, name);

    decided_by(c, name, v);
    switch (v->kind) {
    case CQ_VAL_INT: return (double)v->u.i.value;
    case CQ_VAL_BOOL: return v->u.b.value;
    case CQ_VAL_FLOAT: return v->u.f.value;
    case CQ_VAL_COMPLEX: return v->u.c.re;
    case CQ_VAL_TENSOR: return number_of_data(c, name, v->u.tensor);
    default: wrong(c, name, "a number", v->kind); return 0;
    }
}

bool cq_arg_bool(const cq_opcall *c, const char *name)
{
    const cq_val *v = find(c, name);

    if (v->kind == CQ_VAL_BOOL)
        return v->u.b.value;
    if (v->kind == CQ_VAL_INT)
        return v->u.i.value != 0;
    if (v->kind != CQ_VAL_NONE)
        wrong(c, name, "a bool", v->kind);
    return false;
}

const char *cq_arg_str(const cq_opcall *c, const char *name, const char *otherwise)
{
    const cq_val *v = find(c, name);

    if (v->kind == CQ_VAL_STR || v->kind == CQ_VAL_DEVICE)
        return v->u.text->text;
    if (v->kind != CQ_VAL_NONE)
        wrong(c, name, "a string", v->kind);
    return otherwise;
}

cq_dtype cq_arg_dtype(const cq_opcall *c, const char *name, cq_dtype otherwise)
{
    const cq_val *v = find(c, name);
    cq_dtype      d;

    if (v->kind == CQ_VAL_NONE)
        return otherwise;
    d = v->kind == CQ_VAL_INT ? cq_dtype_from_torch(v->u.i.value) : CQ_DTYPE_NONE;
    if (d == CQ_DTYPE_NONE)
        cq_ctx_fail(c->cx, cq_fail(CQ_E_UNSUPPORTED, c->op->schema->full, NULL,
                                   "argument \"%s\" is not a dtype that calque has", name));
    return d;
}

/* The items of a list argument; a plain number is a list of one item, None is an empty list. */
static const cq_val *items_of(const cq_opcall *c, const char *name, size_t *n, size_t max)
{
    const cq_val *v = find(c, name), *items = v;

    *n = 1;
    if (v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE) {
        items = v->u.list->items;
        *n    = v->u.list->n;
    } else if (v->kind == CQ_VAL_NONE) {
        *n = 0;
    }
    if (*n > max) {
        cq_ctx_fail(c->cx, cq_fail(CQ_E_ARGUMENT, c->op->schema->full, NULL,
                                   "argument \"%s\" has %zu items, at most %zu are possible", name,
                                   *n, max));
        *n = 0;
    }
    return items;
}

size_t cq_arg_ints(const cq_opcall *c, const char *name, cq_int *out, size_t max)
{
    size_t        n;
    const cq_val *items = items_of(c, name, &n, max);

    for (size_t i = 0; i < n; i++) {
        if (items[i].kind == CQ_VAL_INT) {
            out[i] = items[i].u.i;
        } else {
            wrong(c, name, "a list of ints", items[i].kind);
            out[i] = cq_i(0);
        }
    }
    return n;
}

size_t cq_arg_i64s(const cq_opcall *c, const char *name, int64_t *out, size_t max)
{
    size_t        n;
    const cq_val *items = items_of(c, name, &n, max);

    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != CQ_VAL_INT)
            wrong(c, name, "a list of ints", items[i].kind);
        out[i] = items[i].kind == CQ_VAL_INT ? cq_size_baked(c, items[i].u.i, name) : 0;
    }
    return n;
}

void cq_arg_i64_n(const cq_opcall *c, const char *name, int64_t *out, size_t n,
                  const int64_t *otherwise)
{
    int64_t given[CQ_MAX_RANK];
    size_t  n_given = cq_arg_i64s(c, name, given, CQ_MAX_RANK);

    if (n_given != n && n_given > 1)
        cq_ctx_fail(c->cx,
                    cq_fail(CQ_E_ARGUMENT, c->op->schema->full, NULL,
                            "argument \"%s\" expects %zu numbers but got %zu", name, n, n_given));
    for (size_t i = 0; i < n; i++)
        out[i] = n_given == n ? given[i] : n_given ? given[0] : otherwise ? otherwise[i] : 0;
}

size_t cq_arg_f64s(const cq_opcall *c, const char *name, double *out, size_t max)
{
    size_t        n;
    const cq_val *items = items_of(c, name, &n, max);

    for (size_t i = 0; i < n; i++)
        out[i] = items[i].kind == CQ_VAL_FLOAT ? items[i].u.f.value
                 : items[i].kind == CQ_VAL_INT ? (double)items[i].u.i.value
                                               : 0;
    return n;
}

size_t cq_arg_n_tensors(const cq_opcall *c, const char *name)
{
    size_t n;

    items_of(c, name, &n, CQ_MAX_TENSORS);
    return n;
}

cq_tensor *cq_arg_tensor_at(const cq_opcall *c, const char *name, size_t i)
{
    size_t        n;
    const cq_val *items = items_of(c, name, &n, CQ_MAX_TENSORS);

    return i < n && items[i].kind == CQ_VAL_TENSOR ? items[i].u.tensor : NULL;
}

static int wrap_dim(const cq_opcall *c, const char *name, int64_t dim, size_t rank)
{
    int64_t n = rank ? (int64_t)rank : 1;

    if (dim < -n || dim >= n) {
        cq_ctx_fail(c->cx, cq_fail(CQ_E_ARGUMENT, c->op->schema->full, NULL,
                                   "%s %lld is out of range for a tensor of %zu dimensions", name,
                                   (long long)dim, rank));
        return 0;
    }
    return (int)(dim < 0 ? dim + n : dim);
}

int cq_arg_dim(const cq_opcall *c, const char *name, size_t rank)
{
    return wrap_dim(c, name, cq_arg_i64(c, name), rank);
}

int cq_arg_open_dim(const cq_opcall *c, const char *name, size_t rank, bool *open)
{
    *open = !c->real && cq_arg_int(c, name).expr;
    return *open ? wrap_dim(c, name, cq_arg_int(c, name).value, rank) : cq_arg_dim(c, name, rank);
}

uint64_t cq_arg_dims(const cq_opcall *c, const char *name, size_t rank)
{
    int64_t  dims[CQ_MAX_RANK];
    size_t   n    = cq_arg_i64s(c, name, dims, CQ_MAX_RANK);
    uint64_t mask = 0;

    for (size_t i = 0; i < n; i++)
        mask |= (uint64_t)1 << wrap_dim(c, name, dims[i], rank);
    if (n == 0)
        mask = rank ? ~(uint64_t)0 >> (64 - rank) : 0;
    return mask;
}

cq_status cq_call_data(cq_opcall *c, cq_tensor **out, cq_tensor *t)
{
    cq_ctx *cx = c->cx;

    *out = t;
    if (!cq_tensor_is_fake(t))
        return CQ_OK;
    if (!cx->listener)
        return cq_call_fail(c, CQ_E_ARGUMENT, "the tensor has no data to read a number from");
    return cx->listener->materialize(cx->listener_self, cx, out, t);
}

/* ---- results ---- */

static cq_status put(cq_opcall *c, size_t index, cq_status status, cq_tensor *t)
{
    if (status != CQ_OK)
        return cq_ctx_fail(c->cx, status);
    c->results[index] = cq_ctx_own(c->cx, cq_val_of_tensor(t));
    return c->cx->status;
}

cq_status cq_result(cq_opcall *c, size_t index, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    int64_t    plain[CQ_MAX_RANK];
    cq_tensor *t = NULL;
    cq_status  status;

    CQ_TRY(c->cx->status);
    if (c->real && rank <= CQ_MAX_RANK) {
        for (size_t i = 0; i < rank; i++)
            plain[i] = sizes[i].value;
        status = cq_tensor_new_uninit(&t, dtype, rank, plain);
    } else {
        status = cq_tensor_new_fake(&t, dtype, rank, sizes);
    }
    return put(c, index, status, t);
}

cq_status cq_result_like(cq_opcall *c, size_t index, const cq_tensor *like, cq_dtype dtype)
{
    return cq_result(c, index, dtype, like->rank, like->sizes);
}

cq_status cq_result_view(cq_opcall *c, size_t index, const cq_tensor *t, size_t rank,
                         const cq_int *sizes, const int64_t *strides, int64_t offset)
{
    cq_tensor *view = NULL;
    cq_status  status;

    CQ_TRY(c->cx->status);
    status = cq_tensor_new_view(&view, t, t->dtype, rank, sizes, strides, offset);
    return put(c, index, status, view);
}

cq_tensor *cq_result_tensor(const cq_opcall *c, size_t index)
{
    return c->results[index].kind == CQ_VAL_TENSOR ? c->results[index].u.tensor : NULL;
}

cq_status cq_result_set(cq_opcall *c, size_t index, cq_val v)
{
    c->results[index] = v;
    return c->cx->status;
}

cq_status cq_result_set_tensor(cq_opcall *c, size_t index, cq_tensor *t)
{
    return cq_result_set(c, index, cq_val_of_tensor(t));
}

cq_status cq_result_set_tensors(cq_opcall *c, size_t index, cq_tensor **items, size_t n)
{
    return cq_result_set(c, index, cq_tensors(c->cx, items, n));
}

cq_status cq_call_fail(const cq_opcall *c, cq_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cq_fail_v(status, c->op->schema->full, NULL, format, args);
    va_end(args);
    return status;
}
