/* The two sides of a data-dependent branch: every value that differs becomes a result of the If.
 * branch.c evaluates the sides. */
#ifndef CQ_SCRIPT_FLOW_JOIN_H
#define CQ_SCRIPT_FLOW_JOIN_H

#include "script/eval.h"

typedef struct cq_joined_pair {
    const void *a, *b; /* tensors, lists or dicts of the two sides that were joined */
    cq_val      joined;
} cq_joined_pair;

typedef struct cq_join {
    cq_eval         *ev;
    cq_node         *node;           /* the If */
    cq_path         *paths[2];       /* the changes of its sides */
    const cq_change *slot;           /* the slot being joined; NULL: the result */
    bool             example;        /* the condition on the example, if known */
    bool             failed_untaken; /* evaluating the side that the example does not take has
                                      * failed */
    CQ_VEC(cq_value *) outputs;
    CQ_VEC(cq_joined_pair) pairs;
} cq_join;

/* Joins a, the value on the first side, and b, the value on the second side. Values that cannot be
 * joined become UNDEFINED, which is an error where it is used. */
cq_status cq_join_values(cq_join *j, cq_val a, cq_val b, cq_val *out);

/* Joins the contents a and b that one list or dict has at the end of the two sides. */
cq_status cq_join_contents(cq_join *j, cq_val a, cq_val b, cq_val *out);

/* Adds an output to the If, from a value of each side. Sizes of -1 become new symbols. */
cq_status cq_join_output(cq_join *j, cq_type type, cq_value *then, cq_value *other, cq_value **out);

/* Equality of plain values, without inspecting tensors and containers. */
bool cq_val_plainly_equal(cq_val a, cq_val b);

/* A value that may be missing. */
cq_status cq_eval_new_optional(cq_eval *ev, cq_value *has, cq_val v, cq_val *out);

/* Whether a value exists on every path but could not be joined: no placeholder may replace it. */
static inline bool cq_val_is_unjoined(cq_val v)
{
    return cq_object_as(v, CQ_OBJECT_UNDEFINED) && cq_object_of(v)->is_unjoined;
}

static inline bool cq_val_is_undefined(cq_val v)
{
    return cq_object_as(v, CQ_OBJECT_UNDEFINED) != NULL;
}

#endif
