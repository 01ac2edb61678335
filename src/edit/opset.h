/* Facts about the values of a model, and helpers that add nodes and constants (opset.c).
 * Conversion between opsets: steps.c, widen.c and the adapters in lib/onnx/versions.py. */
#ifndef CQ_EDIT_OPSET_H
#define CQ_EDIT_OPSET_H

#include "base/map.h"
#include "onnx/compose/compose.h"
#include "onnx/model.h"
#include "onnx/schema.h"

typedef CQ_ONNX_LIST(cq_onnx_node *) cq_node_list;

typedef struct cq_opset_change {
    cq_compose_facts facts; /* first: adapters are called with its address */
    cq_onnx_model   *m;
    int64_t          from, to;
    cq_map           ranks;     /* of values: 1 + rank; absent: unknown */
    cq_map           shapes;    /* of values: rank sizes, -1 for a dynamic one; absent: unknown */
    cq_map           types;     /* of values: 1 + element type + 256 * kind (cq_ikind) */
    cq_map           constants; /* names of initializers and Constant nodes -> cq_onnx_tensor */
    cq_map           computed;  /* values whose elements follow from shapes -> cq_tensor */
    cq_map           names;     /* all names of values */
    cq_node_list    *out;       /* nodes of the graph that is being converted */
    cq_onnx_graph   *graph;
    size_t           n_made;
    bool             is_learned;
} cq_opset_change;

/* opset.c: initializers and Constant nodes by the names of their values: cq_onnx_tensor. */
cq_status cq_onnx_find_constants(cq_map *out, const cq_onnx_model *m);

/* opset.c: collects names, types and constants of the model c->m; and frees them. Called again, it
 * adds values that are new, and keeps what was known. */
cq_status cq_opset_learn(cq_opset_change *c);
void      cq_opset_forget(cq_opset_change *c);
/* The same for a function: only its constants are known. */
cq_status cq_opset_learn_function(cq_opset_change *c, const cq_onnx_function *f);

/* widen.c: casts inputs whose types the schema does not accept to wider ones, and results back. The
 * nodes go to c->out. *done is false if that would not be exact. */
cq_status cq_opset_widen(bool *done, cq_opset_change *c, const cq_onnx_node *n,
                         const cq_onnx_schema *schema);
/* The element type of a value that is a tensor; 0: unknown. */
int cq_opset_type(const cq_opset_change *c, const char *value);

/* rename.c: a value of a graph and the graphs inside of it. */
void cq_edit_rename(cq_onnx_graph *g, const char *from, const char *to);

/* ---- new nodes and constants ---- */

void cq_opset_drop_attr(cq_onnx_node *n, const char *name);
void cq_opset_set_int(cq_opset_change *c, cq_onnx_node *n, const char *name, int64_t value);

int cq_opset_rank(const cq_opset_change *c, const char *value); /* -1: unknown */

/* The size of an axis, which may be negative; -1: dynamic or unknown. */
int64_t cq_opset_size(const cq_opset_change *c, const char *value, int64_t axis);

/* A constant as a tensor, which the caller releases; NULL: the value is computed. */
cq_tensor *cq_opset_constant(const cq_opset_change *c, const char *value);

/* A new initializer; its name. */
const char *cq_opset_ints(cq_opset_change *c, const char *base, const int64_t *values, int64_t n);
const char *cq_opset_tensor(cq_opset_change *c, const char *base, cq_tensor *t);
const char *cq_opset_name(cq_opset_change *c, const char *base); /* a new one */

const char *cq_opset_node(cq_opset_change *c, const char *op, const char *const *inputs, size_t n,
                          cq_onnx_node **made);

#endif
