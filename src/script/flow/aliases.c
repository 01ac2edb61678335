/* May-alias facts of the evaluator (aten/core/aliases.c has the rules), for values that can be one
 * of several tensors: items of a sequence, joined lists, and loop-carried values. */
#include "script/flow/aliases.h"

/* ---- sequences ---- */

static cq_track *memory_of(cq_eval *ev, cq_value *seq)
{
    return cq_ptr_map_get(&ev->memories, seq);
}

cq_track *cq_share_memory(cq_eval *ev, cq_value *seq)
{
    cq_track *t = memory_of(ev, seq);

    if (t)
        return t;
    t = cq_arena_zalloc(ev->capture->graph->arena, sizeof *t);
    if (!t || cq_ptr_map_set(&ev->memories, seq, t) != CQ_OK) {
        cq_ctx_fail(ev->cx, CQ_E_NO_MEMORY);
        return NULL;
    }
    t->value = seq;
    t->home  = ev->capture->block;
    return t;
}

cq_status cq_share_tensor(cq_eval *ev, cq_value *seq, cq_tensor *item)
{
    cq_tracks *tracks = &ev->capture->tracks;
    cq_track  *memory = cq_share_memory(ev, seq), *of = cq_track_of(tracks, ev->cx, item);

    return memory && of ? cq_track_may_share(tracks, memory, of) : ev->cx->status;
}

cq_status cq_share_sequence(cq_eval *ev, cq_value *seq, cq_value *from)
{
    cq_track *source = memory_of(ev, from), *memory;

    if (!source || seq == from)
        return CQ_OK;
    memory = cq_share_memory(ev, seq);
    return memory ? cq_track_may_share(&ev->capture->tracks, memory, source) : ev->cx->status;
}

cq_status cq_share_item(cq_eval *ev, cq_tensor *item, cq_value *seq)
{
    cq_track *source = memory_of(ev, seq);
    cq_track *track  = cq_track_of_new(&ev->capture->tracks, item);

    track->taken = ((cq_value *)track->value)->node;
    return source ? cq_track_may_share(&ev->capture->tracks, track, source) : CQ_OK;
}

/* The node that read the item from a sequence; NULL if it is not from a sequence. */
static const cq_node *taker_of(cq_eval *ev, cq_val item, cq_track **track)
{
    *track =
        item.kind == CQ_VAL_TENSOR ? cq_track_of_new(&ev->capture->tracks, item.u.tensor) : NULL;
    return *track ? (*track)->taken : NULL;
}

cq_status cq_share_check_but(cq_eval *ev, cq_value *seq, cq_int index, cq_val item)
{
    cq_track      *memory = memory_of(ev, seq), *track;
    const cq_node *taker  = taker_of(ev, item, &track);

    if (memory && taker && memory->stale == track && taker->inputs[0].u.value == seq &&
        cq_int_same(taker->inputs[1].u.i, index))
        return CQ_OK;
    return cq_share_check(ev, seq);
}

cq_status cq_share_check(cq_eval *ev, cq_value *seq)
{
    cq_track *memory = memory_of(ev, seq);

    return memory ? cq_track_check(memory) : CQ_OK;
}

/* ---- lists and dicts ---- */

cq_status cq_share_lists(cq_eval *ev, cq_val a, cq_val b, cq_val joined)
{
    cq_list_aliases r = { { a, b, joined } };

    CQ_TRY(cq_vec_push(&ev->aliases, r));
    for (size_t i = 0; i < 3; i++) {
        cq_val_retain(r.lists[i]);
        CQ_TRY(cq_ptr_map_set(&ev->has_aliases, cq_val_container(r.lists[i]), ev));
    }
    return CQ_OK;
}

/* Makes the variables that hold the list undefined: the list may have changed through an alias. */
static cq_status forget(cq_eval *ev, cq_val list)
{
    const void *p = cq_val_container(list);
    cq_frame   *f = ev->frame;
    cq_val      nothing;

    for (size_t i = 0; f && i < f->values.n; i++) {
        if (cq_val_container(f->values.items[i]) != p)
            continue;
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_UNDEFINED, CQ_LOST, &nothing));
        CQ_TRY(cq_slot_set(ev, &(cq_change){ .kind = CQ_CHANGE_SLOT, .where = f, .index = i },
                           nothing));
    }
    if (cq_val_container_refs(list) > cq_eval_bookkeeping(ev, p))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "change a copy() instead",
                       "cannot change a list or dict that is a data-dependent choice of two");
    return CQ_OK;
}

cq_status cq_share_change(cq_eval *ev, cq_val list)
{
    const void *p = cq_val_container(list);

    if (!cq_ptr_map_get(&ev->has_aliases, p))
        return CQ_OK;
    for (size_t i = 0; i < ev->aliases.n; i++) {
        const cq_val *r = ev->aliases.items[i].lists;

        if (cq_val_container(r[2]) == p) {
            CQ_TRY(forget(ev, r[0]));
            CQ_TRY(forget(ev, r[1]));
        } else if (cq_val_container(r[0]) == p || cq_val_container(r[1]) == p) {
            CQ_TRY(forget(ev, r[2]));
        }
    }
    return CQ_OK;
}

/* ---- loop-carried values ---- */

static bool *aliased_at(const cq_carry *c, size_t i, size_t k)
{
    return &c->aliased[i * CQ_MAX_CARRIED + k];
}

cq_status cq_carry_relate(cq_carry *c, const void *group)
{
    cq_tracks *tracks  = &c->ev->capture->tracks;
    bool       in_body = group == c->node->blocks[0];

    for (size_t i = 0; i < c->n; i++) {
        cq_carried *x = &c->items[i];

        if (!x->memory || (x->is_final && in_body))
            continue;
        cq_track_root(x->memory)->group = group;
        if (x->first)
            CQ_TRY(cq_track_may_share(tracks, x->memory, x->first));
        for (size_t k = 0; c->aliased && k < c->n; k++)
            if (*aliased_at(c, i, k) && c->items[k].memory && !(c->items[k].is_final && in_body))
                CQ_TRY(cq_track_may_share(tracks, x->memory, c->items[k].memory));
    }
    for (size_t i = 0; i < c->shares.n; i++) {
        cq_carried *x = &c->items[c->shares.items[i].item];

        if (!(x->is_final && in_body))
            CQ_TRY(cq_track_may_share(tracks, x->memory, c->shares.items[i].track));
    }
    for (size_t i = 0; i < c->lost.n; i++) {
        cq_val nothing;

        CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_UNDEFINED, CQ_LOST, &nothing));
        CQ_TRY(cq_slot_set(c->ev, &c->lost.items[i], nothing));
    }
    for (size_t i = 0; i < c->stale.n; i++)
        CQ_TRY(cq_track_set_stale(tracks, c->stale.items[i], c->stale.items[i]));
    return CQ_OK;
}

void cq_carry_unrelate(cq_carry *c)
{
    c->shares.n = 0;
    cq_free(c->aliased);
    c->aliased = NULL;
}

cq_status cq_carry_add_alias(cq_carry *c, size_t i, size_t k)
{
    if (!c->aliased)
        c->aliased = cq_zalloc(sizeof *c->aliased * CQ_MAX_CARRIED * CQ_MAX_CARRIED);
    if (!c->aliased)
        return CQ_E_NO_MEMORY;
    c->again |= !*aliased_at(c, i, k);
    *aliased_at(c, i, k) = *aliased_at(c, k, i) = true;
    return CQ_OK;
}

static cq_status add_share(cq_carry *c, size_t item, cq_track *t)
{
    if (t == cq_track_root(c->items[item].memory) ||
        (c->items[item].first && t == cq_track_root(c->items[item].first)))
        return CQ_OK;
    for (size_t i = 0; i < c->shares.n; i++)
        if (c->shares.items[i].item == item && c->shares.items[i].track == t)
            return CQ_OK;
    c->again = true;
    return cq_vec_push(&c->shares, (cq_carry_share){ item, t });
}

/* Marks the sources of t: the aliases that t may have. An alias of t may alias them too, so they
 * need not be recorded. */
static cq_status mark_sources(cq_carry *c, cq_track *t, cq_track_list *found, uint32_t mark)
{
    if (!t)
        return CQ_OK;
    CQ_TRY(cq_track_sources(&c->ev->capture->tracks, t, found));
    for (size_t s = 0; s < found->n; s++)
        found->items[s]->marked = mark;
    return CQ_OK;
}

/* Compares the aliases of item i at the end of the iteration. In the next iteration it may alias
 * the tensors outside of the loop that it may alias now, and it may alias items with common
 * sources. */
static cq_status compare_ends(cq_carry *c, size_t i, cq_track_list *own_sources,
                              cq_track_list *other_sources)
{
    cq_tracks     *tracks   = &c->ev->capture->tracks;
    const uint32_t recorded = ++tracks->visits; /* a number that no other walk uses */
    uint32_t       mark;

    CQ_TRY(mark_sources(c, c->items[i].first, other_sources, recorded));
    for (size_t s = 0; s < c->shares.n; s++)
        if (c->shares.items[s].item == i)
            CQ_TRY(mark_sources(c, c->shares.items[s].track, other_sources, recorded));
    CQ_TRY(cq_track_sources(tracks, c->items[i].last, own_sources));
    mark = tracks->visits;
    for (size_t s = 0; s < own_sources->n; s++) {
        if (!cq_track_is_visible(own_sources->items[s], c->node->block)) {
            own_sources->items[s]->marked = mark;
        } else if (own_sources->items[s]->marked != recorded) {
            CQ_TRY(add_share(c, i, own_sources->items[s]));
            CQ_TRY(mark_sources(c, own_sources->items[s], other_sources, recorded));
        }
    }
    for (size_t k = 0; k < i; k++) {
        bool both = false;

        if (!c->items[k].last)
            continue;
        CQ_TRY(cq_track_sources(tracks, c->items[k].last, other_sources));
        for (size_t o = 0; o < other_sources->n && !both; o++)
            both = other_sources->items[o]->marked == mark;
        if (both)
            CQ_TRY(cq_carry_add_alias(c, i, k));
    }
    return CQ_OK;
}

cq_status cq_carry_compare(cq_carry *c)
{
    cq_track_list own_sources = { 0 }, other_sources = { 0 };
    cq_status     status = CQ_OK;

    for (size_t i = 0; i < c->n && status == CQ_OK; i++)
        if (c->items[i].last)
            status = compare_ends(c, i, &own_sources, &other_sources);
    cq_vec_clear(&own_sources);
    cq_vec_clear(&other_sources);
    return status;
}
