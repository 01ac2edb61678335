/* Snapshots of the values of modules before a call. The memory of a tensor is copied only when it
 * is about to be written to: weights are large, and hardly any model changes them. */
#include "script/flow/snapshot.h"
#include "script/flow/aliases.h"
#include "script/python/python.h"

#include <stdio.h>

enum { MAX_DEPTH = 64 };

static cq_status save_object(cq_guard *g, cq_object *object, const char *prefix, int depth);
static cq_status same_as_before(cq_visit *w, cq_val old, cq_val now, bool *same, bool *by_parts);

/* ---- before the call ---- */

/* Adds an address to `seen`, which maps it to the number of containers before it, + 1. Returns
 * false if it was already seen. */
static bool is_new(cq_guard *g, const void *p, cq_status *status)
{
    if (cq_ptr_map_get(&g->seen, p))
        return false;
    *status = cq_ptr_map_set(&g->seen, p, (void *)(uintptr_t)(g->containers.n + 1));
    return *status == CQ_OK;
}

/* The old contents of a list or dict; NULL if the guard has not recorded it. */
static const cq_change *container_at(const cq_guard *g, const void *p)
{
    const uintptr_t n = (uintptr_t)cq_ptr_map_get(&g->seen, p);

    if (!n || n > g->containers.n || g->containers.items[n - 1].where != p)
        return NULL;
    return &g->containers.items[n - 1];
}

typedef struct saving {
    cq_guard   *g;
    const char *path;
    int         depth; /* nesting of objects */
} saving;

static cq_status save_leaf(cq_visit *w, cq_val v)
{
    const saving *s      = w->user;
    cq_object    *object = cq_object_as(v, CQ_OBJECT_INSTANCE);
    cq_status     status = CQ_OK;

    if (object && s->depth > MAX_DEPTH)
        return CQ_OK; /* of a global variable */
    if (object)
        return save_object(s->g, object, s->path, s->depth + 1);
    if (v.kind == CQ_VAL_TENSOR && v.u.tensor->storage)
        is_new(s->g, v.u.tensor->storage, &status);
    return status;
}

static cq_status save_container(cq_visit *w, cq_val v)
{
    const saving   *s      = w->user;
    const cq_change slot   = { .kind  = v.kind == CQ_VAL_DICT ? CQ_CHANGE_DICT : CQ_CHANGE_LIST,
                               .where = (void *)cq_val_container(v) };
    cq_status       status = CQ_OK;

    return is_new(s->g, slot.where, &status) ? cq_changes_add(&s->g->containers, &slot) : status;
}

static cq_status save_value(cq_guard *g, cq_val v, const char *path, int depth)
{
    saving         s     = { g, path, depth };
    const cq_visit outer = g->walk;
    cq_status      status;

    g->walk.user   = &s;
    g->walk.slot   = NULL;
    g->walk.levels = 0;
    status         = cq_val_each(&g->walk, v);
    g->walk.user   = outer.user;
    g->walk.slot   = outer.slot;
    g->walk.levels = outer.levels;
    return status;
}

/* A module's own attributes come first, then its children, as in a state_dict. */
static cq_status save_object(cq_guard *g, cq_object *object, const char *prefix, int depth)
{
    cq_status status = CQ_OK;
    char      path[512];

    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_UNSUPPORTED, prefix, NULL, "modules are nested too deep");
    if (!is_new(g, object, &status))
        return status;
    for (int children = 0; children < 2; children++)
        for (size_t i = 0; i < object->attributes.n; i++) {
            const cq_attribute *a = &object->attributes.items[i];

            if ((cq_object_as(a->value, CQ_OBJECT_INSTANCE) != NULL) != children)
                continue;
            snprintf(path, sizeof path, prefix[0] ? "%s.%s" : "%s%s", prefix, a->name);
            CQ_TRY(cq_vec_push(
                &g->slots, (cq_guard_slot){ cq_name(g->ev->program, path), object, i, a->value }));
            cq_val_retain(a->value);
            CQ_TRY(save_value(g, a->value, path, depth));
        }
    return CQ_OK;
}

/* Lists and dicts in global variables and attributes of classes: caches, which may keep values of
 * this call. */
static cq_status save_globals(cq_guard *g, const cq_python *py)
{
    for (size_t i = 0; i < py->frames.n; i++)
        for (size_t k = 0; k < py->frames.items[i]->values.n; k++)
            CQ_TRY(save_value(g, py->frames.items[i]->values.items[k], "", MAX_DEPTH + 1));
    for (size_t i = 0; i < py->classes.n; i++)
        for (size_t k = 0; k < py->classes.items[i]->attributes.n; k++)
            CQ_TRY(
                save_value(g, py->classes.items[i]->attributes.items[k].value, "", MAX_DEPTH + 1));
    return CQ_OK;
}

/* ---- during the call ---- */

/* Called before a tensor is written to: copies its memory. */
static cq_status will_write(void *user, const cq_tensor *t)
{
    cq_guard   *g = user;
    cq_storage *s = t->storage;
    void       *bytes;

    if (!s || !cq_ptr_map_get(&g->seen, s))
        return CQ_OK;
    for (size_t i = 0; i < g->memory.n; i++)
        if (g->memory.items[i].storage == s)
            return CQ_OK;
    CQ_TRY(cq_vec_reserve(&g->memory, g->memory.n + 1));
    bytes = cq_alloc(s->size);
    if (!bytes)
        return CQ_E_NO_MEMORY;
    if (atomic_load(&s->is_pending))
        cq_storage_make(s);
    memcpy(bytes, s->data, s->size);
    g->memory.items[g->memory.n].storage = cq_storage_retain(s);
    g->memory.items[g->memory.n++].bytes = bytes;
    return CQ_OK;
}

cq_status cq_guard_begin(cq_guard *g, cq_eval *ev, cq_script *s)
{
    cq_object *root = cq_object_as(s->root, CQ_OBJECT_INSTANCE);

    *g            = (cq_guard){ .ev = ev, .walk = cq_eval_visit(ev, NULL) };
    g->walk.each  = save_leaf;
    g->walk.enter = save_container;
    g->walk.once  = true;
    if (root)
        CQ_TRY(save_object(g, root, "", 0));
    if (ev->program->python)
        CQ_TRY(save_globals(g, ev->program->python));
    cq_visit_clear(&g->walk);
    g->walk.pair            = same_as_before;
    g->walk.enter           = NULL;
    g->walk.user            = g;
    ev->guard               = g;
    ev->cx->will_write      = will_write;
    ev->cx->will_write_user = g;
    return CQ_OK;
}

/* ---- after the call ---- */

static void put_back(cq_guard *g)
{
    for (size_t i = 0; i < g->slots.n; i++) {
        const cq_guard_slot *p = &g->slots.items[i];

        cq_slot_restore(&(cq_change){
            .kind = CQ_CHANGE_ATTRIBUTE, .where = p->object, .index = p->index, .old = p->old });
    }
    /* Memory may be exhausted, so contents are swapped with the copies instead of being copied
     * back. */
    for (size_t i = 0; i < g->containers.n; i++) {
        const cq_change *c = &g->containers.items[i];

        if (c->kind == CQ_CHANGE_LIST)
            cq_list_swap(c->where, c->old.u.list);
        else
            cq_dict_swap(c->where, c->old.u.dict);
    }
    for (size_t i = 0; i < g->memory.n; i++)
        memcpy(g->memory.items[i].storage->data, g->memory.items[i].bytes,
               g->memory.items[i].storage->size);
}

void cq_guard_end(cq_guard *g, bool restore)
{
    g->ev->guard          = NULL;
    g->ev->cx->will_write = NULL;
    if (restore)
        put_back(g);
    for (size_t i = 0; i < g->slots.n; i++)
        cq_val_release(g->slots.items[i].old);
    for (size_t i = 0; i < g->containers.n; i++)
        cq_change_release(&g->containers.items[i]);
    for (size_t i = 0; i < g->memory.n; i++) {
        cq_storage_release(g->memory.items[i].storage);
        cq_free(g->memory.items[i].bytes);
    }
    cq_vec_clear(&g->slots);
    cq_vec_clear(&g->containers);
    cq_vec_clear(&g->memory);
    cq_ptr_map_clear(&g->seen);
    cq_visit_clear(&g->walk);
}

cq_val cq_guard_old(const cq_guard *g, cq_val v)
{
    const void      *p = cq_val_container(v);
    const cq_change *c = p ? container_at(g, p) : NULL;

    if (!c)
        return v;
    return v.kind == CQ_VAL_TUPLE ? (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = c->old.u.list }
                                  : c->old;
}

static int count_in_copy(const cq_change *c, const void *container)
{
    int n = c->where == container;

    if (c->kind == CQ_CHANGE_DICT)
        for (size_t i = 0; i < c->old.u.dict->n; i++)
            n += cq_val_container(c->old.u.dict->entries[i].value) == container;
    else
        for (size_t i = 0; i < c->old.u.list->n; i++)
            n += cq_val_container(c->old.u.list->items[i]) == container;
    return n;
}

int cq_guard_refs(const cq_guard *g, const void *container)
{
    int n = 0;

    if (!cq_ptr_map_get(&g->seen, container))
        return 0;
    for (size_t i = 0; i < g->slots.n; i++)
        n += cq_val_container(g->slots.items[i].old) == container;
    for (size_t i = 0; i < g->containers.n; i++)
        n += count_in_copy(&g->containers.items[i], container);
    return n;
}

/* ---- differences ---- */

static cq_status same_tensor(const cq_guard *g, cq_tensor *old, cq_tensor *now, bool *same)
{
    cq_capture *cap = g->ev->capture;

    *same = !cq_track_is_written(&cap->tracks, old);
    if (old != now)
        *same = !cq_track_is_written(&cap->tracks, now) &&
                cq_capture_value(cap, g->ev->cx, old) == cq_capture_value(cap, g->ev->cx, now);
    return g->ev->cx->status;
}

static cq_status same_as_before(cq_visit *w, cq_val old, cq_val now, bool *same, bool *by_parts)
{
    const cq_guard *g   = w->user;
    const cq_val    was = cq_guard_old(g, old);

    if (cq_val_container(was) != cq_val_container(old))
        return cq_val_pair(w, was, now, same);
    *same = old.kind == now.kind;
    if (!*same)
        return CQ_OK;
    switch (old.kind) {
    case CQ_VAL_TENSOR: return same_tensor(g, old.u.tensor, now.u.tensor, same);
    case CQ_VAL_INT: *same = !now.u.i.expr && old.u.i.value == now.u.i.value; break;
    case CQ_VAL_FLOAT:
        *same = !now.u.f.origin && memcmp(&old.u.f.value, &now.u.f.value, sizeof(double)) == 0;
        break;
    case CQ_VAL_BOOL: *same = !now.u.b.origin && old.u.b.value == now.u.b.value; break;
    case CQ_VAL_COMPLEX: *same = old.u.c.re == now.u.c.re && old.u.c.im == now.u.c.im; break;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: *same = cq_text_is_same(old.u.text, now.u.text); break;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        *same     = old.u.list->origin == now.u.list->origin;
        *by_parts = *same;
        break;
    case CQ_VAL_DICT: *by_parts = true; break;
    case CQ_VAL_OBJECT:
        *by_parts = cq_object_as(old, CQ_OBJECT_NAMED) && cq_object_as(now, CQ_OBJECT_NAMED);
        *same     = *by_parts || old.u.box == now.u.box;
        break;
    case CQ_VAL_NONE: break;
    }
    return CQ_OK;
}

cq_status cq_guard_is_changed(cq_guard *g, const cq_guard_slot *p, bool *changed)
{
    bool      same = true;
    cq_status status =
        cq_val_pair(&g->walk, p->old, p->object->attributes.items[p->index].value, &same);

    *changed = !same;
    return status;
}
