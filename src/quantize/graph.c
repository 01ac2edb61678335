/* Finds the layers of a model that can be quantized, and builds the nodes and initializers of the
 * changed graph. */
#include "quantize/graph.h"

#include "base/alloc.h"
#include "onnx/reads.h"
#include "onnx/tensor.h"

#include <string.h>

bool cq_quant_is_op(const cq_onnx_node *node, const char *op)
{
    return node->op_type && strcmp(node->op_type, op) == 0 &&
           (!node->domain || !*node->domain || strcmp(node->domain, "ai.onnx") == 0);
}

int64_t cq_quant_int(const cq_onnx_node *node, const char *name, int64_t otherwise)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(node, name);

    return a ? a->i : otherwise;
}

void cq_quantizer_clear(cq_quantizer *q)
{
    for (size_t i = 0; i < q->all_weights.n; i++) {
        cq_quantized_weight_release(q->all_weights.items[i]->lazy);
        cq_free(q->all_weights.items[i]);
    }
    cq_vec_clear(&q->all_weights);
    cq_vec_clear(&q->layers);
    cq_map_clear(&q->names);
    cq_map_clear(&q->weights);
    cq_map_clear(&q->activations);
    cq_ptr_map_clear(&q->by_node);
    cq_scale_cache_release(q->cache);
}

cq_quant_layer *cq_quantizer_layer(const cq_quantizer *q, const cq_onnx_node *node)
{
    const size_t    index = (uintptr_t)cq_ptr_map_get(&q->by_node, node);
    cq_quant_layer *layer = index ? &q->layers.items[index - 1] : NULL;

    return layer && !layer->is_kept && !layer->weight->is_kept ? layer : NULL;
}

/* ---- constants ---- */

static bool is_float_type(const cq_quantizer *q, int32_t type)
{
    return type == CQ_ONNX_FLOAT || (q->options.mode == CQ_QUANTIZE_WEIGHTS &&
                                     (type == CQ_ONNX_FLOAT16 || type == CQ_ONNX_BFLOAT16));
}

static bool is_large(const cq_quantizer *q, const cq_onnx_tensor *t)
{
    int64_t numel;

    return t->dims.n >= 2 && t->dims.n <= CQ_MAX_RANK && is_float_type(q, t->data_type) &&
           cq_onnx_tensor_numel(&numel, t) == CQ_OK && numel > 0 && numel >= q->options.least;
}

/* Weights in Constant nodes become initializers. */
static cq_status move_constants(cq_quantizer *q)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < q->g->node.n; i++) {
        cq_onnx_node            *node = q->g->node.items[i];
        const cq_onnx_attribute *a =
            cq_quant_is_op(node, "Constant") ? cq_onnx_node_attr(node, "value") : NULL;

        if (a && a->t && node->output.n == 1 && is_large(q, a->t)) {
            a->t->name = node->output.items[0];
            cq_onnx_list_push(q->m, &q->g->initializer, a->t);
        } else {
            q->g->node.items[left++] = node;
        }
    }
    q->g->node.n = left;
    return q->m->status;
}

/* ---- layers ---- */

static bool kind_of(cq_quant_kind *kind, const cq_quantizer *q, const cq_onnx_node *node)
{
    if (node->input.n < 2 || node->output.n < 1)
        return false;
    if (cq_quant_is_op(node, "MatMul"))
        *kind = CQ_QUANT_MATMUL;
    else if (cq_quant_is_op(node, "Gemm"))
        *kind = CQ_QUANT_GEMM;
    else if (cq_quant_is_op(node, "Conv") && q->options.bits == 8)
        *kind = CQ_QUANT_CONV;
    else
        return false;
    return true;
}

static bool has_plain_factor(const cq_onnx_node *node, const char *name)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(node, name);

    return !a || a->f == 1;
}

/* Whether the product can be computed by another operator than this one. */
static bool is_replaceable(const cq_quantizer *q, const cq_onnx_node *node)
{
    const bool is_replaced = q->options.mode == CQ_QUANTIZE_DYNAMIC ||
                             (q->options.mode == CQ_QUANTIZE_WEIGHTS && q->options.bits == 4 &&
                              q->options.target == CQ_QUANTIZE_ONNXRUNTIME);

    return !is_replaced || !cq_quant_is_op(node, "Gemm") ||
           (!cq_quant_int(node, "transA", 0) && has_plain_factor(node, "alpha") &&
            has_plain_factor(node, "beta"));
}

static bool form_of(cq_weight_form *form, int *channel_axis, const cq_quantizer *q,
                    const cq_onnx_node *node, cq_quant_kind kind, const cq_onnx_tensor *t)
{
    const int64_t *dims = t->dims.items;

    *form = (cq_weight_form){ .bits = q->options.bits };
    if (kind == CQ_QUANT_CONV) {
        int64_t rest = 1;

        for (uint32_t i = 1; i < t->dims.n; i++)
            rest *= dims[i]; /* the product of all sizes was checked */
        if (t->dims.n < 3)
            return false;
        form->rows    = dims[0];
        form->cols    = rest;
        form->axis    = 1;
        *channel_axis = 0;
        return true;
    }
    if (t->dims.n != 2)
        return false;
    form->rows    = dims[0];
    form->cols    = dims[1];
    form->axis    = kind == CQ_QUANT_GEMM && cq_quant_int(node, "transB", 0) ? 1 : 0;
    form->block   = q->options.mode == CQ_QUANTIZE_WEIGHTS ? q->options.block : 0;
    *channel_axis = 1 - form->axis;
    return true;
}

static cq_status add_layer(cq_quantizer *q, cq_onnx_node *node)
{
    cq_quant_weight *w;
    cq_quant_layer   layer = { .node = node, .error = -1 };
    cq_weight_form   form;
    int              channel_axis;

    if (!kind_of(&layer.kind, q, node) || strcmp(node->input.items[0], node->input.items[1]) == 0)
        return CQ_OK;
    w = cq_map_get(&q->weights, node->input.items[1]);
    if (!w)
        return CQ_OK;
    if (!is_replaceable(q, node) ||
        !form_of(&form, &channel_axis, q, node, layer.kind, w->message) ||
        (w->form.bits && (w->form.axis != form.axis || w->channel_axis != channel_axis))) {
        w->has_other_readers = true;
        return CQ_OK;
    }
    w->form         = form;
    w->channel_axis = channel_axis;
    layer.weight    = w;
    CQ_TRY(cq_vec_push(&q->layers, layer));
    return cq_ptr_map_set(&q->by_node, node, (void *)(uintptr_t)q->layers.n);
}

typedef struct reader {
    cq_quantizer       *q;
    const cq_onnx_node *node;
    size_t              n_as_weight; /* times that the node may read its weight */
} reader;

static cq_status note_read(void *user, const char *name)
{
    reader          *r = user;
    cq_quant_weight *w = cq_map_get(&r->q->weights, name);

    if (!w)
        return CQ_OK;
    if (cq_quantizer_layer(r->q, r->node) && r->n_as_weight == 0 &&
        strcmp(name, r->node->input.items[1]) == 0)
        r->n_as_weight = 1;
    else
        w->has_other_readers = true;
    return CQ_OK;
}

static void exclude(cq_quantizer *q, const cq_onnx_value_infos *values)
{
    for (uint32_t i = 0; i < values->n; i++) {
        cq_quant_weight *w =
            values->items[i]->name ? cq_map_get(&q->weights, values->items[i]->name) : NULL;

        if (w)
            w->has_other_readers = true;
    }
}

static cq_status note_names(cq_quantizer *q)
{
    for (uint32_t i = 0; i < q->g->input.n; i++)
        if (q->g->input.items[i]->name)
            CQ_TRY(cq_map_set(&q->names, q->g->input.items[i]->name, q));
    for (uint32_t i = 0; i < q->g->initializer.n; i++)
        if (q->g->initializer.items[i]->name)
            CQ_TRY(cq_map_set(&q->names, q->g->initializer.items[i]->name, q));
    for (uint32_t i = 0; i < q->g->node.n; i++)
        for (uint32_t k = 0; k < q->g->node.items[i]->output.n; k++)
            CQ_TRY(cq_map_set(&q->names, q->g->node.items[i]->output.items[k], q));
    return CQ_OK;
}

static cq_status note_weights(cq_quantizer *q)
{
    for (uint32_t i = 0; i < q->g->initializer.n; i++) {
        cq_onnx_tensor  *t = q->g->initializer.items[i];
        cq_quant_weight *w;

        if (!t->name || !is_large(q, t) || cq_map_has(&q->weights, t->name))
            continue;
        w = cq_zalloc(sizeof *w);
        if (!w || cq_vec_push(&q->all_weights, w) != CQ_OK) {
            cq_free(w);
            return CQ_E_NO_MEMORY;
        }
        *w = (cq_quant_weight){ .name = t->name, .message = t, .error = -1 };
        CQ_TRY(cq_map_set(&q->weights, t->name, w));
    }
    return CQ_OK;
}

/* Drops the layers whose weight something else reads. */
static cq_status drop_shared(cq_quantizer *q)
{
    size_t left = 0;

    cq_ptr_map_clear(&q->by_node);
    for (size_t i = 0; i < q->layers.n; i++)
        if (!q->layers.items[i].weight->has_other_readers) {
            q->layers.items[left] = q->layers.items[i];
            CQ_TRY(cq_ptr_map_set(&q->by_node, q->layers.items[left].node,
                                  (void *)(uintptr_t)(left + 1)));
            left++;
        }
    q->layers.n = left;
    return CQ_OK;
}

static cq_status make_lazy(cq_quantizer *q, cq_quant_weight *w)
{
    cq_tensor *source = NULL;
    cq_status  status;

    w->form.is_unsigned =
        q->options.bits == 8 &&
        (q->options.mode == CQ_QUANTIZE_DYNAMIC ||
         (q->options.mode == CQ_QUANTIZE_STATIC && q->options.target == CQ_QUANTIZE_ONNXRUNTIME));
    w->form.is_asymmetric =
        q->options.mode == CQ_QUANTIZE_DYNAMIC
            ? w->message->dims.n == 2
            : q->options.mode == CQ_QUANTIZE_WEIGHTS && q->options.flags & CQ_QUANTIZE_ASYMMETRIC;
    CQ_TRY(cq_onnx_tensor_in_place(&source, q->m, w->message));
    status = cq_quantized_weight_new(&w->lazy, q->cache, source, &w->form);
    cq_tensor_release(source);
    return status;
}

cq_status cq_quantizer_find(cq_quantizer *q)
{
    CQ_TRY(cq_scale_cache_new(&q->cache));
    CQ_TRY(move_constants(q));
    CQ_TRY(note_names(q));
    CQ_TRY(note_weights(q));
    for (uint32_t i = 0; i < q->g->node.n; i++)
        CQ_TRY(add_layer(q, q->g->node.items[i]));
    for (uint32_t i = 0; i < q->g->node.n; i++)
        CQ_TRY(cq_onnx_each_read(q->g->node.items[i], note_read,
                                 &(reader){ .q = q, .node = q->g->node.items[i] }));
    exclude(q, &q->g->output);
    CQ_TRY(drop_shared(q));
    for (size_t i = 0; i < q->layers.n; i++)
        if (!q->layers.items[i].weight->lazy)
            CQ_TRY(make_lazy(q, q->layers.items[i].weight));
    return CQ_OK;
}

/* ---- building ---- */

cq_status cq_quantizer_rewind(cq_quantizer *q, uint32_t n)
{
    q->g->initializer.n = n;
    q->nodes.n          = 0;
    cq_map_clear(&q->names);
    for (size_t i = 0; i < q->all_weights.n; i++) {
        cq_quant_weight *w = q->all_weights.items[i];

        w->has_initializers = false;
        w->dequantized      = NULL;
    }
    if (q->options.mode == CQ_QUANTIZE_DYNAMIC)
        cq_map_clear(&q->activations);
    for (size_t i = 0; i < q->activations.n; i++)
        ((cq_activation *)q->activations.entries[i].value)->dequantized = NULL;
    return note_names(q);
}

cq_status cq_quantize_emit(cq_quantizer *q, const cq_quant_layer *layer, const char *output)
{
    switch (q->options.mode) {
    case CQ_QUANTIZE_DYNAMIC: return cq_quantize_emit_dynamic(q, layer, output);
    case CQ_QUANTIZE_STATIC: return cq_quantize_emit_static(q, layer, output);
    default: return cq_quantize_emit_weights(q, layer, output);
    }
}

typedef struct search {
    const cq_map *names;
    const char   *base, *suffix;
    cq_str        text;
} search;

static bool is_taken(void *search_, unsigned i)
{
    search *s = search_;

    s->text.len = 0;
    cq_str_printf(&s->text, "%s_%s", s->base, s->suffix);
    if (i > 1)
        cq_str_printf(&s->text, "_%u", i);
    return s->text.status == CQ_OK && cq_map_has(s->names, s->text.text);
}

const char *cq_quantizer_name(cq_quantizer *q, const char *base, const char *suffix)
{
    search      s    = { &q->names, base, suffix, { 0 } };
    const char *text = NULL;

    is_taken(&s, cq_free_number(1, is_taken, &s)); /* prints the name again */
    if (q->m->status == CQ_OK)
        q->m->status = s.text.status;
    if (q->m->status == CQ_OK && !(text = cq_onnx_text(q->m, cq_str_text(&s.text))))
        q->m->status = CQ_E_NO_MEMORY;
    if (q->m->status == CQ_OK)
        q->m->status = cq_map_set(&q->names, text, q);
    cq_str_clear(&s.text);
    return text ? text : "";
}

cq_onnx_node *cq_quantizer_node(cq_quantizer *q, const char *op, const char *output, size_t n,
                                const char *const *inputs)
{
    cq_onnx_node *node = cq_onnx_alloc(q->m, sizeof *node);

    if (!node)
        return NULL;
    node->op_type = op;
    node->name    = output;
    for (size_t i = 0; i < n; i++)
        if (inputs[i])
            cq_onnx_node_add_input(q->m, node, inputs[i]);
    cq_onnx_node_add_output(q->m, node, output);
    cq_onnx_list_push(q->m, &q->nodes, node);
    return node;
}

cq_onnx_node *cq_quantizer_copy(cq_quantizer *q, const cq_onnx_node *node, const char *output)
{
    cq_onnx_node *made = cq_onnx_alloc(q->m, sizeof *made);

    if (!made)
        return NULL;
    *made       = *node;
    made->input = (cq_onnx_names){ 0 };
    for (uint32_t i = 0; i < node->input.n; i++)
        cq_onnx_list_push(q->m, &made->input, node->input.items[i]);
    made->output = (cq_onnx_names){ 0 };
    cq_onnx_list_push(q->m, &made->output, output);
    cq_onnx_list_push(q->m, &q->nodes, made);
    return q->m->status == CQ_OK ? made : NULL;
}

const char *cq_quantizer_constant(cq_quantizer *q, const char *base, const char *suffix,
                                  cq_tensor *t)
{
    const char *name = cq_quantizer_name(q, base, suffix);

    if (t)
        cq_onnx_graph_add_initializer(q->m, q->g, name, t);
    cq_tensor_release(t);
    return name;
}

/* ConvInteger of ONNX Runtime has one zero point for all channels. */
static cq_status add_zero_points(cq_quantizer *q, cq_quant_weight *w)
{
    const bool is_one = q->options.mode == CQ_QUANTIZE_DYNAMIC && !w->form.is_asymmetric;
    cq_tensor *t      = NULL;

    if (!w->form.is_unsigned && !w->form.is_asymmetric)
        return CQ_OK;
    if (is_one)
        CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_U8, 0, NULL, &(uint8_t){ 128 }));
    else
        CQ_TRY(cq_quantized_weight_zeros(&t, w->lazy));
    w->zero = cq_quantizer_constant(q, w->name, "zero_point", t);
    return q->m->status;
}

cq_status cq_quantizer_add_weight(cq_quantizer *q, cq_quant_weight *w)
{
    cq_tensor *t = NULL;

    if (w->has_initializers)
        return q->m->status;
    w->has_initializers = true;
    CQ_TRY(cq_quantized_weight_integers(&t, w->lazy));
    w->integers = cq_quantizer_constant(q, w->name, "quantized", t);
    CQ_TRY(cq_quantized_weight_scales(&t, w->lazy));
    w->scales = cq_quantizer_constant(q, w->name, "scale", t);
    return add_zero_points(q, w);
}

cq_status cq_quantizer_dequantize(cq_quantizer *q, cq_quant_weight *w, const char *output)
{
    const bool    is_blocked = cq_quantized_weight_blocks(w->lazy) > 1;
    cq_onnx_node *node;

    if (w->dequantized)
        return CQ_OK;
    CQ_TRY(cq_quantizer_add_weight(q, w));
    w->dequantized = output;
    node           = cq_quantizer_node(q, "DequantizeLinear", output, 3,
                                       (const char *[]){ w->integers, w->scales, w->zero });
    if (!node)
        return q->m->status;
    cq_onnx_attr_int(q->m, node, "axis", is_blocked ? w->form.axis : w->channel_axis);
    if (is_blocked)
        cq_onnx_attr_int(q->m, node, "block_size", w->form.block);
    return q->m->status;
}
