/* The layers of a model that can be quantized, and a graph that is being rewritten: graph.c. */
#ifndef CQ_QUANTIZE_GRAPH_H
#define CQ_QUANTIZE_GRAPH_H

#include "base/map.h"
#include "onnx/model.h"
#include "quantize/weight.h"

#include <calque/quantize.h>

typedef struct cq_quant_weight {
    const char          *name;
    cq_onnx_tensor      *message;
    cq_weight_form       form;
    int                  channel_axis; /* of output channels, in the weight */
    cq_quantized_weight *lazy;
    double               error; /* -1: not measured */
    bool                 is_kept;
    bool                 has_initializers;         /* integers and scales are in the graph */
    const char          *integers, *scales, *zero; /* names; zero NULL: none */
    const char          *dequantized;              /* NULL: DequantizeLinear is not there */
    bool                 has_other_readers;
} cq_quant_weight;

typedef enum cq_quant_kind { CQ_QUANT_MATMUL, CQ_QUANT_GEMM, CQ_QUANT_CONV } cq_quant_kind;

/* A node whose second input is a constant weight. */
typedef struct cq_quant_layer {
    cq_onnx_node    *node;
    cq_quant_kind    kind;
    cq_quant_weight *weight;
    double           error; /* of the result; -1: not measured */
    bool             is_kept;
} cq_quant_layer;

typedef struct cq_quantizer {
    cq_onnx_model      *m;
    cq_onnx_graph      *g;
    cq_quantize_options options;
    cq_scale_cache     *cache;
    cq_map              names;   /* of all values, so that new ones are new */
    cq_map              weights; /* name -> cq_quant_weight */
    CQ_VEC(cq_quant_weight *) all_weights;
    CQ_VEC(cq_quant_layer) layers;
    cq_ptr_map by_node; /* node -> 1 + index of its layer */
    CQ_ONNX_LIST(cq_onnx_node *) nodes;
    cq_map activations; /* name -> cq_activation, of dynamic and static quantization */
} cq_quantizer;

/* Finds layers and their weights. Weights that other nodes read, too, are not quantized. */
cq_status cq_quantizer_find(cq_quantizer *q);
void      cq_quantizer_clear(cq_quantizer *q);

/* Forgets what was emitted, with the initializers from index n on. */
cq_status cq_quantizer_rewind(cq_quantizer *q, uint32_t n);

/* The layer of a node that is to be quantized; NULL: none. */
cq_quant_layer *cq_quantizer_layer(const cq_quantizer *q, const cq_onnx_node *node);

/* ---- building ---- */

/* A new name that begins with base and ends in suffix. */
const char *cq_quantizer_name(cq_quantizer *q, const char *base, const char *suffix);

/* A node at the end of the new list; its output. NULL inputs are left out. */
cq_onnx_node *cq_quantizer_node(cq_quantizer *q, const char *op, const char *output, size_t n,
                                const char *const *inputs);

/* An initializer; takes the reference. Its name. */
const char *cq_quantizer_constant(cq_quantizer *q, const char *base, const char *suffix,
                                  cq_tensor *t);

/* Integers, scales and zero points of a weight as initializers, once. */
cq_status cq_quantizer_add_weight(cq_quantizer *q, cq_quant_weight *w);

/* The value of DequantizeLinear for a weight; named as the weight unless `output` is given. */
cq_status cq_quantizer_dequantize(cq_quantizer *q, cq_quant_weight *w, const char *output);

bool    cq_quant_is_op(const cq_onnx_node *node, const char *op);
int64_t cq_quant_int(const cq_onnx_node *node, const char *name, int64_t otherwise);

/* ---- the modes ---- */

/* Emits the quantized form of a layer, whose result gets the name output. */
cq_status cq_quantize_emit(cq_quantizer *q, const cq_quant_layer *layer, const char *output);
cq_status cq_quantize_emit_weights(cq_quantizer *q, const cq_quant_layer *layer,
                                   const char *output); /* weights.c */
cq_status cq_quantize_emit_dynamic(cq_quantizer *q, const cq_quant_layer *layer,
                                   const char *output); /* dynamic.c */
cq_status cq_quantize_emit_static(cq_quantizer *q, const cq_quant_layer *layer,
                                  const char *output); /* static.c */

/* A copy of a node at the end of the new list, with another output. */
cq_onnx_node *cq_quantizer_copy(cq_quantizer *q, const cq_onnx_node *node, const char *output);

/* Static quantization: the values that are quantized get their parameters by calibration. */
typedef struct cq_activation {
    const char         *name;
    const cq_onnx_node *layer;       /* whose result it is; NULL: only read by layers */
    bool                is_input;    /* of the model */
    const char         *dequantized; /* in the new list; NULL: not yet */
    float               scale;
    int                 zero;
} cq_activation;

cq_status cq_quantize_calibrate(cq_quantizer *q);

/* Adds QuantizeLinear and DequantizeLinear of a value once, if it is quantized; the value to read
 * instead of it. */
const char *cq_quantize_value(cq_quantizer *q, const char *name);

/* Measures the error of each layer on its float inputs: measure.c. A model that does not run has
 * none. */
cq_status cq_quantize_measure(cq_quantizer *q);

#endif
