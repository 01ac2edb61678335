/* Comparisons, logic, bits and choices. */
#include "export/arith.h"

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

/* 2 ** other, exactly. */
static cq_value *power_of_two(cq_sym *s, cq_value *y)
{
    cq_tensor *t = cq_sym_data(y);

    if (t && cq_tensor_numel(t) == 1)
        return cq_sym_const_i64(s, (int64_t)((uint64_t)1 << (cq_tensor_get_i64(t, 0) & 63)));
    y = cq_sym_cast(s, y, CQ_DTYPE_F64);
    return cq_sym_cast(s, CQ_2("Pow", cq_sym_num(s, y, 2), y), CQ_DTYPE_I64);
}

static cq_status shift_left(cq_sym *s)
{
    cq_value *x = cq_sym_cast(s, cq_sym_operand(s, "self"), CQ_DTYPE_I64);

    return cq_sym_done(s, CQ_2("Mul", x, power_of_two(s, cq_sym_operand(s, "other"))));
}

static cq_status shift_right(cq_sym *s)
{
    cq_value *x = cq_sym_cast(s, cq_sym_operand(s, "self"), CQ_DTYPE_I64);

    return cq_sym_done(s, cq_sym_floor_divide(s, x, power_of_two(s, cq_sym_operand(s, "other"))));
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
    { "aten::bitwise_left_shift", 7, .fn = shift_left },
    { "aten::bitwise_right_shift", 7, .fn = shift_right },
    { "aten::where.self", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.ScalarOther", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.ScalarSelf", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::where.Scalar", 7, .each = "Where(raw(condition), self, other)" },
    { "aten::masked_fill", 7, .each = "Where(raw(mask), value, self)" },
    { 0 },
};
