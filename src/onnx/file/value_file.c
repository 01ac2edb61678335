/* TensorProto, SequenceProto, MapProto and OptionalProto files. Sparse tensors are rejected,
 * because no supported operator reads them. In the file, the values of a map are a sequence of
 * one-element tensors; in memory they are one tensor, like its keys. */
#include "onnx/file/value_file.h"

#include "onnx/tensor.h"
#include "onnx/file/wire.h"

/* ---- reading; the decoder has bounded the depth ---- */

static cq_status sequence_to_value(cq_val *out, const cq_onnx_model *m,
                                   const cq_onnx_sequence *sequence);

static cq_status map_to_value(cq_val *out, const cq_onnx_model *m, const cq_onnx_map_value *map);

static cq_status refuse_sparse(void)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                   "the value contains a sparse tensor, which is not supported");
}

static cq_status optional_to_value(cq_val *out, const cq_onnx_model *m,
                                   const cq_onnx_optional *optional)
{
    *out = CQ_NONE;
    if (optional->sparse_tensor_value)
        return refuse_sparse();
    if (optional->map_value)
        return map_to_value(out, m, optional->map_value);
    if (optional->tensor_value)
        return cq_onnx_tensor_to_value(out, m, optional->tensor_value);
    if (optional->sequence_value)
        return sequence_to_value(out, m, optional->sequence_value);
    return optional->optional_value ? optional_to_value(out, m, optional->optional_value) : CQ_OK;
}

/* Appends the items of one of the lists of a sequence. */
#define PUSH_ALL(values, to_value)                                                                 \
    for (uint32_t i = 0; i < (values).n && status == CQ_OK; i++) {                                 \
        cq_val item = CQ_NONE;                                                                     \
                                                                                                   \
        status = to_value(&item, m, (values).items[i]);                                            \
        if (status == CQ_OK)                                                                       \
            status = cq_list_push(list, item);                                                     \
        cq_val_release(item);                                                                      \
    }

static cq_status sequence_to_value(cq_val *out, const cq_onnx_model *m,
                                   const cq_onnx_sequence *sequence)
{
    cq_status status = CQ_OK;
    cq_list  *list;

    *out = CQ_NONE;
    if (sequence->sparse_tensor_values.n)
        return refuse_sparse();
    CQ_TRY(cq_list_new(&list, 0));
    PUSH_ALL(sequence->tensor_values, cq_onnx_tensor_to_value)
    PUSH_ALL(sequence->sequence_values, sequence_to_value)
    PUSH_ALL(sequence->map_values, map_to_value)
    PUSH_ALL(sequence->optional_values, optional_to_value)
    *out = cq_val_of_list(list);
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

/* ---- maps ---- */

static cq_status keys_to_value(cq_val *out, const cq_onnx_map_value *map)
{
    const int64_t n      = map->string_keys.n ? map->string_keys.n : map->keys.n;
    cq_status     status = CQ_OK;
    cq_tensor    *tensor;
    cq_texts     *texts;

    if (map->key_type != CQ_ONNX_STRING) {
        status = cq_tensor_new(&tensor, CQ_DTYPE_I64, 1, &n, map->keys.items);
        *out   = status == CQ_OK ? cq_val_of_tensor(tensor) : CQ_NONE;
        return status;
    }
    CQ_TRY(cq_texts_new(&texts, 1, &n));
    *out = cq_val_of_texts(texts);
    for (int64_t i = 0; i < map->string_keys.n && status == CQ_OK; i++)
        status = cq_texts_set(texts, (size_t)i, (const char *)map->string_keys.items[i].data,
                              map->string_keys.items[i].size);
    return status;
}

/* Concatenates one-element tensors of one type. */
static cq_status in_one(cq_val *out, const cq_list *list)
{
    const cq_val   first  = list->n ? list->items[0] : CQ_NONE;
    const bool     text   = cq_val_texts(first) != NULL;
    const cq_dtype dtype  = first.kind == CQ_VAL_TENSOR ? first.u.tensor->dtype : CQ_DTYPE_F32;
    const int64_t  n      = (int64_t)list->n;
    cq_status      status = CQ_OK;
    cq_texts      *texts  = NULL;
    cq_tensor     *tensor = NULL;

    for (size_t i = 0; i < list->n; i++)
        if (cq_val_numel(list->items[i]) != 1 || (cq_val_texts(list->items[i]) != NULL) != text ||
            (!text && list->items[i].u.tensor->dtype != dtype))
            return cq_fail(CQ_E_FORMAT, NULL, NULL, "the values of a map have different types");
    status = text ? cq_texts_new(&texts, 1, &n) : cq_tensor_new_uninit(&tensor, dtype, 1, &n);
    CQ_TRY(status);
    *out = text ? cq_val_of_texts(texts) : cq_val_of_tensor(tensor);
    for (size_t i = 0; i < list->n && status == CQ_OK; i++) {
        const size_t size = cq_dtype_size(dtype);

        if (text)
            status = cq_texts_set(texts, i, cq_texts_at(cq_val_texts(list->items[i]), 0),
                                  cq_texts_len(cq_val_texts(list->items[i]), 0));
        else
            memcpy(cq_tensor_bytes(tensor) + i * size, cq_tensor_bytes(list->items[i].u.tensor),
                   size);
    }
    return status;
}

static cq_status map_to_value(cq_val *out, const cq_onnx_model *m, const cq_onnx_map_value *map)
{
    cq_val    keys = CQ_NONE, values = CQ_NONE, list = CQ_NONE;
    cq_list  *pair = NULL;
    cq_status status;

    *out = CQ_NONE;
    CQ_TRY_OR_DONE(keys_to_value(&keys, map));
    if (map->values)
        CQ_TRY_OR_DONE(sequence_to_value(&list, m, map->values));
    else
        CQ_TRY_OR_DONE(cq_list_new(&list.u.list, 0));
    list.kind = CQ_VAL_LIST;
    CQ_TRY_OR_DONE(in_one(&values, list.u.list));
    if (cq_val_numel(keys) != cq_val_numel(values))
        CQ_TRY_OR_DONE(cq_fail(CQ_E_FORMAT, NULL, NULL, "a map has %zu keys and %zu values",
                               cq_val_numel(keys), cq_val_numel(values)));
    CQ_TRY_OR_DONE(cq_list_new(&pair, 0));
    *out   = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = pair };
    status = cq_list_push(pair, keys);
    if (status == CQ_OK)
        status = cq_list_push(pair, values);
done:
    cq_val_release(keys);
    cq_val_release(values);
    cq_val_release(list);
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

/* ---- files ---- */

cq_status cq_onnx_value_load(cq_val *out, const char *path, const cq_onnx_type *type)
{
    cq_onnx_model *m    = NULL;
    cq_mapping    *file = NULL;
    cq_status      status;
    union {
        cq_onnx_tensor    tensor;
        cq_onnx_sequence  sequence;
        cq_onnx_map_value map;
        cq_onnx_optional  optional;
    } message                   = { 0 };
    const cq_onnx_message *kind = type && type->sequence_type   ? &cq_onnx_sequence_message
                                  : type && type->optional_type ? &cq_onnx_optional_message
                                  : type && type->map_type      ? &cq_onnx_map_message
                                                                : &cq_onnx_tensor_message;

    *out = CQ_NONE;
    CQ_TRY_OR_DONE(cq_mapping_open(&file, path));
    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, NULL));
    CQ_TRY_OR_DONE(cq_storage_map(&m->source, file, 0, cq_mapping_size(file)));
    CQ_TRY_OR_DONE(
        cq_onnx_decode(m, kind, &message, cq_mapping_data(file), cq_mapping_size(file), path));
    if (kind == &cq_onnx_sequence_message)
        status = sequence_to_value(out, m, &message.sequence);
    else if (kind == &cq_onnx_optional_message)
        status = optional_to_value(out, m, &message.optional);
    else if (kind == &cq_onnx_map_message)
        status = map_to_value(out, m, &message.map);
    else
        status = cq_onnx_tensor_to_value(out, m, &message.tensor);
done:
    cq_onnx_model_free(m);
    cq_mapping_release(file);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}

/* ---- writing ---- */

/* The strings are not copied and must outlive the model. */
static cq_onnx_tensor *texts_new(cq_onnx_model *m, const char *name, const cq_texts *texts)
{
    cq_onnx_tensor *tensor = cq_onnx_alloc(m, sizeof *tensor);

    if (!tensor)
        return NULL;
    tensor->name      = cq_onnx_text(m, name);
    tensor->data_type = CQ_ONNX_STRING;
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_TYPE);
    for (uint32_t i = 0; i < texts->rank; i++)
        cq_onnx_list_push(m, &tensor->dims, texts->sizes[i]);
    for (size_t i = 0; i < texts->n; i++)
        cq_onnx_list_push(m, &tensor->string_data,
                          (cq_onnx_bytes){ cq_texts_at(texts, i), cq_texts_len(texts, i) });
    return tensor;
}

static cq_onnx_tensor *tensor_new(cq_onnx_model *m, const char *name, cq_val v)
{
    const cq_texts *texts = cq_val_texts(v);

    return texts ? texts_new(m, name, texts) : cq_onnx_tensor_new(m, name, v.u.tensor);
}

static bool is_tensor(cq_val v)
{
    return v.kind == CQ_VAL_TENSOR || cq_val_texts(v);
}

/* Fails for a value that no ONNX message can store; the model keeps the first failure. */
static void refuse(cq_onnx_model *m, cq_val v)
{
    if (m->status == CQ_OK)
        m->status = cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a value of type %s cannot be stored",
                            cq_val_kind_name(v.kind));
}

static cq_onnx_tensor *text_new(cq_onnx_model *m, const cq_texts *texts, size_t i)
{
    cq_onnx_tensor *t = cq_onnx_alloc(m, sizeof *t);

    if (!t)
        return NULL;
    t->data_type = CQ_ONNX_STRING;
    cq_onnx_set_has(t, CQ_ONNX_TENSOR_DATA_TYPE);
    cq_onnx_list_push(m, &t->string_data,
                      (cq_onnx_bytes){ cq_texts_at(texts, i), cq_texts_len(texts, i) });
    return t;
}

static cq_onnx_tensor *number_new(cq_onnx_model *m, const cq_tensor *dense, size_t i)
{
    cq_tensor   *one  = NULL;
    const size_t size = cq_dtype_size(dense->dtype);
    cq_status    status =
        cq_tensor_new(&one, dense->dtype, 0, NULL, cq_tensor_bytes(dense) + i * size);
    cq_onnx_tensor *t = status == CQ_OK ? cq_onnx_tensor_new(m, NULL, one) : NULL;

    if (m->status == CQ_OK)
        m->status = status;
    cq_tensor_release(one);
    return t;
}

/* Converts each element to a 0-d tensor. */
static cq_onnx_sequence *elements_new(cq_onnx_model *m, cq_val all)
{
    cq_onnx_sequence *sequence = cq_onnx_alloc(m, sizeof *sequence);
    const cq_texts   *texts    = cq_val_texts(all);
    cq_tensor        *dense    = NULL;

    if (!sequence)
        return NULL;
    if (!texts)
        m->status = cq_tensor_contiguous(&dense, all.u.tensor);
    for (size_t i = 0; m->status == CQ_OK && i < cq_val_numel(all); i++)
        cq_onnx_list_push(m, &sequence->tensor_values,
                          texts ? text_new(m, texts, i) : number_new(m, dense, i));
    cq_tensor_release(dense);
    sequence->elem_type = CQ_ONNX_ELEM_TENSOR;
    cq_onnx_set_has(sequence, CQ_ONNX_SEQUENCE_ELEM_TYPE);
    return sequence;
}

static cq_onnx_map_value *map_new(cq_onnx_model *m, const char *name, const cq_list *pair)
{
    cq_onnx_map_value *map   = cq_onnx_alloc(m, sizeof *map);
    const cq_texts    *texts = cq_val_texts(pair->items[0]);

    if (!map)
        return NULL;
    map->name     = cq_onnx_text(m, name);
    map->key_type = texts ? CQ_ONNX_STRING : CQ_ONNX_INT64;
    cq_onnx_set_has(map, CQ_ONNX_MAP_VALUE_KEY_TYPE);
    for (size_t i = 0; i < cq_val_numel(pair->items[0]); i++)
        if (texts)
            cq_onnx_list_push(m, &map->string_keys,
                              (cq_onnx_bytes){ cq_texts_at(texts, i), cq_texts_len(texts, i) });
        else
            cq_onnx_list_push(m, &map->keys,
                              cq_tensor_get_i64(pair->items[0].u.tensor, (int64_t)i));
    map->values = elements_new(m, pair->items[1]);
    return map;
}

static cq_onnx_sequence *sequence_new(cq_onnx_model *m, const char *name, const cq_list *list)
{
    cq_onnx_sequence *sequence = cq_onnx_alloc(m, sizeof *sequence);

    if (!sequence)
        return NULL;
    sequence->name      = cq_onnx_text(m, name);
    sequence->elem_type = CQ_ONNX_ELEM_TENSOR;
    for (size_t i = 0; i < list->n; i++) {
        cq_val item = list->items[i];

        if (is_tensor(item)) {
            cq_onnx_list_push(m, &sequence->tensor_values, tensor_new(m, NULL, item));
        } else if (item.kind == CQ_VAL_LIST) {
            cq_onnx_list_push(m, &sequence->sequence_values, sequence_new(m, NULL, item.u.list));
            sequence->elem_type = CQ_ONNX_ELEM_SEQUENCE;
        } else if (item.kind == CQ_VAL_TUPLE) {
            cq_onnx_list_push(m, &sequence->map_values, map_new(m, NULL, item.u.list));
            sequence->elem_type = CQ_ONNX_ELEM_MAP;
        } else {
            refuse(m, item);
        }
    }
    cq_onnx_set_has(sequence, CQ_ONNX_SEQUENCE_ELEM_TYPE);
    return sequence;
}

static cq_onnx_optional *optional_new(cq_onnx_model *m, const char *name, cq_val v,
                                      const cq_onnx_type *element)
{
    cq_onnx_optional *optional = cq_onnx_alloc(m, sizeof *optional);

    if (!optional)
        return NULL;
    optional->name = cq_onnx_text(m, name);
    optional->elem_type =
        element && element->sequence_type ? CQ_ONNX_ELEM_SEQUENCE : CQ_ONNX_ELEM_TENSOR;
    cq_onnx_set_has(optional, CQ_ONNX_OPTIONAL_ELEM_TYPE);
    if (is_tensor(v))
        optional->tensor_value = tensor_new(m, NULL, v);
    else if (v.kind == CQ_VAL_LIST)
        optional->sequence_value = sequence_new(m, NULL, v.u.list);
    else if (v.kind != CQ_VAL_NONE)
        refuse(m, v);
    return optional;
}

cq_status cq_onnx_value_save(cq_val v, const char *path, const char *name, const cq_onnx_type *type)
{
    const cq_onnx_message *kind    = &cq_onnx_tensor_message;
    cq_onnx_encoding      *e       = NULL;
    cq_onnx_model         *m       = NULL;
    void                  *message = NULL;
    cq_out                *out;
    cq_status              status;

    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, NULL));
    if (type && type->optional_type) {
        kind    = &cq_onnx_optional_message;
        message = optional_new(m, name, v, type->optional_type->elem_type);
    } else if (v.kind == CQ_VAL_LIST) {
        kind    = &cq_onnx_sequence_message;
        message = sequence_new(m, name, v.u.list);
    } else if (v.kind == CQ_VAL_TUPLE) {
        kind    = &cq_onnx_map_message;
        message = map_new(m, name, v.u.list);
    } else if (is_tensor(v)) {
        message = tensor_new(m, name, v);
    } else {
        refuse(m, v);
    }
    CQ_TRY_OR_DONE(m->status);
    CQ_TRY_OR_DONE(cq_onnx_encoding_new(&e, kind, message, NULL));
    CQ_TRY_OR_DONE(cq_out_open(&out, path));
    cq_onnx_encoding_write(e, out);
    status = cq_out_commit(out);
done:
    cq_onnx_encoding_free(e);
    cq_onnx_model_free(m);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}
