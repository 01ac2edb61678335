/* Trying out a path through the program. While a path is explored, every change of a variable,
 * list, dict, attribute or tensor is written down with what was there before; afterwards the
 * changes are collected, one per place, and taken back. */
#include "script/guard.h"
#include "script/share.h"

/* ---- places ---- */

bool cq_place_same(const cq_change *a, const cq_change *b)
{
    return a->kind == b->kind && a->where == b->where && a->index == b->index;
}

cq_val cq_place_value(const cq_change *p)
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

/* Puts items into a list, in place. */
static cq_status refill_list(cq_list *list, const cq_list *from)
{
    CQ_TRY(cq_vec_reserve(list, from->n));
    for (size_t i = 0; i < from->n; i++)
        cq_val_retain(from->items[i]);
    while (list->n)
        cq_val_release(list->items[--list->n]);
    list->sequence = from->sequence;
    for (size_t i = 0; i < from->n; i++)
        list->items[list->n++] = from->items[i];
    return CQ_OK;
}

static cq_status refill_dict(cq_dict *dict, const cq_dict *from)
{
    cq_dict_clear(dict);
    for (size_t i = 0; i < from->n; i++)
        CQ_TRY(cq_dict_set(dict, from->entries[i].key, from->entries[i].value));
    return CQ_OK;
}

static void put(cq_val *slot, cq_val v)
{
    cq_val_retain(v);
    cq_val_release(*slot);
    *slot = v;
}

cq_status cq_place_restore(const cq_change *p)
{
    cq_track *t;

    switch (p->kind) {
    case CQ_CHANGE_SLOT: put(&((cq_frame *)p->where)->values.items[p->index], p->old); return CQ_OK;
    case CQ_CHANGE_ATTRIBUTE:
        put(&((cq_object *)p->where)->attributes.items[p->index].value, p->old);
        return CQ_OK;
    case CQ_CHANGE_LIST: return refill_list(p->where, p->old.u.list);
    case CQ_CHANGE_DICT: return refill_dict(p->where, p->old.u.dict);
    case CQ_CHANGE_TRACK:
        t          = p->where;
        t->value   = p->old_value;
        t->version = p->old_version;
        t->current = p->old_current;
        t->stale   = p->old_stale;
        return CQ_OK;
    }
    return CQ_OK;
}

cq_status cq_place_set(cq_eval *ev, const cq_change *p, cq_val v)
{
    cq_change now = *p;
    cq_frame *f;

    switch (p->kind) {
    case CQ_CHANGE_SLOT:
        f = p->where;
        if (ev->journaling) {
            now.old = f->values.items[p->index];
            CQ_TRY(cq_vec_push(&ev->journal, now));
            cq_val_retain(now.old);
        }
        break;
    case CQ_CHANGE_LIST: CQ_TRY(cq_eval_will_change_list(ev, p->where)); break;
    case CQ_CHANGE_DICT: CQ_TRY(cq_eval_will_change_dict(ev, p->where)); break;
    case CQ_CHANGE_ATTRIBUTE: CQ_TRY(cq_eval_note_attribute(ev, p->where, p->index)); break;
    case CQ_CHANGE_TRACK: return CQ_OK;
    }
    now.old = v;
    return cq_place_restore(&now);
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

static cq_status note_track(void *user, cq_track *t)
{
    cq_eval *ev = user;

    return cq_vec_push(&ev->journal, (cq_change){ .kind        = CQ_CHANGE_TRACK,
                                                  .where       = t,
                                                  .old_value   = t->value,
                                                  .old_version = t->version,
                                                  .old_current = t->current,
                                                  .old_stale   = t->stale });
}

cq_status cq_place_snapshot(const cq_change *p, cq_change *out)
{
    cq_val    v      = cq_place_value(p);
    cq_track *t      = p->where;
    cq_status status = CQ_OK;

    *out = *p;
    switch (p->kind) {
    case CQ_CHANGE_TRACK:
        out->old         = CQ_NONE;
        out->old_value   = t->value;
        out->old_version = t->version;
        out->old_current = t->current;
        out->old_stale   = t->stale;
        return CQ_OK;
    case CQ_CHANGE_LIST: {
        cq_list *copy;

        CQ_TRY(cq_list_new(&copy, 0));
        status   = refill_list(copy, v.u.list);
        out->old = cq_val_of_list(copy);
        cq_val_retain(v); /* the place itself, released with the change */
        return status;
    }
    case CQ_CHANGE_DICT: {
        cq_dict *copy;

        CQ_TRY(cq_dict_new(&copy));
        status   = refill_dict(copy, v.u.dict);
        out->old = cq_val_of_dict(copy);
        cq_val_retain(v);
        return status;
    }
    default: out->old = cq_val_retain(v); break;
    }
    if (p->kind == CQ_CHANGE_ATTRIBUTE)
        cq_val_retain(cq_val_of_object(p->where));
    return CQ_OK;
}

static bool known_place(const cq_path *path, const cq_change *p)
{
    for (size_t i = 0; i < path->changes.n; i++)
        if (cq_place_same(&path->changes.items[i], p))
            return true;
    return false;
}

static cq_status collect(cq_eval *ev, size_t mark, cq_path *path)
{
    for (size_t i = mark; i < ev->journal.n; i++) {
        cq_change *p = &ev->journal.items[i], now;

        if (!p->where || known_place(path, p))
            continue;
        CQ_TRY(cq_vec_reserve(&path->changes, path->changes.n + 1));
        CQ_TRY(cq_place_snapshot(p, &now));
        path->changes.items[path->changes.n++] = now;
    }
    return CQ_OK;
}

static cq_status take_back(cq_eval *ev, size_t mark)
{
    cq_status status = CQ_OK;

    while (ev->journal.n > mark) {
        cq_change *p = &ev->journal.items[ev->journal.n - 1];

        if (p->where && status == CQ_OK)
            status = cq_place_restore(p);
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

/* How often the path refers to what is at p, which may be in a container in turn. */
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

/* How often a change refers to it, as what it is about or with what was there. */
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

static int count_in_relatives(const cq_eval *ev, const void *p)
{
    int n = 0;

    for (size_t i = 0; i < ev->relatives.n; i++)
        for (size_t k = 0; k < 3; k++)
            n += cq_val_container(ev->relatives.items[i].lists[k]) == p;
    return n;
}

bool cq_path_is_only_holder(const cq_eval *ev, const cq_path *path, const cq_change *place)
{
    int refs;

    switch (place->kind) {
    case CQ_CHANGE_LIST: refs = atomic_load(&((cq_list *)place->where)->refs); break;
    case CQ_CHANGE_DICT: refs = atomic_load(&((cq_dict *)place->where)->refs); break;
    case CQ_CHANGE_ATTRIBUTE: refs = atomic_load(&((cq_object *)place->where)->box.refs); break;
    default: return false;
    }
    return count_in_path(path, place->where) + count_in_relatives(ev, place->where) >= refs;
}

int cq_eval_bookkeeping(const cq_eval *ev, const void *p)
{
    int n = count_in_relatives(ev, p);

    for (size_t i = 0; i < ev->journal.n; i++)
        n += count_in_change(&ev->journal.items[i], p);
    for (const cq_carry *c = ev->carry; c; c = c->outer) {
        for (size_t i = 0; i < c->holders.n; i++)
            n += cq_val_container(c->holders.items[i]) == p;
        for (size_t i = 0; i < c->places.n; i++)
            n += count_in(c->places.items[i].start, p, 0);
    }
    return n + (ev->guard ? cq_guard_refs(ev->guard, p) : 0);
}

bool cq_path_owns(const cq_eval *ev, const cq_path *path, const cq_change *place, cq_val v)
{
    const void *p    = cq_val_container(v);
    int         held = count_in_path(path, p) + (place ? count_in(cq_place_value(place), p, 0) : 0);

    return held + cq_eval_bookkeeping(ev, p) >= cq_val_container_refs(v);
}

cq_val cq_path_value(const cq_path *path, const cq_change *place)
{
    for (size_t i = 0; i < path->changes.n; i++)
        if (cq_place_same(&path->changes.items[i], place))
            return path->changes.items[i].old;
    return cq_place_value(place);
}

cq_val cq_path_contents(const cq_path *path, cq_val v)
{
    for (size_t i = 0; i < path->changes.n; i++) {
        const cq_change *c = &path->changes.items[i];

        if ((c->kind == CQ_CHANGE_LIST && v.kind == CQ_VAL_LIST && c->where == v.u.list) ||
            (c->kind == CQ_CHANGE_DICT && v.kind == CQ_VAL_DICT && c->where == v.u.dict))
            return c->old;
    }
    return v;
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
