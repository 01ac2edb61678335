/* Element-wise operators: the output has the shape of the input, or the broadcast shape of the
 * inputs. elements.c computes values from shapes. */
#include "onnx/infer/elements.h"

/* ---- shapes ---- */

cq_status cq_rule_same(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);

    return x ? cq_rule_give_dims(r, 0, x->rank, x->dims) : CQ_OK;
}

cq_status cq_rule_broadcast(cq_rule *r)
{
    cq_shape y;

    y.rank = 0;
    for (size_t i = 0; i < r->n_inputs; i++) {
        const cq_itype *x = cq_rule_shaped(r, i);

        if (!x)
            return CQ_OK;
        CQ_TRY(cq_shape_broadcast(r, &y, x->dims, x->rank));
    }
    return cq_rule_give(r, 0, &y);
}

/* The mask has the shape of the output. Until opset 9 it also had its type. */
static cq_status dropout(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_give_dims(r, 0, x->rank, x->dims));
    return cq_rule_give_dims(r, 1, x->rank, x->dims);
}

static cq_status cast(cq_rule *r)
{
    static const struct {
        const char *name;
        int32_t     type;
    } names[]  = { { "FLOAT", CQ_ONNX_FLOAT },     { "INT64", CQ_ONNX_INT64 },
                   { "INT32", CQ_ONNX_INT32 },     { "BOOL", CQ_ONNX_BOOL },
                   { "FLOAT16", CQ_ONNX_FLOAT16 }, { "DOUBLE", CQ_ONNX_DOUBLE },
                   { "UINT8", CQ_ONNX_UINT8 },     { "INT8", CQ_ONNX_INT8 },
                   { "INT16", CQ_ONNX_INT16 },     { "UINT16", CQ_ONNX_UINT16 } };
    int64_t to = cq_rule_int(r, "to", CQ_ONNX_UNDEFINED);

    /* Before opset 6 the attribute was a string. */
    for (size_t i = 0; r->version < 6 && i < sizeof names / sizeof *names; i++)
        if (cq_rule_text_is(r, "to", names[i].name))
            to = names[i].type;
    if (to < 0 || to >= CQ_ONNX_DATA_TYPE_COUNT)
        return cq_rule_fail(r, "unknown data type %lld", (long long)to);
    if (to)
        cq_rule_give_elem(r, 0, (int32_t)to);
    return cq_rule_same(r);
}

/* Both types must have the same number of bits. */
static cq_status bit_cast(cq_rule *r)
{
    const cq_dtype from = cq_dtype_from_onnx(cq_rule_elem(r, 0));
    const cq_dtype to   = cq_dtype_from_onnx((int32_t)cq_rule_int(r, "to", CQ_ONNX_UNDEFINED));

    if (from != CQ_DTYPE_NONE && to != CQ_DTYPE_NONE && cq_dtype_bits(from) != cq_dtype_bits(to))
        return cq_rule_fail(r, "%s has %u bits, but %s has %u", cq_dtype_name(from),
                            cq_dtype_bits(from), cq_dtype_name(to), cq_dtype_bits(to));
    return cast(r);
}

/* Both inputs have the same shape. */
static cq_status swiglu(cq_rule *r)
{
    const cq_itype *a = cq_rule_shaped(r, 0), *b = cq_rule_shaped(r, 1);

    if (a && b && a->rank != b->rank)
        return cq_rule_fail(r, "the ranks %zu and %zu differ", a->rank, b->rank);
    for (size_t i = 0; a && b && i < a->rank; i++)
        if (cq_dim_is_plain(a->dims[i]) && cq_dim_is_plain(b->dims[i]) &&
            a->dims[i].size.value != b->dims[i].size.value)
            return cq_rule_fail(r, "size %zu is %lld and %lld", i, (long long)a->dims[i].size.value,
                                (long long)b->dims[i].size.value);
    return cq_rule_same(r);
}

/* Softmax and similar operators: checks the axis. */
static cq_status along_axis(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    size_t          axis;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", r->version < 13 ? 1 : -1),
                        x->rank ? x->rank : 1));
    return cq_rule_same(r);
}

static cq_status trilu(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);

    if (x && x->rank < 2)
        return cq_rule_fail(r, "expected rank 2 or more for Trilu, got %zu", x->rank);
    return cq_rule_same(r);
}

static cq_status cast_like(cq_rule *r)
{
    cq_rule_give_elem(r, 0, cq_rule_elem(r, 1));
    return cq_rule_same(r);
}

static cq_status identity(cq_rule *r)
{
    if (cq_rule_has(r, 0))
        cq_rule_give_type(r, 0, &r->inputs[0]->type);
    return CQ_OK;
}

/* ---- elements ---- */

static cq_status identity_data(cq_rule *r)
{
    r->out_data[0] = cq_rule_data(r, 0);
    return CQ_OK;
}

static cq_status cast_data(cq_rule *r)
{
    return cq_rule_map1(r, cq_ielem_cast);
}

#define DATA1(name, op)                                                                            \
    static cq_status name(cq_rule *r)                                                              \
    {                                                                                              \
        return cq_rule_map1(r, op);                                                                \
    }
#define DATA2(name, op)                                                                            \
    static cq_status name(cq_rule *r)                                                              \
    {                                                                                              \
        return cq_rule_fold(r, op);                                                                \
    }

DATA1(neg_data, cq_ielem_neg)
DATA1(abs_data, cq_ielem_abs)
DATA1(floor_data, cq_ielem_floor)
DATA1(ceil_data, cq_ielem_ceil)
DATA1(round_data, cq_ielem_round)
DATA1(sqrt_data, cq_ielem_sqrt)
DATA1(not_data, cq_ielem_not)
DATA2(add_data, cq_ielem_add)
DATA2(sub_data, cq_ielem_sub)
DATA2(mul_data, cq_ielem_mul)
DATA2(div_data, cq_ielem_div)
DATA2(mod_data, cq_ielem_mod)
DATA2(min_data, cq_ielem_min)
DATA2(max_data, cq_ielem_max)
DATA2(equal_data, cq_ielem_equal)
DATA2(less_data, cq_ielem_less)
DATA2(less_equal_data, cq_ielem_less_equal)
DATA2(greater_data, cq_ielem_greater)
DATA2(greater_equal_data, cq_ielem_greater_equal)
DATA2(and_data, cq_ielem_and)
DATA2(or_data, cq_ielem_or)

const cq_rule_row cq_rules_elementwise[] = {
    /* unary operators */
    { "Abs", 1, cq_rule_same, abs_data },
    { "Acos", 1, cq_rule_same, NULL },
    { "Acosh", 1, cq_rule_same, NULL },
    { "Asin", 1, cq_rule_same, NULL },
    { "Asinh", 1, cq_rule_same, NULL },
    { "Atan", 1, cq_rule_same, NULL },
    { "Atanh", 1, cq_rule_same, NULL },
    { "BitwiseNot", 1, cq_rule_same, NULL },
    { "Ceil", 1, cq_rule_same, ceil_data },
    { "Celu", 1, cq_rule_same, NULL },
    { "Clip", 1, cq_rule_same, NULL },
    { "Cos", 1, cq_rule_same, NULL },
    { "Cosh", 1, cq_rule_same, NULL },
    { "CumProd", 1, cq_rule_same, NULL },
    { "CumSum", 1, cq_rule_same, NULL },
    { "Dropout", 1, dropout, NULL },
    { "Elu", 1, cq_rule_same, NULL },
    { "Erf", 1, cq_rule_same, NULL },
    { "Exp", 1, cq_rule_same, NULL },
    { "Floor", 1, cq_rule_same, floor_data },
    { "Gelu", 1, cq_rule_same, NULL },
    { "HardSigmoid", 1, cq_rule_same, NULL },
    { "HardSwish", 1, cq_rule_same, NULL },
    { "Hardmax", 1, along_axis, NULL },
    { "Identity", 1, identity, identity_data },
    { "IsInf", 1, cq_rule_same, NULL },
    { "IsNaN", 1, cq_rule_same, NULL },
    { "LeakyRelu", 1, cq_rule_same, NULL },
    { "Log", 1, cq_rule_same, NULL },
    { "LogSoftmax", 1, along_axis, NULL },
    { "Mish", 1, cq_rule_same, NULL },
    { "Neg", 1, cq_rule_same, neg_data },
    { "Not", 1, cq_rule_same, not_data },
    { "PRelu", 1, cq_rule_same, NULL }, /* the slope broadcasts to the input, not the input to the
                                         * slope */
    { "Reciprocal", 1, cq_rule_same, NULL },
    { "Relu", 1, cq_rule_same, NULL },
    { "Round", 1, cq_rule_same, round_data },
    { "Selu", 1, cq_rule_same, NULL },
    { "Shrink", 1, cq_rule_same, NULL },
    { "Sigmoid", 1, cq_rule_same, NULL },
    { "Sign", 1, cq_rule_same, NULL },
    { "Sin", 1, cq_rule_same, NULL },
    { "Sinh", 1, cq_rule_same, NULL },
    { "Softmax", 1, along_axis, NULL },
    { "Softplus", 1, cq_rule_same, NULL },
    { "Softsign", 1, cq_rule_same, NULL },
    { "Sqrt", 1, cq_rule_same, sqrt_data },
    { "SwiGLU", 1, swiglu, NULL },
    { "Swish", 1, cq_rule_same, NULL },
    { "Tan", 1, cq_rule_same, NULL },
    { "Tanh", 1, cq_rule_same, NULL },
    { "ThresholdedRelu", 1, cq_rule_same, NULL },
    { "Trilu", 1, trilu, NULL },

    /* casts */
    { "BitCast", 1, bit_cast, NULL },
    { "Cast", 1, cast, cast_data },
    { "CastLike", 1, cast_like, cast_data },

    /* binary operators; before opset 7 the second operand was broadcast to the first */
    { "Add", 1, cq_rule_same, NULL },
    { "Add", 7, cq_rule_broadcast, add_data },
    { "And", 1, cq_rule_same, NULL },
    { "And", 7, cq_rule_broadcast, and_data },
    { "BitShift", 1, cq_rule_broadcast, NULL },
    { "BitwiseAnd", 1, cq_rule_broadcast, NULL },
    { "BitwiseOr", 1, cq_rule_broadcast, NULL },
    { "BitwiseXor", 1, cq_rule_broadcast, NULL },
    { "Div", 1, cq_rule_same, NULL },
    { "Div", 7, cq_rule_broadcast, div_data },
    { "Equal", 1, cq_rule_same, NULL },
    { "Equal", 7, cq_rule_broadcast, equal_data },
    { "Greater", 1, cq_rule_same, NULL },
    { "Greater", 7, cq_rule_broadcast, greater_data },
    { "GreaterOrEqual", 1, cq_rule_broadcast, greater_equal_data },
    { "Less", 1, cq_rule_same, NULL },
    { "Less", 7, cq_rule_broadcast, less_data },
    { "LessOrEqual", 1, cq_rule_broadcast, less_equal_data },
    { "Mod", 1, cq_rule_broadcast, mod_data },
    { "Mul", 1, cq_rule_same, NULL },
    { "Mul", 7, cq_rule_broadcast, mul_data },
    { "Or", 1, cq_rule_same, NULL },
    { "Or", 7, cq_rule_broadcast, or_data },
    { "Pow", 1, cq_rule_same, NULL },
    { "Pow", 7, cq_rule_broadcast, NULL },
    { "Sub", 1, cq_rule_same, NULL },
    { "Sub", 7, cq_rule_broadcast, sub_data },
    { "Xor", 1, cq_rule_same, NULL },
    { "Xor", 7, cq_rule_broadcast, NULL },

    /* variadic operators; before opset 8 all inputs had the same shape */
    { "Max", 1, cq_rule_broadcast, max_data },
    { "Mean", 1, cq_rule_broadcast, NULL },
    { "Min", 1, cq_rule_broadcast, min_data },
    { "Sum", 1, cq_rule_broadcast, add_data },
    { "Where", 1, cq_rule_broadcast, cq_rule_where_data },
    { NULL, 0, NULL, NULL },
};
