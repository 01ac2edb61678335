/* Operators of ai.onnx.ml that create or read maps. A map is a tuple of its keys, int64 or strings,
 * and as many values. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/ml.h"
#include "tensor/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cq_status new_map(cq_val *out, cq_val keys, cq_tensor *values)
{
    cq_list  *pair;
    cq_status status;

    CQ_TRY(cq_list_new(&pair, 0));
    status = cq_list_push(pair, keys);
    if (status == CQ_OK)
        status = cq_list_push(pair, cq_val_of_tensor(values));
    *out = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = pair };
    return status;
}

static cq_status read_keys(cq_val *out, cq_rt *rt, int64_t n)
{
    const cq_onnx_attribute *texts = cq_rt_attr_given(rt, "classlabels_strings");
    const cq_onnx_attribute *whole = cq_rt_attr_given(rt, "classlabels_int64s");
    cq_texts                *t;
    cq_tensor               *numbers;

    *out = CQ_NONE;
    if (texts && texts->strings.n == n) {
        CQ_TRY(cq_texts_new(&t, 1, &n));
        *out = cq_val_of_texts(t);
        for (int64_t i = 0; i < n; i++)
            CQ_TRY(cq_texts_set(t, (size_t)i, texts->strings.items[i].data,
                                texts->strings.items[i].size));
        return CQ_OK;
    }
    if (!whole || whole->ints.n != n)
        return cq_fail(
            CQ_E_INVALID, NULL, NULL,
            "the number of labels of ZipMap does not match the number of columns of X, %" PRId64,
            n);
    CQ_TRY(cq_tensor_new_uninit(&numbers, CQ_DTYPE_I64, 1, &n));
    *out = cq_val_of_tensor(numbers);
    memcpy(cq_tensor_data(numbers), whole->ints.items, (size_t)n * sizeof(int64_t));
    return CQ_OK;
}

static cq_status zip_map(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    int64_t          rows, n;
    cq_val           keys = CQ_NONE;
    cq_list         *list = NULL;
    cq_status        status;

    if (x->rank != 1 && x->rank != 2)
        return cq_rt_misfit(x, NULL);
    rows = x->rank == 2 ? cq_size_of(x, 0) : 1;
    n    = cq_size_of(x, x->rank - 1);
    CQ_TRY_OR_DONE(read_keys(&keys, rt, n));
    CQ_TRY_OR_DONE(cq_list_new(&list, 0));
    CQ_TRY_OR_DONE(cq_rt_set(rt, 0, cq_val_of_list(list)));
    for (int64_t i = 0; i < rows && status == CQ_OK; i++) {
        cq_tensor *values;
        cq_val     map = CQ_NONE;

        CQ_TRY_OR_DONE(cq_tensor_new_uninit(&values, CQ_DTYPE_F32, 1, &n));
        for (int64_t k = 0; k < n; k++)
            ((float *)cq_tensor_data(values))[k] = (float)cq_tensor_get_f64(x, i * n + k);
        status = new_map(&map, keys, values);
        if (status == CQ_OK)
            status = cq_list_push(list, map);
        cq_val_release(map);
        cq_tensor_release(values);
    }
done:
    cq_val_release(keys);
    return status;
}

/* ---- reading maps ---- */

typedef struct map {
    const cq_texts  *key_texts, *value_texts; /* NULL for numbers */
    const cq_tensor *keys, *values;
    int64_t          n;
} map;

static cq_status open_map(map *m, cq_val v)
{
    const cq_val *pair = v.kind == CQ_VAL_TUPLE && v.u.list->n == 2 ? v.u.list->items : NULL;

    if (!pair)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "X is not a map");
    *m        = (map){ .key_texts = cq_val_texts(pair[0]), .value_texts = cq_val_texts(pair[1]) };
    m->keys   = m->key_texts ? NULL : pair[0].u.tensor;
    m->values = m->value_texts ? NULL : pair[1].u.tensor;
    m->n      = m->key_texts ? (int64_t)m->key_texts->n : cq_tensor_numel(m->keys);
    return CQ_OK;
}

/* An output value; missing values are 0, or pad for a string. */
typedef struct cell {
    const map  *m;
    int64_t     index; /* -1: missing */
    const char *pad;
} cell;

static cq_status put_text(cq_texts *to, size_t i, const cell *c)
{
    char number[64];

    if (c->index < 0)
        return cq_texts_set(to, i, c->pad, strlen(c->pad));
    if (c->m->value_texts)
        return cq_texts_set(to, i, cq_texts_at(c->m->value_texts, (size_t)c->index),
                            cq_texts_len(c->m->value_texts, (size_t)c->index));
    snprintf(number, sizeof number, "%f", cq_tensor_get_f64(c->m->values, c->index));
    return cq_texts_set(to, i, number, strlen(number));
}

/* Converts a string by its numeric prefix; a string without one is an error. */
static cq_status number_of(double *f, int64_t *i, const cell *c)
{
    const char *text = c->index >= 0 && c->m->value_texts
                           ? cq_texts_at(c->m->value_texts, (size_t)c->index)
                           : NULL;
    char       *end;

    *f = 0;
    *i = 0;
    if (text) {
        *f = strtod(text, &end);
        *i = strtoll(text, NULL, 10);
        if (end == text)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "'%s' is not a number", text);
    } else if (c->index >= 0) {
        *f = cq_tensor_get_f64(c->m->values, c->index);
        *i = cq_dtype_is_float(c->m->values->dtype) ? cq_f64_to_i64(*f)
                                                    : cq_tensor_get_i64(c->m->values, c->index);
    }
    return CQ_OK;
}

/* Writes the values at these indices of the map to an output [1, n]; dtype NONE: as strings. */
static cq_status put_values(cq_rt *rt, const map *m, const int64_t *indices, int64_t n,
                            cq_dtype dtype, const char *pad)
{
    const int64_t sizes[] = { 1, n };
    cq_tensor    *y       = NULL;
    cq_texts     *t       = NULL;

    if (dtype == CQ_DTYPE_NONE) {
        CQ_TRY(cq_texts_new(&t, 2, sizes));
        CQ_TRY(cq_rt_set(rt, 0, cq_val_of_texts(t)));
    } else {
        CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 2, sizes));
    }
    for (int64_t i = 0; i < n; i++) {
        const cell c = { m, indices[i], pad };
        int64_t    whole;
        double     f;

        if (t) {
            CQ_TRY(put_text(t, (size_t)i, &c));
            continue;
        }
        CQ_TRY(number_of(&f, &whole, &c));
        if (dtype == CQ_DTYPE_F32)
            ((float *)cq_tensor_data(y))[i] = (float)f;
        else if (dtype == CQ_DTYPE_F64)
            ((double *)cq_tensor_data(y))[i] = f;
        else
            ((int64_t *)cq_tensor_data(y))[i] = whole;
    }
    return CQ_OK;
}

/* ---- look-up by vocabulary ---- */

static cq_status add_key(cq_dict *to, const map *m, int64_t i)
{
    const cq_val index = cq_val_of_i64(i);
    cq_val       key;
    cq_text     *text;
    cq_status    status;

    if (!m->key_texts)
        return cq_dict_set(to, cq_val_of_i64(cq_tensor_get_i64(m->keys, i)), index);
    CQ_TRY(cq_text_new(&text, cq_texts_at(m->key_texts, (size_t)i),
                       cq_texts_len(m->key_texts, (size_t)i)));
    key    = (cq_val){ .kind = CQ_VAL_STR, .u.text = text };
    status = cq_dict_set(to, key, index);
    cq_val_release(key);
    return status;
}

static cq_status find_word(int64_t *index, const cq_dict *in, const cq_onnx_bytes *word)
{
    const cq_val *found;
    cq_text      *text;
    cq_val        key;

    CQ_TRY(cq_text_new(&text, word->data ? word->data : "", word->size));
    key    = (cq_val){ .kind = CQ_VAL_STR, .u.text = text };
    found  = cq_dict_get(in, key);
    *index = found ? found->u.i.value : -1;
    cq_val_release(key);
    return CQ_OK;
}

static cq_status find_words(int64_t *indices, const map *m, const cq_onnx_attribute *texts,
                            const cq_onnx_attribute *whole)
{
    cq_dict  *in;
    cq_status status;

    CQ_TRY(cq_dict_new(&in));
    for (int64_t i = 0; i < m->n; i++)
        CQ_TRY_OR_DONE(add_key(in, m, i));
    for (uint32_t i = 0; m->key_texts && i < texts->strings.n; i++)
        CQ_TRY_OR_DONE(find_word(&indices[i], in, &texts->strings.items[i]));
    for (uint32_t i = 0; !m->key_texts && i < whole->ints.n; i++) {
        const cq_val *found = cq_dict_get(in, cq_val_of_i64(whole->ints.items[i]));

        indices[i] = found ? found->u.i.value : -1;
    }
    status = CQ_OK;
done:
    cq_val_release(cq_val_of_dict(in));
    return status;
}

/* Returns the value of each word of the vocabulary. */
static cq_status dict_vectorizer(cq_rt *rt)
{
    const cq_onnx_attribute *texts = cq_rt_attr_given(rt, "string_vocabulary");
    const cq_onnx_attribute *whole = cq_rt_attr_given(rt, "int64_vocabulary");
    int64_t                 *indices;
    cq_status                status;
    uint32_t                 n;
    map                      m;

    CQ_TRY(open_map(&m, rt->in[0]));
    if (m.key_texts ? !texts : !whole)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "DictVectorizer has no vocabulary of the type of X's keys");
    n       = m.key_texts ? texts->strings.n : whole->ints.n;
    indices = cq_alloc_array(n, sizeof *indices);
    if (!indices)
        return CQ_E_NO_MEMORY;
    status = find_words(indices, &m, texts, whole);
    if (status == CQ_OK)
        status =
            put_values(rt, &m, indices, n, m.value_texts ? CQ_DTYPE_NONE : m.values->dtype, "");
    cq_free(indices);
    return status;
}

/* ---- look-up by key ---- */

typedef struct keyed {
    int64_t key, index;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* Computes, for each output element, the index of its value in the map; -1 if it is missing. Dense:
 * values sorted by key. Sparse: the value of key k is output element k. */
static cq_status order(int64_t *indices, const map *m, keyed *keys, bool sparse, int64_t n)
{
    for (int64_t i = 0; i < m->n; i++)
        keys[i] = (keyed){ cq_tensor_get_i64(m->keys, i), i };
    qsort(keys, (size_t)m->n, sizeof *keys, by_key);
    if (sparse && m->n && keys[0].key < 0)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "the map has the key %" PRId64 ", which is not a valid index", keys[0].key);
    for (int64_t i = 0; i < n; i++)
        indices[i] = sparse ? -1 : keys[i].index;
    for (int64_t i = 0; sparse && i < m->n && keys[i].key < n; i++)
        indices[keys[i].key] = keys[i].index;
    return CQ_OK;
}

static cq_status cast_map(cq_rt *rt)
{
    bool      sparse = cq_rt_is(rt, "map_form", "SPARSE");
    cq_dtype  dtype  = cq_rt_is(rt, "cast_to", "TO_FLOAT")   ? CQ_DTYPE_F32
                       : cq_rt_is(rt, "cast_to", "TO_INT64") ? CQ_DTYPE_I64
                                                             : CQ_DTYPE_NONE;
    int64_t  *indices, n = cq_rt_int(rt, "max_map");
    cq_status status;
    keyed    *keys;
    map       m;

    CQ_TRY(open_map(&m, rt->in[0]));
    if (m.key_texts || (sparse && n < 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "CastMap expects int64 keys and a positive max_map");
    n       = sparse ? n : m.n;
    indices = cq_alloc_array((size_t)n, sizeof *indices);
    keys    = cq_alloc_array((size_t)m.n, sizeof *keys);
    status  = indices && keys ? order(indices, &m, keys, sparse, n) : CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = put_values(rt, &m, indices, n, dtype, "0.f"); /* as ONNX Runtime prints a missing
                                                                * value */
    cq_free(indices);
    cq_free(keys);
    return status;
}

const cq_rt_row cq_rt_rows_ml_maps[] = {
    { "CastMap", 1, cast_map, 0, 0 },
    { "DictVectorizer", 1, dict_vectorizer, 0, 0 },
    { "ZipMap", 1, zip_map, 0, 0 },
    { 0 },
};
