/* Writing down what operators do: a capture listens to a context and makes a graph.
 *
 *     cq_capture_new(&cap);
 *     cq_capture_weight(cap, weight, "fc.weight");   // names, before the run
 *     cq_capture_start(cap, cx);
 *     x = cq_capture_input(cap, cx, example, "x", axis_names);
 *     y = model(cx, x);                              // fake: no data is computed
 *     cq_capture_output(cap, cx, y);
 *     cq_capture_stop(cap, cx);
 *     graph = cq_capture_take(cap);
 *
 * Graphs are functional: an in-place operator makes a new value, which is written back
 * through the views that its tensor was taken by (aten/core/track.h). */
#ifndef CQ_CAPTURE_CAPTURE_H
#define CQ_CAPTURE_CAPTURE_H

#include "aten/core/observe.h"
#include "aten/core/track.h"
#include "ir/graph.h"

typedef struct cq_capture cq_capture;

/* An annotation or anchor in model code that has begun and not ended. */
typedef struct cq_annotation {
    cq_mark_kind    kind;
    bool            per_operator;
    cq_mark         mark; /* a copy for every module that is called, or every operator */
    const cq_attr  *notes;
    size_t          n_notes;
    const cq_scope *home;   /* the call that it is in: modules that this one calls are meant */
    const cq_marks *outer;  /* the marks before it */
    size_t          number; /* of the anchors' names */
    bool            started;
    cq_node        *end; /* of an anchor: after the last module so far */
} cq_annotation;

typedef struct cq_output {
    const char *name;
    cq_value   *value;
} cq_output;

struct cq_capture {
    cq_tracks       tracks; /* of tensors; their values are cq_value */
    cq_graph       *graph;
    cq_block       *block;   /* where nodes go now */
    cq_map          weights; /* identity of the memory -> value */
    cq_map          warned;
    cq_map          called;       /* path of a module -> index + 1 in graph->called */
    const cq_marks *marks;        /* of the nodes that are made now */
    CQ_VEC(cq_annotation) spans;  /* innermost last */
    size_t n_spans;               /* all that were started */
    CQ_VEC(cq_output) outputs;    /* named ones */
    CQ_VEC(cq_tensor *) computed; /* by value id, for materialize; NULL: not yet */
    bool is_tape;                 /* of a run: reads are valid, and nothing is exported */
};

cq_status cq_capture_new(cq_capture **out);
void      cq_capture_free(cq_capture *cap);

/* A capture on the caller's stack, which writes into a block of a graph that is there; clear it. */
void      cq_capture_init(cq_capture *cap, cq_graph *graph, cq_block *block);
void      cq_capture_clear(cq_capture *cap); /* everything except the graph */
cq_graph *cq_capture_take(cq_capture *cap);  /* the caller frees the graph */

void        cq_capture_start(cq_capture *cap, cq_ctx *cx);
void        cq_capture_stop(cq_capture *cap, cq_ctx *cx);
cq_capture *cq_capture_of(const cq_ctx *cx); /* that listens to it; NULL: none does */

/* A parameter or buffer under its name. Memory that already has a name keeps it (tied
 * weights are one value). */
cq_status cq_capture_weight(cq_capture *cap, cq_tensor *t, const char *name);

/* A tensor of known numbers that the model has just made: its handle is not shared. */
cq_status cq_capture_constant(cq_capture *cap, cq_tensor *t);

/* Whether the memory of a tensor holds its current values: a tensor that changed in place has
 * new values in the graph only. cap may be NULL. */
bool cq_capture_has_data(cq_capture *cap, cq_ctx *cx, cq_tensor *t);

/* A graph input of the dtype and sizes of example, whose data serves when a number must be
 * read. axis_names: NULL, or one name per axis with NULL where the size is fixed. */
cq_tensor *cq_capture_input(cq_capture *cap, cq_ctx *cx, cq_tensor *example, const char *name,
                            const char *const *axis_names);

/* The same with sizes that may be symbols. A symbol without an origin gets this axis as its
 * origin. */
cq_tensor *cq_capture_sized_input(cq_capture *cap, cq_ctx *cx, cq_tensor *example, const char *name,
                                  const cq_int *sizes);
void       cq_capture_output(cq_capture *cap, cq_ctx *cx, cq_tensor *t);

/* The current graph value of a tensor; NULL after a failure, which is in the context. */
cq_value *cq_capture_value(cq_capture *cap, cq_ctx *cx, cq_tensor *t);

/* Runs the nodes of the capture's block on the examples, one after another, and calls fn for
 * every tensor that they compute. Nodes with blocks, and nodes that depend on their results, are
 * skipped. */
typedef cq_status (*cq_replay_fn)(void *user, const cq_value *value, cq_tensor *result);
cq_status cq_capture_replay(cq_capture *cap, cq_replay_fn each, void *user);

/* A node that no operator of the table made, where the calls of cx go now. */
cq_node *cq_capture_node(cq_capture *cap, cq_ctx *cx, const char *op, const cq_operand *inputs,
                         size_t n_inputs, size_t n_outputs);

/* The bool of which a condition is the value or the negation; NULL: not in the graph. */
const cq_value *cq_capture_truth(const cq_operand *condition, bool *negated);

/* A fake tensor for a value of the graph. */
cq_tensor *cq_capture_tensor(cq_capture *cap, cq_ctx *cx, cq_value *v);

/* Converts an operand of a node to an argument of an operator; the context owns it. */
cq_val cq_capture_val(cq_capture *cap, cq_ctx *cx, const cq_operand *o);

/* An operand as a value for operators; leaf provides graph values and integers. */
typedef cq_val (*cq_operand_leaf)(void *user, cq_ctx *cx, const cq_operand *o);
cq_val cq_operand_val(const cq_operand *o, cq_ctx *cx, cq_operand_leaf leaf, void *user);

/* Makes the first tensor among the outputs depend on the checks of the graph: a run that one of
 * them fails in is an error. */
#define CQ_RAISE "prim::RaiseException"
cq_status cq_capture_add_checks(cq_capture *cap);

/* annotate.c: appends the named outputs of model code to those of the graph. */
cq_status cq_capture_add_outputs(cq_capture *cap);

const cq_marks *cq_capture_marks(cq_capture *cap, const cq_marks *marks); /* for one operator */
extern const cq_observer cq_capture_observer;

/* gradient.c: writes the parts of a composed operator into an empty block, whose returns are then
 * the tensors among its results. */
cq_status cq_capture_parts(cq_block *parts, const cq_node *n, cq_status (*compose)(cq_opcall *c));
/* gradient.c: torch.autograd.grad. Walks the graph so far backwards, from outputs to inputs, lists
 * of tensors; the operators of the gradients become nodes after it. seeds: None, or a list of the
 * gradients of outputs, None for ones. A gradient is NULL if no output depends on the input. */
cq_status cq_capture_gradients(cq_capture *cap, cq_ctx *cx, const cq_list *outputs, cq_val seeds,
                               const cq_list *inputs, cq_tensor **gradients);

/* materialize.c. Whether a value is computed from constants of the program alone, in a few steps:
 * it is the same in every run, for any inputs and weights. */
bool cq_capture_is_fixed(const cq_value *v);

cq_status cq_capture_materialize(void *cap, cq_ctx *cx, cq_tensor **out, cq_tensor *t);

#endif
