/* The optimizer: an ONNX model in, a smaller one out. */
#ifndef CQ_EXPORT_OPTIMIZE_H
#define CQ_EXPORT_OPTIMIZE_H

#include "onnx/model.h"

enum { CQ_MAX_PASSES = 16 };

typedef struct cq_optimizer {
    uint32_t enabled;                /* a bit for each pass, in the order of cq_optimizer_pass */
    int64_t  removed[CQ_MAX_PASSES]; /* nodes, by pass; fewer than 0: it added some */
    unsigned n_rounds;
    bool     for_onnxruntime;
    bool     drops_inputs; /* removes inputs of the model that nothing reads */
} cq_optimizer;

/* The name of a pass and what it does; NULL past the last. */
const char *cq_optimizer_pass(size_t i, const char **about);

/* Changes the model in place. */
cq_status cq_optimizer_run(cq_optimizer *o, cq_onnx_model *model);

#endif
