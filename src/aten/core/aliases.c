/* May-alias analysis. After a data-dependent branch or loop a variable can hold one tensor or
 * another; in the graph it is a separate tensor. As long as none of them is changed in place there
 * is no difference. When one is, the tensors that may alias it become stale: their contents are
 * unknown, and using them is an error.
 *
 * The tensors that a joined tensor may be are its sources. A change of it may change each of them,
 * and whatever else is joined from them; a change of a source may change what is joined from it. */
#include "aten/core/track.h"

struct cq_share {
    cq_track *track;
    cq_share *next;
};

static bool has(const cq_share *list, const cq_track *t)
{
    for (; list; list = list->next)
        if (list->track == t)
            return true;
    return false;
}

static cq_status add(cq_tracks *tracks, cq_share **list, cq_track *t)
{
    cq_share *s = cq_arena_zalloc(tracks->arena, sizeof *s);

    if (!s)
        return CQ_E_NO_MEMORY;
    s->track = t;
    s->next  = *list;
    *list    = s;
    return CQ_OK;
}

cq_status cq_track_may_share(cq_tracks *tracks, cq_track *joined, cq_track *source)
{
    joined = cq_track_root(joined);
    source = cq_track_root(source);
    if (joined == source || has(joined->sources, source))
        return CQ_OK;
    CQ_TRY(add(tracks, &joined->sources, source));
    return add(tracks, &source->joins, joined);
}

/* Adds the tracks of a list that were not visited yet. */
static cq_status visit(const cq_share *list, uint32_t number, const void *but, cq_track_list *found)
{
    for (; list; list = list->next)
        if (list->track->visited != number && (!but || list->track->group != but)) {
            list->track->visited = number;
            CQ_TRY(cq_vec_push(found, list->track));
        }
    return CQ_OK;
}

cq_status cq_track_sources(cq_tracks *tracks, cq_track *t, cq_track_list *found)
{
    uint32_t number = ++tracks->visits;

    found->n   = 0;
    t          = cq_track_root(t);
    t->visited = number;
    CQ_TRY(cq_vec_push(found, t));
    for (size_t i = 0; i < found->n; i++)
        CQ_TRY(visit(found->items[i]->sources, number, NULL, found));
    return CQ_OK;
}

static cq_status find_others(cq_tracks *tracks, cq_track *changed, cq_track_list *found)
{
    CQ_TRY(cq_track_sources(tracks, changed, found));
    for (size_t i = 0; i < found->n; i++)
        CQ_TRY(visit(found->items[i]->joins, tracks->visits, changed->group, found));
    return CQ_OK;
}

cq_status cq_track_set_stale(cq_tracks *tracks, cq_track *t, cq_track *by)
{
    if (t->stale == by || t->stale == t)
        return CQ_OK;
    CQ_TRY(cq_track_will_change(tracks, t));
    t->stale          = t->stale ? t : by;
    tracks->any_stale = true;
    return CQ_OK;
}

cq_status cq_track_invalidate_others(cq_tracks *tracks, cq_track *changed, cq_location at)
{
    cq_track_list found = { 0 };
    cq_status     status;

    if (!changed->sources && !changed->joins)
        return CQ_OK;
    status = find_others(tracks, changed, &found);
    for (size_t i = 0; i < found.n && status == CQ_OK; i++)
        if (found.items[i] != changed) {
            found.items[i]->stale_at = at;
            status                   = cq_track_set_stale(tracks, found.items[i], changed);
        }
    cq_vec_clear(&found);
    return status;
}

cq_status cq_track_check(cq_track *t)
{
    char at[CQ_LOCATION_SIZE];

    t = cq_track_root(t);
    if (!t->stale)
        return CQ_OK;
    cq_location_text(t->stale_at, at);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, "change a clone() instead",
                   "a tensor is used that may share its memory, depending on data, with one "
                   "that was changed in place%s%s",
                   at[0] ? " at " : "", at);
}
