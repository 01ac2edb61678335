/* Symbolic functions in C: how an operator is converted to ONNX.
 *
 * A symbolic function receives the operator's arguments and builds ONNX nodes:
 *
 *     static cq_status my_silu(cq_sym *s, void *user)
 *     {
 *         cq_value *x = cq_sym_in(s, "self");
 *
 *         return cq_sym_done(s, cq_sym_emit1(s, "Mul", 2, (cq_value *[]){
 *             x, cq_sym_emit1(s, "Sigmoid", 1, &x, 0, NULL) }, 0, NULL));
 *     }
 *
 *     cq_symbolic_register("aten::silu", 9, my_silu, NULL);
 *
 * The first error stays in the cq_sym; later calls do nothing and return NULL, so a symbolic
 * function needs no checks. Values belong to the running export. */
#ifndef CALQUE_SYMBOLIC_H
#define CALQUE_SYMBOLIC_H

#include <calque/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_sym   cq_sym;   /* the operator call being exported */
typedef struct cq_value cq_value; /* a value of the ONNX graph */

typedef cq_status (*cq_symbolic_fn)(cq_sym *s, void *user);

/* Registers fn for an operator from this opset on, until a registration for a higher opset. name is
 * "aten::silu", "aten::add.Tensor" for one overload, or "mydomain::my_op"; "::silu" is short for
 * aten. Registered functions take precedence over built-in ones; the last registration wins. */
CQ_API cq_status cq_symbolic_register(const char *name, int32_t opset, cq_symbolic_fn fn,
                                      void *user);
CQ_API void      cq_symbolic_unregister(const char *name, int32_t opset);

/* ---- the operator: its arguments by name, as in its schema (cq_op_info_at lists them) ---- */

CQ_API int         cq_sym_opset(const cq_sym *s);
CQ_API bool        cq_sym_is_none(cq_sym *s, const char *arg);
CQ_API bool        cq_sym_is_tensor(cq_sym *s, const char *arg); /* not a plain number */
CQ_API cq_value   *cq_sym_in(cq_sym *s, const char *arg);        /* a tensor, or a number as one */
CQ_API cq_value   *cq_sym_in_as(cq_sym *s, const char *arg, cq_dtype dtype); /* cast to dtype */
CQ_API int64_t     cq_sym_i64(cq_sym *s, const char *arg);
CQ_API double      cq_sym_f64(cq_sym *s, const char *arg);
CQ_API bool        cq_sym_bool(cq_sym *s, const char *arg);
CQ_API const char *cq_sym_str(cq_sym *s, const char *arg, const char *otherwise);
CQ_API size_t      cq_sym_i64s(cq_sym *s, const char *arg, int64_t *out, size_t max);
CQ_API size_t      cq_sym_f64s(cq_sym *s, const char *arg, double *out, size_t max);
CQ_API size_t      cq_sym_n_list(cq_sym *s, const char *arg);
CQ_API cq_value   *cq_sym_in_at(cq_sym *s, const char *arg, size_t i); /* of a list of tensors */
CQ_API size_t      cq_sym_n_results(const cq_sym *s);

/* For a function that serves several operators: the operator's name, "aten::silu", and its
 * arguments by position. If a list of ints contains a dynamic size, all of its items are tensors.
 */
typedef enum cq_sym_arg_kind {
    CQ_SYM_ARG_NONE    = 0, /* None, or no such argument */
    CQ_SYM_ARG_TENSOR  = 1, /* read it with cq_sym_in */
    CQ_SYM_ARG_INT     = 2,
    CQ_SYM_ARG_FLOAT   = 3,
    CQ_SYM_ARG_BOOL    = 4,
    CQ_SYM_ARG_STRING  = 5,
    CQ_SYM_ARG_TENSORS = 6, /* read them with cq_sym_in_at */
    CQ_SYM_ARG_INTS    = 7,
    CQ_SYM_ARG_FLOATS  = 8,
    CQ_SYM_ARG_BOOLS   = 9,
    CQ_SYM_ARG_OTHER   = 10
} cq_sym_arg_kind;

CQ_API const char     *cq_sym_name(const cq_sym *s);
CQ_API size_t          cq_sym_n_args(const cq_sym *s);
CQ_API const char     *cq_sym_arg_name(const cq_sym *s, size_t i); /* NULL past the end */
CQ_API cq_sym_arg_kind cq_sym_kind(const cq_sym *s, const char *arg);

/* ---- types and constant values ---- */

CQ_API int        cq_sym_rank(cq_sym *s, const cq_value *v); /* fails if it is unknown */
CQ_API cq_dtype   cq_sym_dtype(cq_sym *s, const cq_value *v);
CQ_API cq_int     cq_sym_size(cq_sym *s, const cq_value *v, int axis);
CQ_API cq_tensor *cq_sym_data(const cq_value *v); /* borrowed; NULL: not a constant */

/* The same without failing: rank -1 and CQ_DTYPE_NONE mean unknown. And the node that produces a
 * value: its operator, "onnx::Conv" or "", and its inputs, NULL for an omitted one. */
CQ_API int         cq_value_rank(const cq_value *v);
CQ_API cq_dtype    cq_value_dtype(const cq_value *v);
CQ_API const char *cq_value_op(const cq_value *v);
CQ_API size_t      cq_value_n_inputs(const cq_value *v);
CQ_API cq_value   *cq_value_input(const cq_value *v, size_t i);

/* Sets the type of a value that inference cannot find, such as the result of a custom operator. */
CQ_API void cq_sym_set_type(cq_sym *s, cq_value *v, cq_dtype dtype, size_t rank,
                            const cq_int *sizes);

/* ---- building ---- */

typedef enum cq_sym_attr_kind {
    CQ_SYM_ATTR_INT     = 0,
    CQ_SYM_ATTR_FLOAT   = 1,
    CQ_SYM_ATTR_STRING  = 2,
    CQ_SYM_ATTR_TENSOR  = 3,
    CQ_SYM_ATTR_INTS    = 4,
    CQ_SYM_ATTR_FLOATS  = 5,
    CQ_SYM_ATTR_STRINGS = 6,
    CQ_SYM_ATTR_TENSORS = 7
} cq_sym_attr_kind;

/* An attribute; kind selects the fields. */
typedef struct cq_sym_attr {
    const char        *name;
    cq_sym_attr_kind   kind;
    int64_t            i;
    double             f;
    const char        *s;
    cq_tensor         *t;
    size_t             n; /* of the lists */
    const int64_t     *ints;
    const double      *floats;
    const char *const *strings;
    cq_tensor *const  *tensors;
} cq_sym_attr;

/* Adds a node. op is an ONNX operator, or "domain::Op" for another domain. NULL omits an optional
 * input. */
CQ_API void cq_sym_emit(cq_sym *s, const char *op, size_t n_in, cq_value *const *in, size_t n_attrs,
                        const cq_sym_attr *attrs, size_t n_out, cq_value **out);
CQ_API cq_value *cq_sym_emit1(cq_sym *s, const char *op, size_t n_in, cq_value *const *in,
                              size_t n_attrs, const cq_sym_attr *attrs);

/* A graph attribute. Between begin and end, nodes are added to the graph that is attribute `name`
 * of the node that produced `result`; they may use values of enclosing graphs. A name ending in
 * "[]" appends to a list of graphs.
 *
 *     y = cq_sym_emit1(s, "If", 1, &condition, 0, NULL);
 *     cq_sym_graph_begin(s, y, "then_branch");
 *     then = cq_sym_emit1(s, "Neg", 1, &x, 0, NULL);
 *     cq_sym_graph_end(s, 1, &then); */
CQ_API void      cq_sym_graph_begin(cq_sym *s, cq_value *result, const char *name);
CQ_API cq_value *cq_sym_graph_input(cq_sym *s, cq_dtype dtype, int rank); /* rank -1: unknown */
CQ_API void      cq_sym_graph_end(cq_sym *s, size_t n_results, cq_value *const *results);

CQ_API cq_value *cq_sym_const(cq_sym *s, cq_tensor *t);
CQ_API cq_value *cq_sym_const_i64(cq_sym *s, int64_t value);
CQ_API cq_value *cq_sym_const_i64s(cq_sym *s, const int64_t *values, size_t n);
CQ_API cq_value *cq_sym_const_f64(cq_sym *s, cq_dtype dtype, double value);
CQ_API cq_value *cq_sym_cast(cq_sym *s, cq_value *x, cq_dtype dtype);

/* Ends the function with its results, in order. */
CQ_API cq_status cq_sym_done(cq_sym *s, cq_value *result);
CQ_API cq_status cq_sym_done_n(cq_sym *s, cq_value *const *results, size_t n);

/* Ends the function with the reason why the operator cannot be exported; first_opset is the lowest
 * opset that can, or 0. */
CQ_API cq_status cq_sym_no(cq_sym *s, int first_opset, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
CQ_API cq_status cq_sym_status(const cq_sym *s);

#ifdef __cplusplus
}
#endif

#endif
