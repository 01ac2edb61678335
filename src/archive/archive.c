/* Opens files that PyTorch writes, and reports the kind of other files. */
#include "archive/archive.h"

#include "base/signature.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* ---- what it is not ------------------------------------------------------------------------- */

/* Zip files of other kinds, by an entry that only they have. */
static const struct {
    const char *entry, *what, *hint;
} others[] = {
    { "model.json", "this is a TorchScript archive of PyTorch 1.0 to 1.2 (model.json)",
      "load and save it with PyTorch 1.3 to 1.12" },
    { "archive_format", "this is an archive of torch.export (.pt2), not TorchScript",
      "cq_pt2_load opens it" },
    { "serialized_exported_program.json",
      "this is an archive of torch.export (.pt2), not TorchScript", "cq_pt2_load opens it" },
    { ".data/extern_modules", "this is a package of torch.package",
      "load the model from it and save it by torch.export.save" },
    { "MANIFEST.json", "this is an archive of another program (MAR)",
      "unpack it, by unzip: the model is in it" },
    { "META-INF/MANIFEST.MF", "this is an archive of another program (JAR)", NULL },
};

static cq_status check_kind(const cq_archive *a)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cq_archive_find(a, others[i].entry) || cq_zip_find(a->zip, others[i].entry))
            return cq_fail(CQ_E_UNSUPPORTED, a->path, others[i].hint, "%s", others[i].what);
    if (cq_archive_find(a, "data.pkl"))
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, a->path, NULL,
                   "this is a zip archive, but PyTorch did not write it: it has no data.pkl");
}

/* ---- opening -------------------------------------------------------------------------------- */

static cq_status read_byte_order(cq_archive *a)
{
    cq_storage *s;

    if (!cq_archive_find(a, "byteorder"))
        return CQ_OK;
    CQ_TRY(cq_archive_read(&s, a, "byteorder"));
    a->is_big_endian = s->size >= 3 && memcmp(s->data, "big", 3) == 0;
    cq_storage_release(s);
    return CQ_OK;
}

cq_status cq_archive_open_bytes(cq_archive *out, cq_storage *bytes, const char *path)
{
    cq_status status;

    *out = (cq_archive){ 0 };
    CQ_TRY(cq_check_signature(bytes->data, bytes->size, path));
    out->path = cq_strdup(path);
    if (!out->path)
        return CQ_E_NO_MEMORY;
    status = cq_zip_open(&out->zip, bytes, path);
    if (status == CQ_OK)
        status = check_kind(out);
    if (status == CQ_OK)
        status = read_byte_order(out);
    if (status != CQ_OK)
        cq_archive_close(out);
    return status;
}

void cq_archive_close(cq_archive *a)
{
    cq_zip_free(a->zip);
    cq_free(a->path);
    *a = (cq_archive){ 0 };
}

int64_t cq_archive_max_bytes(uint64_t size)
{
    const uint64_t available = cq_alloc_available() / 4 * 3;
    int64_t        bytes     = CQ_ARCHIVE_BYTES;

    if (size < INT64_MAX / 2 / CQ_ARCHIVE_FACTOR)
        bytes += CQ_ARCHIVE_FACTOR * (int64_t)size;
    return available < (uint64_t)bytes ? (int64_t)available : bytes;
}

/* ---- entries -----------------------------------------------------------------------------------
 */

const cq_zip_entry *cq_archive_find(const cq_archive *a, const char *name)
{
    char full[CQ_ZIP_MAX_NAME + 1]; /* no memory that could be missing: NULL is a fact */
    int  len = snprintf(full, sizeof full, "%s%s", cq_zip_root(a->zip), name);

    return len >= 0 && (size_t)len < sizeof full ? cq_zip_find(a->zip, full) : NULL;
}

static cq_status not_there(const cq_archive *a, const char *name)
{
    return cq_fail(CQ_E_NOT_FOUND, a->path, NULL, "the archive has no entry %s%s",
                   cq_zip_root(a->zip), name);
}

cq_status cq_archive_read(cq_storage **out, const cq_archive *a, const char *name)
{
    const cq_zip_entry *e = cq_archive_find(a, name);
    cq_status           status;

    *out = NULL;
    if (!e)
        return not_there(a, name);
    CQ_TRY(cq_zip_read(out, a->zip, e));
    status = e->is_stored ? cq_zip_check(a->zip, e, *out) : CQ_OK;
    if (status != CQ_OK) {
        cq_storage_release(*out);
        *out = NULL;
    }
    return status;
}

typedef struct storages {
    const cq_archive *a;
    const char       *folder;
} storages;

/* Weights: their sums are not checked, which would read all of them. */
static cq_status load_storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    const storages     *s    = user;
    cq_str              name = { 0 };
    const cq_zip_entry *e;
    cq_status           status;

    (void)size; /* the unpickler compares it with that of the entry */
    *out = NULL;
    cq_str_printf(&name, "%s/%s", s->folder, key);
    status = name.status;
    if (status == CQ_OK) {
        e      = cq_archive_find(s->a, name.text);
        status = e ? cq_zip_read(out, s->a->zip, e) : not_there(s->a, name.text);
    }
    cq_str_clear(&name);
    return status == CQ_OK ? cq_storage_align(out) : status;
}

cq_status cq_archive_unpickle(cq_val *out, const cq_archive *a, const char *name,
                              bool may_lack_data)
{
    storages         s      = { a, name };
    cq_pickle_source source = { .storage       = load_storage,
                                .user          = &s,
                                .is_big_endian = a->is_big_endian,
                                .may_lack_data = may_lack_data,
                                .any_class     = a->any_class };
    cq_str           file = { 0 }, where = { 0 };
    cq_storage      *bytes = NULL;
    cq_status        status;

    *out = CQ_NONE;
    cq_str_printf(&file, "%s.pkl", name);
    cq_str_printf(&where, "%s!%s%s.pkl", a->path, cq_zip_root(a->zip), name);
    status = file.status != CQ_OK ? file.status : where.status;
    if (status == CQ_OK)
        status = cq_archive_read(&bytes, a, file.text);
    if (status == CQ_OK) {
        source.data  = bytes->data;
        source.size  = bytes->size;
        source.where = where.text;
        status       = cq_unpickle(out, &source);
    }
    cq_storage_release(bytes);
    cq_str_clear(&file);
    cq_str_clear(&where);
    return status;
}
