/* Lists of data-dependent length: in the graph they are sequences of tensors.
 *
 * Such a list is still a cq_list, so that all its holders see its changes; but instead of items it
 * has a cq_sequence: the graph value that holds the items now. The pointer is replaced on every
 * change and the struct never changes, so a change is undone like any other.
 *
 * Numbers are kept as 0-d tensors. Items of a sequence have one dtype; if their sizes differ, the
 * size of an item is read when it is taken. */
#ifndef CQ_SCRIPT_VALUES_SEQUENCE_H
#define CQ_SCRIPT_VALUES_SEQUENCE_H

#include "script/eval.h"

enum { CQ_ITEM_MAX_RANK = 8 };

typedef struct cq_item_type {
    cq_val_kind kind; /* TENSOR, INT, FLOAT or BOOL; NONE if no item is known yet */
    cq_dtype    dtype;
    int         rank;                    /* -1: it differs */
    cq_int      sizes[CQ_ITEM_MAX_RANK]; /* plain -1: it differs */
} cq_item_type;

typedef struct cq_sequence {
    cq_value    *value; /* of the graph, a LIST */
    cq_item_type item;
    cq_int       length; /* plain -1: unknown */
} cq_sequence;

static inline const cq_sequence *cq_sequence_of(cq_val v)
{
    return v.kind == CQ_VAL_LIST ? v.u.list->origin : NULL;
}

static inline bool cq_int_is_open(cq_int i)
{
    return i.value < 0 && !i.expr;
}

/* Generalizes t so that it also describes the item, or the items of other. */
cq_status cq_item_type_add(cq_item_type *t, cq_val item);
cq_status cq_item_type_join(cq_item_type *t, const cq_item_type *other);
bool      cq_item_type_same(const cq_item_type *a, const cq_item_type *b);

/* Generalizes t by the item type of any list. */
cq_status cq_item_type_of_list(cq_item_type *t, cq_val list);

/* Makes those sizes of t dynamic that cannot be computed in block. */
void cq_item_type_limit(cq_item_type *t, const cq_block *block);

/* The length of a list if it is known; otherwise plain -1. */
cq_int cq_sequence_known_length(cq_val list);

/* The graph value of any list as a sequence of such items, in the current block. */
cq_status cq_sequence_value(cq_eval *ev, cq_val list, const cq_item_type *item, cq_value **out);

/* A new list, owned by the context, with this value. */
cq_status cq_sequence_list(cq_eval *ev, cq_value *v, const cq_item_type *item, cq_int length,
                           cq_val *out);

/* Turns a list into a sequence, or assigns a new value to a sequence. */
cq_status cq_sequence_become(cq_eval *ev, cq_list *list, cq_value *v, const cq_item_type *item,
                             cq_int length);
cq_status cq_sequence_convert(cq_eval *ev, cq_list *list);

/* Queries of a sequence. */
cq_status cq_sequence_length(cq_eval *ev, const cq_sequence *seq, cq_int *out);
cq_status cq_sequence_at(cq_eval *ev, const cq_sequence *seq, cq_int index, cq_val *out);

/* A placeholder for a missing value, in the form of like: zeros, empty lists. */
cq_status cq_eval_placeholder(cq_eval *ev, cq_val like, cq_val *out);

/* x.unbind(dim) or x.split(size, dim) with a data-dependent number of parts. */
cq_status cq_sequence_split(cq_eval *ev, cq_tensor *x, int64_t dim, cq_int size, bool keep_dim,
                            cq_val *out);

/* All items along one axis: cat, or stack if is_new. */
cq_status cq_sequence_concat(cq_eval *ev, const cq_sequence *seq, int64_t axis, bool is_new,
                             cq_tensor **out);

/* Appends count items of from (start, start + step, …) to the sequence onto. */
cq_status cq_sequence_gather(cq_eval *ev, cq_value *onto, const cq_sequence *from, cq_int start,
                             cq_int step, cq_int count, cq_value **out);

/* The sequence with an item inserted before position (NULL: at the end), and the sequence with an
 * item removed. */
cq_status cq_sequence_inserted(cq_eval *ev, cq_value *seq, const cq_item_type *item, cq_val v,
                               const cq_int *position, cq_value **out);
cq_status cq_sequence_erased(cq_eval *ev, cq_value *seq, cq_int position, cq_value **out);

#endif
