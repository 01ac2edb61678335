/* Comparisons, logic, bits, and choices between tensors by a condition. */
#include "aten/ops/elementwise.h"

#define TO_BOOL cq_shape_of_operands_in_bool

/* Bits of a float have no meaning here. */
static cq_status bits_shape(cq_opcall *c)
{
    size_t   n     = (size_t)cq_ew_operands((cq_ew_op)c->op->def->variant);
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, n);

    if (!cq_dtype_is_integer(dtype) && dtype != CQ_DTYPE_BOOL)
        return cq_call_fail(c, CQ_E_TYPE, "expected integers or bool, got %s",
                            cq_dtype_name(dtype));
    return cq_shape_of_operands(c);
}

/* ---- choices ---- */

static cq_status check_condition(cq_opcall *c, const char *name)
{
    cq_tensor *t = cq_arg_tensor(c, name);

    if (t->dtype != CQ_DTYPE_BOOL && t->dtype != CQ_DTYPE_U8)
        return cq_call_fail(c, CQ_E_TYPE, "expected bool for %s, got %s", name,
                            cq_dtype_name(t->dtype));
    return CQ_OK;
}

static cq_status where_shape(cq_opcall *c)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank;

    CQ_TRY(check_condition(c, "condition"));
    CQ_TRY(cq_broadcast_vals(c, &rank, sizes, c->args, 3));
    return cq_result(c, 0, cq_result_type(c->cx->default_float, c->args + 1, 2), rank, sizes);
}

static cq_status where_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0);
    cq_tensor *x   = cq_operand_tensor(c, c->args[1], out->dtype);
    cq_tensor *y   = cq_operand_tensor(c, c->args[2], out->dtype);

    CQ_TRY(c->cx->status);
    return cq_apply3(out, CQ_EW_WHERE, NULL, out->dtype, c->args[0].u.tensor, x, y);
}

static cq_status masked_fill_shape(cq_opcall *c)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank;

    CQ_TRY(check_condition(c, "mask"));
    if (c->args[2].kind == CQ_VAL_TENSOR && c->args[2].u.tensor->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected a value of 0 dimensions, got %u",
                            (unsigned)c->args[2].u.tensor->rank);
    CQ_TRY(cq_broadcast_vals(c, &rank, sizes, c->args, 2));
    return cq_result(c, 0, c->args[0].u.tensor->dtype, rank, sizes);
}

static cq_status masked_fill_run(cq_opcall *c)
{
    cq_tensor *out   = cq_result_tensor(c, 0);
    cq_tensor *value = cq_operand_tensor(c, c->args[2], out->dtype);

    CQ_TRY(c->cx->status);
    return cq_apply3(out, CQ_EW_WHERE, NULL, out->dtype, c->args[1].u.tensor, value,
                     c->args[0].u.tensor);
}

#define ROW  CQ_EW_ROW
#define ROW1 CQ_EW_ROW1
#define COMPARISON(name, id, text)                                                                 \
    ROW("aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor", id, TO_BOOL, text),          \
        ROW("aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor", id, TO_BOOL, text)
#define BITS(name, id, text)                                                                       \
    ROW("aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor", id, bits_shape, text),       \
        ROW("aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor", id, bits_shape, text),   \
        ROW("aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", id, bits_shape,   \
            text)
#define SHIFT(name, id, text)                                                                      \
    ROW("aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor", id, bits_shape, text),       \
        ROW("aten::" name ".Tensor_Scalar(Tensor self, Scalar other) -> Tensor", id, bits_shape,   \
            text),                                                                                 \
        ROW("aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", id, bits_shape,   \
            text)

const cq_op_def cq_ops_compare[] = {
    COMPARISON("eq", EQ, "whether elements are equal"),
    COMPARISON("ne", NE, "whether elements differ"),
    COMPARISON("gt", GT, "whether self is greater"),
    COMPARISON("lt", LT, "whether self is less"),
    COMPARISON("ge", GE, "whether self is greater or equal"),
    COMPARISON("le", LE, "whether self is less or equal"),

    ROW("aten::logical_and(Tensor self, Tensor other) -> Tensor", LOGICAL_AND, TO_BOOL,
        "logical and"),
    ROW("aten::logical_or(Tensor self, Tensor other) -> Tensor", LOGICAL_OR, TO_BOOL, "logical or"),
    ROW("aten::logical_xor(Tensor self, Tensor other) -> Tensor", LOGICAL_XOR, TO_BOOL,
        "logical exclusive or"),
    ROW1("logical_not", LOGICAL_NOT, TO_BOOL, "logical not"),
    ROW1("isnan", ISNAN, TO_BOOL, "whether elements are NaN"),
    ROW1("isinf", ISINF, TO_BOOL, "whether elements are infinite"),
    ROW1("isfinite", ISFINITE, TO_BOOL, "whether elements are finite"),
    ROW1("isposinf", ISPOSINF, TO_BOOL, "whether elements are positive infinity"),
    ROW1("isneginf", ISNEGINF, TO_BOOL, "whether elements are negative infinity"),

    BITS("bitwise_and", BITWISE_AND, "bitwise and"),
    BITS("bitwise_or", BITWISE_OR, "bitwise or"),
    BITS("bitwise_xor", BITWISE_XOR, "bitwise exclusive or"),
    ROW1("bitwise_not", BITWISE_NOT, bits_shape, "bitwise not"),
    SHIFT("bitwise_left_shift", SHIFT_LEFT, "bitwise left shift"),
    SHIFT("bitwise_right_shift", SHIFT_RIGHT, "bitwise right shift"),

    CQ_KERNEL("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
              "self where condition is true, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
              "self where condition is true, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
              "self where condition is true, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
              "self where condition is true, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
              "value where mask is true, self elsewhere", masked_fill_shape, masked_fill_run),
    CQ_KERNEL("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
              "value where mask is true, self elsewhere", masked_fill_shape, masked_fill_run),
    { 0 },
};
