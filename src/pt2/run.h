/* Runs a program of torch.export: its nodes call rows of the operator table, by name and with
 * keyword arguments, through the evaluator of TorchScript, which implements data-dependent numbers,
 * branches, loops and operators of users. */
#ifndef CQ_PT2_RUN_H
#define CQ_PT2_RUN_H

#include "pt2/expr.h"
#include "pt2/program.h"
#include "script/call.h"
#include "script/script.h"

typedef CQ_VEC(cq_tensor *) cq_pt2_asserted; /* retained */

typedef struct cq_pt2_run {
    const cq_pt2_program *program;
    cq_eval              *ev;
    cq_dtype              autocast; /* NONE: operators run in the dtypes of their arguments */
    cq_map                sizes;    /* symbol of the file -> index + 1 of known */
    CQ_VEC(cq_int) known;
    cq_map loops; /* higher_order.c: generated functions, to the number of their text + 1 */

    /* The node that runs, and the values of its graph. */
    const cq_pt2_graph *graph;
    const cq_pt2_node  *node;
    cq_val             *values;
    uint8_t            *levels; /* vmap_levels.c: the vmaps, a bit each, that a value depends on */

    cq_pt2_asserted       *asserted; /* receives assertions; NULL: they are dropped */
    struct cq_pt2_modules *modules;  /* modules.c: the modules of the node */
} cq_pt2_run;

/* Runs a graph on n arguments, one for each of its inputs; results has room for its outputs and
 * gets values of the context. */
cq_status cq_pt2_run_graph(cq_pt2_run *r, const cq_pt2_graph *g, const cq_val *args, size_t n,
                           cq_val *results);

/* The value of an argument; the context's. */
cq_status cq_pt2_value(cq_pt2_run *r, const cq_pt2_arg *a, cq_val *out);

/* Whether an operator only asserts something that is known, and returns nothing. */
bool cq_pt2_is_assertion(const char *op);

/* Calls an operator by its full name with arguments by name. */
cq_status cq_pt2_call(cq_pt2_run *r, const char *op, const char *const *names, const cq_val *args,
                      size_t n, cq_val *out);

/* The leaves of lists, tuples and dicts, in order. None is a leaf, as in PyTorch. */
typedef CQ_VEC(cq_val) cq_pt2_leaves; /* borrowed */
cq_status cq_pt2_flatten(cq_pt2_leaves *to, cq_val v);

/* A graph as a function of the evaluator: its arguments are flattened, its results are a tuple. */
cq_status cq_pt2_function(cq_pt2_run *r, const cq_pt2_graph *g, cq_val *out);

/* The arguments of a call. */
typedef struct cq_pt2_operands {
    const char *names[CQ_EVAL_MAX_OPERANDS];
    cq_val      args[CQ_EVAL_MAX_OPERANDS];
    size_t      n;
} cq_pt2_operands;

/* vmap_levels.c: the beginning and the end of a vmap. */
cq_status cq_pt2_batch_call(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out, bool *found);

/* The levels of vmap that an argument depends on, and those of the results of a node. */
enum { CQ_PT2_MAX_LEVELS = 8 };
unsigned cq_pt2_levels(const cq_pt2_run *r, const cq_pt2_arg *a);
void     cq_pt2_set_levels(cq_pt2_run *r, const cq_pt2_arg *args, size_t n, unsigned levels);

/* All levels of the arguments of a call. If there are several, arguments get one dimension for all
 * of them, and results are split again. */
typedef struct cq_pt2_batch {
    unsigned levels;
    size_t   n;
    cq_int   sizes[CQ_PT2_MAX_LEVELS];
} cq_pt2_batch;

cq_status cq_pt2_merge_levels(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o,
                              cq_pt2_batch *b);
cq_status cq_pt2_split_levels(cq_pt2_run *r, const cq_pt2_batch *b, cq_val *v);

/* batch.c: the arguments of an operator inside of a vmap, or, with *done, its result. The result
 * must be split by cq_pt2_split_levels. */
cq_status cq_pt2_line_up(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o, cq_pt2_batch *b,
                         cq_val *out, bool *done);

/* higher_order.c: calls body with the slices of tensors along their first axis, and stacks its
 * n_results results; the outcome is a tuple. */
cq_status cq_pt2_map(cq_pt2_run *r, cq_val body, cq_val xs, size_t n_results, cq_val *out);

/* numbers.c: targets that are functions of Python on numbers; *found is false for others. */
cq_status cq_pt2_number_call(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out, bool *found);

/* higher_order.c: calls a function of lib/torch, by its qualified name; and operators that take
 * graphs. */
cq_status cq_pt2_call_text(cq_pt2_run *r, const char *function, const cq_val *args, size_t n,
                           cq_val *out);
cq_status cq_pt2_higher_order(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out);

/* autocast.c: casts the arguments of an operator. */
cq_status cq_pt2_autocast(cq_pt2_run *r, const char *op, cq_val *args, size_t n);

/* Sets the value of a symbol of the file. */
cq_status cq_pt2_set_symbol(cq_pt2_run *r, const char *name, cq_int value);
cq_int   *cq_pt2_symbol(const cq_pt2_run *r, const char *name); /* NULL: not known */

void cq_pt2_run_clear(cq_pt2_run *r);

/* modules.c: enters and leaves modules, by the node's stack. */
cq_status cq_pt2_enter_node(cq_pt2_run *r, const cq_pt2_node *n);
cq_status cq_pt2_leave_modules(cq_pt2_run *r);

#endif
