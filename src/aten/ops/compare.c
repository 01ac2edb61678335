/* Comparisons, logic, bits, and choices between tensors by a condition. */
#include "aten/ops/elementwise.h"

#define TO_BOOL cq_shape_of_operands_in_bool

/* Bits of a float have no meaning here. */
static cq_status bits_shape(cq_opcall *c)
{
    size_t   n     = (size_t)cq_ew_operands((cq_ew_op)c->op->def->variant);
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, n);

    if (!cq_dtype_is_integer(dtype) && dtype != CQ_DTYPE_BOOL)
        return cq_call_fail(c, CQ_E_TYPE, "works on integers and bool, not on %s",
                            cq_dtype_name(dtype));
    return cq_shape_of_operands(c);
}

/* ---- choices ---- */

static cq_status check_condition(cq_opcall *c, const char *name)
{
    cq_tensor *t = cq_arg_tensor(c, name);

    if (t->dtype != CQ_DTYPE_BOOL && t->dtype != CQ_DTYPE_U8)
        return cq_call_fail(c, CQ_E_TYPE, "%s must be of bool, not %s", name,
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "value must have 0 dimensions, not %u",
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
    COMPARISON("eq", EQ, "whether they are equal"),
    COMPARISON("ne", NE, "whether they are not equal"),
    COMPARISON("gt", GT, "whether self is more"),
    COMPARISON("lt", LT, "whether self is less"),
    COMPARISON("ge", GE, "whether self is not less"),
    COMPARISON("le", LE, "whether self is not more"),

    ROW("aten::logical_and(Tensor self, Tensor other) -> Tensor", LOGICAL_AND, TO_BOOL, "both"),
    ROW("aten::logical_or(Tensor self, Tensor other) -> Tensor", LOGICAL_OR, TO_BOOL,
        "one or both"),
    ROW("aten::logical_xor(Tensor self, Tensor other) -> Tensor", LOGICAL_XOR, TO_BOOL,
        "one of them"),
    ROW1("logical_not", LOGICAL_NOT, TO_BOOL, "not"),
    ROW1("isnan", ISNAN, TO_BOOL, "whether it is not a number"),
    ROW1("isinf", ISINF, TO_BOOL, "whether it is infinite"),
    ROW1("isfinite", ISFINITE, TO_BOOL, "whether it is neither infinite nor NaN"),
    ROW1("isposinf", ISPOSINF, TO_BOOL, "whether it is infinity"),
    ROW1("isneginf", ISNEGINF, TO_BOOL, "whether it is minus infinity"),

    BITS("bitwise_and", BITWISE_AND, "the bits that both have"),
    BITS("bitwise_or", BITWISE_OR, "the bits that one or both have"),
    BITS("bitwise_xor", BITWISE_XOR, "the bits that differ"),
    ROW1("bitwise_not", BITWISE_NOT, bits_shape, "every bit turned around"),
    SHIFT("bitwise_left_shift", SHIFT_LEFT, "bits moved up"),
    SHIFT("bitwise_right_shift", SHIFT_RIGHT, "bits moved down"),

    CQ_KERNEL("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
              "self where condition holds, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
              "self where condition holds, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
              "self where condition holds, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
              "self where condition holds, other elsewhere", where_shape, where_run),
    CQ_KERNEL("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
              "value where mask holds, self elsewhere", masked_fill_shape, masked_fill_run),
    CQ_KERNEL("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
              "value where mask holds, self elsewhere", masked_fill_shape, masked_fill_run),
    { 0 },
};
