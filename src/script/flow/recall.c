/* Notes of nested loops about their loop-carried values. The body of a loop is evaluated until its
 * carried values have settled, and without notes its inner loops would start from nothing each
 * time: three evaluations for each become 3^n for n nested loops. So a settled loop leaves a note
 * in the enclosing loop, and starts with it the next time. A note is a guess: missing slots are
 * found as before, and slots that no longer exist are skipped. Slots are noted by variable name,
 * because lists and tensors created by the outer body are new objects each time. Notes do not refer
 * to lists of the program, because a reference count decides whether a list is shared. */
#include "script/flow/carry.h"
#include "script/values/form.h"
#include "script/flow/join.h"
#include "script/flow/aliases.h"

typedef struct noted_slot {
    int         kind; /* of cq_change */
    const char *name; /* of the variable */
    size_t      index;
    cq_track   *track; /* of a tensor without a variable */
    cq_val      form;  /* the form of its start; retained */
} noted_slot;

typedef struct noted_item {
    cq_val_kind  kind;
    cq_item_type type;
    bool         is_open; /* the length of a list is dynamic */
} noted_item;

typedef struct noted_share {
    size_t     item;
    noted_slot with;  /* a tensor that the item may alias */
    size_t     first; /* 0, or 1 + the index of the item whose start it may alias */
} noted_share;

struct cq_carry_note {
    const cq_ast_expr *loop; /* the test expression, which identifies the loop statement */
    CQ_VEC(noted_slot) slots;
    CQ_VEC(noted_slot) lost, stale;
    CQ_VEC(noted_item) items;
    CQ_VEC(bool) aliased;
    CQ_VEC(noted_share) shares;
    cq_carry_notes inner;
};

/* ---- variables that hold slots ---- */

/* The root track; NULL if the tensor came from outside. */
static cq_track *root_of(const cq_eval *ev, const cq_tensor *t)
{
    cq_track *track = cq_track_of_new(&ev->capture->tracks, t);

    return track ? cq_track_root(track) : NULL;
}

static bool leads_to(cq_eval *ev, cq_val v, const cq_change *slot)
{
    switch (slot->kind) {
    case CQ_CHANGE_LIST:
    case CQ_CHANGE_DICT: return cq_val_container(v) == slot->where;
    case CQ_CHANGE_ATTRIBUTE: return cq_object_of(v) == slot->where;
    case CQ_CHANGE_TRACK: return v.kind == CQ_VAL_TENSOR && root_of(ev, v.u.tensor) == slot->where;
    default: return false;
    }
}

static const char *name_of(cq_eval *ev, const cq_change *slot)
{
    const cq_ptr_map *slots = &ev->frame->slots;

    for (size_t i = 0; i < slots->cap; i++) {
        const size_t at = (size_t)(uintptr_t)slots->slots[i].value;

        if (!slots->slots[i].key)
            continue;
        if (slot->kind == CQ_CHANGE_SLOT ? slot->where == ev->frame && at == slot->index + 1
                                         : leads_to(ev, ev->frame->values.items[at - 1], slot))
            return slots->slots[i].key;
    }
    return NULL;
}

/* Finds the current slot of a note; false if it no longer exists. */
static bool find_slot(cq_eval *ev, const noted_slot *p, cq_change *out)
{
    const cq_val *v = p->name ? cq_frame_own(ev->frame, p->name) : NULL;
    cq_object    *object;

    *out = (cq_change){ .kind = p->kind, .index = p->index };
    if (!v) {
        out->where = p->track;
        return p->track != NULL;
    }
    switch (out->kind) {
    case CQ_CHANGE_SLOT:
        out->where = ev->frame;
        out->index = (size_t)(v - ev->frame->values.items);
        return true;
    case CQ_CHANGE_LIST: out->where = v->kind == CQ_VAL_LIST ? v->u.list : NULL; break;
    case CQ_CHANGE_DICT: out->where = v->kind == CQ_VAL_DICT ? v->u.dict : NULL; break;
    case CQ_CHANGE_ATTRIBUTE:
        object     = cq_object_as(*v, CQ_OBJECT_INSTANCE);
        out->where = object && p->index < object->attributes.n ? object : NULL;
        break;
    case CQ_CHANGE_TRACK:
        out->where = v->kind == CQ_VAL_TENSOR ? root_of(ev, v->u.tensor) : NULL;
        break;
    }
    return out->where != NULL;
}

/* ---- forms ---- */

/* A value of the same form that does not share lists with v; None if that is impossible. */
static cq_val form_of(cq_eval *ev, cq_val v, int levels)
{
    cq_object *t = cq_object_of(v);
    cq_val     copy, self;

    if (levels == 0 || v.kind == CQ_VAL_DICT)
        return CQ_NONE;
    if (t) {
        self = t->kind == CQ_OBJECT_OPTIONAL || t->kind == CQ_OBJECT_NAMED
                   ? form_of(ev, t->self, levels - 1)
                   : CQ_NONE;
        if (self.kind == CQ_VAL_NONE)
            return CQ_NONE;
        if (t->kind == CQ_OBJECT_NAMED)
            return cq_eval_new_named(ev, t, self, &copy) == CQ_OK ? copy : CQ_NONE;
        return cq_eval_new_optional(ev, t->has, self, &copy) == CQ_OK ? copy : CQ_NONE;
    }
    if (v.kind != CQ_VAL_LIST && v.kind != CQ_VAL_TUPLE)
        return v;
    if (cq_eval_list(ev, NULL, 0, v.kind, &copy) != CQ_OK)
        return CQ_NONE;
    copy.u.list->origin = v.u.list->origin;
    for (size_t i = 0; i < v.u.list->n; i++) {
        cq_val item = form_of(ev, v.u.list->items[i], levels - 1);

        if (item.kind == CQ_VAL_NONE || cq_list_push(copy.u.list, item) != CQ_OK)
            return CQ_NONE;
    }
    return copy;
}

/* ---- writing notes ---- */

static void note_free(cq_carry_note *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->slots.n; i++)
        cq_val_release(n->slots.items[i].form);
    cq_vec_clear(&n->slots);
    cq_vec_clear(&n->lost);
    cq_vec_clear(&n->stale);
    cq_vec_clear(&n->items);
    cq_vec_clear(&n->aliased);
    cq_vec_clear(&n->shares);
    cq_carry_notes_clear(&n->inner);
    cq_free(n);
}

void cq_carry_notes_clear(cq_carry_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        note_free(notes->items[i]);
    cq_vec_clear(notes);
}

static noted_slot note_of_track(cq_eval *ev, cq_track *t)
{
    const cq_change slot = { .kind = CQ_CHANGE_TRACK, .where = t };

    return (noted_slot){ .kind = slot.kind, .name = name_of(ev, &slot), .track = t };
}

static cq_status note_places(cq_carry *c, cq_carry_note *n)
{
    for (size_t i = 0; i < c->slots.n; i++) {
        const cq_change *p    = &c->slots.items[i].slot;
        noted_slot       to   = { .kind = p->kind, .index = p->index };
        cq_val           form = form_of(c->ev, c->slots.items[i].start, 8);

        to.name = name_of(c->ev, p);
        if (!to.name || form.kind == CQ_VAL_NONE)
            continue;
        to.form = form;
        CQ_TRY(cq_vec_push(&n->slots, to));
        cq_val_retain(form);
    }
    for (size_t i = 0; i < c->tracks.n; i++)
        CQ_TRY(cq_vec_push(&n->slots, note_of_track(c->ev, c->tracks.items[i])));
    for (size_t i = 0; i < c->stale.n; i++)
        CQ_TRY(cq_vec_push(&n->stale, note_of_track(c->ev, c->stale.items[i])));
    for (size_t i = 0; i < c->lost.n; i++)
        CQ_TRY(cq_vec_push(&n->lost, (noted_slot){ .kind = CQ_CHANGE_SLOT,
                                                   .name = name_of(c->ev, &c->lost.items[i]) }));
    return CQ_OK;
}

static cq_status note_items(cq_carry *c, cq_carry_note *n)
{
    for (size_t i = 0; i < c->n; i++) {
        const cq_carried *x = &c->items[i];

        CQ_TRY(cq_vec_push(&n->items, (noted_item){ x->kind, x->type, cq_int_is_open(x->length) }));
    }
    for (size_t i = 0; c->aliased && i < c->n * c->n; i++)
        CQ_TRY(cq_vec_push(&n->aliased, c->aliased[i / c->n * CQ_MAX_CARRIED + i % c->n]));
    for (size_t i = 0; i < c->shares.n; i++) {
        cq_track   *t  = c->shares.items[i].track;
        noted_share to = { c->shares.items[i].item, note_of_track(c->ev, t), 0 };

        for (size_t k = 0; k < c->n && !to.with.name; k++)
            if (c->items[k].first && cq_track_root(c->items[k].first) == t)
                to.first = k + 1;
        CQ_TRY(cq_vec_push(&n->shares, to));
    }
    return CQ_OK;
}

cq_status cq_carry_remember(cq_carry *c, const cq_ast_expr *loop)
{
    cq_carry_note *n;
    cq_status      status;

    if (!c->outer)
        return CQ_OK;
    n = cq_zalloc(sizeof *n);
    if (!n)
        return CQ_E_NO_MEMORY;
    n->loop  = loop;
    n->inner = c->noted;
    c->noted = (cq_carry_notes){ 0 };
    status   = note_places(c, n);
    status   = status == CQ_OK ? note_items(c, n) : status;
    status   = status == CQ_OK ? cq_vec_push(&c->outer->noted, n) : status;
    if (status != CQ_OK)
        note_free(n);
    return status;
}

/* ---- reading notes ---- */

/* The note that the same loop left. Notes are in the order of evaluation. */
static cq_carry_note *take_note(cq_carry *outer, const cq_ast_expr *loop)
{
    for (size_t i = outer->n_recalled; i < outer->recalled.n; i++)
        if (outer->recalled.items[i]->loop == loop) {
            outer->n_recalled = i + 1;
            return outer->recalled.items[i];
        }
    return NULL;
}

static cq_status recall_places(cq_carry *c, const cq_carry_note *n)
{
    for (size_t i = 0; i < n->slots.n; i++) {
        const noted_slot *p = &n->slots.items[i];
        cq_change         slot;

        if (!find_slot(c->ev, p, &slot))
            continue;
        if (slot.kind != CQ_CHANGE_TRACK)
            CQ_TRY(cq_carry_hold(c, &slot, p->form));
        else if (cq_track_is_visible(slot.where, c->node->block))
            CQ_TRY(cq_vec_push(&c->tracks, slot.where));
    }
    return CQ_OK;
}

/* Recalls tensors that are stale after an iteration, and variables whose list is lost. */
static cq_status recall_losses(cq_carry *c, const cq_carry_note *n)
{
    cq_change slot;

    for (size_t i = 0; i < n->stale.n; i++)
        if (find_slot(c->ev, &n->stale.items[i], &slot) &&
            cq_track_is_visible(slot.where, c->node->block))
            CQ_TRY(cq_vec_push(&c->stale, slot.where));
    for (size_t i = 0; i < n->lost.n; i++)
        if (find_slot(c->ev, &n->lost.items[i], &slot) &&
            !cq_val_is_undefined(cq_slot_value(&slot)))
            CQ_TRY(cq_vec_push(&c->lost, slot));
    return CQ_OK;
}

static cq_status recall_shares(cq_carry *c, const cq_carry_note *n)
{
    for (size_t i = 0; i < n->shares.n; i++) {
        const noted_share *s = &n->shares.items[i];
        cq_change          with;

        if (s->first)
            with.where = c->items[s->first - 1].first;
        else if (!find_slot(c->ev, &s->with, &with))
            continue;
        if (with.where && cq_track_is_visible(with.where, c->node->block))
            CQ_TRY(cq_vec_push(&c->shares, (cq_carry_share){ s->item, cq_track_root(with.where) }));
    }
    return CQ_OK;
}

/* Recalls which sizes change between iterations, and which items may alias. */
static cq_status recall_items(cq_carry *c, const cq_carry_note *n)
{
    bool same = c->n == n->items.n;

    for (size_t i = 0; i < c->n && same; i++)
        same = c->items[i].kind == n->items.items[i].kind;
    for (size_t i = 0; i < c->n && same; i++) {
        cq_carried         *x = &c->items[i];
        const cq_item_type *t = &n->items.items[i].type;

        if (x->kind == CQ_VAL_LIST && n->items.items[i].is_open)
            x->length = cq_i(-1);
        for (int k = 0; x->type.rank == t->rank && k < t->rank; k++)
            if (cq_int_is_open(t->sizes[k]))
                x->type.sizes[k] = cq_i(-1);
        if (x->kind == CQ_VAL_TENSOR && !x->track)
            CQ_TRY(cq_carry_promote(c, x, t->dtype));
        for (size_t k = 0; n->aliased.n && k < i; k++)
            if (n->aliased.items[i * c->n + k])
                CQ_TRY(cq_carry_add_alias(c, i, k));
    }
    return same ? recall_shares(c, n) : CQ_OK;
}

cq_status cq_carry_recall(cq_carry *c, const cq_ast_expr *loop)
{
    cq_carry_note *n = c->outer ? take_note(c->outer, loop) : NULL;

    if (!n)
        return CQ_OK;
    c->noted = n->inner;
    n->inner = (cq_carry_notes){ 0 };
    CQ_TRY(recall_places(c, n));
    CQ_TRY(recall_losses(c, n));
    CQ_TRY(cq_carry_start(c));
    return recall_items(c, n);
}
