/* Reads safetensors: 8 bytes with the size of the header, the header, the data.
 *
 *     {"__metadata__": {"format": "pt"}, "weight": {"dtype": "F32", "shape": [2, 3],
 *      "data_offsets": [0, 24]}, ...}
 *
 * The header is not trusted. As the format demands, the ranges of the tensors have the sizes that
 * dtype and shape give, do not overlap, leave no gap, and end with the file. */
#include "archive/safetensors.h"

#include "base/json_tree.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The limit of the reference implementation. */
#define MAX_HEADER (UINT64_C(100) << 20)

enum { PREFIX = 8 };

static const struct dtype_row {
    const char *name;
    cq_dtype    dtype;
} dtypes[] = {
    { "F32", CQ_DTYPE_F32 },        { "F16", CQ_DTYPE_F16 },
    { "BF16", CQ_DTYPE_BF16 },      { "F64", CQ_DTYPE_F64 },
    { "I64", CQ_DTYPE_I64 },        { "I32", CQ_DTYPE_I32 },
    { "I16", CQ_DTYPE_I16 },        { "I8", CQ_DTYPE_I8 },
    { "U8", CQ_DTYPE_U8 },          { "U16", CQ_DTYPE_U16 },
    { "U32", CQ_DTYPE_U32 },        { "U64", CQ_DTYPE_U64 },
    { "BOOL", CQ_DTYPE_BOOL },      { "F8_E4M3", CQ_DTYPE_F8E4M3FN },
    { "F8_E5M2", CQ_DTYPE_F8E5M2 }, { "F8_E8M0", CQ_DTYPE_F8E8M0 },
    { "C64", CQ_DTYPE_C64 },
};

const char *cq_safetensors_dtype_name(cq_dtype dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

typedef struct range {
    const cq_json_member *entry;
    cq_dtype              dtype;
    size_t                rank;
    uint64_t              from, to;
} range;

typedef CQ_VEC(range) ranges;

static uint64_t header_size(const unsigned char *p)
{
    uint64_t n = 0;

    for (size_t i = PREFIX; i-- > 0;)
        n = n << 8 | p[i];
    return n;
}

bool cq_safetensors_is(const void *data, size_t size)
{
    const unsigned char *p = data;

    return size > PREFIX + 1 && p[PREFIX] == '{' && header_size(p) <= MAX_HEADER &&
           (p[PREFIX + 1] == '"' || p[PREFIX + 1] == '}' || p[PREFIX + 1] == ' ');
}

/* ---- the header ---- */

static cq_dtype dtype_of(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return CQ_DTYPE_NONE;
}

static cq_status fail(const char *path, const char *name, const char *what)
{
    return cq_fail(CQ_E_FORMAT, path, "the file is damaged; download it again", "tensor %.200s %s",
                   name, what);
}

/* The bytes that dtype and shape give. */
static cq_status count_bytes(const range *r, const cq_json *shape, const char *path, uint64_t *out)
{
    uint64_t n        = cq_dtype_size(r->dtype);
    bool     overflow = false, is_empty = false;

    for (size_t i = 0; i < r->rank; i++) {
        const cq_json *size = cq_json_at(shape, i);

        if (size->kind != CQ_JSON_INT || size->u.i < 0)
            return fail(path, r->entry->key, "has a size that is not a natural number");
        is_empty |= size->u.i == 0;
        overflow |= size->u.i && __builtin_mul_overflow(n, (uint64_t)size->u.i, &n);
    }
    if (overflow && !is_empty)
        return fail(path, r->entry->key, "has a shape that does not fit in memory");
    *out = is_empty ? 0 : n;
    return CQ_OK;
}

static cq_status read_range(range *out, const cq_json_member *entry, uint64_t data_size,
                            const char *path)
{
    const cq_json *offsets = cq_json_get(&entry->value, "data_offsets");
    const cq_json *shape   = cq_json_get(&entry->value, "shape");
    const char    *dtype   = cq_json_text(cq_json_get(&entry->value, "dtype"), "");
    const int64_t  from    = cq_json_int(cq_json_at(offsets, 0), -1),
                  to       = cq_json_int(cq_json_at(offsets, 1), -1);
    uint64_t size;

    *out = (range){ .entry = entry, .dtype = dtype_of(dtype), .rank = cq_json_length(shape) };
    if (out->dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, path, NULL, "tensor %.200s has the unknown dtype '%.40s'",
                       entry->key, dtype);
    if (shape->kind != CQ_JSON_LIST || out->rank > CQ_MAX_RANK)
        return fail(path, entry->key, "has no shape, or too many dimensions");
    if (cq_json_length(offsets) != 2 || from < 0 || to < from || (uint64_t)to > data_size)
        return fail(path, entry->key, "has data_offsets outside of the file");
    CQ_TRY(count_bytes(out, shape, path, &size));
    if (size != (uint64_t)(to - from))
        return cq_fail(CQ_E_FORMAT, path, "the file is damaged; download it again",
                       "tensor %.200s has %" PRId64 " bytes, but its dtype and shape need %" PRIu64,
                       entry->key, to - from, size);
    out->from = (uint64_t)from;
    out->to   = (uint64_t)to;
    return CQ_OK;
}

static int by_offset(const void *a, const void *b)
{
    const range *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const range *const *)a)->entry->key, (*(const range *const *)b)->entry->key);
}

static cq_status check_names(const ranges *all, const char *path)
{
    const range **sorted = cq_alloc_array(all->n + 1, sizeof *sorted);
    cq_status     status = CQ_OK;

    if (!sorted)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < all->n; i++)
        sorted[i] = &all->items[i];
    qsort(sorted, all->n, sizeof *sorted, by_name);
    for (size_t i = 1; i < all->n && status == CQ_OK; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0)
            status = fail(path, sorted[i]->entry->key, "is there twice");
    cq_free(sorted);
    return status;
}

static cq_status check_ranges(ranges *all, uint64_t data_size, const char *path)
{
    uint64_t at = 0;

    CQ_TRY(check_names(all, path));
    qsort(all->items, all->n, sizeof *all->items, by_offset);
    for (size_t i = 0; i < all->n; i++) {
        if (all->items[i].from != at)
            return fail(path, all->items[i].entry->key,
                        all->items[i].from < at ? "overlaps another one"
                                                : "has unused bytes in front of it");
        at = all->items[i].to;
    }
    if (at == data_size)
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, path, "the file is damaged; download it again",
                   "the tensors have %" PRIu64 " bytes, but the file has %" PRIu64 " for them", at,
                   data_size);
}

/* ---- values ---- */

static cq_status set_text(cq_dict *dict, const char *key, cq_val value)
{
    cq_text  *text;
    cq_status status;

    CQ_TRY(cq_text_new(&text, key, strlen(key)));
    status = cq_dict_push(dict, cq_val_of_text(text), value);
    cq_val_release(cq_val_of_text(text));
    return status;
}

static cq_status add_tensor(cq_dict *dict, const range *r, cq_storage *bytes, uint64_t data)
{
    const cq_json *shape = cq_json_get(&r->entry->value, "shape");
    int64_t        sizes[CQ_MAX_RANK], strides[CQ_MAX_RANK];
    cq_int         whole[CQ_MAX_RANK];
    cq_storage    *part;
    cq_tensor     *t;
    cq_status      status;

    for (size_t i = 0; i < r->rank; i++)
        whole[i] = cq_i(sizes[i] = cq_json_at(shape, i)->u.i);
    cq_contiguous_strides(strides, r->rank, whole);
    CQ_TRY(cq_storage_part(&part, bytes, data + r->from, r->to - r->from));
    status = cq_tensor_new_on(&t, part, r->dtype, r->rank, sizes, strides, 0);
    cq_storage_release(part);
    CQ_TRY(status);
    status = set_text(dict, r->entry->key, cq_val_of_tensor(t));
    cq_tensor_release(t);
    return status;
}

static cq_status read_metadata(cq_val *out, const cq_json *json)
{
    cq_dict *dict;

    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    for (size_t i = 0; json->kind == CQ_JSON_OBJECT && i < json->n; i++) {
        const cq_json_member *m = &json->u.members[i];
        cq_text              *text;
        cq_status             status;

        if (m->value.kind != CQ_JSON_TEXT)
            continue;
        CQ_TRY(cq_text_new(&text, m->value.u.text, m->value.n));
        status = set_text(dict, m->key, cq_val_of_text(text));
        cq_val_release(cq_val_of_text(text));
        CQ_TRY(status);
    }
    return CQ_OK;
}

static cq_status read_header(ranges *all, const cq_json *root, uint64_t data_size, cq_val *metadata,
                             const char *path)
{
    if (root->kind != CQ_JSON_OBJECT)
        return cq_fail(CQ_E_FORMAT, path, NULL, "the header is not a JSON object");
    for (size_t i = 0; i < root->n; i++) {
        const cq_json_member *m = &root->u.members[i];
        range                 r;

        if (strcmp(m->key, "__metadata__") == 0) {
            if (metadata->kind != CQ_VAL_NONE)
                return cq_fail(CQ_E_FORMAT, path, NULL, "the header has __metadata__ twice");
            CQ_TRY(read_metadata(metadata, &m->value));
            continue;
        }
        CQ_TRY(read_range(&r, m, data_size, path));
        CQ_TRY(cq_vec_push(all, r));
    }
    return check_ranges(all, data_size, path);
}

static cq_status read_all(cq_val *out, cq_val *metadata, cq_storage *bytes, const char *path,
                          cq_arena *arena, ranges *all)
{
    const uint64_t n = bytes->size >= PREFIX ? header_size(bytes->data) : 0;
    const cq_json *root;
    cq_dict       *dict;

    if (bytes->size < PREFIX || n > bytes->size - PREFIX || n > MAX_HEADER)
        return cq_fail(CQ_E_FORMAT, path, "the file is truncated; download it again",
                       "the header should have %" PRIu64 " bytes, but the file has %zu", n,
                       bytes->size);
    CQ_TRY(cq_json_parse(&root, arena, (const char *)bytes->data + PREFIX, n, path));
    CQ_TRY(read_header(all, root, bytes->size - PREFIX - n, metadata, path));
    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    for (size_t i = 0; i < all->n; i++)
        CQ_TRY(add_tensor(dict, &all->items[i], bytes, PREFIX + n));
    return CQ_OK;
}

cq_status cq_safetensors_read(cq_val *out, cq_val *metadata, cq_storage *bytes, const char *path)
{
    cq_arena *arena = cq_arena_new();
    ranges    all   = { 0 };
    cq_status status;

    *out = *metadata = CQ_NONE;
    status           = arena ? read_all(out, metadata, bytes, path, arena, &all) : CQ_E_NO_MEMORY;
    cq_vec_clear(&all);
    cq_arena_free(arena);
    if (status != CQ_OK) {
        cq_val_release(*out);
        cq_val_release(*metadata);
        *out = *metadata = CQ_NONE;
    }
    return status;
}
