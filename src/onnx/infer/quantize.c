/* Quantized operators have the same shape rules as plain ones. */
#include "onnx/infer/elements.h"
#include "onnx/infer/nn.h"

/* The output has the type of the zero point; without a zero point the type is output_dtype, or
 * uint8. */
static cq_status quantize(cq_rule *r)
{
    int64_t dtype = cq_rule_int(r, "output_dtype", 0);

    if (cq_rule_elem(r, 2))
        cq_rule_give_elem(r, 0, cq_rule_elem(r, 2));
    else if (!cq_rule_has(r, 2))
        cq_rule_give_elem(
            r, 0, dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT ? (int32_t)dtype : CQ_ONNX_UINT8);
    return cq_rule_same(r);
}

static cq_status dequantize(cq_rule *r)
{
    int64_t dtype = cq_rule_int(r, "output_dtype", 0); /* since opset 23 */

    if (dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT)
        cq_rule_give_elem(r, 0, (int32_t)dtype);
    else if (r->version >= 19)
        cq_rule_give_elem(r, 0, cq_rule_elem(r, 1));
    return cq_rule_same(r);
}

static cq_status dynamic_quantize(cq_rule *r)
{
    CQ_TRY(cq_rule_give_dims(r, 1, 0, NULL));
    CQ_TRY(cq_rule_give_dims(r, 2, 0, NULL));
    return cq_rule_same(r);
}

static cq_status conv_integer(cq_rule *r)
{
    return cq_rule_conv_of(r, 0, 1);
}

static cq_status matmul_integer(cq_rule *r)
{
    return cq_rule_matmul_of(r, 0, 1);
}

static cq_status qlinear_conv(cq_rule *r)
{
    return cq_rule_conv_of(r, 0, 3);
}

static cq_status qlinear_matmul(cq_rule *r)
{
    return cq_rule_matmul_of(r, 0, 3);
}

const cq_rule_row cq_rules_quantize[] = {
    { "ConvInteger", 1, conv_integer, NULL },
    { "DequantizeLinear", 1, dequantize, NULL },
    { "DynamicQuantizeLinear", 1, dynamic_quantize, NULL },
    { "MatMulInteger", 1, matmul_integer, NULL },
    { "QLinearConv", 1, qlinear_conv, NULL },
    { "QLinearMatMul", 1, qlinear_matmul, NULL },
    { "QuantizeLinear", 1, quantize, NULL },
    { NULL, 0, NULL, NULL },
};
