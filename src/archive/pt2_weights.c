/* The tensors of an archive of torch.export. A raw record is the memory of one or several tensors,
 * each with sizes, strides and an offset, which are untrusted. */
#include "archive/pt2.h"

#include <stdio.h>
#include <string.h>

/* Takes over t. */
static cq_status add_tensor(cq_pt2_archive *a, cq_map *to, const char *name, cq_tensor *t)
{
    cq_status status = cq_vec_push(&a->tensors, t);

    if (status != CQ_OK) {
        cq_tensor_release(t);
        return status;
    }
    return cq_map_set(to, name, t);
}

/* The tensors of a tensor subclass, as NAME.ATTRIBUTE; subclasses may be nested. */
static cq_status add_inner(cq_pt2_archive *a, cq_map *to, const char *name, const cq_dict *inner)
{
    for (size_t i = 0; i < inner->n; i++) {
        const cq_val key = inner->entries[i].key, value = inner->entries[i].value;
        const char  *full;

        if (key.kind != CQ_VAL_STR)
            continue;
        full = cq_arena_printf(a->arena, "%s.%s", name, key.u.text->text);
        if (!full)
            return CQ_E_NO_MEMORY;
        if (value.kind == CQ_VAL_TENSOR)
            CQ_TRY(add_tensor(a, to, full, cq_tensor_retain(value.u.tensor)));
        else if (value.kind == CQ_VAL_DICT)
            CQ_TRY(add_inner(a, to, full, value.u.dict));
    }
    return CQ_OK;
}

/* ---- files of torch.save ---- */

static cq_status unpickle_record(const cq_pt2_archive *a, const char *record, cq_val *out)
{
    cq_archive  inner = { 0 };
    cq_storage *bytes;
    cq_status   status;

    *out = CQ_NONE;
    CQ_TRY(cq_pt2_record(&bytes, a, record));
    if (bytes->size) { /* an empty one means None */
        status = cq_archive_open_bytes(&inner, bytes, cq_pt2_where(a, record));
        if (status == CQ_OK)
            status = cq_archive_unpickle(out, &inner, "data", false);
        cq_archive_close(&inner);
    } else {
        status = CQ_OK;
    }
    cq_storage_release(bytes);
    return status;
}

static cq_status read_saved(cq_pt2_archive *a, cq_map *to, const char *record)
{
    cq_status status = CQ_OK;
    cq_val    dict;

    CQ_TRY(unpickle_record(a, record, &dict));
    for (size_t i = 0; dict.kind == CQ_VAL_DICT && i < dict.u.dict->n && status == CQ_OK; i++) {
        const cq_val key = dict.u.dict->entries[i].key, value = dict.u.dict->entries[i].value;

        if (key.kind == CQ_VAL_STR && value.kind == CQ_VAL_TENSOR)
            status = add_tensor(a, to, key.u.text->text, cq_tensor_retain(value.u.tensor));
        else if (key.kind == CQ_VAL_STR && value.kind == CQ_VAL_DICT)
            status = add_inner(a, to, key.u.text->text, value.u.dict);
    }
    if (dict.kind != CQ_VAL_DICT && dict.kind != CQ_VAL_NONE)
        status = cq_fail(CQ_E_FORMAT, cq_pt2_where(a, record), NULL,
                         "expected a dict of tensors, got a value of type %s",
                         cq_val_kind_name(dict.kind));
    cq_val_release(dict);
    return status;
}

/* ---- raw records ---- */

static cq_status plain_ints(const cq_json *list, const char *where, int64_t *out, size_t *n)
{
    *n = cq_json_length(list);
    if (*n > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, where, NULL, "a tensor has %zu dimensions, at most %d go",
                       *n, CQ_MAX_RANK);
    for (size_t i = 0; i < *n; i++) {
        const cq_json *size = cq_json_get(cq_json_at(list, i), "as_int");

        if (size->kind != CQ_JSON_INT || size->u.i < 0)
            return cq_fail(CQ_E_FORMAT, where, NULL, "the shape of a weight is not of numbers");
        out[i] = size->u.i;
    }
    return CQ_OK;
}

/* {"as_int": 3}, or a plain number. */
static int64_t integer(const cq_json *j)
{
    return cq_json_int(j, cq_json_int(cq_json_get(j, "as_int"), 0));
}

enum { SMALL_ZEROS = 1 << 16 }; /* not worth a mapping */

/* An empty record means zeros: a program without weights. They take no memory, but writing them
 * takes time. */
static cq_status zero_tensor(cq_pt2_archive *a, cq_tensor **out, cq_dtype dtype, size_t rank,
                             const int64_t *sizes, const char *where)
{
    cq_storage *zeros;
    cq_int      whole[CQ_MAX_RANK];
    cq_tensor  *fake;
    uint64_t    size;
    cq_status   status;

    for (size_t i = 0; i < rank; i++)
        whole[i] = cq_i(sizes[i]);
    CQ_TRY(cq_tensor_new_fake(&fake, dtype, rank, whole)); /* checks that sizes fit */
    size = (uint64_t)cq_tensor_numel(fake) * cq_dtype_size(dtype);
    if (size <= SMALL_ZEROS) {
        cq_tensor_release(fake);
        return cq_tensor_new(out, dtype, rank, sizes, NULL);
    }
    if (size > CQ_PT2_MAX_ZEROS - a->n_zeros)
        status = cq_fail(CQ_E_UNSUPPORTED, where, NULL,
                         "the weights are without data and larger than %llu GB",
                         (unsigned long long)(CQ_PT2_MAX_ZEROS >> 30));
    else
        status = cq_storage_zeros(&zeros, (size_t)size);
    if (status == CQ_OK) {
        a->n_zeros += size;
        status = cq_tensor_new_on(out, zeros, dtype, rank, sizes, fake->strides, 0);
        cq_storage_release(zeros);
    }
    cq_tensor_release(fake);
    return status;
}

static cq_status tensor_on(cq_pt2_archive *a, cq_tensor **out, cq_storage *bytes,
                           const cq_json *meta, const char *where)
{
    int64_t        sizes[CQ_MAX_RANK], strides[CQ_MAX_RANK];
    const cq_json *offset = cq_json_get(meta, "storage_offset");
    cq_dtype       dtype  = cq_pt2_dtype(cq_json_int(cq_json_get(meta, "dtype"), -1));
    size_t         rank, n_strides;
    cq_status      status;

    *out = NULL;
    if (dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, where, NULL, "the dtype %lld of a weight is not known",
                       (long long)cq_json_int(cq_json_get(meta, "dtype"), -1));
    CQ_TRY(plain_ints(cq_json_get(meta, "sizes"), where, sizes, &rank));
    CQ_TRY(plain_ints(cq_json_get(meta, "strides"), where, strides, &n_strides));
    if (n_strides != rank)
        return cq_fail(CQ_E_FORMAT, where, NULL, "a weight has %zu sizes but %zu strides", rank,
                       n_strides);
    status = bytes->size
                 ? cq_tensor_new_on(out, bytes, dtype, rank, sizes, strides, integer(offset))
                 : zero_tensor(a, out, dtype, rank, sizes, where);
    if (status != CQ_OK)
        return cq_error_add_where(status, "%s", where);
    (*out)->requires_grad = cq_json_bool(cq_json_get(meta, "requires_grad"), false);
    return CQ_OK;
}

/* The records of a config that were read so far, by path. */
typedef struct records {
    cq_map storages; /* that tensors share */
    cq_map pickled;  /* tensors, which are the archive's; NOTHING: it is not a tensor */
} records;

static char nothing;
#define NOTHING ((void *)&nothing)

/* A record with several names is read once. Other values have a class that only Python knows: using
 * one is an error. */
static cq_status read_pickled(cq_pt2_archive *a, cq_map *to, const char *name, const char *path,
                              const char *record, cq_map *known)
{
    void  *there = cq_map_get(known, path);
    cq_val v;

    if (there)
        return there == NOTHING ? CQ_OK : add_tensor(a, to, name, cq_tensor_retain(there));
    CQ_TRY(unpickle_record(a, record, &v));
    if (v.kind == CQ_VAL_TENSOR) {
        CQ_TRY(add_tensor(a, to, name, v.u.tensor));
        return cq_map_set(known, path, v.u.tensor);
    }
    if (v.kind == CQ_VAL_DICT) { /* read again for another name */
        const cq_status status = add_inner(a, to, name, v.u.dict);

        cq_val_release(v);
        return status;
    }
    cq_val_release(v);
    return cq_map_set(known, path, NOTHING);
}

static cq_status read_raw(cq_pt2_archive *a, cq_map *to, const char *folder,
                          const cq_json_member *entry, records *known)
{
    const char *path   = cq_json_text(cq_json_get(&entry->value, "path_name"), "");
    const char *record = cq_arena_printf(a->arena, "%s/%s", folder, path);
    cq_storage *bytes  = cq_map_get(&known->storages, path);
    cq_tensor  *t;

    if (!record)
        return CQ_E_NO_MEMORY;
    if (cq_json_bool(cq_json_get(&entry->value, "use_pickle"), false))
        return read_pickled(a, to, entry->key, path, record, &known->pickled);
    if (strncmp(path, "custom_obj_", 11) == 0 || strncmp(path, "opaque_obj_", 11) == 0)
        return CQ_OK; /* so is an object */
    if (!bytes) {
        cq_status status;

        CQ_TRY(cq_pt2_record(&bytes, a, record));
        status = cq_storage_align(&bytes);
        if (status == CQ_OK)
            status = cq_map_set(&known->storages, path, bytes);
        if (status != CQ_OK) {
            cq_storage_release(bytes);
            return status;
        }
    }
    CQ_TRY(tensor_on(a, &t, bytes, cq_json_get(&entry->value, "tensor_meta"),
                     cq_pt2_where(a, record)));
    return add_tensor(a, to, entry->key, t);
}

static cq_status read_config(cq_pt2_archive *a, cq_map *to, const char *folder, const char *record)
{
    const cq_json *root, *config;
    records        known = { 0 };
    cq_storage    *bytes;
    cq_status      status;

    CQ_TRY(cq_pt2_record(&bytes, a, record));
    status = cq_json_parse(&root, a->arena, bytes->data, bytes->size, cq_pt2_where(a, record));
    cq_storage_release(bytes);
    CQ_TRY(status);
    config = cq_json_get(root, "config");
    for (size_t i = 0; i < cq_json_length(config) && status == CQ_OK; i++)
        status = config->kind == CQ_JSON_OBJECT
                     ? read_raw(a, to, folder, &config->u.members[i], &known)
                     : cq_fail(CQ_E_FORMAT, cq_pt2_where(a, record), NULL,
                               "the weights are not a dict by their names");
    for (size_t i = 0; i < known.storages.n; i++)
        cq_storage_release(known.storages.entries[i].value);
    cq_map_clear(&known.storages);
    cq_map_clear(&known.pickled);
    return status;
}

/* ---- all of them ---- */

/* A missing file is not an error: a program may have no constants. */
static cq_status read_saved_if_there(cq_pt2_archive *a, cq_map *to, const char *record)
{
    return cq_pt2_has_record(a, record) ? read_saved(a, to, record) : CQ_OK;
}

static cq_status read_plain(cq_pt2_archive *a)
{
    CQ_TRY(read_saved_if_there(a, &a->weights, "serialized_state_dict.pt"));
    CQ_TRY(read_saved_if_there(a, &a->weights, "serialized_state_dict.json"));
    CQ_TRY(read_saved_if_there(a, &a->constants, "serialized_constants.pt"));
    return read_saved_if_there(a, &a->constants, "serialized_constants.json");
}

/* Raw records with a config, or, of PyTorch 2.8, a file of torch.save. */
static cq_status read_folder(cq_pt2_archive *a, cq_map *to, const char *kind)
{
    const char *folder = cq_arena_printf(a->arena, "data/%s", kind);
    const char *config =
        cq_arena_printf(a->arena, "data/%s/%s_%s_config.json", kind, a->model, kind);
    const char *saved = cq_arena_printf(a->arena, "data/%s/%s.pt", kind, a->model);

    if (!folder || !config || !saved)
        return CQ_E_NO_MEMORY;
    if (cq_pt2_has_record(a, config))
        CQ_TRY(read_config(a, to, folder, config));
    return read_saved_if_there(a, to, saved);
}

/* Any Python object can be among them; without them there are still the sizes of the program. */
static void read_sample(cq_pt2_archive *a)
{
    const char *record = a->is_plain
                             ? "serialized_example_inputs.pt"
                             : cq_arena_printf(a->arena, "data/sample_inputs/%s.pt", a->model);

    if (record && unpickle_record(a, record, &a->sample) != CQ_OK)
        a->sample = CQ_NONE;
}

cq_status cq_pt2_read_tensors(cq_pt2_archive *a)
{
    if (a->is_plain) {
        CQ_TRY(read_plain(a));
    } else {
        CQ_TRY(read_folder(a, &a->weights, "weights"));
        CQ_TRY(read_folder(a, &a->constants, "constants"));
    }
    read_sample(a);
    return CQ_OK;
}
