/* Element-wise arithmetic in symbolic functions. ONNX operators accept some dtypes, more of them
 * with each opset, and ONNX Runtime has kernels for fewer. Here a symbolic function computes in the
 * intended dtype, and casts are inserted where an operator does not accept it.
 *
 *     cq_value *x = cq_sym_operand(s, "self");           // in the dtype of the result
 *     return cq_sym_done(s, CQ_2("Sub", CQ_1("Exp", x), cq_sym_num(s, x, 1)));
 *
 * Rows whose .op is known here (`{ "aten::mul", 7, .op = "Mul" }`) are handled in the same way. */
#ifndef CQ_EXPORT_SYMBOLIC_ARITH_H
#define CQ_EXPORT_SYMBOLIC_ARITH_H

#include "export/symbolic/symbolic.h"

/* The number of operands of an element-wise ONNX operator; 0 for other operators. */
int cq_sym_arity(const char *op);

/* The dtype to compute in: d if op takes it at the opset, else the best one that it takes. */
cq_dtype cq_sym_fit(const cq_sym *s, const char *op, cq_dtype d);
/* Whether that is d itself. */
bool cq_sym_fits(const cq_sym *s, const char *op, cq_dtype d);

/* The node, with casts around it where necessary. Operands must have one dtype. */
cq_value *cq_sym_apply(cq_sym *s, const char *op, cq_value *const *in, size_t n_in,
                       const cq_attr *attrs, size_t n_attrs);
#define CQ_1(op, x)    cq_sym_apply(s, op, CQ_IN(x), CQ_NO_ATTR)
#define CQ_2(op, x, y) cq_sym_apply(s, op, CQ_IN(x, y), CQ_NO_ATTR)

/* Sets the dtype of out and, if those of its operands are known, the sizes. */
void cq_sym_set_broadcast(cq_sym *s, cq_value *out, cq_dtype dtype, cq_value *const *in, size_t n);

/* The whole of a symbolic that is one such node: its operands are the first arguments. */
cq_status cq_sym_elementwise(cq_sym *s, const char *op);

/* An argument in the dtype of the result; two arguments in their promoted dtype. */
cq_dtype  cq_sym_operand_dtype(const cq_sym *s); /* the one that the operator computes in */
cq_value *cq_sym_operand(cq_sym *s, const char *arg);
void      cq_sym_promoted(cq_sym *s, cq_value **a, cq_value **b);

/* A 0-d constant of the dtype of like. */
cq_value *cq_sym_num(cq_sym *s, const cq_value *like, double value);

/* ---- operators that older opsets or all opsets lack ---- */

/* Where; before opset 9 only for fixed sizes. */
cq_value *cq_sym_where(cq_sym *s, cq_value *condition, cq_value *x, cq_value *y);
cq_value *cq_sym_equal(cq_sym *s, cq_value *x, cq_value *y);
cq_value *cq_sym_at_most(cq_sym *s, cq_value *x, cq_value *y); /* x <= y */
cq_value *cq_sym_is_nan(cq_sym *s, cq_value *x);
cq_value *cq_sym_is_negative(cq_sym *s, cq_value *x); /* the sign bit: also of -0 */
cq_value *cq_sym_sign(cq_sym *s, cq_value *x);
cq_value *cq_sym_trunc(cq_sym *s, cq_value *x);
cq_value *cq_sym_round(cq_sym *s, cq_value *x); /* halves to even */
cq_value *cq_sym_floor_divide(cq_sym *s, cq_value *x, cq_value *y);
cq_value *cq_sym_remainder(cq_sym *s, cq_value *x, cq_value *y);                 /* the sign of y */
cq_value *cq_sym_fmod(cq_sym *s, cq_value *x, cq_value *y);                      /* the sign of x */
cq_value *cq_sym_bounded(cq_sym *s, cq_value *x, cq_value *low, cq_value *high); /* NULL: none */
cq_value *cq_sym_larger(cq_sym *s, cq_value *x, cq_value *y, bool smaller);

#endif
