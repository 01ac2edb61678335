/* Adapters between versions of operators (opset_rows.c), and their helpers (opset.c). */
#ifndef CQ_EDIT_OPSET_H
#define CQ_EDIT_OPSET_H

#include "base/map.h"
#include "onnx/model.h"

typedef CQ_ONNX_LIST(cq_onnx_node *) cq_node_list;

typedef struct cq_opset_change {
    cq_onnx_model *m;
    int64_t        from, to;
    cq_map         ranks;     /* of values: 1 + rank; absent: unknown */
    cq_map         shapes;    /* of values: rank sizes, -1 for a dynamic one; absent: unknown */
    cq_map         types;     /* of values: 1 + element type + 256 * kind (cq_ikind) */
    cq_map         constants; /* names of initializers and Constant nodes -> cq_onnx_tensor */
    cq_map         names;     /* all names of values */
    cq_node_list  *out;       /* nodes of the graph that is being converted */
    cq_onnx_graph *graph;
    size_t         n_made;
    char           why[200]; /* of the adapter that refuses */
} cq_opset_change;

/* Changes a node to the form of the next version; nodes that must come before it are added to
 * c->out by cq_opset_node. False: the target cannot express it, and c->why has the reason. */
typedef bool (*cq_opset_adapter)(cq_opset_change *c, cq_onnx_node *n);

typedef struct cq_opset_row {
    const char      *op;
    int              version; /* whose form differs from the one before it */
    cq_opset_adapter up, down;
} cq_opset_row;

extern const cq_opset_row cq_opset_rows[];
extern const size_t       cq_opset_n_rows;

/* opset.c: initializers and Constant nodes by the names of their values: cq_onnx_tensor. */
cq_status cq_onnx_find_constants(cq_map *out, const cq_onnx_model *m);

/* opset.c: collects names, types and constants of the model c->m; and frees them. */
cq_status cq_opset_learn(cq_opset_change *c);
void      cq_opset_forget(cq_opset_change *c);

/* ---- the vocabulary of adapters ---- */

bool cq_opset_refuse(cq_opset_change *c, const char *why);

bool    cq_opset_has_input(const cq_onnx_node *n, size_t i);
void    cq_opset_set_input(cq_opset_change *c, cq_onnx_node *n, size_t i, const char *name);
void    cq_opset_drop_inputs(cq_onnx_node *n, size_t from);
void    cq_opset_drop_attr(cq_onnx_node *n, const char *name);
int64_t cq_opset_int(const cq_onnx_node *n, const char *name, int64_t otherwise);
bool    cq_opset_text_is(const cq_onnx_node *n, const char *name, const char *text);
void    cq_opset_set_int(cq_opset_change *c, cq_onnx_node *n, const char *name, int64_t value);
void    cq_opset_set_text(cq_opset_change *c, cq_onnx_node *n, const char *name, const char *value);

int cq_opset_rank(const cq_opset_change *c, const char *value); /* -1: unknown */

/* The size of an axis, which may be negative; -1: dynamic or unknown. */
int64_t cq_opset_size(const cq_opset_change *c, const char *value, int64_t axis);

/* A constant as a tensor, which the caller releases; NULL: the value is computed. */
cq_tensor *cq_opset_constant(const cq_opset_change *c, const char *value);

/* A new initializer; its name. */
const char *cq_opset_ints(cq_opset_change *c, const char *base, const int64_t *values, int64_t n);
const char *cq_opset_tensor(cq_opset_change *c, const char *base, cq_tensor *t);
const char *cq_opset_name(cq_opset_change *c, const char *base); /* a new one */

/* Converts an attribute of integers or a number to input i, and back. */
const char *cq_opset_node(cq_opset_change *c, const char *op, const char *const *inputs, size_t n,
                          cq_onnx_node **made);

/* Converts an attribute of integers or a number to input i, and back. */
bool cq_opset_ints_to_input(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i);
bool cq_opset_input_to_ints(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i);

#endif
