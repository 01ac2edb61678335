/* Comparisons, logic, bits and choices. */
#include "export/symbolic/arith.h"

/* ---- bits ---- */

/* ONNX has operators on bits since opset 18. On bool they are logic; on integers the bits
 * are decomposed, which is not fast but right. */
#define BITWISE(op, logic, combine)                                                                \
    { "aten::" op, 7,                                                                              \
      .each = "x = self; y = other; " logic " if result_dtype() == 'bool' else"                    \
              " no('bits of integers need Mod of opset 10', 10)" },                                \
    {                                                                                              \
        "aten::" op, 10,                                                                           \
            .each = "x = self; y = other; a = bits(x); b = bits(y);" logic                         \
                    " if result_dtype() == 'bool' else number_of_bits(" combine ")"                \
    }

/* Integers are all finite. */
#define FINITE         "Less(Abs(self), inf) if is_float(self) else Equal(self, self)"
#define IF_FLOAT(test) test " if is_float(self) else Not(Equal(self, self))"

const cq_symbolic cq_symbolics_compare[] = {
    { "aten::eq", 7, .each = "Equal(self, other)" },
    { "aten::ne", 7, .each = "Not(Equal(self, other))" },
    { "aten::gt", 7, .op = "Greater" },
    { "aten::lt", 7, .op = "Less" },
    { "aten::ge", 7, .each = "LessOrEqual(other, self)" },
    { "aten::le", 7, .each = "LessOrEqual(self, other)" },
    { "aten::logical_and", 7, .op = "And" },
    { "aten::logical_or", 7, .op = "Or" },
    { "aten::logical_xor", 7, .op = "Xor" },
    { "aten::logical_not", 7, .op = "Not" },
    { "aten::isnan", 7, .each = "IsNaN(self)" },
    { "aten::isinf", 7, .each = IF_FLOAT("Equal(Abs(self), inf)") },
    /* |x| < inf is false of NaN too. */
    { "aten::isfinite", 7, .each = FINITE },
    { "aten::isposinf", 7, .each = IF_FLOAT("Equal(self, inf)") },
    { "aten::isneginf", 7, .each = IF_FLOAT("Equal(self, -inf)") },
    BITWISE("bitwise_and", "And(x, y)", "a * b"),
    BITWISE("bitwise_or", "Or(x, y)", "cast(cast(a + b, 'bool'), 'int64')"),
    BITWISE("bitwise_xor", "Xor(x, y)", "Mod(a + b, 2)"),
    /* -1 - x, and in a dtype without a sign the highest value minus x. */
    { "aten::bitwise_not", 7,
      .each = "Not(self) if dtype(self) == 'bool' else"
              " (255 if dtype(self) == 'uint8' else -1) - self" },
    { "aten::bitwise_left_shift", 7, .each = "cast(self, 'int64') * power_of_two(other)" },
    { "aten::bitwise_right_shift", 7, .each = "cast(self, 'int64') // power_of_two(other)" },
    { "aten::where.self", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.ScalarOther", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.ScalarSelf", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.Scalar", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::masked_fill", 7, .each = "Where(raw(mask), value, self)" },
    { 0 },
};
