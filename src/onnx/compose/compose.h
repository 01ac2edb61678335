/* Runs functions of lib/onnx that emit ONNX nodes by name: operators of other domains
 * (microsoft.py, experimental.py), gradients of operators (gradients.py) and adapters between
 * versions of operators (versions.py).
 *
 *     @function("com.microsoft::BiasSplitGelu")
 *     def bias_split_gelu(X, bias):
 *         left, right = Split(X + bias, axis=-1, num_outputs=2)
 *         return left * Gelu(right)
 *
 * Parameters are inputs and attributes of a node, by their names in the schema. An omitted input is
 * None, an attribute has its default, or None without one, and a variadic input is a list. A call
 * of a capitalised name emits a node, of the operators of the opset. Its positional
 * arguments are inputs: None omits one, lists of values are unpacked, numbers are constants of
 * int64 or float32. Its keywords are attributes; None omits one, and a lambda is a graph. A number
 * in arithmetic takes the type of the other operand, and so does like(number, x).
 *
 * Types and shapes of values are not known: nodes must compute what depends on them. Adapters are
 * the exception (cq_compose_facts). They may call
 *
 *     rank(x), size(x, axis), dtype(x)   numbers, or None if they are not known
 *     elements(x)                        a list of numbers, or None if x is not a constant
 *     again(…, name=…)                   the node itself, with other inputs or attributes
 *     n_outputs(), has_output(i)         outputs of the node
 *     opset()                            of the nodes that are emitted */
#ifndef CQ_ONNX_COMPOSE_COMPOSE_H
#define CQ_ONNX_COMPOSE_COMPOSE_H

#include "lang/eval.h"
#include "onnx/schema.h"

#define CQ_COMPOSE_OPSET 24

/* Facts about values of the model, for adapters. */
typedef struct cq_compose_facts cq_compose_facts;
struct cq_compose_facts {
    int (*rank)(const cq_compose_facts *f, const char *value);                   /* -1: unknown */
    int64_t (*size)(const cq_compose_facts *f, const char *value, int64_t axis); /* -1: unknown */
    int (*dtype)(const cq_compose_facts *f, const char *value);                  /* 0: unknown */
    /* A constant, which the caller releases; NULL if the value is computed. */
    cq_tensor *(*constant)(const cq_compose_facts *f, const char *value);
    bool (*is_taken)(const cq_compose_facts *f, const char *name); /* whether a value of the model
                                                                    * has that name */
};

typedef struct cq_compose {
    cq_lang             lang;
    cq_onnx_model      *m;    /* owns the result; its status is the status of the evaluation */
    cq_onnx_function   *body; /* receives the nodes while no subgraph is being emitted */
    cq_onnx_graph      *graph;
    const char         *prefix; /* prefix of the names of new values */
    const cq_onnx_node *node;   /* the node that the function is called for */
    unsigned            n_names;
    int64_t             opset;
    CQ_VEC(cq_val) owned;

    const cq_compose_facts *facts;    /* NULL: values have no known facts */
    char                    why[200]; /* if facts is set: why the node was declined */
} cq_compose;

/* A parameter that is neither an input nor an attribute of the node. */
typedef struct cq_compose_extra {
    const char *parameter, *value;
} cq_compose_extra;

void cq_compose_begin(cq_compose *c, cq_onnx_model *m, cq_onnx_function *body, const char *prefix);
void cq_compose_end(cq_compose *c);

/* Calls f for a node. extras end with an empty row; NULL: no extra parameters. */
cq_val cq_compose_call(cq_compose *c, cq_lib_function *f, const cq_onnx_node *node,
                       const cq_onnx_schema *schema, const cq_compose_extra *extras);
/* Calls a function of the library with values. */
cq_val cq_compose_call_with(cq_compose *c, cq_lib_function *f, const char *const *values, size_t n);

/* Fails with "Attention of com.microsoft is not supported with do_rotary": the node cannot be
 * expressed. */
cq_status cq_compose_refuse(const cq_onnx_node *node, const char *why);

/* The name of a value; a number is emitted as a constant. NULL for None. */
const char *cq_compose_name(cq_compose *c, cq_val v);

/* Removes nodes that the outputs of the body do not depend on. */
cq_status cq_compose_drop_unused(cq_onnx_function *body);

/* Finds the function of lib/onnx with the decorator @kind("text"), or, for adapters, @kind("text",
 * version), whose text is "text version" here; *out is NULL if there is none. */
cq_status cq_compose_find(cq_lib_function **out, const char *kind, const char *text);

/* Whether this host runs the functions of a file. */
bool cq_compose_runs(const cq_lib_file *file);
/* Resolves names in all functions of these files, for tests. */
cq_status cq_compose_check_library(bool only_changed);

/* ---- attributes.c ---- */

/* The argument of a function for an attribute of the node. */
cq_val cq_compose_attribute(cq_compose *c, const cq_onnx_node *node,
                            const cq_onnx_schema_attribute *known);
/* Adds an attribute to an emitted node, with the type from its schema. */
void cq_compose_set_attribute(cq_compose *c, cq_onnx_node *made, const cq_onnx_schema *schema,
                              const char *name, cq_val v);

/* Emits a Constant for a tensor of the model (compose.c). */
cq_val cq_compose_constant(cq_compose *c, cq_onnx_tensor *message);

/* Emits the graph of a lambda (compose.c). */
cq_onnx_graph *cq_compose_graph(cq_compose *c, const char *name, cq_val lambda);

#endif
