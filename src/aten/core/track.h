/* The tracks of a listener: which of its values a handle holds now, and how views depend on each
 * other. The values of a capture are those of a graph; those of a gradient tape are its own.
 *
 * Listeners are functional: an in-place operator makes a new value, which is written back through
 * the chain of views. */
#ifndef CQ_ATEN_CORE_TRACK_H
#define CQ_ATEN_CORE_TRACK_H

#include "aten/core/ctx.h"

typedef struct cq_track  cq_track;
typedef struct cq_tracks cq_tracks;
typedef struct cq_share  cq_share; /* share.c */
typedef CQ_VEC(cq_track *) cq_track_list;

/* One tensor handle. */
struct cq_track {
    void    *value; /* the listener's; holds the contents as of version */
    uint32_t version;
    /* Of a capture: the node that read the tensor from a sequence, or NULL; and the block in which
     * the handle was made, NULL for a handle from outside. */
    const struct cq_node *taken;
    struct cq_block      *home;

    /* A view: the call that made it from base, and which of its results it is. */
    cq_track    *base;
    cq_track    *root; /* where the chain of bases ends */
    const cq_op *op;
    cq_val      *args; /* retained by the tracks; args[0] is the base's tensor */
    size_t       result;

    /* The handle to take views by, once its own shows something else (unsqueeze_); or NULL. */
    cq_tensor *moved;

    /* Fields of the root of a chain of views: */
    uint32_t  current;         /* the version of its memory */
    cq_track *stale;           /* whose change may have changed it too (share.c); itself: several */
    cq_share *sources, *joins; /* what it may alias, depending on data; and the inverse
                                * relation */
    cq_location stale_at;      /* where that was */
    const void *group; /* members of one group are not related through common sources: each has
                        * its own list */
    uint32_t visited, marked; /* by a walk, and by a comparison of two walks */
};

/* The first member of a listener's own struct. */
struct cq_tracks {
    void      *id;      /* identifies the handles of these tracks; never reused */
    cq_arena  *arena;   /* borrowed */
    cq_ptr_map outside; /* tensors that were there before: handle -> track */
    CQ_VEC(cq_val) retained;
    uint32_t visits;
    bool     any_stale;

    /* The value of a tensor that is seen for the first time; NULL after a failure, which is the
     * context's. */
    void *(*value_of)(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t);

    /* Speculative evaluation is informed before a track changes, to be able to undo the change. */
    cq_status (*will_change)(void *user, cq_track *track);
    void *will_change_user;
};

void cq_tracks_init(cq_tracks *tracks, cq_arena *arena,
                    void *(*value_of)(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t));
void cq_tracks_clear(cq_tracks *tracks);

/* The track of a tensor that was made meanwhile; NULL: it came from outside. Its tag leads to it;
 * tensors from outside are found by their address, so that several can read the same parameters at
 * once. */
static inline cq_track *cq_track_of_new(const cq_tracks *tracks, const cq_tensor *t)
{
    return t->tag.owner == tracks->id ? t->tag.what : NULL;
}

/* The track of any tensor; NULL after a failure, which is the context's. */
cq_track *cq_track_of(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t);
bool      cq_is_tracked(const cq_tracks *tracks, const cq_tensor *t);

/* Whether the memory of a tensor was written to, through it or a view of it. */
bool cq_track_is_written(const cq_tracks *tracks, const cq_tensor *t);

/* A track for a tensor that was just made; NULL: no memory. */
cq_track *cq_track_new(cq_tracks *tracks, cq_tensor *t, void *value);

/* The track of the tensor whose memory a view shows, through all views in between. */
cq_track *cq_track_root(cq_track *t);

/* view, already bound, is a result of c, a call of a view operator. */
cq_status cq_track_view(cq_tracks *tracks, cq_opcall *c, cq_tensor *view, size_t result);

/* Before anyone changes a track. */
cq_status cq_track_will_change(cq_tracks *tracks, cq_track *track);

/* aliases.c: joined may alias source, depending on data; everything that t may alias, and t itself;
 * makes the aliases of a root stale; using a stale one is an error. */
cq_status cq_track_may_share(cq_tracks *tracks, cq_track *joined, cq_track *source);
cq_status cq_track_sources(cq_tracks *tracks, cq_track *t, cq_track_list *found);
cq_status cq_track_invalidate_others(cq_tracks *tracks, cq_track *changed, cq_location at);
cq_status cq_track_set_stale(cq_tracks *tracks, cq_track *t, cq_track *by);
cq_status cq_track_check(cq_track *t);

/* For the listener's own functions of these names; self is the tracks. */
cq_status cq_track_changed(void *self, cq_ctx *cx, cq_tensor *t, cq_tensor *changed);
cq_status cq_track_refresh(void *self, cq_ctx *cx, cq_tensor *t);

#endif
