/* Mutation, made functional. A view remembers its base and the call that took it. When a
 * tensor is changed, the change is written back through the chain of views to its root
 * (each view operator has an unview), and the root's version moves on. Other views of the
 * same memory notice when they are next used, and are taken again. */
#include "capture/capture.h"

static cq_track *root_of(cq_track *t)
{
    while (t->base)
        t = t->base;
    return t;
}

cq_status cq_track_view(cq_capture *cap, cq_opcall *c, cq_tensor *view, size_t result)
{
    size_t    n     = c->op->schema->n_args;
    cq_track *track = view->track;

    track->base    = cq_track_of(cap, c->cx, c->args[0].u.tensor);
    track->op      = c->op;
    track->result  = result;
    track->args    = cq_arena_copy(cap->graph->arena, c->args, n * sizeof *c->args);
    if (!track->base || !track->args)
        return c->cx->status != CQ_OK ? c->cx->status : CQ_E_NO_MEMORY;
    track->version = root_of(track)->current;
    for (size_t i = 0; i < n; i++) {
        CQ_TRY(cq_vec_push(&cap->retained, c->args[i]));
        cq_val_retain(c->args[i]);
    }
    return CQ_OK;
}

static cq_status will_change(cq_capture *cap, cq_track *t)
{
    return cap->will_change ? cap->will_change(cap->will_change_user, t) : CQ_OK;
}

/* The call that took a view, made once more on its base as it is now. */
static cq_status take_again(cq_ctx *cx, cq_track *t, cq_tensor **out)
{
    cq_val result;

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
    cq_capture *cap   = self;
    cq_track   *track = t->capture == cap ? t->track : NULL;
    cq_track   *root;
    cq_tensor  *again = NULL;

    if (!track || !track->base)
        return CQ_OK;
    root = root_of(track);
    if (track->version == root->current)
        return CQ_OK;
    CQ_TRY(will_change(cap, track));
    track->version = root->current; /* before the call, which refreshes its arguments */
    CQ_TRY(take_again(cx, track, &again));
    track->value = ((cq_track *)again->track)->value;
    return CQ_OK;
}

cq_status cq_track_changed(void *self, cq_ctx *cx, cq_tensor *t, cq_tensor *changed)
{
    cq_capture *cap   = self;
    cq_track   *track = cq_track_of(cap, cx, t);
    cq_track   *news  = cq_track_of(cap, cx, changed);
    cq_track   *root;

    if (!track || !news)
        return cx->status;
    root = root_of(track);
    for (cq_track *t_ = track; t_; t_ = t_->base)
        CQ_TRY(will_change(cap, t_));
    track->value = news->value;
    for (cq_track *view = track; view->base; view = view->base) {
        cq_tensor *base = view->args[0].u.tensor;
        cq_opcall    c    = { .cx = cx, .op = view->op, .args = view->args };

        if (!view->op->def->unview)
            return cq_fail(CQ_E_UNSUPPORTED, view->op->schema->full, NULL,
                           "a change of this view cannot be written back to its tensor");
        changed = view->op->def->unview(&c, base, changed, view->result);
        if (!changed)
            return cx->status;
        view->base->value = cq_track_of(cap, cx, changed)->value;
    }
    root->current++;
    for (cq_track *view = track; view; view = view->base)
        view->version = root->current;
    return CQ_OK;
}
