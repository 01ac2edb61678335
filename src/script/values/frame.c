/* Frames: the variables of a call. Functions defined in the call refer to its frame, and may be
 * returned and called later, so frames are reference-counted. */
#include "script/python/python.h"

cq_status cq_frame_new(cq_frame **out, cq_object *function)
{
    cq_frame *f = *out = cq_zalloc(sizeof *f);

    if (!f)
        return CQ_E_NO_MEMORY;
    f->refs  = 1;
    f->unit  = function->unit;
    f->def   = function->def;
    f->owner = function->owner;
    f->outer = cq_frame_retain(function->closure);
    return CQ_OK;
}

cq_frame *cq_frame_retain(cq_frame *f)
{
    if (f)
        f->refs++;
    return f;
}

/* Clears the variables, which releases the functions that refer to the frame. */
static void clear_variables(cq_frame *f)
{
    for (size_t i = 0; i < f->values.n; i++)
        cq_val_set(&f->values.items[i], CQ_NONE);
    cq_vec_clear(&f->values);
    cq_ptr_map_clear(&f->slots);
}

void cq_frame_release(cq_frame *f)
{
    while (f && --f->refs == 0) {
        cq_frame *outer = f->outer;

        clear_variables(f);
        cq_ptr_map_clear(&f->foreign);
        cq_free(f);
        f = outer;
    }
}

/* Whether the frame is referenced only by the call and by functions that it holds itself. */
static bool is_self_referenced_only(const cq_frame *f)
{
    size_t own = 0;

    for (size_t i = 0; i < f->values.n; i++) {
        const cq_object *t = cq_object_as(f->values.items[i], CQ_OBJECT_FUNCTION);

        own += t && t->closure == f && atomic_load(&t->box.refs) == 1;
    }
    return f->refs == own + 1;
}

void cq_frame_end(cq_eval *ev, cq_frame *f)
{
    for (size_t i = 0; i < ev->journal.n; i++)
        if (ev->journal.items[i].kind == CQ_CHANGE_SLOT && ev->journal.items[i].where == f)
            ev->journal.items[i].where = NULL; /* the variable no longer exists, so its change must
                                                * not be undone */
    if (ev->program->python && f->refs > 1 && !is_self_referenced_only(f) &&
        cq_vec_push(&ev->program->python->frames, f) == CQ_OK)
        return; /* freed when the program ends */
    if (f->refs > 1 && (is_self_referenced_only(f) || cq_vec_push(&ev->frames, f) != CQ_OK)) {
        f->refs++; /* keeps f alive while its functions are released */
        clear_variables(f);
        f->refs--;
    } else if (f->refs > 1) {
        return; /* freed when the program ends */
    }
    cq_frame_release(f);
}

void cq_eval_end_frames(cq_eval *ev)
{
    for (size_t i = 0; i < ev->frames.n; i++) {
        clear_variables(ev->frames.items[i]);
        cq_frame_release(ev->frames.items[i]);
    }
    cq_vec_clear(&ev->frames);
}

cq_val *cq_frame_own(const cq_frame *f, const char *name)
{
    const size_t at = (size_t)(uintptr_t)cq_ptr_map_get(&f->slots, name);

    return at ? &f->values.items[at - 1] : NULL;
}
