/* The containers of torch.export, and which program of an archive is meant. */
#include "archive/pt2.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define PLAIN_PROGRAM "serialized_exported_program.json"

/* ---- records ---- */

const char *cq_pt2_where(const cq_pt2_archive *a, const char *name)
{
    const char *where = cq_arena_printf(a->arena, "%s!%s%s", a->path, a->root, name);

    return where ? where : a->path;
}

static const cq_zip_entry *find(const cq_pt2_archive *a, const char *name)
{
    const char *full = cq_arena_printf(a->arena, "%s%s", a->root, name);

    return full ? cq_zip_find(a->zip, full) : NULL;
}

bool cq_pt2_has_record(const cq_pt2_archive *a, const char *name)
{
    return find(a, name) != NULL;
}

cq_status cq_pt2_record(cq_storage **out, const cq_pt2_archive *a, const char *name)
{
    const cq_zip_entry *e = find(a, name);

    *out = NULL;
    if (!e)
        return cq_fail(CQ_E_NOT_FOUND, a->path, NULL, "the archive has no record %s%s", a->root,
                       name);
    return cq_zip_read(out, a->zip, e);
}

cq_dtype cq_pt2_dtype(int64_t number)
{
    static const cq_dtype dtypes[] = {
        [1] = CQ_DTYPE_U8,      [2] = CQ_DTYPE_I8,          [3] = CQ_DTYPE_I16,
        [4] = CQ_DTYPE_I32,     [5] = CQ_DTYPE_I64,         [6] = CQ_DTYPE_F16,
        [7] = CQ_DTYPE_F32,     [8] = CQ_DTYPE_F64,         [9] = CQ_DTYPE_C32,
        [10] = CQ_DTYPE_C64,    [11] = CQ_DTYPE_C128,       [12] = CQ_DTYPE_BOOL,
        [13] = CQ_DTYPE_BF16,   [28] = CQ_DTYPE_U16,        [29] = CQ_DTYPE_F8E4M3FN,
        [30] = CQ_DTYPE_F8E5M2, [31] = CQ_DTYPE_F8E4M3FNUZ, [32] = CQ_DTYPE_F8E5M2FNUZ,
        [33] = CQ_DTYPE_F8E8M0, [34] = CQ_DTYPE_U32,        [35] = CQ_DTYPE_U64,
    };

    return number >= 0 && (size_t)number < sizeof dtypes / sizeof *dtypes ? dtypes[number]
                                                                          : CQ_DTYPE_NONE;
}

/* ---- which program ---- */

/* NAME of models/NAME.json, NULL for any other record. */
static const char *model_of(const cq_pt2_archive *a, const cq_zip_entry *e)
{
    const char *name = e->name + strlen(a->root);
    size_t      len;

    if (!cq_starts_with(e->name, a->root) || !cq_starts_with(name, "models/") ||
        !cq_ends_with(name, ".json"))
        return NULL;
    len = strlen(name) - strlen("models/") - strlen(".json");
    return cq_arena_strndup(a->arena, name + strlen("models/"), len);
}

/* Other objects that PyTorch puts into such archives. */
static cq_status no_program(const cq_pt2_archive *a)
{
    static const struct {
        const char *folder, *what;
    } products[] = {
        { "data/aotinductor/", "machine code that AOTInductor compiled" },
        { "data/executorch/", "a program for ExecuTorch" },
    };

    for (size_t i = 0; i < cq_zip_count(a->zip); i++)
        for (size_t k = 0; k < sizeof products / sizeof *products; k++)
            if (strstr(cq_zip_at(a->zip, i)->name, products[k].folder))
                return cq_fail(CQ_E_UNSUPPORTED, a->path,
                               "save the program itself, by torch.export.save",
                               "the archive holds %s, and no exported program", products[k].what);
    return cq_fail(CQ_E_UNSUPPORTED, a->path, "save the program by torch.export.save",
                   "the archive holds no exported program");
}

static cq_status choose_model(cq_pt2_archive *a, const char *wanted)
{
    cq_str    all = { 0 };
    size_t    n   = 0;
    cq_status status;

    for (size_t i = 0; i < cq_zip_count(a->zip) && !(wanted && a->model); i++) {
        const char *name = model_of(a, cq_zip_at(a->zip, i));

        if (!name)
            continue;
        cq_str_printf(&all, n++ ? ", %s" : "%s", name);
        if (!wanted || strcmp(wanted, name) == 0)
            a->model = name;
    }
    status = all.status;
    if (status == CQ_OK && !n)
        status = no_program(a);
    else if (status == CQ_OK && wanted && !a->model)
        status = cq_fail(CQ_E_NOT_FOUND, a->path, NULL,
                         "the archive has no program %s; it has: %.800s", wanted, all.text);
    else if (status == CQ_OK && !wanted && n > 1)
        status = cq_fail(CQ_E_ARGUMENT, a->path, "name one with --entry",
                         "the archive has several programs: %.800s", all.text);
    cq_str_clear(&all);
    return status;
}

/* ---- the JSON ---- */

/* Versions are numbers in the first schemas, and objects since. */
static cq_status check_version(const cq_pt2_archive *a)
{
    const cq_json *version = cq_json_get(a->program, "schema_version");
    int64_t        major   = cq_json_int(version, cq_json_int(cq_json_get(version, "major"), -1));

    if (major >= 1 && major <= 8)
        return CQ_OK;
    if (major < 0)
        return cq_fail(CQ_E_FORMAT, a->path, NULL, "the program does not tell its schema version");
    return cq_fail(CQ_E_UNSUPPORTED, a->path, "a newer calque may read it",
                   "the program is of schema version %lld; 1 to 8 are known", (long long)major);
}

static cq_status read_program(cq_pt2_archive *a)
{
    const char *name =
        a->is_plain ? PLAIN_PROGRAM : cq_arena_printf(a->arena, "models/%s.json", a->model);
    cq_storage *bytes;
    cq_status   status;

    if (!name)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_pt2_record(&bytes, a, name));
    status = cq_json_parse(&a->program, a->arena, bytes->data, bytes->size, cq_pt2_where(a, name));
    cq_storage_release(bytes);
    CQ_TRY(status);
    return check_version(a);
}

/* ---- opening ---- */

static cq_status find_root(cq_pt2_archive *a)
{
    a->root     = "";
    a->is_plain = cq_zip_find(a->zip, PLAIN_PROGRAM) != NULL;
    if (a->is_plain)
        return CQ_OK;
    a->root = cq_zip_root(a->zip);
    return find(a, "archive_format")
               ? CQ_OK
               : cq_fail(CQ_E_FORMAT, a->path, NULL, "this is not an archive of torch.export");
}

static cq_status check_byte_order(const cq_pt2_archive *a)
{
    cq_storage *s;
    bool        is_big;

    if (!find(a, "byteorder"))
        return CQ_OK;
    CQ_TRY(cq_pt2_record(&s, a, "byteorder"));
    is_big = s->size >= 3 && memcmp(s->data, "big", 3) == 0;
    cq_storage_release(s);
    return is_big ? cq_fail(CQ_E_UNSUPPORTED, a->path, "save it on another machine",
                            "the weights were written by a big-endian machine")
                  : CQ_OK;
}

static cq_status open_all(cq_pt2_archive *a, cq_storage *bytes, const char *model)
{
    CQ_TRY(cq_zip_open(&a->zip, bytes, a->path));
    CQ_TRY(find_root(a));
    CQ_TRY(check_byte_order(a));
    if (!a->is_plain)
        CQ_TRY(choose_model(a, model));
    else if (model && strcmp(model, "model") != 0)
        return cq_fail(CQ_E_NOT_FOUND, a->path, NULL, "the archive has one program without a name");
    CQ_TRY(read_program(a));
    return cq_pt2_read_tensors(a);
}

cq_status cq_pt2_archive_open_bytes(cq_pt2_archive **out, cq_storage *bytes, const char *path,
                                    const char *model)
{
    cq_pt2_archive *a = *out = cq_zalloc(sizeof *a);
    cq_status       status;

    if (!a)
        return CQ_E_NO_MEMORY;
    a->path  = cq_strdup(path);
    a->arena = a->path ? cq_arena_new() : NULL;
    status   = a->arena ? open_all(a, bytes, model) : CQ_E_NO_MEMORY;
    if (status != CQ_OK) {
        cq_pt2_archive_free(a);
        *out = NULL;
    }
    return status;
}

/* Opens as far as names of programs go. */
static cq_status open_names(cq_pt2_archive *a, const char *path)
{
    cq_storage *bytes;
    cq_status   status;

    a->path  = cq_strdup(path);
    a->arena = a->path ? cq_arena_new() : NULL;
    if (!a->arena)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_storage_open(&bytes, path));
    status = cq_zip_open(&a->zip, bytes, path);
    cq_storage_release(bytes);
    return status == CQ_OK ? find_root(a) : status;
}

cq_status cq_pt2_each_program(const char *path, cq_pt2_name_fn fn, void *user)
{
    cq_pt2_archive *a = cq_zalloc(sizeof *a);
    cq_status       status;

    if (!a)
        return CQ_E_NO_MEMORY;
    status = open_names(a, path);
    for (size_t i = 0; status == CQ_OK && !a->is_plain && i < cq_zip_count(a->zip); i++) {
        const char *name = model_of(a, cq_zip_at(a->zip, i));

        if (name)
            status = fn(user, name);
    }
    cq_pt2_archive_free(a);
    return status;
}

bool cq_pt2_is_archive(const char *path)
{
    cq_storage *bytes = NULL;
    cq_zip     *zip   = NULL;
    char        name[CQ_ZIP_MAX_NAME + 16];
    bool        is = false;

    if (cq_storage_open(&bytes, path) == CQ_OK && cq_zip_open(&zip, bytes, path) == CQ_OK) {
        snprintf(name, sizeof name, "%sarchive_format", cq_zip_root(zip));
        is = cq_zip_find(zip, PLAIN_PROGRAM) || cq_zip_find(zip, name);
    }
    cq_zip_free(zip);
    cq_storage_release(bytes);
    return is;
}

void cq_pt2_archive_free(cq_pt2_archive *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->tensors.n; i++)
        cq_tensor_release(a->tensors.items[i]);
    cq_vec_clear(&a->tensors);
    cq_map_clear(&a->weights);
    cq_map_clear(&a->constants);
    cq_val_release(a->sample);
    cq_zip_free(a->zip);
    if (a->arena)
        cq_arena_free(a->arena);
    cq_free(a->path);
    cq_free(a);
}
