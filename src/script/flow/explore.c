/* Speculative evaluation of a path through the program. During it, every change of a variable,
 * list, dict, attribute or tensor is journaled with the old value; afterwards the changes are
 * collected, one per slot, and undone. docs/architecture/control-flow.md has the invariants. */
#include "script/flow/snapshot.h"
#include "script/flow/aliases.h"

/* ---- slots ---- */

bool cq_slot_same(const cq_change *a, const cq_change *b)
{
    return a->kind == b->kind && a->where == b->where && a->index == b->index;
}

cq_val cq_slot_value(const cq_change *p)
{
    switch (p->kind) {
    case CQ_CHANGE_SLOT: return ((cq_frame *)p->where)->values.items[p->index];
    case CQ_CHANGE_LIST: return cq_val_of_list(p->where);
    case CQ_CHANGE_DICT: return (cq_val){ .kind = CQ_VAL_DICT, .u.dict = p->where };
    case CQ_CHANGE_ATTRIBUTE: return ((cq_object *)p->where)->attributes.items[p->index].value;
    case CQ_CHANGE_TRACK: break;
    }
    return CQ_NONE;
}

/* Replaces the items of a list in-place. */
static cq_status refill_list(cq_list *list, const cq_list *from)
{
    CQ_TRY(cq_vec_reserve(list, from->n));
    cq_list_clear(list);
    list->origin = from->origin;
    return cq_list_add(list, from);
}

/* New entries are allocated before old ones are removed, so that the dict is unchanged if memory
 * runs out. */
static cq_status refill_dict(cq_dict *dict, const cq_dict *from)
{
    cq_dict  *copy;
    cq_status status;

    CQ_TRY(cq_dict_new(&copy));
    status = cq_dict_add(copy, from);
    if (status == CQ_OK)
        cq_dict_swap(dict, copy);
    cq_val_release(cq_val_of_dict(copy));
    return status;
}

cq_status cq_slot_restore(const cq_change *p)
{
    switch (p->kind) {
    case CQ_CHANGE_SLOT: cq_val_set(&((cq_frame *)p->where)->values.items[p->index], p->old); break;
    case CQ_CHANGE_ATTRIBUTE:
        cq_val_set(&((cq_object *)p->where)->attributes.items[p->index].value, p->old);
        break;
    case CQ_CHANGE_LIST: return refill_list(p->where, p->old.u.list);
    case CQ_CHANGE_DICT: return refill_dict(p->where, p->old.u.dict);
    case CQ_CHANGE_TRACK: cq_track_set_state(p->where, p->old_state); break;
    }
    return CQ_OK;
}

/* ---- the journal ---- */

void cq_change_release(const cq_change *c)
{
    cq_val_release(c->old);
    if (c->kind == CQ_CHANGE_LIST)
        cq_val_release(cq_val_of_list(c->where));
    else if (c->kind == CQ_CHANGE_DICT)
        cq_val_release((cq_val){ .kind = CQ_VAL_DICT, .u.dict = c->where });
    else if (c->kind == CQ_CHANGE_ATTRIBUTE)
        cq_val_release(cq_val_of_object(c->where));
}

static cq_status copy_list(const cq_list *list, cq_val *out)
{
    cq_list *copy;

    CQ_TRY(cq_list_new(&copy, 0));
    *out = cq_val_of_list(copy);
    return refill_list(copy, list);
}

static cq_status copy_dict(const cq_dict *dict, cq_val *out)
{
    cq_dict *copy;

    CQ_TRY(cq_dict_new(&copy));
    *out = cq_val_of_dict(copy);
    return cq_dict_add(copy, dict);
}

static cq_status snapshot(const cq_change *p, cq_change *out)
{
    const cq_val v      = cq_slot_value(p);
    cq_status    status = CQ_OK;

    *out     = *p;
    out->old = CQ_NONE;
    switch (p->kind) {
    case CQ_CHANGE_SLOT: out->old = cq_val_retain(v); break;
    case CQ_CHANGE_LIST:
        cq_val_retain(v); /* the container, released with the change */
        status = copy_list(v.u.list, &out->old);
        break;
    case CQ_CHANGE_DICT:
        cq_val_retain(v);
        status = copy_dict(v.u.dict, &out->old);
        break;
    case CQ_CHANGE_ATTRIBUTE:
        cq_val_retain(cq_val_of_object(p->where));
        out->old = cq_val_retain(v);
        break;
    case CQ_CHANGE_TRACK: out->old_state = cq_track_state_of(p->where); break;
    }
    if (status != CQ_OK)
        cq_change_release(out);
    return status;
}

cq_status cq_changes_add(cq_changes *to, const cq_change *slot)
{
    CQ_TRY(cq_vec_reserve(to, to->n + 1));
    CQ_TRY(snapshot(slot, &to->items[to->n]));
    to->n++;
    return CQ_OK;
}

static cq_status note_track(void *user, cq_track *t)
{
    cq_eval *ev = user;

    return cq_changes_add(&ev->journal, &(cq_change){ .kind = CQ_CHANGE_TRACK, .where = t });
}

/* Whether the old contents of the list or dict are in the journal of the current speculative
 * evaluation. */
static bool is_noted(const cq_eval *ev, const void *container)
{
    const size_t at = (size_t)(uintptr_t)cq_ptr_map_get(&ev->noted, container);

    return at > ev->explored && at <= ev->journal.n && ev->journal.items[at - 1].where == container;
}

cq_status cq_eval_will_change(cq_eval *ev, cq_val v)
{
    const bool is_dict = v.kind == CQ_VAL_DICT;
    void      *where   = (void *)cq_val_container(v);

    if (ev->aliases.n)
        CQ_TRY(cq_share_change(ev, v));
    if (!ev->journaling || is_noted(ev, where))
        return CQ_OK;
    CQ_TRY(cq_changes_add(
        &ev->journal,
        &(cq_change){ .kind = is_dict ? CQ_CHANGE_DICT : CQ_CHANGE_LIST, .where = where }));
    return cq_ptr_map_set(&ev->noted, where, (void *)(uintptr_t)ev->journal.n);
}

cq_status cq_slot_set(cq_eval *ev, const cq_change *p, cq_val v)
{
    cq_change now = { .kind = p->kind, .where = p->where, .index = p->index, .old = v };

    if (p->kind == CQ_CHANGE_LIST || p->kind == CQ_CHANGE_DICT)
        CQ_TRY(cq_eval_will_change(ev, cq_slot_value(p)));
    else if (ev->journaling)
        CQ_TRY(cq_changes_add(&ev->journal, p));
    return cq_slot_restore(&now);
}

const cq_change *cq_path_change(const cq_path *path, const cq_change *slot)
{
    for (size_t i = 0; i < path->changes.n; i++)
        if (cq_slot_same(&path->changes.items[i], slot))
            return &path->changes.items[i];
    return NULL;
}

/* Each change is compared with all others, and again when holders are counted. This quadratic work
 * is charged. */
enum { COMPARED = 8, HELD = 2 };

static cq_status collect(cq_eval *ev, size_t mark, cq_path *path)
{
    for (size_t i = mark; i < ev->journal.n; i++) {
        const cq_change *p = &ev->journal.items[i];

        CQ_TRY(cq_eval_spend(ev, path->changes.n / COMPARED));
        if (!p->where || cq_path_change(path, p))
            continue;
        CQ_TRY(cq_eval_spend(ev, path->changes.n * HELD));
        CQ_TRY(cq_changes_add(&path->changes, p));
    }
    return CQ_OK;
}

static cq_status take_back(cq_eval *ev, size_t mark)
{
    cq_status status = CQ_OK;

    while (ev->journal.n > mark) {
        cq_change *p = &ev->journal.items[ev->journal.n - 1];

        if (p->where && status == CQ_OK)
            status = cq_slot_restore(p);
        cq_change_release(p);
        ev->journal.n--;
    }
    return status;
}

void cq_explore_begin(cq_eval *ev, cq_block *block, cq_exploration *x)
{
    cq_capture *cap = ev->capture;

    x->outer                     = cap->block;
    x->mark                      = ev->journal.n;
    x->outer_mark                = ev->explored;
    ev->explored                 = ev->journal.n;
    cap->block                   = block;
    cap->tracks.will_change      = note_track;
    cap->tracks.will_change_user = ev;
    ev->journaling++;
}

cq_status cq_explore_end(cq_eval *ev, const cq_exploration *x, cq_status status, cq_path *path)
{
    cq_capture *cap = ev->capture;
    cq_status   back;

    if (status == CQ_OK)
        status = collect(ev, x->mark, path);
    ev->journaling--;
    back         = take_back(ev, x->mark);
    ev->explored = x->outer_mark;
    cap->block   = x->outer;
    if (!ev->journaling)
        cap->tracks.will_change = NULL;
    return status == CQ_OK ? back : status;
}

cq_status cq_eval_explore(cq_eval *ev, cq_block *block, const cq_ast_block *b, const cq_ast_expr *x,
                          cq_path *path)
{
    cq_exploration outside;
    cq_val         v = CQ_NONE;
    cq_status      status;

    cq_explore_begin(ev, block, &outside);
    status       = x ? cq_eval_expr(ev, x, &v) : cq_eval_block(ev, b);
    path->result = status == CQ_OK ? cq_val_retain(v) : CQ_NONE;
    return cq_explore_end(ev, &outside, status, path);
}

void cq_path_clear(cq_path *path)
{
    for (size_t i = 0; i < path->changes.n; i++)
        cq_change_release(&path->changes.items[i]);
    cq_vec_clear(&path->changes);
    cq_val_release(path->result);
    path->result = CQ_NONE;
}

/* Counts the references of a value to p, including those inside containers. */
static int count_in(cq_val v, const void *p, int depth)
{
    int n = 0;

    switch (v.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        n = v.u.list == p;
        for (size_t i = 0; i < v.u.list->n && depth < 8; i++)
            n += count_in(v.u.list->items[i], p, depth + 1);
        return n;
    case CQ_VAL_DICT:
        n = v.u.dict == p;
        for (size_t i = 0; i < v.u.dict->n && depth < 8; i++)
            n += count_in(v.u.dict->entries[i].value, p, depth + 1);
        return n;
    case CQ_VAL_OBJECT:
        n = (const void *)v.u.box == p;
        if (depth < 8 && cq_object_as(v, CQ_OBJECT_NAMED))
            n += count_in(cq_object_of(v)->self, p, depth + 1);
        return n;
    default: return 0;
    }
}

/* Counts the references of a change to p, as its container or in its old value. */
static int count_in_change(const cq_change *c, const void *p)
{
    return (c->kind != CQ_CHANGE_SLOT && c->kind != CQ_CHANGE_TRACK && c->where == p) +
           count_in(c->old, p, 0);
}

static int count_in_path(const cq_path *path, const void *p)
{
    int n = count_in(path->result, p, 0);

    for (size_t i = 0; i < path->changes.n; i++)
        n += count_in_change(&path->changes.items[i], p);
    return n;
}

static int count_in_aliases(const cq_eval *ev, const void *p)
{
    int n = 0;

    for (size_t i = 0; i < ev->aliases.n; i++)
        for (size_t k = 0; k < 3; k++)
            n += cq_val_container(ev->aliases.items[i].lists[k]) == p;
    return n;
}

bool cq_path_is_only_holder(const cq_eval *ev, const cq_path *path, const cq_change *slot)
{
    int refs;

    switch (slot->kind) {
    case CQ_CHANGE_LIST: refs = atomic_load(&((cq_list *)slot->where)->refs); break;
    case CQ_CHANGE_DICT: refs = atomic_load(&((cq_dict *)slot->where)->refs); break;
    case CQ_CHANGE_ATTRIBUTE: refs = atomic_load(&((cq_object *)slot->where)->box.refs); break;
    default: return false;
    }
    return count_in_path(path, slot->where) + count_in_aliases(ev, slot->where) >= refs;
}

int cq_eval_bookkeeping(const cq_eval *ev, const void *p)
{
    int n = count_in_aliases(ev, p);

    for (size_t i = 0; i < ev->journal.n; i++)
        n += count_in_change(&ev->journal.items[i], p);
    for (const cq_carry *c = ev->carry; c; c = c->outer) {
        for (size_t i = 0; i < c->holders.n; i++)
            n += cq_val_container(c->holders.items[i]) == p;
        for (size_t i = 0; i < c->slots.n; i++)
            n += count_in(c->slots.items[i].start, p, 0);
    }
    return n + (ev->guard ? cq_guard_refs(ev->guard, p) : 0);
}

bool cq_path_owns(const cq_eval *ev, const cq_path *path, const cq_change *slot, cq_val v)
{
    const void *p    = cq_val_container(v);
    int         held = count_in_path(path, p) + (slot ? count_in(cq_slot_value(slot), p, 0) : 0);

    return held + cq_eval_bookkeeping(ev, p) >= cq_val_container_refs(v);
}

cq_val cq_path_value(const cq_path *path, const cq_change *slot)
{
    const cq_change *change = cq_path_change(path, slot);

    return change ? change->old : cq_slot_value(slot);
}

cq_val cq_path_contents(const cq_path *path, cq_val v)
{
    const cq_change *change =
        v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_DICT
            ? cq_path_change(path, &(cq_change){ .kind  = v.kind == CQ_VAL_LIST ? CQ_CHANGE_LIST
                                                                                : CQ_CHANGE_DICT,
                                                 .where = (void *)cq_val_container(v) })
            : NULL;

    return change ? change->old : v;
}

/* ---- sizes ---- */

static bool is_around(const cq_block *outer, const cq_block *inner)
{
    for (; inner; inner = inner->owner ? inner->owner->block : NULL)
        if (inner == outer)
            return true;
    return false;
}

bool cq_value_is_visible(const cq_value *v, const cq_block *block)
{
    return is_around(v->block, block);
}

bool cq_track_is_visible(const cq_track *t, const cq_block *block)
{
    return !t->home || is_around(t->home, block);
}

bool cq_int_is_visible(cq_int i, const cq_block *block)
{
    if (!i.expr)
        return true;
    for (size_t t = 0; t < i.expr->n_terms; t++)
        for (int k = 0; k < i.expr->terms[t].n_atoms; k++) {
            const cq_atom *a = i.expr->terms[t].atoms[k];

            for (size_t s = 0; s < a->n_symbols; s++)
                if (a->symbols[s]->origin && !cq_value_is_visible(a->symbols[s]->origin, block))
                    return false;
        }
    return true;
}
