/* Comparisons, logic, bits and choices. */
#include "export/arith.h"

/* ---- bits ---- */

static int width(cq_dtype d)
{
    return 8 * (int)cq_dtype_size(d);
}

/* The bits of x along a new last axis, lowest first, as int64. Shifting down is dividing and
 * rounding down, which keeps the sign; the highest bit of an int64 has no power to divide by. */
static cq_value *bits_of(cq_sym *s, cq_value *x)
{
    int64_t   powers[64], last = cq_sym_rank(s, x);
    int       n = width(cq_sym_dtype(s, x)), divided = n == 64 ? 63 : n;
    cq_value *wide = cq_sym_unsqueeze(s, cq_sym_cast(s, x, CQ_DTYPE_I64), &last, 1), *bits, *power;

    for (int i = 0; i < divided; i++)
        powers[i] = (int64_t)1 << i;
    power = cq_sym_const_i64s(s, powers, (size_t)divided);
    bits  = CQ_2("Mod", cq_sym_floor_divide(s, wide, power), cq_sym_const_i64(s, 2));
    if (n < 64)
        return bits;
    wide = cq_sym_cast(s, CQ_2("Less", wide, cq_sym_const_i64(s, 0)), CQ_DTYPE_I64);
    bits = cq_sym_op(s, "Concat", CQ_IN(bits, wide), CQ_ATTR(cq_attr_i("axis", -1)));
    cq_sym_set_dtype(s, bits, CQ_DTYPE_I64);
    return bits;
}

/* The sum of 32 bits from the first on, as a number; the highest may be the sign. */
static cq_value *sum_of_bits(cq_sym *s, cq_value *bits, int n, int first, bool sign, int rank)
{
    int64_t weights[64], axis = rank;

    for (int i = 0; i < n; i++)
        weights[i] = i >= first && i < first + 32 ? (int64_t)1 << (i - first) : 0;
    if (sign)
        weights[n - 1] = -weights[n - 1];
    bits = CQ_2("Mul", bits, cq_sym_const_i64s(s, weights, (size_t)n));
    bits = cq_sym_reduce(s, "ReduceSum", bits, &axis, 1, false);
    cq_sym_set_dtype(s, bits, CQ_DTYPE_I64);
    return bits;
}

/* The number whose bits lie along the last axis. ONNX Runtime sums up in doubles, so 64 bits
 * are added in two halves. */
static cq_value *number_of_bits(cq_sym *s, cq_value *bits, cq_dtype dtype, int rank)
{
    int       n    = width(dtype);
    bool      sign = cq_dtype_is_signed(dtype);
    cq_value *low  = sum_of_bits(s, bits, n, 0, sign && n < 64, rank), *high;

    if (n == 64) {
        high = sum_of_bits(s, bits, n, 32, sign, rank);
        low  = CQ_2("Add", low, CQ_2("Mul", high, cq_sym_const_i64(s, (int64_t)1 << 32)));
    }
    return cq_sym_cast(s, low, dtype);
}

typedef cq_value *combine_fn(cq_sym *s, cq_value *a, cq_value *b);

/* ONNX has operators on bits since opset 18. On bool they are logic; on integers the bits
 * are decomposed, which is not fast but right. */
static cq_status bitwise(cq_sym *s, const char *logic, combine_fn *combine)
{
    cq_type   want = cq_sym_result_type(s, 0);
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    if (want.dtype == CQ_DTYPE_BOOL)
        return cq_sym_done(s, CQ_2(logic, x, y));
    if (!cq_sym_since(s, 10, "bits of integers need Mod of opset 10"))
        return cq_sym_status(s);
    x = combine(s, bits_of(s, x), bits_of(s, y));
    return cq_sym_done(s, number_of_bits(s, x, want.dtype, want.rank));
}

static cq_value *both(cq_sym *s, cq_value *a, cq_value *b)
{
    return CQ_2("Mul", a, b);
}

static cq_value *any(cq_sym *s, cq_value *a, cq_value *b)
{
    return cq_sym_cast(s, cq_sym_cast(s, CQ_2("Add", a, b), CQ_DTYPE_BOOL), CQ_DTYPE_I64);
}

static cq_value *one(cq_sym *s, cq_value *a, cq_value *b)
{
    return CQ_2("Mod", CQ_2("Add", a, b), cq_sym_const_i64(s, 2));
}

static cq_status bitwise_and(cq_sym *s)
{
    return bitwise(s, "And", both);
}

static cq_status bitwise_or(cq_sym *s)
{
    return bitwise(s, "Or", any);
}

static cq_status bitwise_xor(cq_sym *s)
{
    return bitwise(s, "Xor", one);
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
    { "aten::bitwise_and", 7, .fn = bitwise_and },
    { "aten::bitwise_or", 7, .fn = bitwise_or },
    { "aten::bitwise_xor", 7, .fn = bitwise_xor },
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
