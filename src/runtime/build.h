/* What the files that make plans share among themselves; kernels and sessions see plan.h. */
#ifndef CQ_RUNTIME_BUILD_H
#define CQ_RUNTIME_BUILD_H

#include "base/map.h"
#include "runtime/run.h"

/* A value of a graph while it is being read. */
typedef struct cq_rt_node_value {
    const char *name;
    cq_val      constant; /* owned: of a constant, or the default of an input */
    bool        is_constant, is_input, is_capture, is_live;
    int32_t     slot, last; /* last: the live step that reads it last; -1: none */
} cq_rt_node_value;

typedef struct cq_rt_builder cq_rt_builder;

typedef struct cq_rt_node_step {
    cq_rt_step         step;
    cq_rt_node_value **in, **out; /* NULL: left out */
    cq_rt_builder     *inner;     /* of the graphs in its attributes */
    bool               is_live;
} cq_rt_node_step;

/* What all graphs of a model share. */
typedef struct cq_rt_building {
    const cq_onnx_model *model;
    cq_arena            *arena;
    cq_rt_plan         **plans;
    cq_rt_run            run; /* for folding */
    cq_map               missing;
    cq_str               missing_text;
    uint32_t             n_steps;
    bool                 fold;
} cq_rt_building;

/* One graph. */
struct cq_rt_builder {
    cq_rt_building *all;
    CQ_VEC(cq_rt_node_value *) values, inputs, outputs;
    CQ_VEC(cq_rt_node_value *) captures, captured; /* here, and in the graph around */
    CQ_VEC(cq_rt_node_step *) steps;

    /* What is left of it in the step that it belongs to, when it is done. */
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

/* What names mean. A function's body has a scope of its own in the graph that calls it. */
typedef struct cq_rt_scope cq_rt_scope;
struct cq_rt_scope {
    cq_rt_scope          *outer; /* whose names can be seen; NULL in functions */
    cq_rt_builder        *builder;
    cq_map                names;
    const cq_onnx_opsets *opsets;
    const cq_rt_frame    *frame;
    unsigned              depth;
};

/* finish.c: runs a step if all it reads is constant; its outputs are constants then. False
 * when it is to be run every time: also when it fails, for it may never be reached. */
bool cq_rt_fold(cq_rt_builder *b, cq_rt_node_step *step);

/* finish.c: the plan of a graph that has been read. */
cq_status cq_rt_finish(cq_rt_plan **out, cq_rt_builder *b);

void cq_rt_builder_clear(cq_rt_builder *b); /* finish.c */

#endif
