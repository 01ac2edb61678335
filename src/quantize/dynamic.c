/* Products of integers: DynamicQuantizeLinear chooses the range of an activation in each run, then
 * MatMulInteger or ConvInteger multiplies, and the sums are scaled to floats:
 *
 *     y = Cast (MatMulInteger (x, w)) * (scale of x * scales of w) + bias
 *
 * Weights are uint8 with the zero point 128. ONNX Runtime has no ConvInteger for int8 weights, and
 * its products of uint8 and int8 saturate on processors without VNNI. */
#include "quantize/graph.h"

#include <string.h>

/* The results of DynamicQuantizeLinear for an activation. */
typedef struct activation {
    const char *integers, *scale, *zero;
} activation;

static cq_status quantize_activation(cq_quantizer *q, const char *x, const activation **out)
{
    activation   *a = cq_map_get(&q->activations, x);
    cq_onnx_node *node;

    *out = a;
    if (a)
        return CQ_OK;
    a = cq_onnx_alloc(q->m, sizeof *a);
    if (!a)
        return q->m->status;
    *a   = (activation){ cq_quantizer_name(q, x, "quantized"), cq_quantizer_name(q, x, "scale"),
                         cq_quantizer_name(q, x, "zero_point") };
    node = cq_quantizer_node(q, "DynamicQuantizeLinear", a->integers, 1, &x);
    if (node) {
        cq_onnx_node_add_output(q->m, node, a->scale);
        cq_onnx_node_add_output(q->m, node, a->zero);
    }
    *out = a;
    CQ_TRY(q->m->status);
    return cq_map_set(&q->activations, x, a);
}

/* [N] as [N, 1, 1] for n spatial axes, so that it broadcasts along channels. */
static const char *along_channels(cq_quantizer *q, const char *name, const char *base, size_t n)
{
    int64_t       size = (int64_t)n + 1, sizes[CQ_MAX_RANK];
    const char   *shape, *to;
    cq_tensor    *t = NULL;
    cq_onnx_node *node;

    for (size_t i = 0; i < n + 1; i++)
        sizes[i] = i ? 1 : -1;
    if (cq_tensor_new(&t, CQ_DTYPE_I64, 1, &size, sizes) != CQ_OK)
        q->m->status = CQ_E_NO_MEMORY;
    shape = cq_quantizer_constant(q, base, "shape", t);
    to    = cq_quantizer_name(q, base, "channels");
    node  = cq_quantizer_node(q, "Reshape", to, 2, (const char *[]){ name, shape });
    (void)node;
    return to;
}

/* The integers of a weight as MatMulInteger reads them: K rows, N columns. */
static const char *upright(cq_quantizer *q, const cq_quant_layer *layer)
{
    const cq_quant_weight *w = layer->weight;
    const char            *to;
    cq_onnx_node          *node;

    if (layer->kind == CQ_QUANT_CONV || w->form.axis == 0)
        return w->integers;
    to   = cq_quantizer_name(q, w->name, "transposed");
    node = cq_quantizer_node(q, "Transpose", to, 1, &w->integers);
    if (node)
        cq_onnx_attr_ints(q->m, node, "perm", (int64_t[]){ 1, 0 }, 2);
    return to;
}

static void multiply(cq_quantizer *q, const cq_quant_layer *layer, const activation *a,
                     const char *to)
{
    const bool    is_conv = layer->kind == CQ_QUANT_CONV;
    cq_onnx_node *node    = cq_quantizer_node(
           q, is_conv ? "ConvInteger" : "MatMulInteger", to, 4,
           (const char *[]){ a->integers, upright(q, layer), a->zero, layer->weight->zero });

    if (!node)
        return;
    node->name = layer->node->name;
    for (uint32_t i = 0; is_conv && i < layer->node->attribute.n; i++)
        cq_onnx_list_push(q->m, &node->attribute, layer->node->attribute.items[i]);
}

cq_status cq_quantize_emit_dynamic(cq_quantizer *q, const cq_quant_layer *layer, const char *y)
{
    const cq_onnx_node *node = layer->node;
    const size_t spatial = layer->kind == CQ_QUANT_CONV ? layer->weight->message->dims.n - 2 : 0;
    const bool   biased  = node->input.n > 2 && *node->input.items[2];
    const char  *sums = cq_quantizer_name(q, y, "integers"), *floats, *scales, *scale, *to, *bias;
    const activation *a;
    cq_onnx_node     *made;

    CQ_TRY(quantize_activation(q, node->input.items[0], &a));
    CQ_TRY(cq_quantizer_add_weight(q, layer->weight));
    multiply(q, layer, a, sums);
    floats = cq_quantizer_name(q, y, "floats");
    made   = cq_quantizer_node(q, "Cast", floats, 1, &sums);
    if (made)
        cq_onnx_attr_int(q->m, made, "to", CQ_ONNX_FLOAT);
    scales = layer->weight->scales;
    scale  = cq_quantizer_name(q, y, "scale");
    if (spatial)
        scales = along_channels(q, scales, scale, spatial);
    cq_quantizer_node(q, "Mul", scale, 2, (const char *[]){ a->scale, scales });
    to = biased ? cq_quantizer_name(q, y, "product") : y;
    cq_quantizer_node(q, "Mul", to, 2, (const char *[]){ floats, scale });
    if (biased) {
        bias = node->input.items[2];
        if (spatial)
            bias = along_channels(q, bias, cq_quantizer_name(q, y, "bias"), spatial);
        cq_quantizer_node(q, "Add", y, 2, (const char *[]){ to, bias });
    }
    return q->m->status;
}
