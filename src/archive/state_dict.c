/* State dicts. What is not a tensor (a counter, None) is left out, like an optimizer's settings. */
#include "archive/state_dict.h"

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <string.h>

struct cq_state_dict {
    cq_val root; /* keeps all names and tensors alive */
    CQ_VEC(cq_state_item) items;
    cq_map by_name; /* to the number of the item, from 1 on */
};

static bool is_tensor(cq_val v)
{
    return v.kind == CQ_VAL_TENSOR || cq_quantized_of(v) || cq_sparse_of(v);
}

static bool has_tensors(const cq_dict *dict)
{
    for (size_t i = 0; i < dict->n; i++)
        if (is_tensor(dict->entries[i].value))
            return true;
    return false;
}

static cq_status list_keys(const cq_dict *dict, const char *path, const char *message)
{
    cq_str    keys = { 0 };
    cq_status status;

    for (size_t i = 0; i < dict->n && i < 20; i++)
        if (dict->entries[i].key.kind == CQ_VAL_STR)
            cq_str_printf(&keys, "%s%s", i ? ", " : "", dict->entries[i].key.u.text->text);
    status = cq_fail(CQ_E_FORMAT, path, "name the section that holds the weights",
                     "%s; the file has: %.800s", message, cq_str_text(&keys));
    cq_str_clear(&keys);
    return status;
}

static cq_status find_section(const cq_dict **out, const cq_dict *root, const char *path,
                              const char *section)
{
    static const char *const usual[] = { "state_dict", "model_state_dict", "model" };
    const cq_val            *found   = NULL;
    size_t                   n       = 0;

    *out = root;
    if (section) {
        found = cq_dict_get_text(root, section);
        if (!found || found->kind != CQ_VAL_DICT)
            return list_keys(root, path, "there is no section of this name");
        *out = found->u.dict;
        return CQ_OK;
    }
    if (has_tensors(root) || !root->n)
        return CQ_OK;
    for (size_t i = 0; !found && i < sizeof usual / sizeof *usual; i++) {
        found = cq_dict_get_text(root, usual[i]);
        found = found && found->kind == CQ_VAL_DICT ? found : NULL;
    }
    for (size_t i = 0; !found && i < root->n; i++)
        n += root->entries[i].value.kind == CQ_VAL_DICT &&
             has_tensors(root->entries[i].value.u.dict);
    for (size_t i = 0; !found && n == 1 && i < root->n; i++)
        if (root->entries[i].value.kind == CQ_VAL_DICT &&
            has_tensors(root->entries[i].value.u.dict))
            found = &root->entries[i].value;
    if (!found)
        return list_keys(root, path, "it is unclear where the weights are");
    *out = found->u.dict;
    return CQ_OK;
}

static cq_status take_items(cq_state_dict *d, const cq_dict *dict, const char *path)
{
    for (size_t i = 0; i < dict->n; i++) {
        const cq_val key = dict->entries[i].key, value = dict->entries[i].value;

        if (!is_tensor(value))
            continue;
        if (key.kind != CQ_VAL_STR)
            return cq_fail(CQ_E_FORMAT, path, NULL, "the name of a tensor is a value of type %s",
                           cq_val_kind_name(key.kind));
        CQ_TRY(cq_vec_push(&d->items, (cq_state_item){ key.u.text->text, value }));
        CQ_TRY(cq_map_set(&d->by_name, key.u.text->text, (void *)(uintptr_t)d->items.n));
    }
    return CQ_OK;
}

static cq_status read_archive(cq_state_dict *d, const cq_archive *a, const char *section)
{
    const cq_dict *dict;

    if (cq_archive_find(a, "constants.pkl"))
        return cq_fail(CQ_E_UNSUPPORTED, a->path,
                       "save weights by torch.save(model.state_dict(), ...)",
                       "this is a TorchScript model, not a state dict");
    CQ_TRY(cq_archive_unpickle(&d->root, a, "data", false));
    if (d->root.kind != CQ_VAL_DICT)
        return cq_fail(CQ_E_FORMAT, a->path, "save weights by torch.save(model.state_dict(), ...)",
                       "expected a dict of tensors but found a value of type %s",
                       cq_val_kind_name(d->root.kind));
    CQ_TRY(find_section(&dict, d->root.u.dict, a->path, section));
    return take_items(d, dict, a->path);
}

static cq_status finish_open(cq_state_dict **out, cq_archive *a, cq_status status,
                             const char *section)
{
    cq_state_dict *d;

    *out = NULL;
    CQ_TRY(status);
    d      = cq_zalloc(sizeof *d);
    status = d ? read_archive(d, a, section) : CQ_E_NO_MEMORY;
    cq_archive_close(a);
    if (status == CQ_OK)
        *out = d;
    else
        cq_state_dict_free(d);
    return status;
}

cq_status cq_state_dict_open(cq_state_dict **out, const char *path, const char *section)
{
    cq_alloc_budget outer;
    cq_storage     *bytes;
    cq_status       status;

    *out = NULL;
    CQ_TRY(cq_storage_open(&bytes, path));
    outer  = cq_alloc_set_budget((cq_alloc_budget){ .limit = cq_archive_max_bytes(bytes->size) });
    status = cq_state_dict_open_bytes(out, bytes, path, section);
    cq_alloc_set_budget(outer);
    cq_storage_release(bytes);
    return status;
}

cq_status cq_state_dict_open_bytes(cq_state_dict **out, cq_storage *bytes, const char *path,
                                   const char *section)
{
    cq_archive a;

    return finish_open(out, &a, cq_archive_open_bytes(&a, bytes, path), section);
}

void cq_state_dict_free(cq_state_dict *d)
{
    if (!d)
        return;
    cq_val_release(d->root);
    cq_vec_clear(&d->items);
    cq_map_clear(&d->by_name);
    cq_free(d);
}

size_t cq_state_dict_count(const cq_state_dict *d)
{
    return d->items.n;
}

const cq_state_item *cq_state_dict_at(const cq_state_dict *d, size_t index)
{
    return &d->items.items[index];
}

const cq_state_item *cq_state_dict_find(const cq_state_dict *d, const char *name)
{
    uintptr_t number = (uintptr_t)cq_map_get(&d->by_name, name);

    return number ? &d->items.items[number - 1] : NULL;
}
