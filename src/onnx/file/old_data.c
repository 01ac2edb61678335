/* Saving a model with external data writes a new data file and deletes the old one. A file is old
 * data if it is called PATH.data or PATH.data.SUFFIX, and one of these is true: - The model at
 * PATH, which is being replaced, refers to it. - The temporary file of an interrupted save is a
 * model that refers to it, and its size matches. Another model may still use the file, for example
 * a copy of the model under another name. So it is deleted only if no other file in the folder
 * contains its name. In doubt it is kept. */
#include "onnx/file/old_data.h"

#include "base/path.h"
#include "base/str.h"
#include "onnx/file/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the search for names; old data is kept if they are exceeded. A file beyond LARGE is
 * searched only where ONNX stores names. */
#define LARGE     ((uint64_t)64 << 20)
#define MAX_BYTES ((uint64_t)512 << 20)
enum { MAX_FILES = 4096, SUFFIX_SIZE = 16, SPLIT_SIZE = 5 };

typedef struct old_file {
    char    *name;
    uint64_t end; /* end of the bytes that the referring model uses */
    bool     replaced, interrupted, used;
} old_file;

typedef struct search {
    const char *path, *name; /* path of the model; name is path without its folder */
    char       *folder;      /* folder with a slash, or empty */
    CQ_VEC(old_file) old;
    size_t   n_files;
    uint64_t n_bytes;
} search;

cq_status cq_onnx_data_path(char **out, const char *path, bool preferred)
{
    cq_str name = { 0 };

    cq_str_printf(&name, "%s.data", path);
    if (name.status == CQ_OK && (!preferred || cq_path_exists(name.text) || errno != ENOENT))
        cq_str_printf(&name, ".%016" PRIx64, cq_random_bits());
    *out = cq_str_take(&name);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

/* ---- names ---- */

static const char *without_folder(const char *path)
{
    return cq_path_name(path);
}

/* Matches NAME.data, NAME.data.0123456789abcdef, and .1, .2, … after either. */
static bool is_data_name(const search *s, const char *name)
{
    const size_t n = strlen(s->name);

    if (strncmp(name, s->name, n) != 0 || !cq_starts_with(name + n, ".data"))
        return false;
    name += n + strlen(".data");
    if (!*name)
        return true;
    return *name == '.' && name[1] && strspn(name + 1, "0123456789abcdef.") == strlen(name + 1) &&
           strlen(name + 1) <= SUFFIX_SIZE + SPLIT_SIZE;
}

static bool is_temporary(const char *name)
{
    return cq_starts_with(name, ".calque-") && cq_ends_with(name, ".part");
}

static old_file *find_old(search *s, const char *name)
{
    for (size_t i = 0; i < s->old.n; i++)
        if (strcmp(s->old.items[i].name, name) == 0)
            return &s->old.items[i];
    return NULL;
}

/* ---- references of a model ---- */

/* Calls visit for each external tensor of a message. */
static void each_external(search *s, const cq_onnx_message *message, const void *from,
                          void (*visit)(search *, const char *location, uint64_t end))
{
    const cq_onnx_tensor *tensor = from;

    if (message == &cq_onnx_tensor_message) {
        const char *location = cq_onnx_entry_get(&tensor->external_data, "location");
        const char *offset   = cq_onnx_entry_get(&tensor->external_data, "offset");
        const char *length   = cq_onnx_entry_get(&tensor->external_data, "length");

        if (location && cq_onnx_is_external(tensor))
            visit(s, location,
                  (offset ? strtoull(offset, NULL, 10) : 0) +
                      (length ? strtoull(length, NULL, 10) : 0));
        return;
    }
    for (uint32_t i = 1; i < message->n_fields; i++) {
        const cq_onnx_field *field = &message->fields[i];
        const char          *at    = (const char *)from + field->offset;
        cq_onnx_any_list     list  = { .items = (void *)at, .n = 1 };
        const void          *item;

        if (field->kind != CQ_ONNX_KIND_MESSAGE)
            continue;
        if (field->repeated)
            memcpy(&list, at, sizeof list);
        for (uint32_t k = 0; k < list.n; k++) {
            memcpy(&item, (char *)list.items + k * sizeof item, sizeof item);
            if (item)
                each_external(s, field->message, item, visit);
        }
    }
}

/* A file that is not a model has no references. */
static void visit_model(search *s, const char *path,
                        void (*visit)(search *, const char *location, uint64_t end))
{
    cq_onnx_model  *m;
    cq_error_record record;

    if (cq_path_look_up(path, NULL) != CQ_PATH_FILE)
        return;
    cq_error_save(&record);
    if (cq_onnx_model_load(&m, path) == CQ_OK) {
        each_external(s, &cq_onnx_model_message, m, visit);
        cq_onnx_model_free(m);
    }
    cq_error_restore(&record);
}

static void add_old(search *s, const char *location, uint64_t end, bool replaced)
{
    old_file *found = find_old(s, location);
    char     *name;

    if (!found && is_data_name(s, location) && (name = cq_strdup(location))) {
        if (cq_vec_push(&s->old, ((old_file){ .name = name })) == CQ_OK)
            found = &s->old.items[s->old.n - 1];
        else
            cq_free(name);
    }
    if (!found)
        return;
    found->end = end > found->end ? end : found->end;
    found->replaced |= replaced;
    found->interrupted |= !replaced;
}

static void note_replaced(search *s, const char *location, uint64_t end)
{
    add_old(s, location, end, true);
}

static void note_interrupted(search *s, const char *location, uint64_t end)
{
    add_old(s, location, end, false);
}

static void note_used(search *s, const char *location, uint64_t end)
{
    old_file *found = find_old(s, without_folder(location));

    (void)end;
    if (found)
        found->used = true;
}

/* ---- other files ---- */

static void keep_all(search *s)
{
    for (size_t i = 0; i < s->old.n; i++)
        s->old.items[i].used = true;
}

static void search_bytes(search *s, const char *path)
{
    cq_mapping     *file;
    cq_error_record record;

    cq_error_save(&record);
    if (cq_mapping_open(&file, path) != CQ_OK) {
        keep_all(s);
        cq_error_restore(&record);
        return;
    }
    for (size_t i = 0; i < s->old.n; i++) {
        const char  *data = cq_mapping_data(file), *name = s->old.items[i].name;
        const size_t size = cq_mapping_size(file), n = strlen(name);

        for (size_t at = 0; size >= n && at <= size - n && !s->old.items[i].used; at++) {
            const char *found = memchr(data + at, *name, size - n - at + 1);

            if (!found)
                break;
            at                   = (size_t)(found - data);
            s->old.items[i].used = memcmp(found, name, n) == 0;
        }
    }
    cq_mapping_release(file);
}

static void search_file(search *s, const char *path)
{
    uint64_t size;

    if (cq_path_look_up(path, &size) != CQ_PATH_FILE || size == 0)
        return;
    s->n_bytes += size < LARGE ? size : 0;
    if (++s->n_files > MAX_FILES || s->n_bytes > MAX_BYTES)
        keep_all(s);
    else if (size < LARGE)
        search_bytes(s, path);
    else
        visit_model(s, path, note_used);
}

typedef struct file_visit {
    search *s;
    bool    temporary;
    void (*visit)(search *, const char *path);
} file_visit;

static cq_status visit_name(void *user, const char *name)
{
    const file_visit *v    = user;
    search           *s    = v->s;
    cq_str            path = { 0 };

    if (strcmp(name, s->name) == 0 || is_data_name(s, name) || is_temporary(name) != v->temporary)
        return CQ_OK;
    cq_str_printf(&path, "%s%s", s->folder, name);
    if (path.status == CQ_OK)
        v->visit(s, path.text);
    else
        keep_all(s);
    cq_str_clear(&path);
    return CQ_OK;
}

/* Calls visit for the temporary files of the folder, or for all others. */
static void each_file(search *s, bool temporary, void (*visit)(search *, const char *path))
{
    file_visit      v = { s, temporary, visit };
    cq_error_record record;

    cq_error_save(&record);
    if (cq_folder_each(*s->folder ? s->folder : ".", visit_name, &v, NULL) != CQ_OK)
        keep_all(s);
    cq_error_restore(&record);
}

static void visit_temporary(search *s, const char *path)
{
    visit_model(s, path, note_interrupted);
}

/* ---- decision ---- */

static bool is_unneeded(const old_file *f, const char *path)
{
    uint64_t size;

    if (f->used || cq_path_entry(path, &size) != CQ_ENTRY_FILE)
        return false;
    return f->replaced || (f->interrupted && size == f->end);
}

static cq_status delete_unneeded(const search *s, const cq_onnx_files *files)
{
    const bool in_place = cq_onnx_files_is_of(files, s->path);
    cq_status  status   = CQ_OK;

    for (size_t i = 0; i < s->old.n && status == CQ_OK; i++) {
        cq_str path = { 0 };

        cq_str_printf(&path, "%s%s", s->folder, s->old.items[i].name);
        status = path.status;
        if (status == CQ_OK && is_unneeded(&s->old.items[i], path.text) &&
            (in_place || !cq_onnx_files_has(files, path.text)))
            status = cq_batch_delete_unneeded(path.text);
        cq_str_clear(&path);
    }
    return status;
}

static void clear_old(search *s)
{
    for (size_t i = 0; i < s->old.n; i++)
        cq_free(s->old.items[i].name);
    cq_vec_clear(&s->old);
}

cq_status cq_onnx_delete_old_data(const char *path, const cq_onnx_files *files, bool has_data)
{
    search    s      = { .path = path, .name = without_folder(path) };
    cq_str    folder = { 0 };
    cq_lock   lock;
    cq_status status = CQ_OK;

    cq_str_add_n(&folder, path, (size_t)(s.name - path));
    cq_str_add(&folder, "");
    s.folder = cq_str_take(&folder);
    if (!s.folder)
        return CQ_E_NO_MEMORY;
    visit_model(&s, path, note_replaced);
    if (!s.old.n && !has_data)
        goto done;
    clear_old(&s); /* search again: files may have changed before the lock was taken */
    lock = cq_batch_lock(s.folder);
    if (lock == CQ_LOCK_BUSY)
        CQ_TRY_OR_DONE(cq_fail(CQ_E_IO, path, "write to another folder, or wait for that process",
                               "another process has locked the folder"));
    visit_model(&s, path, note_replaced);
    if (lock == CQ_LOCK_HELD) /* without the lock a temporary file may belong to another save in
                               * progress */
        each_file(&s, true, visit_temporary);
    /* The model at path uses its files until it is replaced, so it is not searched. */
    if (s.old.n)
        each_file(&s, false, search_file);
    status = delete_unneeded(&s, files);
done:
    clear_old(&s);
    cq_free(s.folder);
    return status;
}
