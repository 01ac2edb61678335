/* Finds state dicts and modules in the tree of a checkpoint. */
#include "archive/weights.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 12, MAX_SECTIONS = 1000, MAX_LISTED = 20 };

typedef struct search {
    cq_sections *out;
    cq_arena    *arena;
    cq_ptr_map   seen; /* values are shared: each container is inspected once */
} search;

const cq_dict *cq_module_part(const cq_instance *module, const char *name)
{
    const cq_val *v = cq_dict_get_text(module->attrs, name);

    return v && v->kind == CQ_VAL_DICT ? v->u.dict : NULL;
}

bool cq_is_pickled_module(cq_val v)
{
    const cq_instance *o = cq_instance_of(v);

    if (!o)
        return false;
    return (cq_module_part(o, "_parameters") && cq_module_part(o, "_modules")) ||
           cq_starts_with(o->class_name, "__torch__.");
}

static size_t count_tensors(const cq_dict *dict)
{
    size_t n = 0;

    for (size_t i = 0; i < dict->n; i++)
        n += dict->entries[i].key.kind == CQ_VAL_STR && cq_val_is_weight(dict->entries[i].value);
    return n;
}

/* States of optimizers, schedulers and random numbers have tensors that are not weights. */
static bool is_of_training(const char *key)
{
    static const char *const words[] = { "optim", "sched",  "rng_state", "callbacks",
                                         "loops", "scaler", "_metadata" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(key, words[i]))
            return true;
    return false;
}

static cq_status add(search *s, const char *path, cq_val value, size_t n)
{
    return s->out->n < MAX_SECTIONS ? cq_vec_push(s->out, (cq_section){ path, value, n }) : CQ_OK;
}

static cq_status visit(search *s, cq_val v, const char *path, int depth);

static cq_status visit_dict(search *s, const cq_dict *dict, const char *path, int depth)
{
    for (size_t i = 0; i < dict->n; i++) {
        const cq_val key   = dict->entries[i].key;
        const cq_val value = dict->entries[i].value;
        const char  *below;

        if (key.kind != CQ_VAL_STR || is_of_training(key.u.text->text) ||
            (value.kind != CQ_VAL_DICT && value.kind != CQ_VAL_OBJECT))
            continue;
        below = *path ? cq_arena_printf(s->arena, "%s.%s", path, key.u.text->text)
                      : cq_arena_strdup(s->arena, key.u.text->text);
        CQ_TRY(below ? visit(s, value, below, depth + 1) : CQ_E_NO_MEMORY);
    }
    return CQ_OK;
}

/* A checkpoint may have a few other tensors, such as the best loss, beside a state dict. */
static cq_status visit_state(search *s, cq_val v, const char *path, int depth)
{
    const size_t own = count_tensors(v.u.dict), first = s->out->n;
    size_t       below = 0;

    CQ_TRY(visit_dict(s, v.u.dict, path, depth));
    for (size_t i = first; i < s->out->n; i++)
        below = s->out->items[i].n_tensors > below ? s->out->items[i].n_tensors : below;
    if (!own || below >= own)
        return CQ_OK;
    s->out->n = first;
    return add(s, path, v, own);
}

static cq_status visit(search *s, cq_val v, const char *path, int depth)
{
    const cq_instance *o = cq_instance_of(v);

    if (depth > MAX_DEPTH || (v.kind != CQ_VAL_DICT && !o) || cq_ptr_map_get(&s->seen, v.u.box))
        return CQ_OK;
    CQ_TRY(cq_ptr_map_set(&s->seen, v.u.box, s));
    if (v.kind == CQ_VAL_DICT)
        return visit_state(s, v, path, depth);
    if (cq_is_pickled_module(v))
        return add(s, path, v, SIZE_MAX);
    if (o->pairs)
        CQ_TRY(visit_state(s, cq_val_of_dict(o->pairs), path, depth));
    return visit_dict(s, o->attrs, path, depth);
}

static bool is_empty(cq_val v)
{
    const cq_instance *o     = cq_instance_of(v);
    const cq_dict     *pairs = v.kind == CQ_VAL_DICT ? v.u.dict : o ? o->pairs : NULL;

    return pairs && !pairs->n;
}

cq_status cq_sections_find(cq_sections *out, cq_arena *arena, cq_val root)
{
    search    s      = { .out = out, .arena = arena };
    cq_status status = visit(&s, root, "", 0);

    if (status == CQ_OK && !out->n && is_empty(root)) /* of a module without parameters */
        status = add(&s, "", root, 0);
    cq_ptr_map_clear(&s.seen);
    return status;
}

/* ---- choosing ---- */

static cq_status list_sections(const cq_sections *all, const char *file, const char *message)
{
    cq_str    names = { 0 };
    cq_status status;

    for (size_t i = 0; i < all->n && i < MAX_LISTED; i++)
        cq_str_printf(&names, "%s'%s'", i ? ", " : "", all->items[i].path);
    if (all->n > MAX_LISTED)
        cq_str_printf(&names, " and %zu more", all->n - MAX_LISTED);
    status = cq_fail(CQ_E_ARGUMENT, file, "choose one of them as FILE:KEY",
                     "%s; the file has weights at %.1200s", message, cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

static const cq_section *find(const cq_sections *all, const char *path)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].path, path) == 0)
            return &all->items[i];
    return NULL;
}

cq_status cq_section_choose(const cq_section **out, const cq_sections *all, const char *path,
                            const char *file)
{
    static const char *const usual[] = { "state_dict", "model_state_dict", "model" };
    char                     message[256];

    if (!all->n)
        return cq_fail(CQ_E_FORMAT, file, "save weights by torch.save(model.state_dict(), ...)",
                       "the file has no state dict and no module");
    *out = path ? find(all, path) : all->n == 1 ? all->items : NULL;
    for (size_t i = 0; !path && !*out && i < sizeof usual / sizeof *usual; i++)
        *out = find(all, usual[i]);
    if (*out)
        return CQ_OK;
    snprintf(message, sizeof message, path ? "'%.200s' is not a state dict%s" : "%.200s%s",
             path ? path : "several state dicts", path ? "" : " could be meant");
    return list_sections(all, file, message);
}
