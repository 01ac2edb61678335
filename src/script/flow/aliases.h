/* May-alias facts for data-dependent branches and loops (aten/core/aliases.c). */
#ifndef CQ_SCRIPT_FLOW_ALIASES_H
#define CQ_SCRIPT_FLOW_ALIASES_H

#include "script/flow/carry.h"

/* The track for the memory of all items of a sequence (a value of the graph); NULL after a failure,
 * which is stored in the context. */
cq_track *cq_share_memory(cq_eval *ev, cq_value *seq);
cq_status cq_share_tensor(cq_eval *ev, cq_value *seq, cq_tensor *item);  /* item may be in seq */
cq_status cq_share_sequence(cq_eval *ev, cq_value *seq, cq_value *from); /* items of from may be in
                                                                          * seq */
cq_status cq_share_item(cq_eval *ev, cq_tensor *item, cq_value *seq); /* item was read from seq */
cq_status cq_share_check(cq_eval *ev, cq_value *seq); /* called before its items are used */

/* The same check before item replaces another item of seq. rows[i] += 1 reads an item, changes it
 * and stores it at the same index. The change makes seq stale, and storing the item makes seq valid
 * again. */
cq_status cq_share_check_but(cq_eval *ev, cq_value *seq, cq_int index, cq_val item);

/* Declares that joined is list or dict a or b, depending on data. Before one of them changes,
 * variables that hold its possible aliases become undefined; other holders are an error. */
cq_status cq_share_lists(cq_eval *ev, cq_val a, cq_val b, cq_val joined);
cq_status cq_share_change(cq_eval *ev, cq_val list);

static inline const void *cq_val_container(cq_val v)
{
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE ? (void *)v.u.list
           : v.kind == CQ_VAL_DICT                         ? (void *)v.u.dict
                                                           : NULL;
}

static inline int cq_val_container_refs(cq_val v)
{
    return v.kind == CQ_VAL_DICT ? atomic_load(&v.u.dict->refs) : atomic_load(&v.u.list->refs);
}

/* Inside of an iteration, and after the loop: declares the aliases of items with memory. Members of
 * one group are related only as recorded in the carry. */
cq_status cq_carry_relate(cq_carry *c, const void *group);
cq_status cq_carry_add_alias(cq_carry *c, size_t i, size_t k);
cq_status cq_carry_compare(cq_carry *c); /* at the end of an iteration: adds new aliases, after
                                          * which the body must be evaluated again */
void cq_carry_unrelate(cq_carry *c);     /* called when the set of items changes */

#endif
