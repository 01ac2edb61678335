/* Helpers for symbolic functions of several families. */
#ifndef CQ_EXPORT_SYMBOLIC_COMMON_H
#define CQ_EXPORT_SYMBOLIC_COMMON_H

#include "export/exporter.h"

/* One or two inputs, no attributes. The result has the dtype of the first one, and its shape if
 * both shapes are the same or the other has no dimensions. */
cq_value *cq_sym_unary(cq_sym *s, const char *op, cq_value *x);
cq_value *cq_sym_binary(cq_sym *s, const char *op, cq_value *a, cq_value *b);

/* A row of n equal numbers; n may be symbolic. */
cq_value *cq_sym_filled(cq_sym *s, cq_dtype dtype, cq_int n, double value);

/* A tensor of these sizes and dtype, filled with value (0-d). */
cq_value *cq_sym_full(cq_sym *s, cq_type type, cq_value *value);

/* The operator's result as a constant, if it does not depend on run-time values; otherwise NULL. */
cq_value *cq_sym_computed(cq_sym *s);

/* Half precision as float32, as PyTorch computes inside of an operator. */
cq_value *cq_sym_widen(cq_sym *s, cq_value *x);

/* A tensor argument; bfloat16 is cast to float32, because few operators and no kernels of ONNX
 * Runtime accept it. */
cq_value *cq_sym_in_float(cq_sym *s, const char *arg);

/* Returns x, or declines the operator if x is not a float tensor. */
cq_value *cq_sym_only_float(cq_sym *s, cq_value *x);
/* The same, and declines float64, for which ONNX Runtime lacks a kernel: for rows with a
 * decomposition. */
cq_value *cq_sym_only_small_float(cq_sym *s, cq_value *x);

/* x in a dtype that ONNX and ONNX Runtime support, instead of small integers and bfloat16. ints is
 * the first opset with integers for the operator; doubles are used before it. */
cq_value *cq_sym_computable(cq_sym *s, cq_value *x, int ints);

/* Whether the operator has such an argument at all. */
bool cq_sym_has_arg(const cq_sym *s, const char *arg);

/* One kernel per position of a window, 1 at that position and 0 elsewhere. */
cq_value *cq_sym_unit_kernels(cq_sym *s, int64_t high, int64_t wide);

#endif
