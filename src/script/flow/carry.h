/* Loop-carried values: the slots that the body of a loop changes, and the tensors and numbers in
 * them. loop.c evaluates the body. */
#ifndef CQ_SCRIPT_FLOW_CARRY_H
#define CQ_SCRIPT_FLOW_CARRY_H

#include "script/values/sequence.h"

enum { CQ_MAX_CARRIED = 240 };

/* One value of the graph that is carried: a tensor, a number, a list. */
typedef struct cq_carried {
    cq_track    *track;  /* or: a tensor that the body changes in place */
    cq_val_kind  kind;   /* TENSOR, INT, FLOAT, BOOL, LIST */
    cq_value    *start;  /* before the loop */
    cq_item_type type;   /* of the tensor, or of the items of the list; open where it changes */
    cq_int       length; /* of the list; open: it changes */
    cq_qparams  *grid;   /* of a quantized tensor; borrowed from its start */
    cq_value    *param, *end;
    cq_track    *first, *memory, *last; /* of start, param (or result) and end; NULL: it has no
                                         * memory */
    bool is_final; /* the result of the function: nothing changes after it was set */
} cq_carried;

/* An item may be that tensor, from outside of the loop. */
typedef struct cq_carry_share {
    size_t    item;
    cq_track *track;
} cq_carry_share;

typedef struct cq_carried_slot {
    cq_change place; /* retained by an entry of holders */
    cq_val    start; /* in the form that every iteration leaves it in; retained */
} cq_carried_slot;

typedef struct cq_carry      cq_carry;
typedef struct cq_carry_note cq_carry_note; /* recall.c */
typedef CQ_VEC(cq_carry_note *) cq_carry_notes;

struct cq_carry {
    cq_eval  *ev;
    cq_carry *outer; /* of the loop around this one */
    cq_node  *node;  /* the Loop */
    cq_span   at;
    bool      again; /* the form changed: the body is to be explored once more */

    CQ_VEC(cq_carried_slot) places;
    CQ_VEC(cq_track *) tracks;
    CQ_VEC(cq_change)
    lost; /* variables that an iteration leaves without their list
           * (aliases.h) */
    CQ_VEC(cq_track *)
    stale;                  /* after an iteration, so before all but the first
                             * (aten/core/aliases.c) */
    CQ_VEC(cq_val) holders; /* retain the containers of slots */

    size_t      n, cap;
    cq_carried *items; /* of the slots in order, then of the tracks */
    CQ_VEC(cq_carry_share) shares;
    bool *aliased; /* whether two items may be the same memory; NULL: none are */

    cq_carry_notes noted, recalled; /* of loops inside: now, and when it was last explored */
    size_t         n_recalled;
};

cq_status cq_carry_bind(cq_carry *c); /* inside: every slot holds parameters */
cq_status cq_carry_end(cq_carry *c);  /* inside: their values at the end */
cq_status cq_carry_settle(cq_carry *c, const cq_path *path); /* outside: is it of the same form? */
cq_status cq_carry_outputs(cq_carry *c); /* outside, at the end: results, and slots that hold
                                          * them */
void cq_carry_clear(cq_carry *c);

/* Parts of settling, for slots that are known in advance. */
cq_status cq_carry_hold(cq_carry *c, const cq_change *place, cq_val form); /* carries it */
cq_status cq_carry_start(cq_carry *c); /* the items, from the starts of the slots */
cq_status cq_carry_promote(cq_carry *c, cq_carried *x, cq_dtype dtype);

/* recall.c: an inner loop leaves a note of its carried values, and starts with it when the outer
 * body is evaluated again. */
cq_status cq_carry_remember(cq_carry *c, const cq_ast_expr *loop);
cq_status cq_carry_recall(cq_carry *c, const cq_ast_expr *loop);
void      cq_carry_notes_clear(cq_carry_notes *notes);

#endif
