/* Comparisons, logic, bits and choices. */
#include "export/arith.h"

#include <math.h>

/* ---- comparisons: operands in their promoted dtype ---- */

static cq_status eq(cq_sym *s)
{
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    return cq_sym_done(s, cq_sym_equal(s, x, y));
}

static cq_status ne(cq_sym *s)
{
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    return cq_sym_done(s, CQ_1("Not", cq_sym_equal(s, x, y)));
}

static cq_status le(cq_sym *s)
{
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    return cq_sym_done(s, cq_sym_at_most(s, x, y));
}

static cq_status ge(cq_sym *s)
{
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    return cq_sym_done(s, cq_sym_at_most(s, y, x));
}

/* ---- kinds of numbers; integers are all finite ---- */

static cq_status is_nan(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_is_nan(s, cq_sym_in(s, "self")));
}

/* |x| < inf is false of NaN too. */
static cq_value *finite(cq_sym *s, cq_value *x)
{
    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        return CQ_2("Equal", x, x);
    return CQ_2("Less", CQ_1("Abs", x), cq_sym_num(s, x, INFINITY));
}

static cq_status is_finite(cq_sym *s)
{
    return cq_sym_done(s, finite(s, cq_sym_in(s, "self")));
}

static cq_status is_inf(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        return cq_sym_done(s, CQ_1("Not", finite(s, x)));
    return cq_sym_done(s, cq_sym_equal(s, CQ_1("Abs", x), cq_sym_num(s, x, INFINITY)));
}

static cq_status is_signed_inf(cq_sym *s, double inf)
{
    cq_value *x = cq_sym_in(s, "self");

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        return cq_sym_done(s, CQ_1("Not", finite(s, x)));
    return cq_sym_done(s, cq_sym_equal(s, x, cq_sym_num(s, x, inf)));
}

static cq_status is_posinf(cq_sym *s)
{
    return is_signed_inf(s, INFINITY);
}

static cq_status is_neginf(cq_sym *s)
{
    return is_signed_inf(s, -INFINITY);
}

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
 * are taken apart, which is no fast way but a right one. */
static cq_status bitwise(cq_sym *s, const char *logic, combine_fn *combine)
{
    cq_type   want = cq_sym_result_type(s, 0);
    cq_value *x, *y;

    cq_sym_promoted(s, &x, &y);
    if (want.dtype == CQ_DTYPE_BOOL)
        return cq_sym_done(s, CQ_2(logic, x, y));
    if (cq_sym_opset(s) < 10)
        return cq_sym_no(s, 10, "bits of integers need Mod of opset 10");
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

/* -1 - x, and in a dtype without a sign the highest value minus x. */
static cq_status bitwise_not(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self");
    cq_dtype  d = cq_sym_dtype(s, x);

    if (d == CQ_DTYPE_BOOL)
        return cq_sym_done(s, CQ_1("Not", x));
    return cq_sym_done(s, CQ_2("Sub", cq_sym_num(s, x, d == CQ_DTYPE_U8 ? 255 : -1), x));
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

/* ---- choices ---- */

static cq_status where(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_where(s, cq_sym_in(s, "condition"), cq_sym_operand(s, "self"),
                                       cq_sym_operand(s, "other")));
}

static cq_status masked_fill(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_where(s, cq_sym_in(s, "mask"), cq_sym_operand(s, "value"),
                                       cq_sym_operand(s, "self")));
}

const cq_symbolic cq_symbolics_compare[] = {
    { "aten::eq", 7, .fn = eq },
    { "aten::ne", 7, .fn = ne },
    { "aten::gt", 7, .op = "Greater" },
    { "aten::lt", 7, .op = "Less" },
    { "aten::ge", 7, .fn = ge },
    { "aten::le", 7, .fn = le },
    { "aten::logical_and", 7, .op = "And" },
    { "aten::logical_or", 7, .op = "Or" },
    { "aten::logical_xor", 7, .op = "Xor" },
    { "aten::logical_not", 7, .op = "Not" },
    { "aten::isnan", 7, .fn = is_nan },
    { "aten::isinf", 7, .fn = is_inf },
    { "aten::isfinite", 7, .fn = is_finite },
    { "aten::isposinf", 7, .fn = is_posinf },
    { "aten::isneginf", 7, .fn = is_neginf },
    { "aten::bitwise_and", 7, .fn = bitwise_and },
    { "aten::bitwise_or", 7, .fn = bitwise_or },
    { "aten::bitwise_xor", 7, .fn = bitwise_xor },
    { "aten::bitwise_not", 7, .fn = bitwise_not },
    { "aten::bitwise_left_shift", 7, .fn = shift_left },
    { "aten::bitwise_right_shift", 7, .fn = shift_right },
    { "aten::where", 7, .fn = where },
    { "aten::masked_fill", 7, .fn = masked_fill },
    { 0 },
};
