/* Records the values of a program's modules before a call, to detect and undo the changes of the
 * call: attributes, the lists and dicts in them, and the memory of their tensors. */
#ifndef CQ_SCRIPT_FLOW_SNAPSHOT_H
#define CQ_SCRIPT_FLOW_SNAPSHOT_H

#include "script/script.h"

/* An attribute of a module, or of an object in a module. */
typedef struct cq_guard_slot {
    const char *path; /* from the root, "encoder.h"; interned by the program */
    cq_object  *object;
    size_t      index;
    cq_val      old; /* retained; the guard has the old contents of lists and dicts */
} cq_guard_slot;

typedef struct cq_guard {
    cq_eval *ev;
    CQ_VEC(cq_guard_slot) slots; /* in the order of the module tree */
    cq_changes containers;       /* the old contents of all lists and dicts */
    cq_ptr_map seen;             /* objects and containers; storages of tensors */
    cq_visit   walk;             /* over all values, then over those after the call */
    CQ_VEC(struct {
        cq_storage *storage;
        void       *bytes;
    })
    memory; /* that was written to */
} cq_guard;

/* cq_guard_begin starts recording. cq_guard_end undoes the changes if requested, and frees the
 * guard; it is called even if begin has failed. */
cq_status cq_guard_begin(cq_guard *g, cq_eval *ev, cq_script *script);
void      cq_guard_end(cq_guard *g, bool restore);

/* The old value: the old contents of a list or dict, or the value itself. Borrowed. */
cq_val cq_guard_old(const cq_guard *g, cq_val v);

/* Whether a slot changed during a capture, which is over: results for containers are not cached. */
cq_status cq_guard_is_changed(cq_guard *g, const cq_guard_slot *slot, bool *changed);

/* The number of references to a list or dict that the guard holds. */
int cq_guard_refs(const cq_guard *g, const void *container);

#endif
