/* Static quantization: QuantizeLinear and DequantizeLinear around the inputs of layers and the
 * results of convolutions, which runtimes fuse into products of integers. Activations are uint8
 * with a zero point, weights have a scale for each output channel, biases are int32. Calibration
 * runs the float model on samples and observes the range of each value. */
#include "quantize/graph.h"
#include "quantize/range.h"
#include "quantize/samples.h"

#include "base/alloc.h"
#include "base/warn.h"
#include "onnx/tensor.h"

#include <math.h>
#include <string.h>

/* ---- which values ---- */

typedef struct finder {
    cq_quantizer *q;
    cq_map        readers; /* name -> the only node that reads the value, or NULL */
    cq_map        fixed;   /* names of constants */
    cq_map        outputs; /* of the model */
} finder;

static cq_status note_readers(finder *f)
{
    const cq_onnx_graph *g = f->q->g;

    for (uint32_t i = 0; i < g->node.n; i++)
        for (uint32_t k = 0; k < g->node.items[i]->input.n; k++) {
            const char *name = g->node.items[i]->input.items[k];

            CQ_TRY(cq_map_set(&f->readers, name,
                              cq_map_has(&f->readers, name) ? NULL : g->node.items[i]));
        }
    for (uint32_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name)
            CQ_TRY(cq_map_set(&f->fixed, g->initializer.items[i]->name, f));
    for (uint32_t i = 0; i < g->output.n; i++)
        if (g->output.items[i]->name)
            CQ_TRY(cq_map_set(&f->outputs, g->output.items[i]->name, f));
    return CQ_OK;
}

static cq_status add_activation(cq_quantizer *q, const char *name, const cq_onnx_node *layer)
{
    cq_activation *a = cq_map_get(&q->activations, name);

    if (a && layer)
        a->layer = layer;
    if (a)
        return CQ_OK;
    a = cq_onnx_alloc(q->m, sizeof *a);
    if (!a)
        return q->m->status;
    a->name  = name;
    a->layer = layer;
    for (uint32_t i = 0; i < q->g->input.n; i++)
        a->is_input |= q->g->input.items[i]->name && strcmp(q->g->input.items[i]->name, name) == 0;
    return cq_map_set(&q->activations, name, a);
}

/* The result of a convolution, behind an activation that QuantizeLinear's limits can replace. */
static const char *result_of(const finder *f, const cq_onnx_node *node)
{
    const char         *y    = node->output.items[0];
    const cq_onnx_node *next = cq_map_get(&f->readers, y);

    if (next && next->output.n == 1 && !cq_map_has(&f->outputs, y) &&
        (cq_quant_is_op(next, "Relu") || cq_quant_is_op(next, "Clip")))
        y = next->output.items[0];
    return y;
}

static cq_status find_activations(cq_quantizer *q)
{
    finder    f      = { .q = q };
    cq_status status = note_readers(&f);

    for (size_t i = 0; i < q->layers.n && status == CQ_OK; i++) {
        cq_quant_layer *layer = &q->layers.items[i];
        const char     *x     = layer->node->input.items[0];

        if (cq_map_has(&f.fixed, x)) {
            layer->is_kept = layer->weight->is_kept = true;
            continue;
        }
        status = add_activation(q, x, NULL);
        if (status == CQ_OK && layer->kind == CQ_QUANT_CONV &&
            !cq_map_has(&f.outputs, result_of(&f, layer->node)))
            status = add_activation(q, result_of(&f, layer->node), layer->node);
    }
    cq_map_clear(&f.readers);
    cq_map_clear(&f.fixed);
    cq_map_clear(&f.outputs);
    return status;
}

/* ---- calibration ---- */

typedef struct observer {
    cq_quantizer *q;
    cq_range     *ranges; /* of q->activations, in their order */
    const char  **fetch;  /* names of those that are not inputs */
    size_t        n_fetch;
} observer;

static cq_status observe(observer *o, const cq_session *s, const cq_input_set *inputs,
                         cq_onnx_value *const *outputs)
{
    const size_t n_own = cq_session_n_outputs(s) - o->n_fetch;
    size_t       next  = n_own;

    for (size_t i = 0; i < o->q->activations.n; i++) {
        const cq_activation *a     = o->q->activations.entries[i].value;
        const cq_onnx_value *value = NULL;
        const cq_tensor     *t;

        if (!a->is_input)
            value = outputs[next++];
        for (size_t k = 0; a->is_input && k < inputs->n; k++)
            if (strcmp(o->q->g->input.items[k]->name, a->name) == 0)
                value = inputs->items[k];
        t = value ? cq_onnx_value_tensor(value) : NULL;
        if (t)
            CQ_TRY(cq_range_add(&o->ranges[i], t));
    }
    return CQ_OK;
}

static cq_status run_samples(observer *o)
{
    const cq_quantize_options *options = &o->q->options;
    cq_session_options         so;
    cq_samples                 samples;
    cq_session                *s = NULL;
    cq_status                  status;

    if (!options->calibration && options->input_low >= options->input_high)
        cq_warn(NULL, "ranges come from random inputs; --calibrate DIR takes real ones");
    CQ_TRY(cq_samples_open(&samples, o->q->m, options->calibration, options));
    cq_session_options_init(&so);
    so.fetch   = o->fetch;
    so.n_fetch = o->n_fetch;
    status     = cq_session_prepare(&s, o->q->m, &so);
    for (int64_t i = 0; i < samples.n && status == CQ_OK; i++) {
        const size_t    n       = cq_session_n_outputs(s);
        cq_onnx_value **outputs = cq_zalloc((n + 1) * sizeof *outputs);
        cq_input_set    inputs  = { 0 };

        status = outputs ? cq_samples_run(&samples, s, i, &inputs, outputs) : CQ_E_NO_MEMORY;
        if (status == CQ_OK)
            status = observe(o, s, &inputs, outputs);
        cq_input_set_clear(&inputs);
        cq_values_release(outputs, n);
    }
    cq_session_free(s);
    cq_samples_close(&samples);
    return status;
}

/* uint8 for a range that contains 0, as QuantizeLinear rounds. */
static void choose_parameters(cq_activation *a, double low, double high)
{
    const float scale = (float)((high - low) / 255);

    a->scale = scale > 0 && isfinite(scale) ? scale : 1;
    a->zero  = (int)fmin(255, fmax(0, nearbyint(-low / a->scale)));
}

cq_status cq_quantize_calibrate(cq_quantizer *q)
{
    observer  o      = { .q = q };
    cq_status status = find_activations(q);
    size_t    n      = q->activations.n;

    CQ_TRY(status);
    o.ranges = cq_zalloc((n + 1) * sizeof *o.ranges);
    o.fetch  = cq_zalloc((n + 1) * sizeof *o.fetch);
    if (!o.ranges || !o.fetch)
        status = CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        const cq_activation *a = q->activations.entries[i].value;

        status = cq_range_init(&o.ranges[i], q->options.method != CQ_CALIBRATION_MIN_MAX);
        if (!a->is_input)
            o.fetch[o.n_fetch++] = a->name;
    }
    if (status == CQ_OK && n)
        status = run_samples(&o);
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        double low, high;

        cq_range_choose(&o.ranges[i], &q->options, &low, &high);
        choose_parameters(q->activations.entries[i].value, low, high);
    }
    for (size_t i = 0; o.ranges && i < n; i++)
        cq_range_clear(&o.ranges[i]);
    cq_free(o.ranges);
    cq_free(o.fetch);
    return status;
}

/* ---- nodes ---- */

static cq_tensor *scalar(cq_quantizer *q, cq_dtype dtype, const void *value)
{
    cq_tensor *t = NULL;

    if (cq_tensor_new(&t, dtype, 0, NULL, value) != CQ_OK)
        q->m->status = CQ_E_NO_MEMORY;
    return t;
}

const char *cq_quantize_value(cq_quantizer *q, const char *name)
{
    cq_activation *a = cq_map_get(&q->activations, name);
    const char    *integers, *scale, *zero;

    if (!a || a->dequantized)
        return a ? a->dequantized : name;
    scale          = cq_quantizer_constant(q, name, "scale", scalar(q, CQ_DTYPE_F32, &a->scale));
    zero           = cq_quantizer_constant(q, name, "zero_point",
                                           scalar(q, CQ_DTYPE_U8, &(uint8_t){ (uint8_t)a->zero }));
    integers       = cq_quantizer_name(q, name, "quantized");
    a->dequantized = cq_quantizer_name(q, name, "dequantized");
    cq_quantizer_node(q, "QuantizeLinear", integers, 3, (const char *[]){ name, scale, zero });
    cq_quantizer_node(q, "DequantizeLinear", a->dequantized, 3,
                      (const char *[]){ integers, scale, zero });
    return a->dequantized;
}

static const cq_onnx_tensor *constant_named(const cq_quantizer *q, const char *name)
{
    for (uint32_t i = 0; i < q->g->initializer.n; i++)
        if (q->g->initializer.items[i]->name && strcmp(q->g->initializer.items[i]->name, name) == 0)
            return q->g->initializer.items[i];
    return NULL;
}

/* The integers of a bias whose scales are those of the sums; false: they do not fit. */
static bool round_bias(int32_t *to, const cq_tensor *bias, const float *scales, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = nearbyint(cq_tensor_get_f64(bias, i) / scales[i]);

        if (!(fabs(x) < 2147483647.0))
            return false;
        to[i] = (int32_t)x;
    }
    return true;
}

static cq_status add_bias(cq_quantizer *q, const char **name, cq_tensor *bias, cq_tensor *weights,
                          float scale)
{
    const int64_t n        = cq_tensor_numel(bias);
    cq_tensor    *integers = NULL, *scales = NULL;
    cq_status     status = cq_tensor_clone(&scales, weights, CQ_DTYPE_NONE);
    cq_onnx_node *node;

    if (status == CQ_OK)
        status = cq_tensor_new(&integers, CQ_DTYPE_I32, 1, &n, NULL);
    if (status == CQ_OK) {
        float *s = cq_tensor_data(scales);

        for (int64_t i = 0; i < n; i++)
            s[i] *= scale;
        if (round_bias(cq_tensor_data(integers), bias, s, n)) {
            const char *inputs[2] = { cq_quantizer_constant(q, *name, "quantized", integers),
                                      cq_quantizer_constant(q, *name, "scale", scales) };

            *name = cq_quantizer_name(q, *name, "dequantized");
            node  = cq_quantizer_node(q, "DequantizeLinear", *name, 2, inputs);
            if (node)
                cq_onnx_attr_int(q->m, node, "axis", 0);
            return q->m->status;
        }
    }
    cq_tensor_release(integers);
    cq_tensor_release(scales);
    return status;
}

/* The bias in int32. What is not one number for each channel stays in float. */
static cq_status quantize_bias(cq_quantizer *q, const cq_quant_layer *layer, const char **name)
{
    const cq_activation  *a       = cq_map_get(&q->activations, layer->node->input.items[0]);
    const cq_onnx_tensor *message = constant_named(q, *name);
    cq_tensor            *bias = NULL, *weights = NULL;
    cq_status             status;

    if (!a || !message || message->dims.n != 1 || message->data_type != CQ_ONNX_FLOAT ||
        cq_onnx_node_attr(layer->node, "alpha") || cq_onnx_node_attr(layer->node, "beta"))
        return CQ_OK;
    status = cq_onnx_tensor_to_tensor(&bias, q->m, message);
    if (status == CQ_OK)
        status = cq_quantized_weight_scales(&weights, layer->weight->lazy);
    if (status == CQ_OK && cq_tensor_numel(bias) == cq_tensor_numel(weights))
        status = add_bias(q, name, bias, weights, a->scale);
    cq_tensor_release(bias);
    cq_tensor_release(weights);
    return status;
}

cq_status cq_quantize_emit_static(cq_quantizer *q, const cq_quant_layer *layer, const char *output)
{
    const cq_onnx_node *node = layer->node;
    const char         *x    = cq_quantize_value(q, node->input.items[0]);
    const char         *bias = node->input.n > 2 ? node->input.items[2] : "";
    cq_onnx_node       *made;

    if (!layer->weight->dequantized)
        CQ_TRY(cq_quantizer_dequantize(q, layer->weight,
                                       cq_quantizer_name(q, layer->weight->name, "dequantized")));
    if (*bias)
        CQ_TRY(quantize_bias(q, layer, &bias));
    made = cq_quantizer_copy(q, node, output);
    if (!made)
        return q->m->status;
    made->input.items[0] = x;
    made->input.items[1] = layer->weight->dequantized;
    if (*bias)
        made->input.items[2] = bias;
    return q->m->status;
}
