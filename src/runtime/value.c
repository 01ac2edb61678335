/* The public values that sessions take and return. */
#include "runtime/value.h"

#include "onnx/tensor.h"
#include "onnx/file/value_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

cq_status cq_onnx_value_new(cq_onnx_value **out, cq_val v)
{
    cq_onnx_value *value = *out = cq_alloc(sizeof *value);

    if (!value) {
        cq_val_release(v);
        return CQ_E_NO_MEMORY;
    }
    atomic_init(&value->refs, 1);
    value->v = v;
    return CQ_OK;
}

CQ_API cq_status cq_onnx_value_new_none(cq_onnx_value **out)
{
    CQ_NEED_OUT(out, true);
    return cq_onnx_value_new(out, CQ_NONE);
}

CQ_API cq_status cq_onnx_value_new_tensor(cq_onnx_value **out, cq_tensor *tensor)
{
    CQ_NEED_OUT(out, tensor);
    *out = NULL;
    if (!cq_tensor_has_data(tensor))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a value needs a tensor with data");
    return cq_onnx_value_new(out, cq_val_of_tensor(cq_tensor_retain(tensor)));
}

CQ_API cq_status cq_onnx_value_new_strings(cq_onnx_value **out, size_t rank, const int64_t *sizes,
                                           const char *const *strings, const size_t *lengths)
{
    CQ_NEED_OUT(out, strings && (sizes || !rank));
    cq_texts *t;

    *out = NULL;
    CQ_TRY(cq_texts_new(&t, rank, sizes));
    for (size_t i = 0; i < t->n; i++) {
        cq_status status =
            cq_texts_set(t, i, strings[i], lengths ? lengths[i] : strlen(strings[i]));

        if (status != CQ_OK) {
            cq_val_release(cq_val_of_texts(t));
            return status;
        }
    }
    return cq_onnx_value_new(out, cq_val_of_texts(t));
}

CQ_API cq_status cq_onnx_value_new_sequence(cq_onnx_value **out, cq_onnx_value *const *items,
                                            size_t n)
{
    CQ_NEED_OUT(out, (items || !n));
    cq_list *list;

    *out = NULL;
    CQ_TRY(cq_list_new(&list, 0));
    for (size_t i = 0; i < n; i++) {
        cq_status status = cq_list_push(list, items[i]->v);

        if (status != CQ_OK) {
            cq_val_release(cq_val_of_list(list));
            return status;
        }
    }
    return cq_onnx_value_new(out, cq_val_of_list(list));
}

CQ_API cq_status cq_onnx_value_new_map(cq_onnx_value **out, cq_onnx_value *keys,
                                       cq_onnx_value *values)
{
    CQ_NEED_OUT(out, keys && values);
    const bool has_keys = cq_val_texts(keys->v) || (keys->v.kind == CQ_VAL_TENSOR &&
                                                    keys->v.u.tensor->dtype == CQ_DTYPE_I64);
    cq_list   *pair;
    cq_status  status;

    if (!has_keys || !(cq_val_texts(values->v) || values->v.kind == CQ_VAL_TENSOR) ||
        cq_val_numel(keys->v) != cq_val_numel(values->v))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "a map has keys of int64 or texts, and as many values");
    CQ_TRY(cq_list_new(&pair, 0));
    status = cq_list_push(pair, keys->v);
    if (status == CQ_OK)
        status = cq_list_push(pair, values->v);
    if (status != CQ_OK) {
        cq_val_release(cq_val_of_list(pair));
        return status;
    }
    return cq_onnx_value_new(out, (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = pair });
}

CQ_API cq_status cq_onnx_value_of(cq_onnx_value **out, const cq_onnx_model *model,
                                  const cq_onnx_tensor *tensor)
{
    CQ_NEED_OUT(out, model && tensor);
    cq_val v;

    CQ_TRY(cq_onnx_tensor_to_value(&v, model, tensor));
    return cq_onnx_value_new(out, v);
}

CQ_API cq_onnx_value *cq_onnx_value_retain(cq_onnx_value *value)
{
    if (value)
        atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
    return value;
}

CQ_API void cq_onnx_value_release(cq_onnx_value *value)
{
    if (!value || atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) != 1)
        return;
    cq_val_release(value->v);
    cq_free(value);
}

static cq_onnx_kind_of_value kind_of(cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        return CQ_ONNX_VALUE_TENSOR;
    if (v.kind == CQ_VAL_LIST)
        return CQ_ONNX_VALUE_SEQUENCE;
    if (v.kind == CQ_VAL_TUPLE)
        return CQ_ONNX_VALUE_MAP;
    return cq_val_texts(v) ? CQ_ONNX_VALUE_STRINGS : CQ_ONNX_VALUE_NONE;
}

CQ_API cq_onnx_kind_of_value cq_onnx_value_kind(const cq_onnx_value *value)
{
    CQ_NEED_ELSE(value, 0);
    return kind_of(value->v);
}

CQ_API cq_tensor *cq_onnx_value_tensor(const cq_onnx_value *value)
{
    CQ_NEED_ELSE(value, NULL);
    return value->v.kind == CQ_VAL_TENSOR ? value->v.u.tensor : NULL;
}

CQ_API size_t cq_onnx_value_rank(const cq_onnx_value *value)
{
    CQ_NEED_ELSE(value, 0);
    const cq_texts *t = cq_val_texts(value->v);

    return t ? t->rank : cq_onnx_value_tensor(value) ? value->v.u.tensor->rank : 0;
}

CQ_API int64_t cq_onnx_value_size(const cq_onnx_value *value, size_t axis)
{
    CQ_NEED_ELSE(value, 0);
    const cq_texts *t = cq_val_texts(value->v);

    if (axis >= cq_onnx_value_rank(value))
        return 0;
    return t ? t->sizes[axis] : value->v.u.tensor->sizes[axis].value;
}

CQ_API const char *cq_onnx_value_string(const cq_onnx_value *value, size_t index, size_t *length)
{
    CQ_NEED_ELSE(value, NULL);
    const cq_texts *t      = cq_val_texts(value->v);
    bool            inside = t && index < t->n;

    if (length)
        *length = inside ? cq_texts_len(t, index) : 0;
    return inside ? cq_texts_at(t, index) : "";
}

static bool has_items(cq_val v)
{
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;
}

CQ_API size_t cq_onnx_value_count(const cq_onnx_value *value)
{
    CQ_NEED_ELSE(value, 0);
    const cq_texts *t = cq_val_texts(value->v);

    return t ? t->n : has_items(value->v) ? value->v.u.list->n : 0;
}

CQ_API cq_status cq_onnx_value_item(cq_onnx_value **out, const cq_onnx_value *value, size_t index)
{
    CQ_NEED_OUT(out, value);
    *out = NULL;
    if (!has_items(value->v) || index >= value->v.u.list->n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "index %zu is out of range for a sequence of %zu items", index,
                       cq_onnx_value_count(value));
    return cq_onnx_value_new(out, cq_val_retain(value->v.u.list->items[index]));
}

/* ---- files ---- */

static const cq_onnx_type *type_of(const cq_onnx_model *m, cq_onnx_side side, size_t index)
{
    const cq_onnx_value_infos *list;

    if (!m || !m->graph)
        return NULL;
    list = side == CQ_ONNX_OUTPUTS ? &m->graph->output : &m->graph->input;
    return index < list->n ? list->items[index]->type : NULL;
}

CQ_API cq_status cq_onnx_value_load_for(cq_onnx_value **out, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side, size_t index)
{
    CQ_NEED_OUT(out, path);
    cq_val v;

    *out = NULL;
    CQ_TRY(cq_onnx_value_load(&v, path, type_of(model, side, index)));
    return cq_onnx_value_new(out, v);
}

CQ_API cq_status cq_onnx_value_save_for(const cq_onnx_value *value, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side, size_t index)
{
    CQ_NEED(value && path);
    return cq_onnx_value_save(value->v, path, cq_onnx_model_value_name(model, side, index),
                              type_of(model, side, index));
}

/* ---- comparing ---- */

static const char *const kind_names[] = { "nothing", "a tensor", "a tensor of strings",
                                          "a sequence", "a map" };

static cq_status differ_at(int64_t index, int64_t n_wrong, int64_t n, double got, double want)
{
    return cq_fail(CQ_E_TYPE, NULL, NULL,
                   "%" PRId64 " of %" PRId64 " elements differ, first at %" PRId64
                   ": %.9g, expected %.9g",
                   n_wrong, n, index, got, want);
}

static bool is_close(double got, double want, double rtol, double atol)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) || isinf(want))
        return got == want;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

/* Complex numbers are compared as pairs of real numbers. */
static cq_status compare_tensors(const cq_tensor *got, const cq_tensor *want, double rtol,
                                 double atol)
{
    char    a[CQ_DESCRIBE_SIZE], b[CQ_DESCRIBE_SIZE];
    bool    same    = got->dtype == want->dtype && got->rank == want->rank;
    bool    inexact = cq_dtype_is_float(got->dtype);
    int64_t n = cq_tensor_numel(want), n_wrong = 0, first = 0;

    for (uint32_t i = 0; same && i < got->rank; i++)
        same = got->sizes[i].value == want->sizes[i].value;
    if (!same)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "got %s, expected %s",
                       cq_tensor_describe(got, a, sizeof a), cq_tensor_describe(want, b, sizeof b));
    for (int64_t i = 0; i < n; i++) {
        bool close =
            inexact ? is_close(cq_tensor_get_f64(got, i), cq_tensor_get_f64(want, i), rtol, atol)
                    : cq_tensor_get_i64(got, i) == cq_tensor_get_i64(want, i);

        if (!close && n_wrong++ == 0)
            first = i;
    }
    return n_wrong ? differ_at(first, n_wrong, n, cq_tensor_get_f64(got, first),
                               cq_tensor_get_f64(want, first))
                   : CQ_OK;
}

static cq_status compare_texts(const cq_texts *got, const cq_texts *want)
{
    if (got->rank != want->rank ||
        memcmp(got->sizes, want->sizes, got->rank * sizeof *got->sizes) != 0)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "strings have another shape: %zu of them, expected %zu", got->n, want->n);
    for (size_t i = 0; i < got->n; i++)
        if (cq_texts_len(got, i) != cq_texts_len(want, i) ||
            memcmp(cq_texts_at(got, i), cq_texts_at(want, i), cq_texts_len(got, i)) != 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "string %zu is '%s', expected '%s'", i,
                           cq_texts_at(got, i), cq_texts_at(want, i));
    return CQ_OK;
}

/* The recursion is bounded because the reader has limited the depth of values. */
static cq_status compare(cq_val got, cq_val want, double rtol, double atol)
{
    if (kind_of(got) != kind_of(want))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "got %s, expected %s", kind_names[kind_of(got)],
                       kind_names[kind_of(want)]);
    if (want.kind == CQ_VAL_TENSOR)
        return compare_tensors(got.u.tensor, want.u.tensor, rtol, atol);
    if (cq_val_texts(want))
        return compare_texts(cq_val_texts(got), cq_val_texts(want));
    if (!has_items(want))
        return CQ_OK;
    if (got.u.list->n != want.u.list->n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "got a sequence of %zu, expected %zu", got.u.list->n,
                       want.u.list->n);
    for (size_t i = 0; i < want.u.list->n; i++) {
        cq_status status = compare(got.u.list->items[i], want.u.list->items[i], rtol, atol);

        if (status != CQ_OK)
            return cq_error_add_where(status, "item %zu", i);
    }
    return CQ_OK;
}

CQ_API cq_status cq_onnx_value_compare(const cq_onnx_value *got, const cq_onnx_value *want,
                                       double rtol, double atol)
{
    CQ_NEED(got && want);
    return compare(got->v, want->v, rtol, atol);
}
