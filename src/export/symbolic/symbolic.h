/* Symbolics: how an ATen operator becomes ONNX, one row per operator and opset. Look-up takes the
 * newest row that is not above the target opset.
 *
 * Most rows are functions of lib/onnx (host.h, docs/symbolic-functions.md). A row is in C if it
 * computes a constant tensor, fills the blocks of an If or Loop, or iterates over layers:
 *
 *     { "aten::einsum", 12, .fn = einsum },
 *
 * A row for "aten::add" applies to all its overloads; one for "aten::add.Scalar" takes precedence.
 * .op passes on the tensors among the arguments, in order; the operands of element-wise operators
 * are cast to dtypes that they accept (arith.h). An operator without a row is decomposed if it is
 * composed of others.
 *
 * .parts is for operators that calque has a kernel for and ONNX lacks: the function of lib/aten
 * that is decorated with @decomposition("aten::kron") is converted instead of the operator.
 * Together with .fn, .function or .op it is used for calls that those decline. The name of such a
 * row applies to that overload only.
 *
 * A function in C gets a cq_sym and builds nodes with it. The first failure stays in it and later
 * calls fall through (values are NULL then), so a function is a straight line that ends in `return
 * cq_sym_done(s, result)`. */
#ifndef CQ_EXPORT_SYMBOLIC_SYMBOLIC_H
#define CQ_EXPORT_SYMBOLIC_SYMBOLIC_H

#include "aten/core/op.h"
#include "ir/graph.h"

#include <calque/symbolic.h> /* the public part: arguments, constants, results */

typedef struct cq_symbolic cq_symbolic;

struct cq_symbolic {
    const char *name;  /* "aten::softmax.int" or "aten::softmax" */
    int         since; /* the first opset to which it applies */
    const char *op;
    cq_status (*fn)(cq_sym *s);
    const char *no;
    bool        parts;

    /* A function of lib/onnx, or of a user's file (host.h). */
    struct cq_lib_function *function;
    bool                    promotes; /* arguments are converted to the dtype of the computation */

    /* A row that a user registered: fn is NULL then. */
    cq_symbolic_fn user_fn;
    void          *user;

    const cq_symbolic *next; /* the next of the same name: of a user's row */
};

/* The families, ended by an empty row (rows.c lists them). */
extern const cq_symbolic cq_symbolics_sequence[];
extern const cq_symbolic cq_symbolics_linalg[];
extern const cq_symbolic cq_symbolics_resize[];
extern const cq_symbolic cq_symbolics_slice[];
extern const cq_symbolic cq_symbolics_creation[];
extern const cq_symbolic cq_symbolics_complex[];

/* ---- arguments and results of the operator ---- */

/* Returns whether the target opset is at least opset; otherwise declines the operator with this
 * reason. */
bool cq_sym_since(cq_sym *s, int opset, const char *why);

/* Arguments, by their name in the operator's schema. */
cq_int cq_sym_int(cq_sym *s, const char *arg);
size_t cq_sym_ints(cq_sym *s, const char *arg, cq_int *out, size_t max);

/* The results that the operator should give. */
cq_type cq_sym_result_type(const cq_sym *s, size_t i);
bool    cq_sym_result_used(const cq_sym *s, size_t i); /* whether it is read */

/* Types of values. Those of arguments and results are always known; those of intermediate values
 * only if the helper that made them sets them. */
void cq_sym_set_type_of(cq_value *v, const cq_value *like); /* v has the type of like */
void cq_sym_set_dtype(cq_sym *s, cq_value *v,
                      cq_dtype dtype); /* the rank stays unknown or unchanged */

/* ---- building ---- */

#define CQ_IN(...)                                                                                 \
    ((cq_value *[]){ __VA_ARGS__ }), sizeof((cq_value *[]){ __VA_ARGS__ }) / sizeof(cq_value *)
#define CQ_ATTR(...)                                                                               \
    ((cq_attr[]){ __VA_ARGS__ }), sizeof((cq_attr[]){ __VA_ARGS__ }) / sizeof(cq_attr)
#define CQ_NO_IN   NULL, 0
#define CQ_NO_ATTR NULL, 0

cq_attr cq_attr_i(const char *name, int64_t value);
cq_attr cq_attr_f(const char *name, double value);
cq_attr cq_attr_s(const char *name, const char *value);
cq_attr cq_attr_t(const char *name, cq_tensor *value);
cq_attr cq_attr_is(cq_sym *s, const char *name, const int64_t *values, size_t n);
cq_attr cq_attr_fs(cq_sym *s, const char *name, const double *values, size_t n);
cq_attr cq_attr_ts(cq_sym *s, const char *name, cq_tensor *const *values, size_t n);
cq_attr cq_attr_ss(cq_sym *s, const char *name, const char *const *values, size_t n);

/* A node with one output: cq_sym_op(s, "Softmax", CQ_IN(x), CQ_ATTR(cq_attr_i("axis", 1))).
 * A NULL input is an optional one left out (unless the cq_sym has failed). The name may have
 * a domain: "com.example::Op". Element-wise operators with one typed input give their output
 * the same type. Attributes with a NULL name are left out. */
cq_value *cq_sym_op(cq_sym *s, const char *op, cq_value *const *in, size_t n_in,
                    const cq_attr *attrs, size_t n_attrs);
/* The same with n outputs, into out. */
void cq_sym_op_n(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, const cq_attr *attrs,
                 size_t n_attrs, cq_value **out, size_t n_out);

/* A node with blocks (If, Loop): make it, then fill its blocks between push and pop. */
cq_node  *cq_sym_node(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, size_t n_out);
cq_block *cq_sym_push_block(cq_sym *s, cq_node *node); /* attribute order: then, else */
void      cq_sym_pop_block(cq_sym *s, cq_value *const *returns, size_t n);

/* Constants. */
cq_value *cq_sym_const_f32s(cq_sym *s, const float *values, size_t n); /* 1-d */

/* Sizes that may be symbolic, as int64 values: 0-d, 1-d of one, 1-d of all. */
cq_value *cq_sym_of_int(cq_sym *s, cq_int i);
cq_value *cq_sym_of_int_1d(cq_sym *s, cq_int i);
cq_value *cq_sym_of_ints(cq_sym *s, const cq_int *items, size_t n);

/* Operators whose form depends on the opset. They know the types of their outputs if they know
 * those of their inputs. Axes are in 0 … rank-1 unless noted. */
cq_value *cq_sym_unsqueeze(cq_sym *s, cq_value *x, const int64_t *axes, size_t n);
cq_value *cq_sym_squeeze(cq_sym *s, cq_value *x, const int64_t *axes, size_t n);
cq_value *cq_sym_reduce(cq_sym *s, const char *op, cq_value *x, const int64_t *axes, size_t n,
                        bool keepdims); /* n 0: all */
cq_value *cq_sym_transpose(cq_sym *s, cq_value *x, const int64_t *perm, size_t n);
cq_value *cq_sym_swap_dims(cq_sym *s, cq_value *x, int a, int b); /* x itself if a == b */
cq_value *cq_sym_reshape(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n);
cq_value *cq_sym_reshape_i64(cq_sym *s, cq_value *x, const int64_t *shape, size_t n); /* 0 and -1
                                                              as in ONNX; type stays unknown */
cq_value *cq_sym_expand(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n);
cq_value *cq_sym_slice(cq_sym *s, cq_value *x, int axis, cq_int start, cq_int end, int64_t step);
cq_value *cq_sym_concat(cq_sym *s, cq_value *const *xs, size_t n, int axis);
cq_value *cq_sym_gather(cq_sym *s, cq_value *x, cq_value *indices, int axis);
void cq_sym_split(cq_sym *s, cq_value *x, int axis, const int64_t *sizes, size_t n, cq_value **out);
/* The k largest or smallest floats (since opset 11 also integers), in order, and their indices. */
void      cq_sym_topk(cq_sym *s, cq_value *x, cq_int k, int axis, bool largest, cq_value *out[2]);
cq_value *cq_sym_shape(cq_sym *s, cq_value *x);
cq_value *cq_sym_clip(cq_sym *s, cq_value *x, cq_value *low, cq_value *high); /* either NULL */
cq_value *cq_sym_pad(cq_sym *s, cq_value *x, const char *mode, const int64_t *pads, size_t n,
                     cq_value *value); /* ONNX order: begins, then ends; value 0-d or NULL */

/* A failure that is not the operator's (no memory, a bug). Returns the first one. */
cq_status cq_sym_fail(cq_sym *s, cq_status status);

/* For public functions: a missing argument is an error of the symbolic, which keeps its first. */
void cq_sym_missing(cq_sym *s, const char *function, const char *wanted);
#define CQ_SYM_NEED(s, condition, otherwise)                                                       \
    do {                                                                                           \
        if (!(s) || !(condition)) {                                                                \
            cq_sym_missing(s, __func__, #condition);                                               \
            return otherwise;                                                                      \
        }                                                                                          \
    } while (0)

#endif
