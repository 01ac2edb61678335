/* Values that contain themselves, as after d["self"] = d. Reference counting never frees such a
 * cycle, so a function that puts a container into another checks for one: cycles are recorded, and
 * those that the program's module does not hold are broken after the call. */
#include "script/python/python.h"

#include "base/map.h"

/* The number of containers that are inspected, because each insertion into a long list of them
 * needs a search. Larger structures are not treated as cycles. */
enum { MAX_SEARCH = 128 };

/* Entering a container costs as much as inspecting this many items. */
enum { CONTAINER_ITEMS = 4 };

typedef struct search {
    CQ_VEC(cq_val) left; /* containers still to be inspected, borrowed */
    cq_ptr_map seen;
    size_t     n;
    uint64_t   items; /* number of items inspected */
} search;

static bool is_container(cq_val v)
{
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_DICT ||
           cq_object_of(v);
}

static void look_at(search *s, cq_val v)
{
    if (!is_container(v) || s->n == MAX_SEARCH || cq_ptr_map_get(&s->seen, v.u.box))
        return;
    if (cq_ptr_map_set(&s->seen, v.u.box, v.u.box) == CQ_OK && cq_vec_push(&s->left, v) == CQ_OK)
        s->n++;
}

static void look_inside(search *s, cq_val v)
{
    cq_object *t = cq_object_of(v);
    size_t     i = 0;

    if (t && t->instances) {
        return;
    } else if (t) {
        look_at(s, t->self);
        for (; i < t->attributes.n && s->n < MAX_SEARCH; i++)
            look_at(s, t->attributes.items[i].value);
    } else if (v.kind == CQ_VAL_DICT) {
        for (; i < v.u.dict->n && s->n < MAX_SEARCH; i++)
            look_at(s, v.u.dict->entries[i].value);
    } else {
        for (; i < v.u.list->n && s->n < MAX_SEARCH; i++)
            look_at(s, v.u.list->items[i]);
    }
    s->items += i + CONTAINER_ITEMS;
}

/* Whether v is the container or contains it. *items: how many items were inspected. */
static bool holds(cq_val v, cq_val container, uint64_t *items)
{
    search s = { 0 };
    bool   found;

    look_at(&s, v);
    while (s.left.n && !cq_ptr_map_get(&s.seen, container.u.box))
        look_inside(&s, s.left.items[--s.left.n]);
    found  = cq_ptr_map_get(&s.seen, container.u.box) != NULL;
    *items = s.items;
    cq_vec_clear(&s.left);
    cq_ptr_map_clear(&s.seen);
    return found;
}

/* Instances of Python source are emptied when the program ends, so cycles through them need no
 * search; and values that modules hold outlive the call. */
static cq_status python_will_hold(cq_eval *ev, cq_val container, cq_val v)
{
    cq_status status;
    uint64_t  items;
    bool      found;

    if (cq_object_of(v) || cq_object_of(container) || !is_container(v))
        return CQ_OK;
    found = holds(v, container, &items);
    CQ_TRY(cq_eval_spend(ev, items));
    if (!found)
        return CQ_OK;
    status = cq_vec_push(&ev->program->python->cycles, container);
    if (status == CQ_OK)
        cq_val_retain(container);
    return status;
}

cq_status cq_eval_will_hold(cq_eval *ev, cq_val container, cq_val v)
{
    cq_status status;
    uint64_t  items;
    bool      found;

    if (ev->program->python)
        return python_will_hold(ev, container, v);
    if (!is_container(v))
        return CQ_OK;
    found = holds(v, container, &items);
    CQ_TRY(cq_eval_spend(ev, items));
    if (!found)
        return CQ_OK;
    status = cq_vec_push(&ev->cycles, container);
    if (status == CQ_OK)
        cq_val_retain(container);
    return status;
}

/* Removes the contents of a container. Only the list of cycles still refers to it afterwards. */
static void empty(cq_val v)
{
    cq_object *t = cq_object_of(v);

    if (t) {
        for (size_t i = 0; i < t->attributes.n; i++)
            cq_val_set(&t->attributes.items[i].value, CQ_NONE);
    } else if (v.kind == CQ_VAL_DICT) {
        cq_dict_clear(v.u.dict);
    } else {
        cq_list_clear(v.u.list);
    }
}

void cq_python_open_cycles(cq_python *py)
{
    for (size_t i = 0; i < py->cycles.n; i++) {
        empty(py->cycles.items[i]);
        cq_val_release(py->cycles.items[i]);
    }
    cq_vec_clear(&py->cycles);
}

void cq_eval_open_cycles(cq_eval *ev, cq_val root)
{
    uint64_t items;

    for (size_t i = 0; i < ev->cycles.n; i++) {
        if (!holds(root, ev->cycles.items[i], &items))
            empty(ev->cycles.items[i]);
        cq_val_release(ev->cycles.items[i]);
    }
    cq_vec_clear(&ev->cycles);
}
