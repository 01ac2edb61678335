/* A graph that is ready to run: names are slots, nodes are steps with their kernel, attributes and
 * schema, values are released after their last use.
 *
 * Slots are in this order: constants (initializers, and folded values), captures (values of the
 * enclosing graph), inputs, others. A frame is an array with a value for each; it owns all except
 * the first two kinds and its inputs. Functions of the model are inlined. */
#ifndef CQ_RUNTIME_PLAN_PLAN_H
#define CQ_RUNTIME_PLAN_PLAN_H

#include "onnx/model.h"
#include "onnx/schema.h"
#include "runtime/rows.h"
#include "tensor/text.h"

/* Graphs inside graphs, and functions that call functions. */
enum { CQ_RT_MAX_DEPTH = 64 };

/* Steps of a model with all its functions inlined. */
enum { CQ_RT_MAX_STEPS = 1 << 20 };

/* Limit in bytes of each constant that is folded before the first run. */
enum { CQ_RT_MAX_FOLDED = 64 << 20 };

typedef struct cq_rt_plan cq_rt_plan;

/* An attribute of the schema: from the node, or the default. */
typedef struct cq_rt_attr {
    const cq_onnx_attribute *given; /* NULL: the node lacks it; the default is below */
    int64_t                  i;
    double                   f;
    const char              *s;    /* NUL-terminated; NULL if it is not a string */
    cq_rt_plan              *plan; /* of a graph */
} cq_rt_attr;

typedef struct cq_rt_work cq_rt_work; /* work.c */

typedef struct cq_rt_step {
    const cq_rt_row      *row;
    const cq_rt_work     *work;
    const cq_onnx_node   *node;
    const cq_onnx_schema *schema;
    cq_rt_attr           *attrs; /* one per attribute of the schema */
    const cq_onnx_model  *model; /* the model that owns the attribute tensors */
    uint32_t              n_in, n_out, n_dead;
    int32_t              *in, *out; /* slots; -1: left out */
    int32_t              *dead;     /* slots that are not read after this step */
    const void           *prepared; /* data of a fused step, owned by the plan */
    const char           *label;    /* the name of a fused step, "Conv+Relu", instead of op_type;
                                     * or NULL */
} cq_rt_step;

/* Something to be freed with the plan. */
typedef struct cq_rt_owned cq_rt_owned;
struct cq_rt_owned {
    void *what;
    void (*free)(void *what);
    cq_rt_owned *next;
};

struct cq_rt_plan {
    uint32_t     n_constants, n_captures, n_inputs, n_outputs, n_slots, n_steps;
    uint32_t     max_in, max_out; /* of any step */
    bool         is_random;       /* a step, here or in a subgraph, draws random numbers */
    cq_val      *constants;       /* owned */
    int32_t     *captures;        /* slots of the enclosing graph */
    int32_t     *outputs;         /* slots */
    cq_rt_step  *steps;
    const char **names;    /* of slots */
    cq_val      *defaults; /* of inputs, owned; NULL: no defaults */
    cq_rt_plan  *next;     /* all plans of a session, for freeing */
    cq_rt_owned *owned;    /* packed data of its steps */
};

typedef struct cq_rt_plan_options {
    const char *const *fetch; /* more outputs */
    size_t             n_fetch;
    cq_onnx_model    **expansions; /* gets functions that must live as long as the plan */
    bool               fold;
    bool               optimize; /* replace steps by faster ones */
} cq_rt_plan_options;

/* Everything is in arena except constants and defaults. *all gets every plan that was made, also on
 * failure, to be cleared. */
cq_status cq_rt_plan_new(cq_rt_plan **out, cq_rt_plan **all, cq_arena *arena,
                         const cq_onnx_model *m, const cq_rt_plan_options *options);
void      cq_rt_plans_clear(cq_rt_plan *all);

/* Its name, or that of its first output. */
const char *cq_rt_step_name(const cq_rt_step *step);

/* Its label, or the operator. */
const char *cq_rt_step_op(const cq_rt_step *step);

#endif
