/* Other sizes for the inputs of a model. Inference runs with the new sizes as symbols whose example
 * is the old size; size_rules.c finds the constants that were computed from the old size,
 * size_write.c writes the nodes that compute them from the new one. sizes.c is the public call. */
#ifndef CQ_EDIT_SIZES_H
#define CQ_EDIT_SIZES_H

#include "base/str.h"
#include "edit/opset.h"
#include "onnx/infer/values.h"

typedef enum cq_size_fix_kind {
    CQ_SIZE_ELEMENTS, /* the input is a list of these integers */
    CQ_SIZE_FIT,      /* the input is sliced or expanded along axes to these sizes */
    CQ_SIZE_DROP_ATTR /* the attribute `split` of equal parts is dropped */
} cq_size_fix_kind;

typedef struct cq_size_fix cq_size_fix;
struct cq_size_fix {
    cq_size_fix     *next;
    cq_onnx_node    *node;
    cq_onnx_graph   *graph;
    size_t           input;
    cq_size_fix_kind kind;
    size_t           n;
    cq_int           items[CQ_MAX_RANK]; /* elements; of CQ_SIZE_FIT the sizes after the change */
    uint64_t         slices, expands;    /* axes of CQ_SIZE_FIT, a bit each */
    bool             is_uniform;         /* all slices along the axes are equal: one is enough */
};

typedef struct cq_size_change {
    cq_opset_change edit; /* the vocabulary of new nodes */
    cq_symbols      symbols;
    cq_ptr_map      numbers; /* cq_atom of a symbol that becomes a number -> 1 + the number */
    cq_size_fix    *fixes;
    cq_ptr_map      by_slot;  /* address of a node's input -> cq_size_fix */
    cq_map          sizes;    /* text of an expression -> name of a list of one element */
    cq_node_list    head;     /* nodes that compute sizes, before all others */
    cq_str          troubles; /* nodes that depend on the old size for good */
    size_t          n_troubles;
    cq_ptr_map      troubled;
} cq_size_change;

/* size_rules.c: called before each node is inferred. */
cq_status cq_size_rules_apply(void *change, cq_rule *r, cq_onnx_graph *graph);

/* size_write.c: puts all fixes into the model. */
cq_status cq_size_fixes_write(cq_size_change *c);

/* An expression with numbers in place of the symbols that become numbers. */
cq_int cq_size_resolve(cq_size_change *c, cq_int i);

/* An atom as an integer. */
cq_int cq_size_of_atom(cq_symbols *table, const cq_atom *atom);

#endif
