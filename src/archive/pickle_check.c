/* Inspects the result of a pickle as a whole, and releases all intermediate values.
 *
 * The machine (pickle.c) builds whatever the opcodes describe, also cycles and deep nesting. If
 * reading fails, every container is emptied, one by one and without recursion; if it succeeds, the
 * result is walked once. The walk rejects cycles, or cuts them if any class is allowed, limits the
 * depth, and finds duplicate keys. */
#include "archive/object.h"
#include "archive/unpickler.h"

#include <stdlib.h>
#include <string.h>

/* ---- looking at the result ------------------------------------------------------------------ */

static cq_status check(cq_unpickler *u, cq_val *slot, int depth, int *levels);

static cq_status check_below(cq_unpickler *u, cq_val *slot, int depth, int *levels)
{
    int below = 0;

    CQ_TRY(check(u, slot, depth, &below));
    if (*levels < below + 1)
        *levels = below + 1;
    return CQ_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const cq_val *x = *(const cq_val *const *)a, *y = *(const cq_val *const *)b;
    size_t        n;
    int           order;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    switch (x->kind) {
    case CQ_VAL_STR:
        n     = x->u.text->len < y->u.text->len ? x->u.text->len : y->u.text->len;
        order = memcmp(x->u.text->text, y->u.text->text, n);
        return order ? order : (x->u.text->len > n) - (y->u.text->len > n);
    case CQ_VAL_INT: return (x->u.i.value > y->u.i.value) - (x->u.i.value < y->u.i.value);
    case CQ_VAL_FLOAT: return (x->u.f.value > y->u.f.value) - (x->u.f.value < y->u.f.value);
    case CQ_VAL_BOOL: return x->u.b.value - y->u.b.value;
    default: return (x->u.box > y->u.box) - (x->u.box < y->u.box);
    }
}

static cq_status check_keys(cq_unpickler *u, const cq_dict *dict)
{
    const cq_val **keys   = cq_alloc_array(dict->n, sizeof *keys);
    cq_status      status = CQ_OK;

    if (!keys)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < dict->n; i++) {
        const cq_val_kind kind = dict->entries[i].key.kind;

        keys[i] = &dict->entries[i].key;
        if (!u->source->any_class && kind != CQ_VAL_STR && kind != CQ_VAL_INT &&
            kind != CQ_VAL_FLOAT && kind != CQ_VAL_BOOL && kind != CQ_VAL_TENSOR &&
            kind != CQ_VAL_OBJECT)
            status = cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL, "a dict has a key of type %s",
                                       cq_val_kind_name(kind));
    }
    qsort(keys, dict->n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < dict->n && status == CQ_OK; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) == 0)
            status = keys[i]->kind == CQ_VAL_STR
                         ? cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "a dict has the key %s twice",
                                             keys[i]->u.text->text)
                         : cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "a dict has a key twice");
    cq_free(keys);
    return status;
}

/* A global or storage is not a value, unless any class is allowed. */
static cq_status check_bare(cq_unpickler *u, cq_val *slot)
{
    if (u->source->any_class)
        return cq_opaque_replace(u, slot);
    if (cq_global_of(*slot))
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL, "%s stands where a value should",
                                 cq_global_of(*slot)->name);
    return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL, "a storage stands where a value should");
}

static bool is_inside_itself(const cq_unpickler *u, const void *container)
{
    return (uintptr_t)cq_ptr_map_get(&u->seen, container) == CQ_SEEN_OPEN && u->source->any_class;
}

/* The state of an object may be a dict that contains the object: then it is replaced by an empty
 * one. The same applies to its items. */
static cq_status check_dict(cq_unpickler *u, cq_dict **dict, int depth, int *levels)
{
    cq_val v = cq_val_of_dict(*dict);

    if (!*dict || !is_inside_itself(u, *dict))
        return check_below(u, &v, depth, levels);
    CQ_TRY(cq_dict_new(dict));
    cq_val_release(v);
    return CQ_OK;
}

static cq_status check_list(cq_unpickler *u, cq_list **list, int depth, int *levels)
{
    cq_val v = cq_val_of_list(*list);

    if (!*list || !is_inside_itself(u, *list))
        return check_below(u, &v, depth, levels);
    CQ_TRY(cq_list_new(list, 0));
    cq_val_release(v);
    return CQ_OK;
}

static cq_status check_instance(cq_unpickler *u, cq_instance *o, int depth, int *levels)
{
    CQ_TRY(check_dict(u, &o->attrs, depth, levels));
    CQ_TRY(check_below(u, &o->state, depth, levels));
    CQ_TRY(check_below(u, &o->args, depth, levels));
    CQ_TRY(check_list(u, &o->items, depth, levels));
    return check_dict(u, &o->pairs, depth, levels);
}

static cq_status check_inside(cq_unpickler *u, cq_val *slot, int depth, int *levels)
{
    const cq_val v = *slot;

    switch (v.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        for (size_t i = 0; i < v.u.list->n; i++)
            CQ_TRY(check_below(u, &v.u.list->items[i], depth, levels));
        return CQ_OK;
    case CQ_VAL_DICT:
        for (size_t i = 0; i < v.u.dict->n; i++) {
            CQ_TRY(check_below(u, &v.u.dict->entries[i].key, depth, levels));
            CQ_TRY(check_below(u, &v.u.dict->entries[i].value, depth, levels));
        }
        return check_keys(u, v.u.dict);
    default:
        if (cq_instance_of(v))
            return check_instance(u, cq_instance_of(v), depth, levels);
        return cq_enum_member_of(v) ? check_below(u, &cq_enum_member_of(v)->value, depth, levels)
                                    : CQ_OK;
    }
}

/* Refuses a value that contains itself, is too deep, or is not a value; *levels is its depth. */
static cq_status check(cq_unpickler *u, cq_val *slot, int depth, int *levels)
{
    const cq_val v = *slot;
    uintptr_t    state;

    if (v.kind != CQ_VAL_LIST && v.kind != CQ_VAL_TUPLE && v.kind != CQ_VAL_DICT &&
        v.kind != CQ_VAL_OBJECT)
        return CQ_OK;
    if (cq_global_of(v) || cq_stored_of(v))
        return check_bare(u, slot);
    state = (uintptr_t)cq_ptr_map_get(&u->seen, v.u.box);
    if (state == CQ_SEEN_OPEN)
        return u->source->any_class
                   ? cq_opaque_replace(u, slot)
                   : cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL, "a value contains itself");
    if (state)
        *levels = (int)(state - CQ_SEEN_DONE);
    if (depth + *levels >= CQ_PICKLE_MAX_DEPTH)
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "values are nested more than %d times",
                                 CQ_PICKLE_MAX_DEPTH);
    if (state)
        return CQ_OK;
    CQ_TRY(cq_ptr_map_set(&u->seen, v.u.box, (void *)(uintptr_t)CQ_SEEN_OPEN));
    CQ_TRY(check_inside(u, slot, depth + 1, levels));
    return cq_ptr_map_set(&u->seen, v.u.box, (void *)(uintptr_t)(CQ_SEEN_DONE + *levels));
}

cq_status cq_unpickler_check(cq_unpickler *u, cq_val *v)
{
    int levels = 0;

    return check(u, v, 0, &levels);
}

/* ---- cleaning up ---------------------------------------------------------------------------- */

static void empty_container(cq_val v)
{
    cq_instance    *o;
    cq_enum_member *m;

    switch (v.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: cq_list_clear(v.u.list); break;
    case CQ_VAL_DICT: cq_dict_clear(v.u.dict); break;
    default:
        o = cq_instance_of(v);
        if (o) {
            cq_val_set(&o->state, CQ_NONE);
            cq_val_set(&o->args, CQ_NONE);
            if (o->items)
                cq_list_clear(o->items);
            if (o->pairs)
                cq_dict_clear(o->pairs);
        }
        m = cq_enum_member_of(v);
        if (m)
            cq_val_set(&m->value, CQ_NONE);
        break;
    }
}

/* Containers outside of the result are emptied first: they were never checked, and may be
 * cyclic. */
void cq_unpickler_clear(cq_unpickler *u, bool failed)
{
    for (size_t i = 0; i < u->containers.n; i++)
        if (failed || !cq_ptr_map_get(&u->seen, u->containers.items[i].u.box))
            empty_container(u->containers.items[i]);
    for (size_t i = 0; i < u->stack.n; i++)
        cq_val_release(u->stack.items[i]);
    for (size_t i = 0; i < u->memo.n; i++)
        cq_val_release(u->memo.items[i]);
    for (size_t i = 0; i < u->containers.n; i++)
        cq_val_release(u->containers.items[i]);
    cq_vec_clear(&u->stack);
    cq_vec_clear(&u->marks);
    cq_vec_clear(&u->memo);
    cq_vec_clear(&u->containers);
    cq_map_clear(&u->storages);
    cq_ptr_map_clear(&u->seen);
}
