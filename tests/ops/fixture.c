/* Reads cases. Files are our own, yet a wrong one is reported, not trusted. */
#include "fixture.h"

#include "tensor/convert.h"
#include "tensor/qparams.h"

#include <math.h>
#include <stdlib.h>

cq_status cq_fixture_load(json_t **out, const char *path)
{
    json_error_t error;

    *out = json_load_file(path, 0, &error);
    if (!*out)
        return cq_fail(CQ_E_FORMAT, path, NULL, "line %d: %s", error.line, error.text);
    if (json_is_array(*out))
        return CQ_OK;
    json_decref(*out);
    *out = NULL;
    return cq_fail(CQ_E_FORMAT, path, NULL, "the file is not a list of cases");
}

static double number_of(const json_t *j)
{
    const char *name = json_string_value(j);

    if (!name)
        return json_number_value(j);
    return strcmp(name, "nan") == 0 ? NAN : name[0] == '-' ? -INFINITY : INFINITY;
}

/* ---- tensors ---- */

static cq_status put_elements(cq_tensor *t, const json_t *values)
{
    cq_dtype part = cq_dtype_part(t->dtype);
    int64_t  step = (int64_t)cq_dtype_size(part);
    char    *to   = cq_tensor_bytes(t);

    for (size_t i = 0; i < json_array_size(values); i++, to += step) {
        const json_t *v = json_array_get(values, i);
        int64_t       n = json_integer_value(v);
        double        x = number_of(v);

        if (json_is_integer(v))
            cq_store_of(part, CQ_WIDE_I64)(to, step, &n, 1);
        else
            cq_store_of(part, CQ_WIDE_F64)(to, step, &x, 1);
    }
    return CQ_OK;
}

static cq_status read_tensor(cq_tensor **out, const json_t *j)
{
    const json_t *sizes = json_object_get(j, "s"), *strides = json_object_get(j, "st");
    const json_t *values = json_object_get(j, "v");
    cq_dtype      dtype  = cq_dtype_from_name(json_string_value(json_object_get(j, "t")));
    size_t        rank   = json_array_size(sizes);
    int64_t       plain[CQ_MAX_RANK], steps[CQ_MAX_RANK];
    int64_t       count = (int64_t)json_array_size(values) / (cq_dtype_is_complex(dtype) ? 2 : 1);
    cq_int        ints[CQ_MAX_RANK];
    cq_tensor    *whole;
    cq_status     status;

    if (dtype == CQ_DTYPE_NONE || rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a tensor of a case cannot be read");
    for (size_t i = 0; i < rank; i++) {
        plain[i] = json_integer_value(json_array_get(sizes, i));
        ints[i]  = cq_i(plain[i]);
        steps[i] = json_integer_value(json_array_get(strides, i));
    }
    CQ_TRY(cq_tensor_new_uninit(&whole, dtype, strides ? 1 : rank, strides ? &count : plain));
    *out = whole;
    if (cq_tensor_numel(whole) != count)
        status = cq_fail(CQ_E_FORMAT, NULL, NULL, "a tensor of a case has %lld elements, not %lld",
                         (long long)count, (long long)cq_tensor_numel(whole));
    else
        status = put_elements(whole, values);
    if (status == CQ_OK && !strides)
        return CQ_OK;
    if (status == CQ_OK)
        status = cq_tensor_new_view(out, whole, dtype, rank, ints, steps,
                                    json_integer_value(json_object_get(j, "o")));
    cq_tensor_release(whole);
    return status;
}

/* "q": the quantization parameters of a tensor. */
static cq_status read_grid(cq_ctx *cx, cq_tensor *t, const json_t *j)
{
    int         dtype = (int)json_integer_value(json_array_get(j, 0));
    cq_qparams *q;
    cq_val      v[2];

    if (json_array_size(j) == 4) {
        CQ_TRY(cq_fixture_val(cx, &v[0], json_array_get(j, 1)));
        CQ_TRY(cq_fixture_val(cx, &v[1], json_array_get(j, 2)));
        CQ_TRY(cq_qparams_new_per_channel(&q, dtype, v[0].u.tensor, v[1].u.tensor,
                                          (int)json_integer_value(json_array_get(j, 3))));
    } else {
        CQ_TRY(cq_qparams_new(&q, dtype, json_number_value(json_array_get(j, 1)),
                              json_integer_value(json_array_get(j, 2))));
    }
    cq_tensor_set_qparams(t, q);
    cq_qparams_release(q);
    return CQ_OK;
}

/* ---- any value ---- */

/* The only result of another operator. */
static cq_status read_call(cq_ctx *cx, cq_val *out, const json_t *j)
{
    const cq_op *op = cq_op_find(json_string_value(json_object_get(j, "call")));
    cq_val       args[CQ_FIXTURE_MAX_ARGS];
    size_t       n;

    if (!op)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a value of a case is made by an unknown operator");
    CQ_TRY(cq_fixture_args(cx, args, &n, j));
    return cq_op_call(cx, op, args, n, out, 1);
}

static cq_status read_list(cq_ctx *cx, cq_val *out, const json_t *j)
{
    cq_list *list;

    CQ_TRY(cq_list_new(&list, json_array_size(j)));
    *out = cq_ctx_own(cx, cq_val_of_list(list));
    CQ_TRY(cx->status);
    for (size_t i = 0; i < list->n; i++) {
        CQ_TRY(cq_fixture_val(cx, &list->items[i], json_array_get(j, i)));
        cq_val_retain(list->items[i]);
    }
    return CQ_OK;
}

static cq_status read_object(cq_ctx *cx, cq_val *out, const json_t *j)
{
    const json_t *v;
    cq_tensor    *t;

    if (json_object_get(j, "t")) {
        CQ_TRY(read_tensor(&t, j));
        *out = cq_ctx_own(cx, cq_val_of_tensor(t));
        if ((v = json_object_get(j, "q")))
            CQ_TRY(read_grid(cx, t, v));
    } else if (json_object_get(j, "call")) {
        CQ_TRY(read_call(cx, out, j));
    } else if ((v = json_object_get(j, "dtype"))) {
        *out = DTYPE(cq_dtype_from_name(json_string_value(v)));
    } else if ((v = json_object_get(j, "device"))) {
        *out = cq_str_val(cx, json_string_value(v));
    } else if ((v = json_object_get(j, "f"))) {
        *out = FLOAT(number_of(v));
    } else if ((v = json_object_get(j, "c"))) {
        *out        = (cq_val){ .kind = CQ_VAL_COMPLEX };
        out->u.c.re = json_number_value(json_array_get(v, 0));
        out->u.c.im = json_number_value(json_array_get(v, 1));
    } else {
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a value of a case cannot be read");
    }
    return cx->status;
}

cq_status cq_fixture_val(cq_ctx *cx, cq_val *out, const json_t *j)
{
    *out = CQ_NONE;
    switch (json_typeof(j)) {
    case JSON_NULL: return CQ_OK;
    case JSON_TRUE: *out = BOOL(true); return CQ_OK;
    case JSON_FALSE: *out = BOOL(false); return CQ_OK;
    case JSON_INTEGER: *out = INT(json_integer_value(j)); return CQ_OK;
    case JSON_REAL: *out = FLOAT(json_real_value(j)); return CQ_OK;
    case JSON_STRING: *out = cq_str_val(cx, json_string_value(j)); return cx->status;
    case JSON_ARRAY: return read_list(cx, out, j);
    default: return read_object(cx, out, j);
    }
}

cq_status cq_fixture_args(cq_ctx *cx, cq_val *args, size_t *n, const json_t *one)
{
    const json_t *list = json_object_get(one, "args");

    *n = json_array_size(list);
    if (*n > CQ_FIXTURE_MAX_ARGS)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a case has %zu arguments", *n);
    for (size_t i = 0; i < *n; i++)
        CQ_TRY(cq_fixture_val(cx, &args[i], json_array_get(list, i)));
    return CQ_OK;
}

/* ---- for people ---- */

static void describe(cq_str *out, const json_t *j)
{
    const json_t *sizes = json_object_get(j, "s");
    char         *text;

    if (json_is_array(j)) {
        cq_str_add(out, "[");
        for (size_t i = 0; i < json_array_size(j); i++) {
            cq_str_add(out, i ? ", " : "");
            describe(out, json_array_get(j, i));
        }
        cq_str_add(out, "]");
    } else if (sizes) {
        cq_str_add(out, json_string_value(json_object_get(j, "t")));
        describe(out, sizes);
    } else if ((text = json_dumps(j, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)))) {
        cq_str_add(out, text);
        free(text);
    }
}

void cq_fixture_describe(cq_str *out, const json_t *one)
{
    const json_t *args = json_object_get(one, "args");
    const char   *note = json_string_value(json_object_get(one, "note"));

    cq_str_printf(out, "%s(", json_string_value(json_object_get(one, "op")));
    for (size_t i = 0; i < json_array_size(args); i++) {
        cq_str_add(out, i ? ", " : "");
        describe(out, json_array_get(args, i));
    }
    cq_str_printf(out, ")%s%s", note ? " " : "", note ? note : "");
}
