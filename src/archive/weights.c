/* Opens files of weights: which format it is, which state dict in it is meant, and the list of its
 * tensors. */
#include "archive/weights.h"

#include "archive/archive.h"
#include "archive/legacy.h"
#include "archive/safetensors.h"
#include "archive/shards.h"
#include "base/signature.h"

#include <string.h>

/* Modules may share modules, so a small file can name a tensor often. */
enum { MAX_WEIGHTS = 1 << 20 };

/* ---- the values of a file ---- */

/* A zip with values and without a program. */
static bool is_zip_of_weights(cq_storage *bytes, const char *path)
{
    cq_archive a;
    bool       is;

    if (cq_archive_open_bytes(&a, bytes, path) != CQ_OK)
        return false;
    is = !cq_archive_find(&a, "constants.pkl");
    cq_archive_close(&a);
    return is;
}

bool cq_weights_is_pickled(cq_storage *bytes, const char *path)
{
    cq_error_record before;
    bool            is;

    cq_error_save(&before);
    is = bytes->size && (cq_legacy_is(bytes->data, bytes->size) || is_zip_of_weights(bytes, path));
    cq_error_restore(&before);
    return is;
}

CQ_API bool cq_is_weights_file(const char *path)
{
    CQ_NEED_ELSE(path, false);
    cq_storage     *bytes = NULL;
    cq_error_record before;
    bool            is = false;

    cq_error_save(&before);
    if (cq_storage_open(&bytes, path) == CQ_OK && bytes->size)
        is = cq_legacy_is(bytes->data, bytes->size) ||
             cq_safetensors_is(bytes->data, bytes->size) ||
             cq_shards_is(bytes->data, bytes->size) || is_zip_of_weights(bytes, path);
    cq_storage_release(bytes);
    cq_error_restore(&before);
    return is;
}

static cq_status read_zip(cq_weights_file *f, cq_storage *bytes, const char *path)
{
    cq_archive a;
    cq_status  status;

    CQ_TRY(cq_check_signature(bytes->data, bytes->size, path));
    if (bytes->size < 2 || memcmp(bytes->data, "PK", 2) != 0)
        return cq_fail(CQ_E_FORMAT, path,
                       "weights come from torch.save, safetensors or the index.json of shards",
                       "expected a file of weights, got %s",
                       *(const char *)bytes->data == 0x08
                           ? "an ONNX model"
                           : "a file that is neither a zip archive nor safetensors");
    CQ_TRY(cq_archive_open_bytes(&a, bytes, path));
    if (cq_archive_find(&a, "constants.pkl"))
        f->format = CQ_WEIGHTS_TORCHSCRIPT;
    else
        a.any_class = true;
    status = cq_archive_unpickle(&f->root, &a, "data", false);
    cq_archive_close(&a);
    return status;
}

cq_status cq_weights_read_bytes(cq_weights_file *out, cq_storage *bytes, const char *path)
{
    *out = (cq_weights_file){ .format = CQ_WEIGHTS_ZIP };
    if (cq_legacy_is(bytes->data, bytes->size)) {
        out->format = CQ_WEIGHTS_LEGACY;
        return cq_legacy_read(&out->root, bytes, path);
    }
    if (cq_safetensors_is(bytes->data, bytes->size)) {
        out->format = CQ_WEIGHTS_SAFETENSORS;
        return cq_safetensors_read(&out->root, &out->metadata, bytes, path);
    }
    if (cq_shards_is(bytes->data, bytes->size)) {
        out->format = CQ_WEIGHTS_SHARDS;
        return cq_shards_read(&out->root, bytes, path);
    }
    return read_zip(out, bytes, path);
}

cq_status cq_weights_read(cq_weights_file *out, const char *path)
{
    cq_alloc_budget outer;
    cq_storage     *bytes;
    cq_status       status;

    *out = (cq_weights_file){ .format = CQ_WEIGHTS_ZIP };
    CQ_TRY(cq_storage_open(&bytes, path));
    outer  = cq_alloc_set_budget((cq_alloc_budget){ .limit = cq_archive_max_bytes(bytes->size) });
    status = cq_weights_read_bytes(out, bytes, path);
    cq_alloc_set_budget(outer);
    cq_storage_release(bytes);
    return status;
}

void cq_weights_file_clear(cq_weights_file *f)
{
    cq_val_release(f->root);
    cq_val_release(f->metadata);
    *f = (cq_weights_file){ .format = CQ_WEIGHTS_ZIP };
}

/* ---- the list of tensors ---- */

bool cq_val_is_weight(cq_val v)
{
    return v.kind == CQ_VAL_TENSOR || cq_quantized_of(v) || cq_sparse_of(v);
}

static const char *join(cq_weights *w, const char *prefix, const char *name)
{
    return *prefix ? cq_arena_printf(w->arena, "%s.%s", prefix, name)
                   : cq_arena_strdup(w->arena, name);
}

static cq_status add_item(cq_weights *w, const char *prefix, cq_val key, cq_val value)
{
    const char *name;

    if (!cq_val_is_weight(value))
        return CQ_OK;
    if (key.kind != CQ_VAL_STR)
        return cq_fail(CQ_E_FORMAT, w->path, NULL, "the name of a tensor is a value of type %s",
                       cq_val_kind_name(key.kind));
    if (w->items.n == MAX_WEIGHTS)
        return cq_fail(CQ_E_UNSUPPORTED, w->path, NULL, "the file names more than %d tensors",
                       MAX_WEIGHTS);
    name = join(w, prefix, key.u.text->text);
    if (!name)
        return CQ_E_NO_MEMORY;
    return cq_vec_push(&w->items, (cq_weight){ name, value });
}

static cq_status add_dict(cq_weights *w, const char *prefix, const cq_dict *dict)
{
    for (size_t i = 0; dict && i < dict->n; i++)
        CQ_TRY(add_item(w, prefix, dict->entries[i].key, dict->entries[i].value));
    return CQ_OK;
}

/* Buffers that register_buffer(persistent=False) made are not part of a state dict. */
static bool is_persistent(const cq_instance *module, cq_val name)
{
    const cq_val      *set = cq_dict_get_text(module->attrs, "_non_persistent_buffers_set");
    const cq_instance *o   = set ? cq_instance_of(*set) : NULL;

    for (size_t i = 0; o && o->items && i < o->items->n; i++)
        if (o->items->items[i].kind == CQ_VAL_STR && name.kind == CQ_VAL_STR &&
            cq_text_is_same(o->items->items[i].u.text, name.u.text))
            return false;
    return true;
}

static cq_status add_module(cq_weights *w, const char *prefix, const cq_instance *module);

/* The parts of a module: those of _modules or, for a TorchScript module, all its attributes. */
static cq_status add_children(cq_weights *w, const char *prefix, const cq_dict *children)
{
    for (size_t i = 0; children && i < children->n; i++) {
        const cq_val       key   = children->entries[i].key;
        const cq_instance *child = cq_instance_of(children->entries[i].value);
        const char        *path;

        if (!child || key.kind != CQ_VAL_STR)
            continue;
        path = join(w, prefix, key.u.text->text);
        CQ_TRY(path ? add_module(w, path, child) : CQ_E_NO_MEMORY);
    }
    return CQ_OK;
}

static cq_status add_module(cq_weights *w, const char *prefix, const cq_instance *module)
{
    const cq_dict *buffers = cq_module_part(module, "_buffers");

    if (w->file.format == CQ_WEIGHTS_TORCHSCRIPT) {
        CQ_TRY(add_dict(w, prefix, module->attrs));
        return add_children(w, prefix, module->attrs);
    }
    CQ_TRY(add_dict(w, prefix, cq_module_part(module, "_parameters")));
    for (size_t i = 0; buffers && i < buffers->n; i++)
        if (is_persistent(module, buffers->entries[i].key))
            CQ_TRY(add_item(w, prefix, buffers->entries[i].key, buffers->entries[i].value));
    return add_children(w, prefix, cq_module_part(module, "_modules"));
}

static cq_status add_section(cq_weights *w)
{
    const cq_val v = w->section->value;

    return v.kind == CQ_VAL_DICT ? add_dict(w, "", v.u.dict) : add_module(w, "", cq_instance_of(v));
}

/* ---- opening ---- */

static cq_status choose_section(cq_weights *w, const char *key)
{
    CQ_TRY(cq_section_choose(&w->section, &w->sections, key, w->path));
    if (!key && w->sections.n > 1) {
        cq_str_printf(&w->note,
                      "the weights are those of '%s'; %s:KEY chooses others:", w->section->path,
                      w->path);
        for (size_t i = 0; i < w->sections.n && i < 10; i++)
            if (&w->sections.items[i] != w->section)
                cq_str_printf(&w->note, " %s", w->sections.items[i].path);
    }
    return w->note.status;
}

static cq_status inspect_file(cq_weights *w)
{
    w->arena = cq_arena_new();
    if (!w->arena || !w->path)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_weights_read(&w->file, w->path));
    return cq_sections_find(&w->sections, w->arena, w->file.root);
}

static cq_status open_file(cq_weights *w, const char *key)
{
    CQ_TRY(inspect_file(w));
    CQ_TRY(choose_section(w, key));
    return add_section(w);
}

static bool is_there(const char *path)
{
    cq_mapping     *m;
    cq_error_record before;
    bool            found;

    cq_error_save(&before);
    found = cq_mapping_open(&m, path) == CQ_OK;
    if (found)
        cq_mapping_release(m);
    cq_error_restore(&before);
    return found;
}

/* FILE:KEY, unless there is a file of that whole name. */
static cq_status split_path(char **file, const char **key, const char *path)
{
    const char *colon = strrchr(path, ':');

    *key  = NULL;
    *file = cq_strdup(path);
    if (!*file)
        return CQ_E_NO_MEMORY;
    if (!colon || colon == path || is_there(path))
        return CQ_OK;
    (*file)[colon - path] = '\0';
    if (is_there(*file))
        *key = colon + 1;
    else
        (*file)[colon - path] = ':';
    return CQ_OK;
}

CQ_API cq_status cq_weights_open(cq_weights **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_weights *w = cq_zalloc(sizeof *w);
    const char *key;
    cq_status   status;

    if (!w)
        return CQ_E_NO_MEMORY;
    status = split_path(&w->path, &key, path);
    if (status == CQ_OK)
        status = open_file(w, key);
    if (status == CQ_OK)
        *out = w;
    else
        cq_weights_free(w);
    return status;
}

cq_status cq_weights_inspect(cq_weights **out, const char *path)
{
    cq_weights *w = cq_zalloc(sizeof *w);
    cq_status   status;

    *out = NULL;
    if (!w)
        return CQ_E_NO_MEMORY;
    w->path = cq_strdup(path);
    status  = inspect_file(w);
    if (status == CQ_OK && cq_section_choose(&w->section, &w->sections, NULL, path) == CQ_OK)
        status = add_section(w);
    if (status == CQ_OK)
        *out = w;
    else
        cq_weights_free(w);
    return status;
}

CQ_API void cq_weights_free(cq_weights *w)
{
    if (!w)
        return;
    cq_weights_file_clear(&w->file);
    cq_vec_clear(&w->items);
    cq_vec_clear(&w->sections);
    cq_str_clear(&w->note);
    cq_arena_free(w->arena);
    cq_free(w->path);
    cq_free(w);
}

CQ_API size_t cq_weights_count(const cq_weights *w)
{
    CQ_NEED_ELSE(w, 0);
    return w->items.n;
}

CQ_API const char *cq_weights_name(const cq_weights *w, size_t i)
{
    CQ_NEED_ELSE(w, NULL);
    return i < w->items.n ? w->items.items[i].name : NULL;
}

CQ_API cq_tensor *cq_weights_tensor(const cq_weights *w, size_t i)
{
    CQ_NEED_ELSE(w, NULL);
    return i < w->items.n && w->items.items[i].value.kind == CQ_VAL_TENSOR
               ? w->items.items[i].value.u.tensor
               : NULL;
}

CQ_API uint64_t cq_weights_bytes(const cq_weights *w)
{
    CQ_NEED_ELSE(w, 0);
    uint64_t bytes = 0;

    for (size_t i = 0; i < w->items.n; i++) {
        const cq_tensor *t = cq_weights_tensor(w, i);

        if (t)
            bytes += (uint64_t)cq_tensor_numel(t) * cq_dtype_size(t->dtype);
    }
    return bytes;
}

CQ_API const char *cq_weights_note(const cq_weights *w)
{
    CQ_NEED_ELSE(w, "");
    return cq_str_text(&w->note);
}
