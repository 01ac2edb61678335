/* The two sides of a data-dependent branch, and what they leave behind: every
 * value that differs becomes a result of the If. branch.c explores the sides. */
#ifndef CQ_SCRIPT_FLOW_JOIN_H
#define CQ_SCRIPT_FLOW_JOIN_H

#include "script/eval.h"

typedef struct cq_joined_pair {
    const void *a, *b; /* tensors, lists or dicts of the two sides */
    cq_val      joined;
} cq_joined_pair;

typedef struct cq_join {
    cq_eval         *ev;
    cq_node         *node;           /* the If */
    cq_path         *paths[2];       /* what its sides did */
    const cq_change *place;          /* that is joined now; NULL: the result */
    bool             example;        /* the condition on the example, as far as that is known */
    bool             failed_untaken; /* the side that it does not come to could not be explored */
    CQ_VEC(cq_value *) outputs;
    CQ_VEC(cq_joined_pair) pairs;
} cq_join;

/* What a or b is after the If, as its first or second side was taken. Values that do not go
 * together are UNDEFINED: that is an error where they are used. */
cq_status cq_join_values(cq_join *j, cq_val a, cq_val b, cq_val *out);

/* What one list or dict holds after the If, when it held a or b at the end of its sides. */
cq_status cq_join_contents(cq_join *j, cq_val a, cq_val b, cq_val *out);

/* An output of the If from a value of each side. Sizes of -1 are its own. */
cq_status cq_join_output(cq_join *j, cq_type type, cq_value *then, cq_value *other, cq_value **out);

/* The same value, as far as can be told without looking into tensors and containers. */
bool cq_val_plainly_equal(cq_val a, cq_val b);

/* A value that may be missing. */
cq_status cq_eval_new_optional(cq_eval *ev, cq_value *has, cq_val v, cq_val *out);

/* A value that there is on every way, but in no form that could stand for all: no other may stand
 * in for it. */
static inline bool cq_val_is_unjoined(cq_val v)
{
    return cq_object_as(v, CQ_OBJECT_UNDEFINED) && cq_object_of(v)->is_unjoined;
}

static inline bool cq_val_is_undefined(cq_val v)
{
    return cq_object_as(v, CQ_OBJECT_UNDEFINED) != NULL;
}

#endif
