/* Walks over values: the contents of lists, tuples and dicts to any depth. The walk knows the parts
 * of a value, limits the nesting, and preserves sharing: a value inside of several others is copied
 * once. */
#ifndef CQ_TENSOR_VISIT_H
#define CQ_TENSOR_VISIT_H

#include "base/map.h"
#include "tensor/value.h"

enum { CQ_VISIT_MAX_LEVELS = 200 }; /* of values inside of each other */

/* A leaf is whatever has no parts: numbers, texts, tensors, objects, lists of data-dependent
 * length. Only the function that the walk needs must be there. */
typedef struct cq_visit cq_visit;

/* Where a walk is: in which part of which container, and where that one is. */
typedef struct cq_visit_slot cq_visit_slot;
struct cq_visit_slot {
    const cq_visit_slot *outer; /* NULL: the value that the walk began with */
    cq_val               whole; /* a list, tuple or dict, or an object that was opened */
    size_t               index; /* of the part */
};

struct cq_visit {
    cq_status (*each)(cq_visit *w, cq_val leaf);
    cq_status (*map)(cq_visit *w, cq_val leaf, cq_val *out); /* the caller owns *out */

    /* Compares two values, leaves or not: whether they are equal without their parts, and whether
     * the parts decide. */
    cq_status (*pair)(cq_visit *w, cq_val a, cq_val b, bool *same, bool *by_parts);

    /* Each may be NULL. The container with the parts of an object; and the object rebuilt with
     * other parts. */
    bool (*open)(cq_val object, cq_val *parts);
    cq_status (*close)(cq_val object, cq_val parts, cq_val *out);
    cq_status (*enter)(cq_visit *w, cq_val container); /* before its parts */

    /* each skips containers that it has met, and pair remembers its results; until
     * cq_visit_clear. */
    bool once;
    bool has_cycle; /* two containers were met while their parts were being compared */

    void *owner, *user; /* for those functions */
    int   levels;       /* that the walk is in */

    const cq_visit_slot *slot; /* of the leaf of each or map; NULL: it is the whole value */

    cq_ptr_map made;   /* container -> its copy; with once, those that were met */
    cq_list   *copies; /* all of them */
};

/* Calls each for every leaf of v, in order. The contents of a container that occurs twice are
 * visited twice. */
cq_status cq_val_each(cq_visit *w, cq_val v);

/* A copy of v, with every leaf replaced by the result of map. The caller owns *out. Within one
 * walk, which ends with cq_visit_clear, a container has one copy. */
cq_status cq_val_map(cq_visit *w, cq_val v, cq_val *out);
void      cq_visit_clear(cq_visit *w);

/* Calls pair for a and b, and for their parts side by side, until some are not the same. Dicts are
 * compared by their keys. */
cq_status cq_val_pair(cq_visit *w, cq_val a, cq_val b, bool *same);

#endif
