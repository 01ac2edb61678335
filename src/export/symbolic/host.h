/* The host of symbolic functions: the meaning of names, calls and operators in lib/onnx.
 *
 *     @symbolic("aten::silu", opset=7, promote=True)
 *     def silu(self):
 *         return self * Sigmoid(self)
 *
 * lang/eval.h runs the function. Its parameters are arguments of the operator, by their names in
 * the schema. A call of a capitalised name makes an ONNX node (nodes.c), in its newest form
 * (node_forms.c has the forms of older opsets); other names are functions of lib/onnx/common.py or
 * of natives.c. docs/symbolic-functions.md is the reference.
 *
 * A value of the graph is an object to the evaluator, a dtype is PyTorch's number of it, and sizes
 * are integers that may be symbols. */
#ifndef CQ_EXPORT_SYMBOLIC_HOST_H
#define CQ_EXPORT_SYMBOLIC_HOST_H

#include "export/exporter.h"
#include "lang/eval.h"

typedef struct cq_node_form cq_node_form;

/* One evaluation. */
typedef struct cq_sym_run {
    cq_lang  lang;
    cq_sym  *s;
    bool     promotes;     /* arguments are converted to the dtype of the computation */
    cq_dtype dtype;        /* that one, else the dtype of the first tensor: for plain numbers */
    size_t   n_kept_types; /* results at the beginning that keep the types of their values */
} cq_sym_run;

static inline cq_sym_run *cq_sym_run_of(cq_lang *l)
{
    return (cq_sym_run *)l;
}

/* Converts the node of s by a function: evaluates it and ends the symbolic. */
cq_status cq_sym_run_function(cq_sym *s, cq_lib_function *f, bool promotes);

/* The value that replaces a match (passes/fuse.c); NULL: the function has declined. */
cq_status cq_sym_run_replacement(cq_value **out, cq_sym *s, cq_lib_function *f);

/* rows.c: reads a decorator of lib/onnx, or of a user's file. */
cq_status cq_symbolic_of_decorator(cq_symbolic *out, const cq_decorator *d);

/* Links every function of lib/onnx, for tests. */
cq_status cq_sym_check_library(bool only_changed);

/* Reports an error in the function, not in the model. */
cq_val cq_sym_wrong(cq_sym_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- values ---- */

cq_val cq_val_of_graph(cq_sym_run *r, cq_value *v); /* None for NULL */
cq_val cq_val_of_dtype(cq_dtype dtype);
cq_val cq_val_of_operand(cq_sym_run *r, const cq_operand *o);

/* A value of the graph; NULL: v is something else. An argument is converted when it is first read,
 * so unused arguments create no nodes. */
cq_value *cq_sym_graph_of(cq_sym_run *r, cq_val v);

/* The argument of the operator that v is; NULL: v was made by the function. */
const cq_operand *cq_sym_operand_of(cq_val v);

/* Whether v is a value of the graph. */
bool cq_sym_is_graph(cq_val v);

/* As an input of a node: a number becomes a constant in the dtype of like (NULL: the operator's), a
 * list of integers a row. NULL for None. */
cq_value *cq_sym_input_of(cq_sym_run *r, cq_val v, const cq_value *like);

/* Numbers that are known while the model is exported. */
bool     cq_sym_number_of(cq_val v, double *f);
bool     cq_sym_ints_of(cq_sym_run *r, cq_val v, cq_int *out, size_t *n, size_t max);
bool     cq_sym_axes_of(cq_val v, int64_t *out, size_t *n, size_t max); /* fixed ones */
cq_dtype cq_sym_dtype_of(cq_sym_run *r, cq_val v);

/* ---- parse_args.c ---- */

/* Rejects a @parse_args with unknown descriptors; accepts other decorators. */
cq_status cq_sym_check_parse_args(const cq_decorator *d);

/* Argument i, g not counted, as the decorator's descriptor asks for it. */
cq_val cq_sym_parse_arg(cq_sym_run *r, const cq_decorator *d, size_t i, cq_val v);

/* ---- nodes.c ---- */

/* An operator of ONNX, with the arguments of a call. */
typedef struct cq_sym_call {
    cq_sym_run        *r;
    const char        *op; /* "Conv", "com.example::Scale" */
    const cq_val      *in; /* lists of tensors are unpacked */
    size_t             n;
    const char *const *attr_names;
    const cq_val      *attrs;
    size_t             n_attrs;
    bool               has_onnx_dtypes; /* dtypes among the attributes are ONNX's numbers */
    cq_value         **out;
    size_t             n_out;
} cq_sym_call;

void cq_sym_call_op(cq_sym_call *c, const cq_node_form *form);

/* ---- node_forms.c ---- */

/* An operator that has another form in some opsets. The function returns false for a call that the
 * form does not support; the node is then emitted as written. */
struct cq_node_form {
    const char *op;
    /* One of these. */
    bool (*fn)(const cq_sym_call *c);
    cq_value *(*one)(cq_sym *s, cq_value *x);
    cq_value *(*two)(cq_sym *s, cq_value *x, cq_value *y);
};

bool                cq_node_form_apply(const cq_sym_call *c, const cq_node_form *form);
const cq_node_form *cq_node_form_find(const char *op);

/* ---- natives.c ---- */

typedef struct cq_sym_native cq_sym_native;

typedef struct cq_sym_args {
    const cq_sym_native *function;
    const cq_val        *items;
    size_t               n;
} cq_sym_args;

struct cq_sym_native {
    const char *name;
    size_t      min, max;
    /* One of these. */
    cq_val (*fn)(cq_sym_run *r, const cq_sym_args *e);
    cq_value *(*one)(cq_sym *s, cq_value *x);
    cq_value *(*two)(cq_sym *s, cq_value *x, cq_value *y);
    bool (*of_dtype)(cq_dtype dtype);
    bool needs_match; /* only replacements of patterns may call it */
};

/* passes/replacement.c: functions that only replacements of patterns may call. */
extern const cq_sym_native cq_replacement_natives[];

const cq_sym_native *cq_sym_native_find(const char *name, size_t n);
cq_val cq_sym_native_call(cq_sym_run *r, const cq_sym_native *f, const cq_val *args, size_t n);

#endif
