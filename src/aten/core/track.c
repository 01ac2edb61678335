/* Mutation, made functional. A view remembers its base and the call that took it. When a
 * tensor is changed, the change is written back through the chain of views to its root
 * (each view operator has an unview), and the root's version moves on. Other views of the
 * same memory notice when they are next used, and are taken again. */
#include "aten/core/track.h"

#include <stdatomic.h>

/* An address would not do as a mark: tensors may outlive their listener, and another one may get
 * its memory. */
void cq_tracks_init(cq_tracks *tracks, cq_arena *arena,
                    void *(*value_of)(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t))
{
    static atomic_uintptr_t last;

    *tracks = (cq_tracks){ .id       = (void *)(atomic_fetch_add(&last, 1) + 1),
                           .arena    = arena,
                           .value_of = value_of };
}

void cq_tracks_clear(cq_tracks *tracks)
{
    for (size_t i = 0; i < tracks->retained.n; i++)
        cq_val_release(tracks->retained.items[i]);
    cq_vec_clear(&tracks->retained);
    cq_ptr_map_clear(&tracks->outside);
}

static cq_track *find_track(const cq_tracks *tracks, const cq_tensor *t)
{
    cq_track *track = cq_track_of_new(tracks, t);

    return track ? track : cq_ptr_map_get(&tracks->outside, t);
}

bool cq_is_tracked(const cq_tracks *tracks, const cq_tensor *t)
{
    return find_track(tracks, t) != NULL;
}

cq_track *cq_track_new(cq_tracks *tracks, cq_tensor *t, void *value)
{
    cq_track *track = cq_arena_zalloc(tracks->arena, sizeof *track);

    if (!track)
        return NULL;
    track->value = value;
    t->tag       = (cq_tag){ .owner = tracks->id, .what = track };
    return track;
}

cq_track *cq_track_of(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t)
{
    cq_track *track = find_track(tracks, t);
    void     *value;

    if (track)
        return track;
    value = tracks->value_of(tracks, cx, t);
    if (!value)
        return NULL;
    track = cq_arena_zalloc(tracks->arena, sizeof *track);
    if (track)
        track->value = value;
    /* The handle is the key, so it must stay alive. */
    if (!track || cq_ptr_map_set(&tracks->outside, t, track) != CQ_OK ||
        cq_vec_push(&tracks->retained, cq_val_of_tensor(t)) != CQ_OK) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return NULL;
    }
    cq_tensor_retain(t);
    return track;
}

cq_track *cq_track_root(cq_track *t)
{
    return t->base ? t->root : t;
}

bool cq_track_is_written(const cq_tracks *tracks, const cq_tensor *t)
{
    cq_track *track = find_track(tracks, t);

    return track && cq_track_root(track)->current != 0;
}

/* Integers that were known of the contents, before they changed. */
static void forget_known(cq_tensor *t)
{
    cq_free(t->known);
    t->known = NULL;
}

cq_status cq_track_view(cq_tracks *tracks, cq_opcall *c, cq_tensor *view, size_t result)
{
    size_t    n     = c->op->schema->n_args;
    cq_track *track = cq_track_of_new(tracks, view);

    track->base   = cq_track_of(tracks, c->cx, c->args[0].u.tensor);
    track->op     = c->op;
    track->result = result;
    track->args   = cq_arena_copy(tracks->arena, c->args, n * sizeof *c->args);
    if (!track->base || !track->args)
        return c->cx->status != CQ_OK ? c->cx->status : CQ_E_NO_MEMORY;
    track->root    = cq_track_root(track->base);
    track->version = track->root->current;
    for (size_t i = 0; i < n; i++) {
        CQ_TRY(cq_vec_push(&tracks->retained, c->args[i]));
        cq_val_retain(c->args[i]);
    }
    return CQ_OK;
}

cq_status cq_track_will_change(cq_tracks *tracks, cq_track *t)
{
    return tracks->will_change ? tracks->will_change(tracks->will_change_user, t) : CQ_OK;
}

/* The tensor that a view was taken of. */
static cq_tensor *base_of(cq_track *view)
{
    if (view->base->moved)
        view->args[0] = cq_val_of_tensor(view->base->moved); /* retained by the function that
                                                              * moved it */
    return view->args[0].u.tensor;
}

/* Repeats the call that made a view on the current value of its base. */
static cq_status take_again(cq_ctx *cx, cq_track *t, cq_tensor **out)
{
    cq_val result;

    base_of(t);
    CQ_TRY(cq_op_call(cx, t->op, t->args, t->op->schema->n_args, &result, 1));
    if (result.kind == CQ_VAL_LIST && t->result < result.u.list->n)
        result = result.u.list->items[t->result];
    if (result.kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_INTERNAL, t->op->schema->full, NULL, "a view made no tensor");
    *out = result.u.tensor;
    return CQ_OK;
}

cq_status cq_track_refresh(void *self, cq_ctx *cx, cq_tensor *t)
{
    cq_tracks *tracks = self;
    cq_track  *track  = cq_track_of_new(tracks, t);
    cq_track  *root;
    cq_tensor *again = NULL;

    if (tracks->any_stale) {
        cq_track *any = find_track(tracks, t);

        CQ_TRY(any ? cq_track_check(any) : CQ_OK);
    }
    if (!track || !track->base)
        return CQ_OK;
    root = cq_track_root(track);
    if (track->version == root->current)
        return CQ_OK;
    CQ_TRY(cq_track_will_change(tracks, track));
    forget_known(t);
    track->version = root->current; /* before the call, which refreshes its arguments */
    CQ_TRY(take_again(cx, track, &again));
    track->value = cq_track_of_new(tracks, again)->value;
    return CQ_OK;
}

enum { WRITE_BACK_STEPS = 128 }; /* the nodes of one view of a chain */

cq_status cq_track_changed(void *self, cq_ctx *cx, cq_tensor *t, cq_tensor *changed)
{
    cq_tracks *tracks = self;
    cq_track  *track  = cq_track_of(tracks, cx, t);
    cq_track  *news   = cq_track_of(tracks, cx, changed);
    cq_track  *root;

    if (!track || !news)
        return cx->status;
    root = cq_track_root(track);
    for (cq_track *t_ = track; t_; t_ = t_->base)
        CQ_TRY(cq_track_will_change(tracks, t_));
    track->value = news->value;
    forget_known(t);
    for (cq_track *view = track; view->base; view = view->base) {
        cq_tensor *base = base_of(view);
        cq_opcall  c    = { .cx = cx, .op = view->op, .args = view->args };

        if (cx->spend)
            CQ_TRY(cx->spend(cx->spender, WRITE_BACK_STEPS));
        if (!view->op->unview)
            return cq_fail(CQ_E_UNSUPPORTED, view->op->schema->full, NULL,
                           "a change of this view cannot be written back to its tensor");
        changed = cq_op_unview(&c, base, changed, view->result);
        if (!changed)
            return cx->status;
        forget_known(base);
        view->base->value = cq_track_of(tracks, cx, changed)->value;
    }
    root->current++;
    for (cq_track *view = track; view; view = view->base)
        view->version = root->current;
    return cq_track_invalidate_others(tracks, root, cx->location);
}
