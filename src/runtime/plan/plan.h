/* A graph that is ready to run: names are resolved to slots, nodes to steps with their kernel,
 * attributes and schema, and values are released after their last use. Slots are in this order:
 * constants (initializers, and folded values), captures (values of the enclosing graph), inputs,
 * others. A frame is an array with a value for each slot; it owns all values except constants,
 * captures and inputs. Functions of the model are inlined. */
#ifndef CQ_RUNTIME_PLAN_PLAN_H
#define CQ_RUNTIME_PLAN_PLAN_H

#include "onnx/model.h"
#include "onnx/schema.h"
#include "runtime/rows.h"
#include "tensor/text.h"

/* Maximum nesting of subgraphs and function calls. */
enum { CQ_RT_MAX_DEPTH = 64 };

/* Maximum number of steps of a model after inlining its functions. */
enum { CQ_RT_MAX_STEPS = 1 << 20 };

/* Maximum size in bytes of each constant that is folded before the first run. */
enum { CQ_RT_MAX_FOLDED = 64 << 20 };

typedef struct cq_rt_plan cq_rt_plan;

/* An attribute of the schema, with its value from the node or its default. */
typedef struct cq_rt_attr {
    const cq_onnx_attribute *given; /* NULL if the node omits it; the default follows */
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
    int32_t              *in, *out; /* slots; -1: omitted */
    int32_t              *dead;     /* slots that are not read after this step */
    const void           *prepared; /* data of a fused step, owned by the plan */
    const char           *label;    /* the name of a fused step, "Conv+Relu", which replaces
                                     * op_type; or NULL */
} cq_rt_step;

/* An object that is freed with the plan. */
typedef struct cq_rt_owned cq_rt_owned;
struct cq_rt_owned {
    void *what;
    void (*free)(void *what);
    cq_rt_owned *next;
};

struct cq_rt_plan {
    uint32_t     n_constants, n_captures, n_inputs, n_outputs, n_slots, n_steps;
    uint32_t     max_in, max_out; /* maximum number of inputs and outputs of a step */
    bool         is_random;       /* a step, also in a subgraph, draws random numbers */
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
    const char *const *fetch; /* names of additional outputs */
    size_t             n_fetch;
    cq_onnx_model    **expansions; /* gets functions that must live as long as the plan */
    bool               fold;
    bool               optimize; /* replace steps by faster ones (optimize.c) */
} cq_rt_plan_options;

/* Memory comes from arena, except constants and defaults. *all is a list of all plans that were
 * created, also on failure, for clearing. */
cq_status cq_rt_plan_new(cq_rt_plan **out, cq_rt_plan **all, cq_arena *arena,
                         const cq_onnx_model *m, const cq_rt_plan_options *options);
void      cq_rt_plans_clear(cq_rt_plan *all);

/* The name of its node, or of its first output. */
const char *cq_rt_step_name(const cq_rt_step *step);

/* Its label, or the name of the operator. */
const char *cq_rt_step_op(const cq_rt_step *step);

#endif
