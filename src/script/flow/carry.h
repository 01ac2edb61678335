/* Loop-carried values: the slots that the body of a loop changes, and the tensors and numbers in
 * them. loop.c evaluates the body. */
#ifndef CQ_SCRIPT_FLOW_CARRY_H
#define CQ_SCRIPT_FLOW_CARRY_H

#include "script/values/sequence.h"

enum { CQ_MAX_CARRIED = 240 };

/* One loop-carried value of the graph: a tensor, a number or a list. */
typedef struct cq_carried {
    cq_track    *track;   /* NULL, or a tensor that the body changes in-place */
    cq_val_kind  kind;    /* TENSOR, INT, FLOAT, BOOL, LIST */
    cq_value    *start;   /* before the loop */
    cq_item_type type;    /* of the tensor, or of the items of the list; sizes that change are -1 */
    cq_int       length;  /* of the list; -1 if it changes */
    cq_qparams  *qparams; /* of a quantized tensor; borrowed from its start */
    cq_value    *param, *end;
    cq_track    *first, *memory, *last; /* of the start, the parameter (or result) and the end; NULL
                                         * if the item has no memory */
    bool is_final; /* the result of the function: nothing changes after the body sets it */
} cq_carried;

/* An item that may alias a tensor from outside of the loop. */
typedef struct cq_carry_share {
    size_t    item;
    cq_track *track;
} cq_carry_share;

typedef struct cq_carried_slot {
    cq_change slot;  /* a slot; retained by an entry of holders */
    cq_val    start; /* the start, in the form at the end of every iteration; retained */
} cq_carried_slot;

typedef struct cq_carry      cq_carry;
typedef struct cq_carry_note cq_carry_note; /* recall.c */
typedef CQ_VEC(cq_carry_note *) cq_carry_notes;

struct cq_carry {
    cq_eval  *ev;
    cq_carry *outer; /* of the enclosing loop */
    cq_node  *node;  /* the Loop */
    cq_span   at;
    bool      again; /* the form has changed: the body must be evaluated again */

    CQ_VEC(cq_carried_slot) slots;
    CQ_VEC(cq_track *) tracks;
    CQ_VEC(cq_change)
    lost;                     /* variables that are undefined after an iteration, because their list
                               * may have changed */
    CQ_VEC(cq_track *) stale; /* stale after an iteration, and therefore in all but the first */
    CQ_VEC(cq_val) holders;   /* retain the containers of slots */

    size_t      n, cap;
    cq_carried *items; /* of the slots in order, then of the tracks */
    CQ_VEC(cq_carry_share) shares;
    bool *aliased; /* matrix: whether two items may alias; NULL if none do */

    cq_carry_notes noted, recalled; /* notes of inner loops: written now, and written by the
                                     * previous evaluation */
    size_t n_recalled;
};

cq_status cq_carry_bind(cq_carry *c); /* inside: assigns the parameters to the slots */
cq_status cq_carry_end(cq_carry *c);  /* inside: reads the values at the end */
cq_status cq_carry_settle(cq_carry *c, const cq_path *path); /* outside: checks whether the form has
                                                              * settled */
cq_status cq_carry_outputs(cq_carry *c); /* outside, at the end: creates the results and assigns
                                          * them to the slots */
void cq_carry_clear(cq_carry *c);

/* Steps of settling, for slots that are known in advance. */
cq_status cq_carry_hold(cq_carry *c, const cq_change *slot, cq_val form); /* carries the slot in
                                                                           * that form */
cq_status cq_carry_start(cq_carry *c); /* creates the items from the starts of the slots */
cq_status cq_carry_promote(cq_carry *c, cq_carried *x, cq_dtype dtype);

/* recall.c: an inner loop leaves a note of its carried values, and starts with the note when the
 * outer body is evaluated again. */
cq_status cq_carry_remember(cq_carry *c, const cq_ast_expr *loop);
cq_status cq_carry_recall(cq_carry *c, const cq_ast_expr *loop);
void      cq_carry_notes_clear(cq_carry_notes *notes);

#endif
