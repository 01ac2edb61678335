/* The arguments of a call from outside, as a tree of values. */
#include "script/script.h"
#include "base/json.h"

enum { MAX_DEPTH = 32 };

CQ_API cq_status cq_args_new(cq_args **out)
{
    CQ_NEED_OUT(out, true);
    cq_args *a = *out = cq_zalloc(sizeof *a);

    if (!a)
        return CQ_E_NO_MEMORY;
    if (cq_list_new(&a->positional, 0) != CQ_OK || cq_dict_new(&a->keywords) != CQ_OK) {
        cq_args_free(a);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

CQ_API void cq_args_free(cq_args *a)
{
    if (!a)
        return;
    if (a->positional)
        cq_val_release(cq_val_of_list(a->positional));
    if (a->keywords)
        cq_val_release(cq_val_of_dict(a->keywords));
    cq_free(a);
}

CQ_API cq_status cq_args_add_tensor(cq_args *a, cq_tensor *t)
{
    CQ_NEED(a);
    return cq_list_push(a->positional, cq_val_of_tensor(t));
}

CQ_API cq_status cq_args_add_i64(cq_args *a, int64_t value)
{
    CQ_NEED(a);
    return cq_list_push(a->positional, cq_val_of_i64(value));
}

CQ_API cq_status cq_args_add_f64(cq_args *a, double value)
{
    CQ_NEED(a);
    return cq_list_push(a->positional, cq_val_of_f64(value));
}

/* ---- the inputs of a graph ---- */

cq_status cq_args_tensor_of(cq_tensor **out, cq_val v, bool wide)
{
    switch (v.kind) {
    case CQ_VAL_TENSOR: *out = cq_tensor_retain(v.u.tensor); return CQ_OK;
    case CQ_VAL_INT: return cq_tensor_new(out, CQ_DTYPE_I64, 0, NULL, &v.u.i.value);
    case CQ_VAL_FLOAT:
        if (wide)
            return cq_tensor_new(out, CQ_DTYPE_F64, 0, NULL, &v.u.f.value);
        return cq_tensor_new(out, CQ_DTYPE_F32, 0, NULL, &(float){ (float)v.u.f.value });
    case CQ_VAL_BOOL: return cq_tensor_new(out, CQ_DTYPE_BOOL, 0, NULL, &(uint8_t){ v.u.b.value });
    default: *out = NULL; return CQ_OK;
    }
}

typedef struct flat {
    cq_tensor    **items; /* NULL: they are only counted */
    size_t         n, max;
    const cq_args *args;
} flat;

static cq_status add_input(cq_visit *w, cq_val v)
{
    flat *f = w->user;

    if (v.kind != CQ_VAL_TENSOR && v.kind != CQ_VAL_INT && v.kind != CQ_VAL_FLOAT &&
        v.kind != CQ_VAL_BOOL)
        return CQ_OK;
    if (f->items && f->n < f->max)
        CQ_TRY(cq_args_tensor_of(&f->items[f->n], v, f->args->wide_floats));
    f->n++;
    return CQ_OK;
}

static cq_status add_inputs(flat *f)
{
    cq_visit w = { .each = add_input, .user = f };

    CQ_TRY(cq_val_each(&w, cq_val_of_list(f->args->positional)));
    return cq_val_each(&w, cq_val_of_dict(f->args->keywords));
}

CQ_API size_t cq_args_n_inputs(const cq_args *a)
{
    CQ_NEED_ELSE(a, 0);
    flat f = { .items = NULL, .args = a };

    add_inputs(&f);
    return f.n;
}

CQ_API cq_status cq_args_inputs(const cq_args *a, cq_tensor **tensors, size_t max)
{
    CQ_NEED(a);
    flat      f = { .items = tensors, .max = max, .args = a };
    cq_status status;

    for (size_t i = 0; i < max; i++)
        tensors[i] = NULL;
    status = add_inputs(&f);
    for (size_t i = 0; i < max && status != CQ_OK; i++) {
        cq_tensor_release(tensors[i]);
        tensors[i] = NULL;
    }
    return status;
}

/* ---- from JSON ---- */

cq_status cq_args_text(const char *text, size_t len, cq_val *out)
{
    cq_text *t;

    CQ_TRY(cq_text_new(&t, text, len));
    *out = cq_val_of_text(t);
    return CQ_OK;
}

typedef struct reader {
    cq_tensor *const *tensors;
    size_t            n;
    cq_args          *args;
} reader;

static cq_status bad(const char *what)
{
    return cq_fail(CQ_E_FORMAT, "args.json", NULL, "%s", what);
}

static cq_status tensor_at(const reader *r, const json_t *index, cq_tensor **out)
{
    json_int_t i = json_integer_value(index);

    if (!json_is_integer(index) || i < 0 || (size_t)i >= r->n)
        return bad("an index of a tensor is out of range");
    *out = r->tensors[i];
    return CQ_OK;
}

static cq_status read_value(const reader *r, const json_t *j, int depth, cq_val *out);

static cq_status read_items(const reader *r, const json_t *j, int depth, cq_list *to)
{
    for (size_t i = 0; i < json_array_size(j); i++) {
        cq_val    v;
        cq_status status = read_value(r, json_array_get(j, i), depth, &v);

        if (status == CQ_OK)
            status = cq_list_push(to, v);
        cq_val_release(v);
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* Adds an entry to a dict. Releases key. */
static cq_status read_entry(const reader *r, cq_val key, const json_t *j, int depth, cq_dict *to)
{
    cq_val    v;
    cq_status status = read_value(r, j, depth, &v);

    if (status == CQ_OK)
        status = cq_dict_set(to, key, v);
    cq_val_release(key);
    cq_val_release(v);
    return status;
}

static cq_status read_pairs(const reader *r, const json_t *j, int depth, cq_dict *to)
{
    for (size_t i = 0; i < json_array_size(j); i++) {
        const json_t *pair = json_array_get(j, i), *name = json_array_get(pair, 0);
        cq_val        key = cq_val_of_i64(json_integer_value(name));

        if (json_is_string(name))
            CQ_TRY(cq_args_text(json_string_value(name), json_string_length(name), &key));
        CQ_TRY(read_entry(r, key, json_array_get(pair, 1), depth, to));
    }
    return CQ_OK;
}

static cq_status read_scalar(const reader *r, const json_t *index, cq_val *out)
{
    cq_tensor *t;

    CQ_TRY(tensor_at(r, index, &t));
    r->args->wide_floats |= t->dtype == CQ_DTYPE_F64;
    *out = cq_dtype_is_float(t->dtype) ? cq_val_of_f64(cq_tensor_get_f64(t, 0))
           : t->dtype == CQ_DTYPE_BOOL ? cq_val_of_bool(cq_tensor_get_i64(t, 0))
                                       : cq_val_of_i64(cq_tensor_get_i64(t, 0));
    return CQ_OK;
}

static cq_status read_container(const reader *r, const char *kind, const json_t *j, int depth,
                                cq_val *out)
{
    const bool is_dict = kind[0] == 'd';

    if (!json_is_array(j))
        return bad(is_dict ? "expected a list of pairs for a dict" : "expected a list");
    if (is_dict)
        CQ_TRY(cq_dict_new(&out->u.dict));
    else
        CQ_TRY(cq_list_new(&out->u.list, 0));
    out->kind = is_dict ? CQ_VAL_DICT : kind[0] == 't' ? CQ_VAL_TUPLE : CQ_VAL_LIST;
    return is_dict ? read_pairs(r, j, depth + 1, out->u.dict)
                   : read_items(r, j, depth + 1, out->u.list);
}

/* The caller owns *out, even after a failure. */
static cq_status read_value(const reader *r, const json_t *j, int depth, cq_val *out)
{
    static const char *const containers[] = { "tuple", "list", "dict" };
    const json_t            *part;
    cq_tensor               *t;

    *out = CQ_NONE;
    if (depth > MAX_DEPTH)
        return bad("the arguments are nested too deep");
    if (!j || json_is_null(j))
        return CQ_OK;
    if ((part = json_object_get(j, "tensor"))) {
        CQ_TRY(tensor_at(r, part, &t));
        *out = cq_val_retain(cq_val_of_tensor(t));
        return CQ_OK;
    }
    if ((part = json_object_get(j, "scalar")))
        return read_scalar(r, part, out);
    if ((part = json_object_get(j, "str")))
        return cq_args_text(json_string_value(part), json_string_length(part), out);
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        if ((part = json_object_get(j, containers[i])))
            return read_container(r, containers[i], part, depth, out);
    return bad("expected a tensor, scalar, str, tuple, list, dict or null as argument");
}

static cq_status read_all(const reader *r, json_t *root)
{
    const char *name;
    json_t     *value;

    CQ_TRY(read_items(r, json_object_get(root, "args"), 0, r->args->positional));
    json_object_foreach(json_object_get(root, "kwargs"), name, value)
    {
        cq_val key;

        CQ_TRY(cq_args_text(name, strlen(name), &key));
        CQ_TRY(read_entry(r, key, value, 0, r->args->keywords));
    }
    return CQ_OK;
}

CQ_API cq_status cq_args_from_json(cq_args **out, const char *text, cq_tensor *const *tensors,
                                   size_t n_tensors)
{
    CQ_NEED_OUT(out, text && (tensors || !n_tensors));
    reader       r = { .tensors = tensors, .n = n_tensors };
    json_error_t error;
    json_t      *root;
    cq_status    status;

    *out = NULL;
    root = json_loads(text, 0, &error);
    if (!root)
        return cq_fail(CQ_E_FORMAT, "args.json", NULL, "line %d: %s", error.line, error.text);
    status = cq_args_new(out);
    r.args = *out;
    if (status == CQ_OK)
        status = read_all(&r, root);
    json_decref(root);
    if (status != CQ_OK) {
        cq_args_free(*out);
        *out = NULL;
    }
    return status;
}
