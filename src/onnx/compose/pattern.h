/* Patterns of nodes in lib/onnx/rewrites.py, for all who replace nodes: the passes of the exporter,
 * the optimizer of ONNX files, and the fusions of the runtime.
 *
 *     @rewrite("gelu_erf", opset=13, use="optimizer")
 *     @rewrite("gelu", use="runtime")
 *     def gelu_of_erf(x):
 *         t = Erf(either(Div(x, 1.4142135623730951), Mul(x, 0.7071067811865476)))
 *         one = Add(t, 1)
 *         return either(Mul(Mul(one, x), 0.5), Mul(one, Mul(x, 0.5)), Mul(Mul(one, 0.5), x))
 *
 * A pattern is matched on the syntax tree of its function, which is not evaluated. The file
 * explains the rules. Searching one graph needs four functions that describe it. */
#ifndef CQ_ONNX_COMPOSE_PATTERN_H
#define CQ_ONNX_COMPOSE_PATTERN_H

#include "lang/library.h"

/* A value of the graph: a value of the exporter's graph, or of a plan that is being built. */
typedef struct cq_pattern_value cq_pattern_value;

typedef struct cq_pattern_graph {
    /* Whether a node of that operator computes v, in whatever domain the graph accepts. */
    bool (*is_op)(const cq_pattern_value *v, const char *op);
    size_t (*n_inputs)(const cq_pattern_value *v); /* of the node that computes v */
    cq_pattern_value *(*input)(const cq_pattern_value *v, size_t i); /* NULL: it is omitted */
    /* The number of a constant with one element; false for other values. */
    bool (*number)(double *out, const cq_pattern_value *v);
} cq_pattern_graph;

typedef enum cq_pattern_use {
    CQ_PATTERN_ALWAYS,    /* the exporter and the optimizer */
    CQ_PATTERN_OPTIMIZER, /* only the optimizer: the exporter keeps layers that the model decomposes
                           */
    CQ_PATTERN_ONNXRUNTIME, /* the optimizer, for ONNX Runtime */
    CQ_PATTERN_RUNTIME      /* calque's own runtime */
} cq_pattern_use;

typedef struct cq_pattern {
    cq_lib_function *function;
    const char *replacement; /* a function of the file; of a runtime's pattern, a fusion in C */
    cq_lib_function *replaced_by; /* that function; NULL: a runtime's pattern */
    cq_pattern_use   use;
    int              stage;
    int              since; /* opset */
} cq_pattern;

/* All patterns, in the order of the file. */
cq_status cq_patterns(const cq_pattern **out, size_t *n);

enum { CQ_PATTERN_MAX_BOUND = 48 };

typedef struct cq_pattern_match {
    const cq_pattern_graph *graph;
    const cq_ast_def       *def;
    struct {
        const char       *name; /* NULL: a node of the pattern computes the value */
        cq_pattern_value *value;
    } bound[CQ_PATTERN_MAX_BOUND];
    size_t n;
} cq_pattern_match;

/* Whether the value matches. Parses the function when it is first called. */
cq_status cq_pattern_find(bool *found, cq_pattern_match *m, const cq_pattern_graph *graph,
                          const cq_pattern *pattern, cq_pattern_value *root);

/* The value of a name of the pattern; NULL: unbound. */
cq_pattern_value *cq_pattern_bound(const cq_pattern_match *m, const char *name);

#endif
