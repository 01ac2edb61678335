/* Weights in few bits: DequantizeLinear computes the float weight, or MatMulNBits of com.microsoft
 * replaces the product. */
#include "quantize/graph.h"

#include <string.h>

static bool has_bias(const cq_onnx_node *node)
{
    return node->input.n > 2 && *node->input.items[2];
}

static cq_status add_packed(cq_quantizer *q, cq_quant_weight *w)
{
    cq_tensor *t = NULL;

    if (w->has_initializers)
        return CQ_OK;
    w->has_initializers = true;
    CQ_TRY(cq_quantized_weight_packed(&t, w->lazy));
    w->integers = cq_quantizer_constant(q, w->name, "packed", t);
    CQ_TRY(cq_quantized_weight_packed_scales(&t, w->lazy));
    w->scales = cq_quantizer_constant(q, w->name, "scales", t);
    if (!w->form.is_asymmetric)
        return q->m->status;
    CQ_TRY(cq_quantized_weight_packed_zeros(&t, w->lazy));
    w->zero = cq_quantizer_constant(q, w->name, "zero_points", t);
    return q->m->status;
}

static cq_status pack_product(cq_quantizer *q, const cq_quant_layer *layer, const char *y)
{
    const cq_onnx_node *node = layer->node;
    cq_quant_weight    *w    = layer->weight;
    const bool          down = w->form.axis == 0, biased = has_bias(node);
    const char         *to = biased ? cq_quantizer_name(q, y, "product") : y;
    cq_onnx_node       *made;

    CQ_TRY(add_packed(q, w));
    made = cq_quantizer_node(
        q, "MatMulNBits", to, 4,
        (const char *[]){ node->input.items[0], w->integers, w->scales, w->zero });
    if (!made)
        return q->m->status;
    made->domain = "com.microsoft";
    made->name   = node->name;
    cq_onnx_attr_int(q->m, made, "K", down ? w->form.rows : w->form.cols);
    cq_onnx_attr_int(q->m, made, "N", down ? w->form.cols : w->form.rows);
    cq_onnx_attr_int(q->m, made, "bits", 4);
    cq_onnx_attr_int(q->m, made, "block_size", w->form.block);
    if (biased)
        cq_quantizer_node(q, "Add", y, 2, (const char *[]){ to, node->input.items[2] });
    return q->m->status;
}

cq_status cq_quantize_emit_weights(cq_quantizer *q, const cq_quant_layer *layer, const char *output)
{
    cq_quant_weight *w = layer->weight;
    cq_onnx_node    *made;

    if (q->options.bits == 4 && q->options.target == CQ_QUANTIZE_ONNXRUNTIME) {
        if (!cq_onnx_model_opset(q->m, "com.microsoft"))
            cq_onnx_model_add_opset(q->m, "com.microsoft", 1);
        return pack_product(q, layer, output);
    }
    if (!w->dequantized)
        CQ_TRY(cq_quantizer_dequantize(q, w, cq_quantizer_name(q, w->name, "dequantized")));
    made = cq_quantizer_copy(q, layer->node, output);
    if (made)
        made->input.items[1] = w->dequantized;
    return q->m->status;
}
