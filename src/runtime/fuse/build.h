/* Types shared by the files that build plans; kernels and sessions see plan.h. */
#ifndef CQ_RUNTIME_FUSE_BUILD_H
#define CQ_RUNTIME_FUSE_BUILD_H

#include "base/map.h"
#include "runtime/run.h"

/* An image whose number of channels is known, and perhaps its size. */
typedef struct cq_rt_shape {
    int64_t channels; /* 0: not known to be an image of float32 that can be blocked */
    int64_t size[2];  /* 0: not known */
    bool    is_flat;  /* of one pixel, and [n, c]: made of an image, but none for its readers */
} cq_rt_shape;

/* Where the channels of an image come from, if others have them. */
typedef struct cq_rt_channel {
    struct cq_rt_node_value *image;
    int64_t                  at;
} cq_rt_channel;

typedef struct cq_rt_picked {
    int64_t       want[3]; /* batch size, rows and columns that a Reshape requires; -1: any */
    cq_rt_channel channels[];
} cq_rt_picked;

typedef struct cq_rt_fused      cq_rt_fused;
typedef struct cq_rt_node_step  cq_rt_node_step;
typedef struct cq_rt_node_value cq_rt_node_value;

/* A value of a graph while it is being read. */
struct cq_rt_node_value {
    const char *name;
    cq_val      constant; /* owned: of a constant, or the default of an input */
    bool        is_constant, is_input, is_capture, is_live;
    int32_t     slot, last; /* last: the live step that reads it last; -1: unused */

    /* For optimize.c and its passes. */
    const cq_onnx_type *type;       /* of an input, if the model declares it */
    cq_rt_node_value   *same;       /* the value that it is another name of */
    uint32_t            n_uses;     /* by steps, inner graphs and outputs */
    cq_rt_node_step    *readers[2]; /* the first of them */
    cq_rt_node_step    *maker;      /* NULL: none here */
    cq_rt_shape         shape;      /* the known part of the shape */
    cq_rt_node_value   *blocked;    /* the same image in blocks, once it is there */
    bool                is_gone;    /* there is only the blocked one */
    cq_rt_fused        *fused;      /* the convolution that makes it */
    const cq_rt_picked *picked;     /* NULL: its channels are its own */
    struct cq_rt_grid  *grid;       /* quantization parameters of its numbers; blocked has them
                                     * as integers */
};

typedef struct cq_rt_builder cq_rt_builder;

struct cq_rt_node_step {
    cq_rt_step         step;
    cq_rt_node_value **in, **out; /* NULL: left out */
    cq_rt_builder     *inner;     /* of the graphs in its attributes */
    bool               is_live;
    cq_rt_fused       *fused;   /* the convolution that it has become a part of */
    bool               is_gone; /* another step does its work */
};

/* State that all graphs of a model share. */
typedef struct cq_rt_building {
    const cq_onnx_model *model;
    cq_arena            *arena;
    cq_rt_plan         **plans;
    cq_onnx_model      **expansions; /* functions that calls were expanded into */
    cq_rt_run            run;        /* for folding */
    uint64_t             fold_steps; /* that are left for it */
    cq_map               functions;  /* of the model, by name */
    cq_map               missing;
    cq_str               missing_text;
    uint32_t             n_steps;
    bool                 fold, optimize;
} cq_rt_building;

/* One graph. */
struct cq_rt_builder {
    cq_rt_building *all;
    CQ_VEC(cq_rt_node_value *) values, inputs, outputs;
    CQ_VEC(cq_rt_node_value *) captures, captured; /* here, and in the graph around */
    CQ_VEC(cq_rt_node_step *) steps;

    /* The part that is kept in its step after the pass. */
    cq_rt_plan        *plan;
    cq_rt_node_value **around; /* plan->n_captures values of the graph around */
    cq_rt_builder     *next;   /* of the same node */
};

/* A call of a function: where attributes of its body lead. */
typedef struct cq_rt_frame cq_rt_frame;
struct cq_rt_frame {
    const cq_onnx_function *function;
    const cq_onnx_node     *call;
    const cq_rt_frame      *caller;
};

/* Meaning of names. A function body has a separate scope in the graph that calls it. */
typedef struct cq_rt_scope cq_rt_scope;
struct cq_rt_scope {
    cq_rt_scope          *outer; /* whose names can be seen; NULL in functions */
    cq_rt_builder        *builder;
    cq_map                names;
    const cq_onnx_opsets *opsets;
    const cq_rt_frame    *frame;
    unsigned              depth;
};

/* gradient.c: whether a node is one; and the nodes, of opset CQ_COMPOSE_OPSET, that stand for it
 * behind the n nodes before it. They belong to *store, which is made when it is first needed. */
bool      cq_rt_is_gradient(const cq_onnx_node *node);
cq_status cq_rt_gradient_nodes(cq_onnx_node ***out, uint32_t *n_out, cq_onnx_model **store,
                               const cq_onnx_node *node, cq_onnx_node *const *before, uint32_t n);

/* finish.c: runs a step if all it reads is constant; its outputs are constants then. False
 * when it is to be run every time: also when it fails, for it may never be reached. */
bool cq_rt_fold(cq_rt_builder *b, cq_rt_node_step *step);

/* finish.c: the plan of a graph that has been read. */
cq_status cq_rt_finish(cq_rt_plan **out, cq_rt_builder *b);

void cq_rt_builder_clear(cq_rt_builder *b); /* finish.c */

/* ---- optimize.c: faster steps for a graph that has been read ---- */

cq_status cq_rt_optimize(cq_rt_builder *b, cq_rt_plan *plan);

/* quantized.c: integers between QuantizeLinear and DequantizeLinear; and whether a step makes a
 * weight that is folded only there, if it is needed as floats at all. */
cq_status cq_rt_optimize_quantized(cq_rt_builder *b, cq_rt_plan *plan);
bool      cq_rt_is_lazy_weight(const cq_rt_node_step *s);

/* images.c: images stay in blocks between the steps that can work on them so. */
cq_status cq_rt_optimize_images(cq_rt_builder *b, cq_rt_plan *plan);

/* norms.c: layer normalisations that are written out. */
cq_status cq_rt_optimize_norms(cq_rt_builder *b);

/* attentions.c: attention that is written out. */
cq_status cq_rt_optimize_attentions(cq_rt_builder *b);

/* gelus.c: GELU that is written out. */
cq_status cq_rt_optimize_gelus(cq_rt_builder *b);

/* linears.c: products by constant matrices, with what follows them; also of recurrent layers. */
cq_status cq_rt_optimize_linears(cq_rt_builder *b, cq_rt_plan *plan);

/* chains.c: steps that work element by element, on one another's results. */
cq_status cq_rt_optimize_chains(cq_rt_builder *b);

/* Counts the uses of all values. */
void cq_rt_count_uses(cq_rt_builder *b);

/* Something that is freed with the plan; on failure at once. */
cq_status cq_rt_own(cq_rt_builder *b, cq_rt_plan *plan, void *what, void (*release)(void *what));

/* plan.c */
cq_rt_node_value *cq_rt_value_new(cq_rt_builder *b, const char *name);

#endif
