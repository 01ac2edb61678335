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

/* The caller owns *out after each of these. */
static cq_status read_list(const reader *r, const json_t *j, cq_val_kind kind, int depth,
                           cq_val *out)
{
    cq_list  *list;
    cq_status status = CQ_OK;

    if (!json_is_array(j))
        return bad("a list is wanted");
    CQ_TRY(cq_list_new(&list, 0));
    *out = (cq_val){ .kind = kind, .u.list = list };
    for (size_t i = 0; i < json_array_size(j) && status == CQ_OK; i++) {
        cq_val v = CQ_NONE;

        status = read_value(r, json_array_get(j, i), depth + 1, &v);
        if (status == CQ_OK)
            status = cq_list_push(list, v);
        cq_val_release(v);
    }
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

static cq_status read_dict(const reader *r, const json_t *j, int depth, cq_val *out)
{
    cq_dict  *dict;
    cq_status status = CQ_OK;

    if (!json_is_array(j))
        return bad("a dict is a list of pairs");
    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    for (size_t i = 0; i < json_array_size(j) && status == CQ_OK; i++) {
        const json_t *pair = json_array_get(j, i), *name = json_array_get(pair, 0);
        cq_val        key = CQ_NONE, v = CQ_NONE;
        cq_text      *text;

        if (json_is_string(name)) {
            status = cq_text_new(&text, json_string_value(name), json_string_length(name));
            key    = cq_val_of_text(status == CQ_OK ? text : NULL);
        } else {
            key = cq_val_of_i64(json_integer_value(name));
        }
        if (status == CQ_OK)
            status = read_value(r, json_array_get(pair, 1), depth + 1, &v);
        if (status == CQ_OK)
            status = cq_dict_set(dict, key, v);
        cq_val_release(key);
        cq_val_release(v);
    }
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

static cq_status read_value(const reader *r, const json_t *j, int depth, cq_val *out)
{
    cq_tensor    *t;
    const json_t *part;

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
    if ((part = json_object_get(j, "scalar"))) {
        CQ_TRY(tensor_at(r, part, &t));
        r->args->wide_floats |= t->dtype == CQ_DTYPE_F64;
        *out = cq_dtype_is_float(t->dtype) ? cq_val_of_f64(cq_tensor_get_f64(t, 0))
               : t->dtype == CQ_DTYPE_BOOL ? cq_val_of_bool(cq_tensor_get_i64(t, 0))
                                           : cq_val_of_i64(cq_tensor_get_i64(t, 0));
        return CQ_OK;
    }
    if ((part = json_object_get(j, "str"))) {
        cq_text *text;

        CQ_TRY(cq_text_new(&text, json_string_value(part), json_string_length(part)));
        *out = cq_val_of_text(text);
        return CQ_OK;
    }
    if ((part = json_object_get(j, "tuple")))
        return read_list(r, part, CQ_VAL_TUPLE, depth, out);
    if ((part = json_object_get(j, "list")))
        return read_list(r, part, CQ_VAL_LIST, depth, out);
    if ((part = json_object_get(j, "dict")))
        return read_dict(r, part, depth, out);
    return bad("an argument is neither tensor, scalar, str, tuple, list, dict nor null");
}

static cq_status read_all(const reader *r, const json_t *root)
{
    cq_args      *a    = r->args;
    const json_t *args = json_object_get(root, "args"), *kwargs = json_object_get(root, "kwargs");
    const char   *name;
    json_t       *value;
    cq_status     status = CQ_OK;

    for (size_t i = 0; i < json_array_size(args) && status == CQ_OK; i++) {
        cq_val v;

        status = read_value(r, json_array_get(args, i), 0, &v);
        if (status == CQ_OK)
            status = cq_list_push(a->positional, v);
        cq_val_release(v);
    }
    json_object_foreach((json_t *)kwargs, name, value)
    {
        cq_val   v = CQ_NONE, key = CQ_NONE;
        cq_text *text;

        if (status == CQ_OK)
            status = cq_text_new(&text, name, strlen(name));
        if (status != CQ_OK)
            break;
        key    = cq_val_of_text(text);
        status = read_value(r, value, 0, &v);
        if (status == CQ_OK)
            status = cq_dict_set(a->keywords, key, v);
        cq_val_release(key);
        cq_val_release(v);
    }
    return status;
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
