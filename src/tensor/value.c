#include "tensor/value.h"
#include "base/vec.h"

/* The counter of whatever v points to, NULL for plain numbers. */
static atomic_int *counter(cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_TENSOR: return &v.u.tensor->refs;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return &v.u.text->refs;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: return &v.u.list->refs;
    case CQ_VAL_DICT: return &v.u.dict->refs;
    case CQ_VAL_OBJECT: return &v.u.box->refs;
    default: return NULL;
    }
}

cq_val cq_val_retain(cq_val v)
{
    atomic_int *refs = counter(v);

    if (refs)
        atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
    return v;
}

/* ---- letting go ---- */

/* Unreferenced values that are yet to be freed. Values can be nested to any depth (a list of a
 * million objects, each of which has the next), so freeing must not recurse: nested values are
 * queued here instead. */
static _Thread_local struct {
    bool     busy;
    cq_list *lists;
    cq_dict *dicts;
    cq_box  *boxes;
} dead;

static void list_free(cq_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        cq_val_release(list->items[i]);
    cq_free(list->items);
    cq_free(list);
}

static void dict_free(cq_dict *dict)
{
    cq_dict_clear(dict);
    cq_free(dict);
}

static void bury(void)
{
    if (dead.busy)
        return;
    dead.busy = true;
    while (dead.lists || dead.dicts || dead.boxes) {
        cq_list *list = dead.lists;
        cq_dict *dict = dead.dicts;
        cq_box  *box  = dead.boxes;

        if (list) {
            dead.lists = list->next_dead;
            list_free(list);
        } else if (dict) {
            dead.dicts = dict->next_dead;
            dict_free(dict);
        } else {
            dead.boxes = box->next_dead;
            box->free(box);
        }
    }
    dead.busy = false;
}

void cq_val_release(cq_val v)
{
    atomic_int *refs = counter(v);

    if (v.kind == CQ_VAL_TENSOR) {
        cq_tensor_release(v.u.tensor);
        return;
    }
    if (!refs || atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) != 1)
        return;
    switch (v.kind) {
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: cq_free(v.u.text); return;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        v.u.list->next_dead = dead.lists;
        dead.lists          = v.u.list;
        break;
    case CQ_VAL_DICT:
        v.u.dict->next_dead = dead.dicts;
        dead.dicts          = v.u.dict;
        break;
    case CQ_VAL_OBJECT:
        v.u.box->next_dead = dead.boxes;
        dead.boxes         = v.u.box;
        break;
    default: return;
    }
    bury();
}

cq_status cq_text_new(cq_text **out, const char *text, size_t len)
{
    cq_text *t = *out = cq_alloc(sizeof *t + len + 1);

    if (!t)
        return CQ_E_NO_MEMORY;
    atomic_init(&t->refs, 1);
    t->open = false;
    t->len  = len;
    if (len)
        memcpy(t->text, text, len);
    t->text[len] = '\0';
    return CQ_OK;
}

bool cq_text_is_same(const cq_text *a, const cq_text *b)
{
    return a == b || (a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

void cq_val_set(cq_val *slot, cq_val v)
{
    const cq_val old = *slot;

    *slot = cq_val_retain(v);
    cq_val_release(old);
}

cq_status cq_list_new(cq_list **out, size_t n)
{
    cq_list *list = *out = cq_zalloc(sizeof *list);

    if (!list)
        return CQ_E_NO_MEMORY;
    atomic_init(&list->refs, 1);
    if (cq_vec_reserve(list, n) != CQ_OK) {
        cq_free(list);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    for (; list->n < n; list->n++)
        list->items[list->n] = CQ_NONE;
    return CQ_OK;
}

cq_status cq_list_push(cq_list *list, cq_val v)
{
    CQ_TRY(cq_vec_push(list, v));
    cq_val_retain(v);
    return CQ_OK;
}

cq_status cq_list_add(cq_list *list, const cq_list *from)
{
    for (size_t i = 0, n = from->n; i < n; i++)
        CQ_TRY(cq_list_push(list, from->items[i]));
    return CQ_OK;
}

void cq_list_swap(cq_list *a, cq_list *b)
{
    const size_t      n = a->n, cap = a->cap;
    cq_val *const     items  = a->items;
    const void *const origin = a->origin;

    a->n      = b->n;
    a->cap    = b->cap;
    a->items  = b->items;
    a->origin = b->origin;
    b->n      = n;
    b->cap    = cap;
    b->items  = items;
    b->origin = origin;
}

void cq_list_clear(cq_list *list)
{
    while (list->n)
        cq_val_release(list->items[--list->n]);
}

void *cq_box_new(size_t size, void (*free)(cq_box *box))
{
    cq_box *box = cq_zalloc(size);

    if (box) {
        atomic_init(&box->refs, 1);
        box->free = free;
    }
    return box;
}

void *cq_box_of(cq_val v, void (*free)(cq_box *box))
{
    return v.kind == CQ_VAL_OBJECT && v.u.box->free == free ? v.u.box : NULL;
}

const char *cq_val_kind_name(cq_val_kind kind)
{
    static const char *const names[] = { "None", "Tensor", "int",   "float", "bool",   "complex",
                                         "str",  "list",   "tuple", "Dict",  "Device", "object" };

    return names[kind];
}
