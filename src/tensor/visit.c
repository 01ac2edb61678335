#include "tensor/visit.h"

/* ---- parts ---- */

static bool has_parts(cq_val v)
{
    return cq_val_is_list(v) || v.kind == CQ_VAL_DICT;
}

/* Whether v is gone into, and then the container that its parts are in. */
static bool open(const cq_visit *w, cq_val v, cq_val *parts)
{
    *parts = v;
    if (v.kind == CQ_VAL_OBJECT && w->open && !w->open(v, parts))
        return false;
    return has_parts(*parts);
}

static size_t n_parts(cq_val v)
{
    return v.kind == CQ_VAL_DICT ? v.u.dict->n : v.u.list->n;
}

static cq_val part(cq_val v, size_t i)
{
    return v.kind == CQ_VAL_DICT ? v.u.dict->entries[i].value : v.u.list->items[i];
}

static cq_status enter(cq_visit *w, cq_val container)
{
    if (w->levels >= CQ_VISIT_MAX_LEVELS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a value is nested more than %d levels deep, or contains itself",
                       CQ_VISIT_MAX_LEVELS);
    if (w->enter)
        CQ_TRY(w->enter(w, container));
    w->levels++;
    return CQ_OK;
}

/* ---- each ---- */

cq_status cq_val_each(cq_visit *w, cq_val v)
{
    cq_visit_slot slot   = { .outer = w->slot, .whole = v };
    cq_status     status = CQ_OK;
    cq_val        parts;

    if (!open(w, v, &parts))
        return w->each(w, v);
    if (w->once && cq_ptr_map_get(&w->made, parts.u.box))
        return CQ_OK;
    if (w->once)
        CQ_TRY(cq_ptr_map_set(&w->made, parts.u.box, parts.u.box));
    CQ_TRY(enter(w, parts));
    w->slot = &slot;
    for (size_t i = 0; i < n_parts(parts) && status == CQ_OK; i++) {
        slot.index = i;
        status     = cq_val_each(w, part(parts, i));
    }
    w->slot = slot.outer;
    w->levels--;
    return status;
}

/* ---- map ---- */

static cq_status map_list(cq_visit *w, const cq_list *from, cq_list *to, size_t *index)
{
    for (size_t i = 0; i < from->n; i++) {
        cq_val    item;
        cq_status status;

        *index = i;
        CQ_TRY(cq_val_map(w, from->items[i], &item));
        status = cq_list_push(to, item);
        cq_val_release(item);
        CQ_TRY(status);
    }
    return CQ_OK;
}

static cq_status map_dict(cq_visit *w, const cq_dict *from, cq_dict *to, size_t *index)
{
    for (size_t i = 0; i < from->n; i++) {
        cq_val    item;
        cq_status status;

        *index = i;
        CQ_TRY(cq_val_map(w, from->entries[i].value, &item));
        status = cq_dict_set(to, from->entries[i].key, item);
        cq_val_release(item);
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* The copy lives as long as the walk: the caller may release it earlier. */
static cq_status keep(cq_visit *w, cq_val v, cq_val copy)
{
    if (!w->copies)
        CQ_TRY(cq_list_new(&w->copies, 0));
    CQ_TRY(cq_list_push(w->copies, copy));
    return cq_ptr_map_set(&w->made, v.u.box, copy.u.box);
}

void cq_visit_clear(cq_visit *w)
{
    cq_val_release(cq_val_of_list(w->copies));
    w->copies = NULL;
    cq_ptr_map_clear(&w->made);
}

static cq_status map_parts(cq_visit *w, cq_val v, cq_val *out)
{
    cq_visit_slot slot = { .outer = w->slot, .whole = v };
    void         *made = cq_ptr_map_get(&w->made, v.u.box);
    cq_status     status;

    out->kind = v.kind;
    if (made) {
        out->u.box = made;
        cq_val_retain(*out);
        return CQ_OK;
    }
    if (v.kind == CQ_VAL_DICT)
        CQ_TRY(cq_dict_new(&out->u.dict));
    else
        CQ_TRY(cq_list_new(&out->u.list, 0));
    status = enter(w, v);
    if (status == CQ_OK) {
        w->slot = &slot;
        status  = v.kind == CQ_VAL_DICT ? map_dict(w, v.u.dict, out->u.dict, &slot.index)
                                        : map_list(w, v.u.list, out->u.list, &slot.index);
        w->slot = slot.outer;
        w->levels--;
    }
    if (status == CQ_OK)
        status = keep(w, v, *out);
    if (status != CQ_OK)
        cq_val_release(*out);
    return status;
}

cq_status cq_val_map(cq_visit *w, cq_val v, cq_val *out)
{
    cq_status status;
    cq_val    parts, copy;

    *out = CQ_NONE;
    if (!open(w, v, &parts))
        return w->map(w, v, out);
    CQ_TRY(map_parts(w, parts, &copy));
    if (v.kind != CQ_VAL_OBJECT) {
        *out = copy;
        return CQ_OK;
    }
    status = w->close(v, copy, out);
    cq_val_release(copy);
    return status;
}

/* ---- pair ---- */

static cq_status pair_parts(cq_visit *w, cq_val a, cq_val b, bool *same)
{
    *same = (a.kind == CQ_VAL_DICT) == (b.kind == CQ_VAL_DICT) && n_parts(a) == n_parts(b);
    for (size_t i = 0; *same && i < n_parts(a); i++) {
        const cq_val *other = a.kind == CQ_VAL_DICT
                                  ? cq_dict_get(b.u.dict, a.u.dict->entries[i].key)
                                  : &b.u.list->items[i];

        *same = other != NULL;
        if (other)
            CQ_TRY(cq_val_pair(w, part(a, i), *other, same));
    }
    return CQ_OK;
}

/* The result for two containers that were met together. Containers that contain themselves are met
 * while their parts are compared, and are assumed to be equal until a part differs. */
static char under_way, found_same, found_different;

static const void *key_of(cq_val a, cq_val b)
{
    const void *both[] = { a.u.box, b.u.box };

    return (const void *)(uintptr_t)(cq_hash_bytes(both, sizeof both) | 1);
}

static cq_status pair_once(cq_visit *w, cq_val a, cq_val b, bool *same)
{
    const void *key = w->once ? key_of(a, b) : NULL;
    const char *met = w->once ? cq_ptr_map_get(&w->made, key) : NULL;
    cq_status   status;

    if (met) {
        *same = met != &found_different;
        w->has_cycle |= met == &under_way;
        return CQ_OK;
    }
    if (w->once)
        CQ_TRY(cq_ptr_map_set(&w->made, key, &under_way));
    CQ_TRY(enter(w, a));
    status = pair_parts(w, a, b, same);
    w->levels--;
    if (status == CQ_OK && w->once)
        status = cq_ptr_map_set(&w->made, key, *same ? &found_same : &found_different);
    if (w->levels == 0 && w->has_cycle && !*same) /* the assumption of equality may be wrong */
        cq_ptr_map_clear(&w->made);
    return status;
}

cq_status cq_val_pair(cq_visit *w, cq_val a, cq_val b, bool *same)
{
    bool   by_parts = false;
    cq_val parts_of_a, parts_of_b;

    CQ_TRY(w->pair(w, a, b, same, &by_parts));
    if (!by_parts || !open(w, a, &parts_of_a) || !open(w, b, &parts_of_b))
        return CQ_OK;
    return pair_once(w, parts_of_a, parts_of_b, same);
}
