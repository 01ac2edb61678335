/* Types shared by the files that build plans; kernels and sessions see plan.h. */
#ifndef CQ_RUNTIME_FUSE_BUILD_H
#define CQ_RUNTIME_FUSE_BUILD_H

#include "base/map.h"
#include "runtime/run.h"

/* The known part of the shape of a feature map: the number of channels, and perhaps its size. */
typedef struct cq_rt_shape {
    int64_t channels; /* 0 if v is not known to be a float32 feature map that can be blocked */
    int64_t size[2];  /* 0 if unknown */
    bool    is_flat;  /* a 1x1 feature map flattened to [n, c]; its readers see a matrix */
} cq_rt_shape;

/* The origin of one channel of a channel gather: a feature map and an index in it. */
typedef struct cq_rt_channel {
    struct cq_rt_node_value *image;
    int64_t                  at;
} cq_rt_channel;

typedef struct cq_rt_gather_shape {
    int64_t want[3]; /* batch size, rows and columns that a Reshape requires; -1:
                      * unconstrained */
    cq_rt_channel channels[];
} cq_rt_gather_shape;

typedef struct cq_rt_fused      cq_rt_fused;
typedef struct cq_rt_node_step  cq_rt_node_step;
typedef struct cq_rt_node_value cq_rt_node_value;

/* A value of a graph during plan building. */
struct cq_rt_node_value {
    const char *name;
    cq_val      constant; /* owned: of a constant, or the default of an input */
    bool        is_constant, is_input, is_capture, is_live;
    int32_t     slot, last; /* last: the last live step that reads it; -1: unused */

    /* Fields for optimize.c and its passes. */
    const cq_onnx_type *type;       /* of an input that the model declares with a type */
    cq_rt_node_value   *same;       /* the value that this one is an alias of */
    uint32_t            n_uses;     /* number of uses by steps, subgraphs and outputs */
    cq_rt_node_step    *readers[2]; /* the first two readers */
    cq_rt_node_step    *maker;      /* NULL if no step of this graph computes it */
    cq_rt_shape         shape;      /* the known part of its shape */
    cq_rt_node_value   *blocked;    /* the same feature map in blocks, once it has been computed */
    bool                is_gone;    /* only the blocked form exists */
    cq_rt_fused        *fused;      /* the convolution that computes it */
    const cq_rt_gather_shape *gathered; /* the channel gather that computes it, or NULL */
    struct cq_rt_grid *grid; /* quantization parameters; then blocked is the quantized form */
};

typedef struct cq_rt_builder cq_rt_builder;

struct cq_rt_node_step {
    cq_rt_step         step;
    cq_rt_node_value **in, **out; /* NULL for an omitted input or output */
    cq_rt_builder     *inner;     /* builders of the subgraphs in its attributes */
    bool               is_live;
    cq_rt_fused       *fused;   /* the convolution that absorbed it */
    bool               is_gone; /* another step computes its result instead */
};

/* State shared by all graphs of a model. */
typedef struct cq_rt_building {
    const cq_onnx_model *model;
    cq_arena            *arena;
    cq_rt_plan         **plans;
    cq_onnx_model      **expansions; /* functions that calls were expanded into */
    cq_rt_run            run;        /* for folding */
    uint64_t             fold_steps; /* steps that remain for folding */
    cq_map               functions;  /* of the model, by name */
    cq_map               missing;
    cq_str               missing_text;
    uint32_t             n_steps;
    bool                 fold, optimize;
} cq_rt_building;

/* The builder of one graph. */
struct cq_rt_builder {
    cq_rt_building *all;
    CQ_VEC(cq_rt_node_value *) values, inputs, outputs;
    CQ_VEC(cq_rt_node_value *)
    captures, captured; /* values of the enclosing graph that this graph
                         * reads, and its own values for them */
    CQ_VEC(cq_rt_node_step *) steps;

    /* Fields that the enclosing step keeps after the pass. */
    cq_rt_plan        *plan;
    cq_rt_node_value **around; /* plan->n_captures values of the enclosing graph */
    cq_rt_builder     *next;   /* the builder of the next subgraph of the same node */
};

/* A call of a function: resolves the attributes that the function's body refers to. */
typedef struct cq_rt_frame cq_rt_frame;
struct cq_rt_frame {
    const cq_onnx_function *function;
    const cq_onnx_node     *call;
    const cq_rt_frame      *caller;
};

/* The names in scope. A function body has a separate scope in the graph of the caller. */
typedef struct cq_rt_scope cq_rt_scope;
struct cq_rt_scope {
    cq_rt_scope   *outer; /* the enclosing scope, whose names are visible; NULL in functions */
    cq_rt_builder *builder;
    cq_map         names;
    const cq_onnx_opsets *opsets;
    const cq_rt_frame    *frame;
    unsigned              depth;
};

/* gradient.c: whether a node is a Gradient, and the nodes of opset CQ_COMPOSE_OPSET that replace
 * it; n is the number of nodes before it. *store owns them and is created on first use. */
bool      cq_rt_is_gradient(const cq_onnx_node *node);
cq_status cq_rt_gradient_nodes(cq_onnx_node ***out, uint32_t *n_out, cq_onnx_model **store,
                               const cq_onnx_node *node, cq_onnx_node *const *before, uint32_t n);

/* finish.c: runs a step whose inputs are all constant and makes its outputs constants. Returns
 * false if the step must run every time. A failing step is not folded either, because it may never
 * be executed. */
bool cq_rt_fold(cq_rt_builder *b, cq_rt_node_step *step);

/* finish.c: turns the graph into a plan. */
cq_status cq_rt_finish(cq_rt_plan **out, cq_rt_builder *b);

void cq_rt_builder_clear(cq_rt_builder *b); /* finish.c */

/* ---- optimize.c: replaces steps of the graph by faster ones ---- */

cq_status cq_rt_optimize(cq_rt_builder *b, cq_rt_plan *plan);

/* quantized.c: uses integer arithmetic between QuantizeLinear and DequantizeLinear; and whether a
 * step computes a weight whose folding is deferred to that pass. */
cq_status cq_rt_optimize_quantized(cq_rt_builder *b, cq_rt_plan *plan);
bool      cq_rt_is_lazy_weight(const cq_rt_node_step *s);

/* images.c: keeps feature maps in the blocked layout between steps that support it. */
cq_status cq_rt_optimize_images(cq_rt_builder *b, cq_rt_plan *plan);

/* layers.c: fuses decomposed GELU and layer normalisation. */
cq_status cq_rt_optimize_layers(cq_rt_builder *b);

/* attentions.c: fuses decomposed attention. */
cq_status cq_rt_optimize_attentions(cq_rt_builder *b);

/* linears.c: fuses products by constant matrices with bias and activation; also packs the weights
 * of recurrent layers. */
cq_status cq_rt_optimize_linears(cq_rt_builder *b, cq_rt_plan *plan);

/* chains.c: fuses chains of element-wise steps. */
cq_status cq_rt_optimize_chains(cq_rt_builder *b);

/* Counts the uses of all values. */
void cq_rt_count_uses(cq_rt_builder *b);

/* The plan takes ownership of `what` and calls release with it; on failure it is released at
 * once. */
cq_status cq_rt_own(cq_rt_builder *b, cq_rt_plan *plan, void *what, void (*release)(void *what));

/* plan.c */
cq_rt_node_value *cq_rt_value_new(cq_rt_builder *b, const char *name);

#endif
