/* Quantizes a model: finds layers, calibrates, measures, and rewrites the graph. */
#include "quantize/graph.h"

#include "base/sized.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

CQ_API void cq_quantize_options_init(cq_quantize_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_quantize_options){
        .struct_size = sizeof *options, .bits = 8, .least = 256, .percentile = 99.999, .n_random = 8
    };
}

/* ---- options ---- */

static bool is_packed(const cq_quantize_options *o)
{
    return o->mode == CQ_QUANTIZE_WEIGHTS && o->bits == 4 && o->target == CQ_QUANTIZE_ONNXRUNTIME;
}

static cq_status check_options(cq_quantize_options *o)
{
    if ((int)o->mode < 0 || o->mode > CQ_QUANTIZE_STATIC)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "unknown mode %d", (int)o->mode);
    if (o->bits != 8 && o->bits != 4)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected 8 or 4 bits, got %d", o->bits);
    if (o->mode != CQ_QUANTIZE_WEIGHTS && (o->bits != 8 || o->block))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "4 bits and blocks are for weights; products are in 8 bits");
    if (o->bits == 4 && !o->block)
        o->block = 32;
    if (o->block < 0 || o->block > 1 << 20 ||
        (is_packed(o) && (o->block < 16 || o->block & (o->block - 1))))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "invalid block size %" PRId64 "%s", o->block,
                       is_packed(o) ? "; MatMulNBits expects a power of two from 16" : "");
    if (!(o->percentile > 50 && o->percentile <= 100))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected a percentile from 50 to 100, got %g",
                       o->percentile);
    if (o->n_random < 1)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected one or more random sets of inputs");
    return CQ_OK;
}

/* Raises the opset to the one that has the operators. */
static cq_status raise_opset(cq_onnx_model *m, const cq_quantize_options *o)
{
    int64_t needed = o->mode == CQ_QUANTIZE_DYNAMIC ? 11 : 13; /* 13: scales along an axis */

    for (uint32_t i = 0; i < m->graph->initializer.n && o->mode == CQ_QUANTIZE_WEIGHTS; i++)
        if (m->graph->initializer.items[i]->data_type == CQ_ONNX_FLOAT16 ||
            m->graph->initializer.items[i]->data_type == CQ_ONNX_BFLOAT16)
            needed = 19;
    if (o->block)
        needed = 21;
    if (is_packed(o) || cq_onnx_model_opset(m, "") >= needed || cq_onnx_model_opset(m, "") < 1)
        return CQ_OK;
    return cq_onnx_model_convert_opset(m, needed);
}

/* ---- which layers ---- */

static void keep_worst(cq_quantizer *q)
{
    const double limit = q->options.max_error;

    for (size_t i = 0; i < q->layers.n && limit > 0; i++) {
        cq_quant_layer *layer = &q->layers.items[i];
        const double    error = layer->error >= 0 ? layer->error : layer->weight->error;

        if (!(error <= limit) || isnan(layer->weight->error))
            layer->weight->is_kept = true;
    }
}

static void report(const cq_quantizer *q, cq_quantize_hook hook, void *user)
{
    for (size_t i = 0; i < q->layers.n && hook; i++) {
        const cq_quant_layer  *layer = &q->layers.items[i];
        const cq_onnx_node    *node  = layer->node;
        const cq_quant_weight *w     = layer->weight;
        cq_quantized_layer row = { node->name && *node->name ? node->name : node->output.items[0],
                                   node->op_type,
                                   w->name,
                                   w->form.rows * w->form.cols,
                                   w->error,
                                   layer->error,
                                   layer->is_kept || w->is_kept };

        hook(user, &row);
    }
}

static cq_status judge(cq_quantizer *q, cq_quantize_hook hook, void *user)
{
    if (!hook && !(q->options.max_error > 0))
        return CQ_OK;
    for (size_t i = 0; i < q->layers.n; i++)
        if (q->layers.items[i].weight->error < 0)
            q->layers.items[i].weight->error =
                cq_quantized_weight_error(q->layers.items[i].weight->lazy);
    CQ_TRY(cq_quantize_measure(q));
    keep_worst(q);
    report(q, hook, user);
    return CQ_OK;
}

/* ---- the graph ---- */

static bool is_replaced(const cq_quantizer *q, const char *name)
{
    const cq_quant_weight *w = name ? cq_map_get(&q->weights, name) : NULL;

    return w && w->has_initializers && !w->is_kept;
}

/* Removes the float initializers of quantized weights, and their inputs: files of old exporters
 * list every weight as an input. */
static void drop_weights(cq_quantizer *q)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < q->g->input.n; i++)
        if (!is_replaced(q, q->g->input.items[i]->name))
            q->g->input.items[left++] = q->g->input.items[i];
    q->g->input.n = left;
    left          = 0;
    for (uint32_t i = 0; i < q->g->initializer.n; i++) {
        cq_onnx_tensor *t = q->g->initializer.items[i];

        if (!is_replaced(q, t->name))
            q->g->initializer.items[left++] = t;
    }
    q->g->initializer.n = left;
}

static void read_quantized(cq_quantizer *q, cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->input.n; i++) {
        const cq_activation *a = cq_map_get(&q->activations, node->input.items[i]);

        if (a && a->dequantized)
            node->input.items[i] = a->dequantized;
    }
}

static cq_status rewrite(cq_quantizer *q)
{
    const bool is_static = q->options.mode == CQ_QUANTIZE_STATIC;

    for (uint32_t i = 0; i < q->g->input.n && is_static; i++)
        if (q->g->input.items[i]->name)
            cq_quantize_value(q, q->g->input.items[i]->name);
    for (uint32_t i = 0; i < q->g->node.n; i++) {
        cq_onnx_node         *node  = q->g->node.items[i];
        const cq_quant_layer *layer = cq_quantizer_layer(q, node);

        if (layer) {
            CQ_TRY(cq_quantize_emit(q, layer, node->output.items[0]));
        } else {
            if (is_static)
                read_quantized(q, node);
            cq_onnx_list_push(q->m, &q->nodes, node);
        }
        for (uint32_t k = 0; k < node->output.n && is_static; k++)
            cq_quantize_value(q, node->output.items[k]);
    }
    CQ_TRY(q->m->status);
    q->g->node.items = q->nodes.items;
    q->g->node.n     = q->nodes.n;
    q->g->node.cap   = q->nodes.cap;
    drop_weights(q);
    return CQ_OK;
}

/* Values of layers that stay in float need no QuantizeLinear. */
static cq_status drop_activations(cq_quantizer *q)
{
    cq_map    all    = q->activations;
    cq_status status = CQ_OK;

    if (q->options.mode != CQ_QUANTIZE_STATIC)
        return CQ_OK;
    q->activations = (cq_map){ 0 };
    for (size_t i = 0; i < q->layers.n && status == CQ_OK; i++) {
        const char *x = q->layers.items[i].node->input.items[0];

        if (cq_quantizer_layer(q, q->layers.items[i].node) && cq_map_has(&all, x))
            status = cq_map_set(&q->activations, x, cq_map_get(&all, x));
    }
    for (size_t i = 0; i < all.n && status == CQ_OK; i++) {
        const cq_activation *a = all.entries[i].value;

        if (a->layer && cq_quantizer_layer(q, a->layer))
            status = cq_map_set(&q->activations, a->name, all.entries[i].value);
    }
    cq_map_clear(&all);
    return status;
}

static cq_status quantize(cq_quantizer *q, cq_quantize_hook hook, void *user)
{
    size_t n = 0;

    CQ_TRY(cq_quantizer_find(q));
    if (!q->layers.n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL,
                       "calque optimize folds weights that nodes compute from constants",
                       "the model has no MatMul, Gemm%s with a constant weight of at least %" PRId64
                       " numbers",
                       q->options.bits == 8 ? " or Conv" : "", q->options.least);
    if (q->options.mode == CQ_QUANTIZE_STATIC)
        CQ_TRY(cq_quantize_calibrate(q));
    CQ_TRY(judge(q, hook, user));
    for (size_t i = 0; i < q->layers.n; i++)
        n += cq_quantizer_layer(q, q->layers.items[i].node) != NULL;
    if (!n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "choose a larger error",
                       "the error of every layer "
                       "exceeds %g",
                       q->options.max_error);
    CQ_TRY(drop_activations(q));
    return rewrite(q);
}

CQ_API cq_status cq_onnx_model_quantize(cq_onnx_model *m, const cq_quantize_options *given,
                                        cq_quantize_hook hook, void *user)
{
    CQ_NEED(m);
    cq_quantizer q = { .m = m, .g = m->graph };
    bool         sorted;
    cq_status    status;

    CQ_TRY(cq_onnx_need_graph(m));
    cq_quantize_options_init(&q.options);
    CQ_TRY(cq_sized_take(&q.options, given, "cq_quantize_options"));
    CQ_TRY(check_options(&q.options));
    CQ_TRY(raise_opset(m, &q.options));
    if (m->ir_version < 4) /* initializers need not be inputs */
        cq_onnx_model_set_ir_version(m, 4);
    CQ_TRY(cq_onnx_model_sort(&sorted, m));
    status = quantize(&q, hook, user);
    cq_quantizer_clear(&q);
    return status;
}
