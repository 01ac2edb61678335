/* Interface inside the exporter: from an ATen graph to an ONNX graph and a model. The steps are in
 * export.c; each has its file. */
#ifndef CQ_EXPORT_EXPORTER_H
#define CQ_EXPORT_EXPORTER_H

#include "capture/capture.h"
#include "export/symbolic/symbolic.h"
#include "onnx/model.h"

#include <calque/export.h>
#include <calque/module.h>

/* An operator that could not be exported, and its location. */
typedef struct cq_missing {
    const char *op;
    size_t      count;
    const char *path, *class_name, *source; /* of the first one */
    const char *reason;                     /* NULL: no row at all */
    int         first_opset;                /* 0: none */
    bool        is_unknown;                 /* the operator table lacks it */
    bool        in_branch;                  /* only in a branch that some inputs do not reach */
} cq_missing;

/* A module that became a function: its body, inputs and outputs. */
typedef struct cq_export_function {
    const char *name;
    const char *path; /* of the first module that uses it, for the names of its weights */
    cq_value  **inputs, **outputs;
    size_t      n_inputs, n_outputs;
    cq_block   *body;
} cq_export_function;

typedef struct cq_exporter {
    cq_export_options options;
    cq_graph         *source;       /* aten, borrowed */
    cq_graph         *graph;        /* onnx */
    bool             *is_read;      /* for each input: whether an operator of the source reads it */
    bool              is_open;      /* after lowering: some values have unknown types */
    bool              has_unrolled; /* a Loop was unrolled (passes/loops.c) */
    bool              optimizes;    /* the graph is an ONNX file: names may change, and equal nodes
                                     * are always merged */
    bool       for_onnxruntime;     /* operators of com.microsoft may be used */
    cq_map     sizes;               /* "block expr" -> 0-d value, so that a size is computed once */
    cq_ptr_map origins;             /* source origin -> origin in graph */
    CQ_VEC(cq_missing) missing;
    cq_map missing_by_name;                 /* index + 1 */
    cq_map guessed;                         /* operators of CQ_OP_GUESSED that were reported */
    CQ_VEC(cq_symbolic) user_rows;          /* the last matching row is used */
    struct cq_lib_file *user_file;          /* with the functions of the options' symbolics */
    cq_map              user_rows_by_name;  /* the first row of each name */
    CQ_VEC(cq_export_function *) functions; /* inner ones first */
    cq_map    function_bodies, function_names;
    cq_arena *scratch;    /* temporary memory of the current symbolic function */
    CQ_VEC(cq_val) owned; /* lists and texts that the function created */
    uint64_t steps_left;  /* for computing constants (budget.c) */
    int64_t  bytes_left;  /* for their memory, in all passes together */
    bool     has_budget;
} cq_exporter;

struct cq_sym {
    cq_exporter     *ex;
    cq_block        *block;  /* receives new nodes */
    cq_node         *before; /* in front of this node; NULL: to the end of the block */
    const cq_node   *node;   /* the ATen node; its outputs' `onnx` fields receive the results */
    const cq_op     *op;     /* its row; NULL for operators that the table does not know */
    cq_status        status;
    size_t           n_open;   /* open graphs */
    bool             declined; /* cq_sym_no was called; the error record has the reason */
    int              declined_opset;
    size_t           n_done;
    cq_value       **done;  /* arena; n_done of them */
    struct cq_fuser *fuser; /* of a replacement (passes/fuse.h): the match */
};

/* rows.c: the newest row for an operator at an opset. */
typedef struct cq_symbolic_found {
    const cq_symbolic *row;   /* NULL: no row */
    int                later; /* the first later opset that has a row; 0: none */
} cq_symbolic_found;

cq_status cq_symbolic_find(cq_symbolic_found *out, const cq_exporter *ex, const char *full_name,
                           int opset);

/* The families, for tests: NULL past the last one. */
const cq_symbolic *cq_symbolic_family(size_t i);

/* user_rows.c: collects functions that users registered, and those of the options' file, into
 * user_rows. */
cq_status cq_symbolics_collect(cq_exporter *ex);
bool cq_symbolics_has(const cq_export_options *o, const char *op); /* whether there is one for op */

/* convert.c: aten nodes to onnx nodes. */
cq_status cq_export_convert(cq_exporter *ex);
cq_status cq_export_find_reads(cq_exporter *ex);      /* reads.c: is_read */
cq_status cq_export_move_optionals(cq_graph *source); /* optionals.c: runs before the conversion */
bool      cq_export_is_asked_for(const cq_node *get); /* whether an enclosing branch has tested that
                                                       * it exists */
cq_status cq_export_scan_lists(cq_graph *source, int opset); /* scans.c: runs before the conversion,
                                                              * for opsets before 13 */

/* The onnx value of an aten value or operand. */
cq_value *cq_sym_value(cq_sym *s, const cq_value *v);

/* An operator that the table lacks; its result types are guessed. */
static inline bool cq_export_is_unknown(const cq_node *n)
{
    const cq_op *op = n->def;

    return op && (op->def->flags & (CQ_OP_GUESSED | CQ_OP_FOREIGN));
}

/* build.c: whether an argument is a constant number, and its value. */
bool cq_operand_number(const cq_operand *o, double *number);

/* export.c: whether modules become functions. */
bool cq_export_makes_functions(const cq_export_options *o);

/* report.c */
cq_status cq_export_note_missing(cq_exporter *ex, const cq_node *n, const char *reason,
                                 int first_opset);
cq_status cq_export_report_missing(const cq_exporter *ex);

/* record.c: fills the report of the options, if there is one. */
cq_status cq_export_record(cq_exporter *ex, cq_onnx_model *model);

/* annotate.c: attaches the requested annotations to nodes. */
cq_status cq_export_annotate(cq_exporter *ex);

/* annotate.c: an annotation as text: strings unchanged, all other values as JSON. */
void cq_export_note_text(struct cq_str *s, const cq_operand *note);

/* budget.c: a context for computing constants, with steps in proportion to the constants of the
 * graph; and the memory that they may take between enter and leave. leave returns whether a
 * computation exceeded either limit, which is not a failure: the context can be used again. */
cq_status       cq_export_convert_within_limits(cq_exporter *ex);
cq_status       cq_export_budget_begin(cq_ctx **out, cq_exporter *ex);
cq_alloc_budget cq_export_budget_enter(const cq_exporter *ex);
bool            cq_export_budget_leave(cq_exporter *ex, cq_alloc_budget before, cq_ctx *cx);

/* merge.c: a Constant before a node, or one of n integers. NULL: out of memory. */
cq_value *cq_export_constant(cq_node *before, cq_dtype dtype, size_t rank, const int64_t *sizes,
                             const void *values);
cq_value *cq_export_constant_of(cq_node *before, const cq_tensor *t);
cq_value *cq_export_ints(cq_node *before, const int64_t *values, int64_t n);
bool      cq_export_is_returned(const cq_value *v); /* by its block */

/* branches.c: simplifies an If some of whose results need no branch. */
cq_status cq_export_merge_if(cq_exporter *ex, cq_node *n);

/* fold.c, peephole.c, fuse.c, merge.c, deduplicate.c: passes on the ONNX graph. The first four
 * start with the use counts of the last dead-node removal: counting again takes as long as a pass.
 */
cq_status cq_export_fold(cq_exporter *ex);
cq_status cq_export_peephole(cq_exporter *ex);
cq_status cq_export_fuse(cq_exporter *ex);
cq_status cq_export_merge(cq_exporter *ex);
cq_status cq_export_share(cq_exporter *ex);
cq_status cq_export_neutral(cq_exporter *ex); /* neutral.c: removes nodes without effect */
cq_status cq_export_absorb(cq_exporter *ex);  /* absorb.c: merges nodes into a neighbour */
cq_status cq_export_choose(cq_exporter *ex);  /* choose.c: inlines an If with a known condition */
cq_status cq_export_unroll(cq_exporter *ex);  /* loops.c: unrolls a Loop of known length */

/* neutral.c: replaces the result of n by x in all users, if possible. */
bool cq_export_replace(cq_node *n, cq_value *x);

/* compute.c: computes a node on constants with the runtime. *done is false if the node should stay
 * in the model. The caller releases the results. */
cq_status cq_export_compute(cq_exporter *ex, const cq_node *n, cq_tensor *const *in,
                            cq_tensor **out, bool *done);
cq_status cq_export_remove_dead(cq_exporter *ex);

/* symbolic/complex.c: the pairs of real numbers of a complex value; NULL: its node has none. */
cq_value *cq_export_pairs(cq_exporter *ex, cq_value *x);

/* peephole.c: replaces uses of values that have a replacement, in one node or everywhere. */
void      cq_export_follow_inputs(cq_node *n);
cq_status cq_export_follow(cq_exporter *ex);

/* functions.c: modules as functions. */
cq_status cq_export_functions(cq_exporter *ex);

/* names.c: names for inputs and weights, before any are folded, with uses as dead nodes were
 * removed; for outputs; then for everything else. */
cq_status cq_export_name_inputs(cq_exporter *ex);
cq_status cq_export_name_outputs(cq_exporter *ex);
cq_status cq_export_name(cq_exporter *ex);

/* lower.c: the onnx graph as a model. */
cq_status cq_export_lower(cq_exporter *ex, cq_onnx_model **out);
void      cq_export_add_attribute(cq_onnx_model *m, cq_onnx_node *node, const cq_attr *a);

/* Applies the user's names of output axes after inference, which may have replaced them by
 * numbers. */
void cq_export_name_output_axes(cq_exporter *ex, cq_onnx_model *m);

/* replay.c: passes the source's results for the values of the model to options.each_value. */
cq_status cq_export_replay(cq_exporter *ex, const cq_onnx_model *model);

/* export.c: checks the options for contradictions. */
cq_status cq_export_check_options(const cq_export_options *o);

/* export.c: all steps. The model retains the tensors of source; the graph itself may be freed
 * afterwards. */
cq_status cq_export_graph(cq_onnx_model **out, cq_graph *source, const cq_export_options *options);

/* The user's options over the defaults (NULL: only defaults). The struct of an older caller may be
 * smaller. */
cq_status cq_export_options_take(cq_export_options *out, const cq_export_options *given);

#endif
