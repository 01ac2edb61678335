/* Softmax and its logarithm. */
#include "export/symbolic/symbolic.h"

/* A number is a row of one. */
#define ROW(op)                                                                                    \
    "row = Unsqueeze(self, [0]) if rank(self) == 0 else self; y = " op ";"                         \
    "Squeeze(y, [0]) if rank(self) == 0 else y"

/* Until opset 12 it flattened x to a matrix at axis; since 13 it works on axis alone. They
 * agree on the last axis, so dim is moved there and back. */
#define BEFORE_13(op) ROW("swap(" op "<axis = rank(row) - 1>(swap(row, dim, -1)), dim, -1)")
#define SINCE_13(op)  ROW(op "<axis = axis(dim, row)>(row)")

/* What is -inf throughout has -inf as its greatest, and as its sum: the greatest alone may be so
 * beside NaN, which ONNX Runtime passes over. There the result is 0. */
#define SAFE(softmax)                                                                              \
    "row = Unsqueeze(self, [0]) if rank(self) == 0 else self; d = [axis(dim, row)];"               \
    "greatest = ReduceMax<keepdims = 1>(row, d); total = ReduceSum<keepdims = 1>(row, d);"         \
    "y = Where(And(Equal(greatest, -inf), Equal(total, -inf)), 0, " softmax ");"                   \
    "Squeeze(y, [0]) if rank(self) == 0 else y"

const cq_symbolic cq_symbolics_softmax[] = {
    { "aten::softmax.int", 7, .each = BEFORE_13("Softmax") },
    { "aten::softmax.int", 13, .each = SINCE_13("Softmax") },
    { "aten::log_softmax.int", 7, .each = BEFORE_13("LogSoftmax") },
    { "aten::log_softmax.int", 13, .each = SINCE_13("LogSoftmax") },
    { "aten::_safe_softmax", 7,
      .each = SAFE("swap(Softmax<axis = rank(row) - 1>(swap(row, dim, -1)), dim, -1)") },
    { "aten::_safe_softmax", 13, .each = SAFE("Softmax<axis = axis(dim, row)>(row)") },
    { 0 },
};
