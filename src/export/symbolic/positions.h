/* Index arithmetic as ONNX nodes: ranges, non-negative indices, writes at indices. Shared by the
 * symbolic functions of views, joins and indexing. */
#ifndef CQ_EXPORT_SYMBOLIC_POSITIONS_H
#define CQ_EXPORT_SYMBOLIC_POSITIONS_H

#include "export/exporter.h"

/* Where sizes are computed. */
#define CQ_SYMBOLS(s) (&(s)->ex->source->symbols)

/* 0, 1, … n-1 as int64. A symbolic n requires opset 9. */
cq_value *cq_sym_iota(cq_sym *s, cq_int n);

/* 0, 1, … n-1 for a data-dependent n, a 0-d int64. */
cq_value *cq_sym_count_to(cq_sym *s, cq_value *n);

/* start + step * (0, 1, … n-1). */
cq_value *cq_sym_positions(cq_sym *s, cq_int start, cq_int n, int64_t step);

/* Running sums along axis, of float32, float64, int32 or int64. */
cq_value *cq_sym_cumsum(cq_sym *s, cq_value *x, int axis);

/* op(a, b) on int64 values; the type is left open. */
cq_value *cq_sym_ints_op(cq_sym *s, const char *op, cq_value *a, cq_value *b);

/* Indices along a dimension of this size, made non-negative. opset: since this opset the reading
 * operator accepts negative indices. */
cq_value *cq_sym_from_begin(cq_sym *s, cq_value *index, cq_int size, bool since_11_as_is);

/* x expanded to sizes, at any opset; x itself if it has them. */
cq_value *cq_sym_expand_any(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n);

/* A copy of x in which the slices along axis selected by index (1-d) are replaced by those of
 * src. */
cq_value *cq_sym_write_slices(cq_sym *s, cq_value *x, int axis, cq_value *index, cq_value *src);

/* A copy of x with elements along axis set: index and src have the same shape. reduction:
 * NULL, "add", "mul" (opset 16). */
cq_value *cq_sym_scatter(cq_sym *s, cq_value *x, int axis, cq_value *index, cq_value *src,
                         const char *reduction);

/* One or two inputs, no attributes, and an unknown type. */
cq_value *cq_sym_op1(cq_sym *s, const char *op, cq_value *x);
cq_value *cq_sym_op2(cq_sym *s, const char *op, cq_value *a, cq_value *b);

/* A tensor without dimensions as one of one element; all elements in one dimension; the
 * sizes of a result of the operator. x itself if there is nothing to do. */
cq_value *cq_sym_with_dims(cq_sym *s, cq_value *x);
cq_value *cq_sym_flat(cq_sym *s, cq_value *x);
cq_value *cq_sym_in_sizes_of(cq_sym *s, cq_value *x, size_t result);
cq_int    cq_sym_numel(cq_sym *s, const cq_value *x);

/* Whether the sizes are known to be the same. */
bool cq_sym_same_sizes(const cq_value *v, const cq_int *sizes, size_t n);

#endif
