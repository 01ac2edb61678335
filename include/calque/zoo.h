/* Built-in models: AlexNet and its successors, written with the public API. Their layers have the
 * names of torchvision and pytorch/examples, so that their state dicts can be loaded. */
#ifndef CALQUE_ZOO_H
#define CALQUE_ZOO_H

#include <calque/layers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An example input of a model. */
typedef struct cq_zoo_input {
    const char *name;
    cq_dtype    dtype;
    size_t      rank;
    int64_t     sizes[6];
    int64_t     below;      /* integers are drawn from 0 … below-1 */
    int         batch_axis; /* -1: none */
} cq_zoo_input;

typedef struct cq_zoo_model {
    const char *name;  /* "alexnet" */
    const char *about; /* a short description */
    cq_module *(*make)(void);
    size_t       n_inputs, n_outputs;
    cq_zoo_input inputs[3];
    const char  *output_names[3];
    int          output_batch_axes[3];
} cq_zoo_model;

/* The models in order: cq_zoo_at(0), … until NULL. */
CQ_API const cq_zoo_model *cq_zoo_at(size_t index);
CQ_API const cq_zoo_model *cq_zoo_find(const char *name); /* NULL: unknown */

#ifdef __cplusplus
}
#endif

#endif
