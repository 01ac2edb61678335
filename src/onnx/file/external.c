/* Opens the files of external tensors. Locations are untrusted, so they may only refer to regular
 * files inside the model's own folder: a location is relative, has no "..", and is opened from a
 * handle of the folder, component by component (base/file.c). */
#include "onnx/file/external.h"

#include "base/lock.h"
#include "base/map.h"
#include "base/path.h"
#include "onnx/tensor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Prefix of a location that is not a file (testcase/strip.c). */
#define STRIPPED "{\"type\": \"stripped\""

struct cq_onnx_files {
    cq_mutex    lock;
    cq_map      open;     /* location to cq_mapping */
    const char *path;     /* path of the model; the name follows the folder */
    char        folder[]; /* "" or ending in / */
};

cq_status cq_onnx_files_new(cq_onnx_files **out, const char *path)
{
    const char    *slash = cq_path_separator(path);
    size_t         len = slash ? (size_t)(slash - path) + 1 : 0, size = strlen(path) + 1;
    cq_onnx_files *files = *out = cq_zalloc(sizeof *files + len + 1 + size);

    if (!files)
        return CQ_E_NO_MEMORY;
    cq_mutex_init(&files->lock);
    memcpy(files->folder, path, len);
    files->path = memcpy(files->folder + len + 1, path, size);
    return CQ_OK;
}

void cq_onnx_files_free(cq_onnx_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->open.n; i++)
        cq_mapping_release(files->open.entries[i].value);
    cq_map_clear(&files->open);
    cq_mutex_clear(&files->lock);
    cq_free(files);
}

bool cq_onnx_files_has(const cq_onnx_files *files, const char *path)
{
    for (size_t i = 0; files && i < files->open.n; i++)
        if (cq_mapping_is_of(files->open.entries[i].value, path))
            return true;
    return false;
}

bool cq_onnx_files_is_of(const cq_onnx_files *files, const char *path)
{
    return files && cq_path_is_same(files->path, path);
}

bool cq_onnx_files_is_beside(const cq_onnx_files *files, const char *path)
{
    const char *slash = cq_path_separator(path);
    char        folder[PATH_MAX];

    return files &&
           snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 0, path) <
               (int)sizeof folder &&
           cq_path_is_same(*folder ? folder : ".", *files->folder ? files->folder : ".");
}

bool cq_onnx_files_is_data(const cq_onnx_files *files, const cq_onnx_tensor *tensor,
                           const char *path)
{
    const char *location = cq_onnx_entry_get(&tensor->external_data, "location");
    char        own[PATH_MAX];

    return files && location &&
           snprintf(own, sizeof own, "%s%s", files->folder, location) < (int)sizeof own &&
           cq_path_is_same(own, path);
}

bool cq_onnx_is_external(const cq_onnx_tensor *tensor)
{
    return tensor->data_location == CQ_ONNX_LOCATION_EXTERNAL;
}

const char *cq_onnx_entry_get(const cq_onnx_entries *entries, const char *key)
{
    for (uint32_t i = 0; i < entries->n; i++)
        if (entries->items[i]->key && strcmp(entries->items[i]->key, key) == 0)
            return entries->items[i]->value;
    return NULL;
}

const char *cq_onnx_location_fault(const char *location)
{
    if (!location || !*location)
        return "has no location";
    if (*location == '/')
        return "has an absolute location";
    for (const char *p = location; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || !p[2]))
            return "has a location outside of the model's folder";
    }
    return NULL;
}

static cq_status open_file(cq_mapping **out, cq_onnx_files *files, const char *location)
{
    cq_status status = cq_mapping_open_in(out, files->folder, location);

    if (status == CQ_E_NOT_FOUND)
        return cq_fail(status, location, "put the external data beside the model file",
                       "cannot find the file with external data: No such file or directory");
    CQ_TRY(status);
    status = cq_map_set(&files->open, location, *out);
    if (status != CQ_OK)
        cq_mapping_release(*out);
    return status;
}

static cq_status get_file(cq_mapping **out, cq_onnx_files *files, const char *location)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&files->lock);
    *out = cq_map_get(&files->open, location);
    if (!*out)
        status = open_file(out, files, location);
    cq_mutex_unlock(&files->lock);
    return status;
}

/* Reads a decimal number of an entry; fallback if the entry is missing. */
static cq_status entry_number(size_t *out, const cq_onnx_tensor *tensor, const char *key,
                              size_t fallback)
{
    const char *text = cq_onnx_entry_get(&tensor->external_data, key);
    uint64_t    n    = 0;
    bool        bad  = text && !*text;

    *out = fallback;
    if (!text)
        return CQ_OK;
    for (const char *p = text; *p; p++) {
        bad |= *p < '0' || *p > '9';
        bad |= __builtin_mul_overflow(n, (uint64_t)10, &n);
        bad |= __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n);
    }
    if (bad || n > SIZE_MAX)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "%s of external data is \"%s\", which is not a number of bytes", key, text);
    *out = (size_t)n;
    return CQ_OK;
}

bool cq_onnx_is_stripped(const cq_onnx_tensor *tensor)
{
    const char *location = cq_onnx_entry_get(&tensor->external_data, "location");

    return cq_onnx_is_external(tensor) && location &&
           strncmp(location, STRIPPED, sizeof STRIPPED - 1) == 0;
}

static cq_status fail_stripped(const cq_onnx_tensor *tensor)
{
    return cq_fail(CQ_E_UNSUPPORTED, tensor->name,
                   "use calque unstrip to fill it with random numbers",
                   "the data of a tensor was stripped");
}

cq_status cq_onnx_external_storage(cq_storage **out, const cq_onnx_model *m,
                                   const cq_onnx_tensor *tensor, size_t want)
{
    const char *location = cq_onnx_entry_get(&tensor->external_data, "location");
    const char *fault    = cq_onnx_location_fault(location);
    size_t      offset, length;
    cq_mapping *file;

    *out = NULL;
    m    = cq_onnx_tensor_home(m, tensor);
    if (fault)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL, "external data %s", fault);
    if (cq_onnx_is_stripped(tensor))
        return fail_stripped(tensor);
    if (!m->files)
        return cq_fail(CQ_E_UNSUPPORTED, tensor->name, "load the model from its file",
                       "external data in \"%s\" cannot be located for a model in memory", location);
    CQ_TRY(entry_number(&offset, tensor, "offset", 0));
    CQ_TRY(entry_number(&length, tensor, "length", want));
    if (length != want)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "external data has %zu bytes, its dtype and dimensions need %zu", length,
                       want);
    CQ_TRY(get_file(&file, m->files, location));
    return cq_storage_map(out, file, offset, want);
}

cq_status cq_onnx_external_file_check(const cq_onnx_model *m, const cq_onnx_tensor *tensor)
{
    const char *location = cq_onnx_entry_get(&tensor->external_data, "location");
    cq_mapping *file;
    cq_storage *bytes = NULL;
    size_t      size;
    cq_status   status;

    if (cq_onnx_is_stripped(tensor))
        return fail_stripped(tensor);
    m = cq_onnx_tensor_home(m, tensor);
    if (!m->files)
        return CQ_OK;
    CQ_TRY(get_file(&file, m->files, location));
    if (cq_onnx_tensor_raw_size(&size, tensor) != CQ_OK)
        return CQ_OK; /* another rule reports it */
    status = cq_onnx_external_storage(&bytes, m, tensor, size);
    cq_storage_release(bytes);
    return status;
}

/* Counts each file once, although several names may refer to it. */
static cq_status count_file(cq_map *counted, const cq_mapping *file, double *bytes)
{
    char key[64];

    cq_mapping_identity(file, key, sizeof key);
    if (cq_map_has(counted, key))
        return CQ_OK;
    *bytes += (double)cq_mapping_size(file);
    return cq_map_set(counted, key, NULL);
}

double cq_onnx_external_bytes(const cq_onnx_model *m)
{
    const cq_onnx_graph *g       = m->graph;
    cq_map               counted = { 0 };
    double               bytes   = 0;
    cq_mapping          *file;

    for (uint32_t i = 0; g && i < g->initializer.n; i++) {
        const cq_onnx_tensor *t        = g->initializer.items[i];
        cq_onnx_files        *files    = cq_onnx_tensor_home(m, t)->files;
        const char           *location = cq_onnx_entry_get(&t->external_data, "location");

        if (files && cq_onnx_is_external(t) && !cq_onnx_location_fault(location) &&
            strncmp(location, STRIPPED, sizeof STRIPPED - 1) != 0 &&
            get_file(&file, files, location) == CQ_OK &&
            count_file(&counted, file, &bytes) != CQ_OK)
            break;
    }
    cq_map_clear(&counted);
    return bytes;
}
