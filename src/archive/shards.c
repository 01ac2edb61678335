/* Reads sharded checkpoints, as transformers and accelerate write them:
 *
 *     {"metadata": {"total_size": 24}, "weight_map": {"fc.weight":
 * "model-00001-of-00002.safetensors",
 *      ...}}
 *
 * The shards are files of safetensors or of torch.save; none may be outside of the index's folder.
 */
#include "archive/shards.h"

#include "archive/weights.h"
#include "base/json_tree.h"
#include "base/path.h"
#include "base/str.h"

#include <string.h>

enum { MAX_SHARDS = 4096 };

typedef struct shards {
    const char *path;
    char       *folder;
    cq_arena   *arena;
    cq_map      files; /* name to cq_weights_file in the arena */
} shards;

bool cq_shards_is(const void *data, size_t size)
{
    static const char word[] = "\"weight_map\"";
    const char       *text   = data;
    const size_t      n      = size < 4096 ? size : 4096;

    if (!n || *text != '{')
        return false;
    for (size_t i = 0; i + sizeof word <= n; i++)
        if (memcmp(text + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

static cq_status read_bytes(cq_weights_file *out, cq_storage *bytes, const char *path)
{
    if (cq_shards_is(bytes->data, bytes->size)) /* the index itself, or another one */
        return cq_fail(CQ_E_FORMAT, path, NULL, "a shard is an index of shards");
    return cq_weights_read_bytes(out, bytes, path);
}

/* A copy of the dict whose keys are found by hashing. */
static cq_status index_keys(cq_weights_file *f)
{
    cq_dict  *dict;
    cq_status status;

    if (f->root.kind != CQ_VAL_DICT)
        return CQ_OK;
    CQ_TRY(cq_dict_new(&dict));
    status = cq_dict_add(dict, f->root.u.dict);
    cq_val_set(&f->root, cq_val_of_dict(dict));
    cq_val_release(cq_val_of_dict(dict));
    return status;
}

static cq_status open_shard(shards *s, const char *name, cq_weights_file *out)
{
    cq_mapping *file;
    cq_storage *bytes = NULL;
    cq_status   status;

    CQ_TRY(cq_mapping_open_in(&file, s->folder, name));
    status = cq_storage_map(&bytes, file, 0, cq_mapping_size(file));
    if (status == CQ_OK)
        status = read_bytes(out, bytes, cq_mapping_path(file));
    if (status == CQ_OK)
        status = index_keys(out);
    cq_storage_release(bytes);
    cq_mapping_release(file);
    return status;
}

static cq_status find_shard(shards *s, const char *name, const cq_weights_file **out)
{
    cq_weights_file *f = cq_map_get(&s->files, name);

    *out = f;
    if (f)
        return CQ_OK;
    if (s->files.n == MAX_SHARDS)
        return cq_fail(CQ_E_UNSUPPORTED, s->path, NULL, "the index names more than %d files",
                       MAX_SHARDS);
    f = cq_arena_alloc(s->arena, sizeof *f);
    if (!f)
        return CQ_E_NO_MEMORY;
    *f = (cq_weights_file){ .format = CQ_WEIGHTS_ZIP };
    CQ_TRY(cq_map_set(&s->files, name, f));
    *out = f;
    return open_shard(s, name, f);
}

static cq_status add_tensor(shards *s, cq_dict *dict, const cq_json_member *m)
{
    const char            *name = cq_json_text(&m->value, "");
    const cq_weights_file *f;
    const cq_val          *value;
    cq_text               *key;
    cq_status              status;

    CQ_TRY(find_shard(s, name, &f));
    value = f->root.kind == CQ_VAL_DICT ? cq_dict_get_text(f->root.u.dict, m->key) : NULL;
    if (!value || !cq_val_is_weight(*value))
        return cq_fail(CQ_E_FORMAT, s->path, NULL,
                       "the index says that %.200s has the tensor %.200s, "
                       "but it has not",
                       name, m->key);
    CQ_TRY(cq_text_new(&key, m->key, strlen(m->key)));
    status = cq_dict_set(dict, cq_val_of_text(key), *value);
    cq_val_release(cq_val_of_text(key));
    return status;
}

static cq_status read_all(shards *s, cq_val *out, cq_storage *index)
{
    const char    *slash = cq_path_separator(s->path);
    const cq_json *root, *map;
    cq_dict       *dict;

    s->folder = cq_arena_strdup(s->arena, slash ? s->path : ".");
    if (!s->folder)
        return CQ_E_NO_MEMORY;
    if (slash)
        s->folder[slash == s->path ? 1 : slash - s->path] = '\0';
    CQ_TRY(cq_json_parse(&root, s->arena, index->data, index->size, s->path));
    map = cq_json_get(root, "weight_map");
    if (map->kind != CQ_JSON_OBJECT)
        return cq_fail(CQ_E_FORMAT, s->path, NULL, "weight_map is not an object");
    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    for (size_t i = 0; i < map->n; i++)
        CQ_TRY(add_tensor(s, dict, &map->u.members[i]));
    return CQ_OK;
}

cq_status cq_shards_read(cq_val *out, cq_storage *index, const char *path)
{
    shards    s = { .path = path, .arena = cq_arena_new() };
    cq_status status;

    *out   = CQ_NONE;
    status = s.arena ? read_all(&s, out, index) : CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s.files.n; i++)
        cq_weights_file_clear(s.files.entries[i].value);
    cq_map_clear(&s.files);
    cq_arena_free(s.arena);
    if (status == CQ_OK)
        return CQ_OK;
    cq_val_release(*out);
    *out = CQ_NONE;
    return status;
}
