/* Arithmetic and functions of numbers, element by element. Comparisons and logic are in
 * compare.c, activations in activation.c; what the rows share is in elementwise.h. */
#include "aten/elementwise.h"

#define SAME cq_shape_of_operands
#define FLOAT cq_shape_of_operands_in_float

const cq_op_def cq_ops_pointwise[] = {
    CQ_EW_ROW1("neg", NEG, SAME, "the negative"),
    CQ_EW_ROW1("abs", ABS, SAME, "the absolute value"),
    CQ_EW_ROW1("exp", EXP, FLOAT, "e to the power of x"),
    CQ_EW_ROW("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ADD, SAME,
              "self + alpha * other"),
    CQ_EW_ROW("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ADD, SAME,
              "self + alpha * other"),
    { 0 }
};
