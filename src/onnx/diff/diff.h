/* The differences between two models, ignoring names. The nodes of two graphs are matched first
 * (pair.c): nodes with the same computation, inputs and users, then nodes with the same computation
 * and inputs, then the remaining nodes by operator, in order. Then each pair is compared (diff.c):
 * attributes, weights by value (value.c), and whether inputs come from matched nodes. A change is
 * therefore reported where it occurs, and not for all following nodes. */
#ifndef CQ_ONNX_DIFF_DIFF_H
#define CQ_ONNX_DIFF_DIFF_H

#include "onnx/check/check.h"

typedef struct cq_diff_value cq_diff_value;
struct cq_diff_value {
    enum { CQ_DIFF_INPUT, CQ_DIFF_WEIGHT, CQ_DIFF_RESULT } kind;
    const char           *name;
    const cq_onnx_tensor *tensor; /* of a weight, or the default of an input */
    const cq_onnx_node   *node;   /* the node that computes it */
    uint32_t              index;  /* index of the input, or of the result of its node */
    uint64_t              hash;
    uint64_t              uses; /* hash of its users, in any order */
    cq_diff_value        *pair; /* the matching value of the other model */
};

/* A graph or the body of a function, with the names in scope. */
typedef struct cq_diff_scope cq_diff_scope;
struct cq_diff_scope {
    const cq_diff_scope *parent;
    cq_map               names; /* to cq_diff_value */
    cq_onnx_node *const *nodes;
    uint32_t             n_nodes;
    uint64_t            *hashes; /* of the nodes: computation and inputs */
    uint64_t            *uses;   /* hashes of the users of each node */
    uint32_t            *pairs;  /* index of the matching node in the other model; CQ_DIFF_NONE:
                                  * unmatched */
    cq_diff_value **inputs;
    uint32_t        n_inputs;
};

#define CQ_DIFF_NONE UINT32_MAX

/* Values are allocated in the arena of c->findings' model and freed with it. Scopes must be
 * cleared. */
cq_status cq_diff_open_graph(cq_diff_scope *s, cq_arena *arena, const cq_onnx_graph *graph,
                             const cq_diff_scope *parent);
cq_status cq_diff_open_function(cq_diff_scope *s, cq_arena *arena, const cq_onnx_function *f);
void      cq_diff_close(cq_diff_scope *s);

/* The value of a name; NULL if it is undefined. */
cq_diff_value *cq_diff_find(const cq_diff_scope *s, const char *name);

cq_status cq_diff_pair(cq_diff_scope *a, cq_diff_scope *b);

typedef struct cq_diff_tolerance {
    double rtol, atol;
} cq_diff_tolerance;

typedef struct cq_diff {
    cq_onnx_check        c; /* findings, and the current location */
    const cq_onnx_model *a, *b;
    cq_arena            *arena;
    cq_diff_tolerance    tolerance;
} cq_diff;

/* Appends the difference between two tensors to why, or nothing if they are equal. */
cq_status cq_diff_tensors(cq_str *why, const cq_diff *d, const cq_onnx_tensor *a,
                          const cq_onnx_tensor *b);

/* Whether the types are equal, ignoring names of axes. */
bool cq_diff_same_type(const cq_onnx_type *a, const cq_onnx_type *b);

/* Compares attributes that are not graphs; a difference is appended to why. */
cq_status cq_diff_attributes(cq_str *why, const cq_diff *d, const cq_onnx_attribute *a,
                             const cq_onnx_attribute *b);

#endif
