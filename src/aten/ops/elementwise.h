/* Helpers for rows of element-wise operators. Such a row names its kernel in .variant (a cq_ew_op)
 * and needs no code: the first arguments of its schema, as many as the kernel takes, are the
 * operands, tensors or numbers, and the numbers after them are the kernel's parameters a, b, c in
 * this order.
 *
 *     { .schema = "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
 *       .shape = cq_shape_of_operands, .run = cq_run_elementwise, .variant = CQ_EW_LEAKY_RELU } */
#ifndef CQ_ATEN_OPS_ELEMENTWISE_H
#define CQ_ATEN_OPS_ELEMENTWISE_H

#include "aten/core/ctx.h"
#include "kernel/elementwise.h"

/* The broadcast shape of the operands, in their promoted dtype, in a float dtype, or bool. */
cq_status cq_shape_of_operands(cq_opcall *c);
cq_status cq_shape_of_operands_in_float(cq_opcall *c);
cq_status cq_shape_of_operands_in_bool(cq_opcall *c);

cq_status cq_run_elementwise(cq_opcall *c);

/* The steps of these rules, for rows that differ slightly. */
cq_status cq_broadcast_vals(cq_opcall *c, size_t *rank, cq_int *sizes, const cq_val *vals,
                            size_t n);

/* A tensor for an operand: itself, or a number as a 0-d tensor that the context owns. NULL
 * after a failure. */
cq_tensor *cq_operand_tensor(cq_opcall *c, cq_val v, cq_dtype dtype);

/* A result of the sizes of the argument "size", or of self; in the dtype of the argument
 * "dtype", or of self, or otherwise. (creation.c) */
cq_status cq_shape_of_size(cq_opcall *c, cq_dtype otherwise);

/* Short forms of rows. */
#define CQ_EW_ROW1(name, id, shape_rule, text)                                                     \
    {                                                                                              \
        .schema = "aten::" name "(Tensor self) -> Tensor", .about = text, .shape = shape_rule,     \
        .run = cq_run_elementwise, .variant = CQ_EW_##id                                           \
    }
#define CQ_EW_ROW(text_of_schema, id, shape_rule, text)                                            \
    {                                                                                              \
        .schema = text_of_schema, .about = text, .shape = shape_rule, .run = cq_run_elementwise,   \
        .variant = CQ_EW_##id                                                                      \
    }

#endif
