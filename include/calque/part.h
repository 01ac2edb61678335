/* Parts and compositions of ONNX models. Weights are never copied: a part keeps views of the file
 * that the model was read from, and saving streams them. */
#ifndef CALQUE_PART_H
#define CALQUE_PART_H

#include <calque/edit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Cutting ---- */

typedef struct cq_cut_options {
    size_t             struct_size; /* set by cq_cut_options_init, never by hand */
    const char *const *inputs;      /* values that become inputs; none: those of the model */
    size_t             n_inputs;
    const char *const *outputs; /* values that become outputs; none: those of the model */
    size_t             n_outputs;
    const char        *module; /* a scope, "layer3" or "layer3.0.conv1", instead of both lists */
} cq_cut_options;

CQ_API void cq_cut_options_init(cq_cut_options *options);

/* Reduces model to the nodes between inputs and outputs. Types of the new inputs and outputs come
 * from inference. Operator sets, functions and metadata stay; training information is removed.
 *
 * A module consists of the nodes whose names are in its scope (/layer3/0/conv1/Conv), or whose
 * metadata lists the scope, as PyTorch 2 writes it. Nodes outside that compute constants for it
 * are included.
 *
 * On failure the model is unchanged, except that inferred types may have been added. */
CQ_API cq_status cq_onnx_model_cut(cq_onnx_model *model, const cq_cut_options *options);

/* Runs whole, feeds the values at the inputs of part to part, and compares the outputs of part with
 * the same values of whole. Flags, tolerances and skipped proofs are those of cq_onnx_prove. */
CQ_API cq_status cq_onnx_prove_cut(cq_proof *proof, const cq_onnx_model *whole,
                                   const cq_onnx_model *part, const cq_proof_options *options);

/* ---- Joining ---- */

typedef struct cq_connection {
    const char *output; /* of the first model */
    const char *input;  /* of the second one */
} cq_connection;

typedef struct cq_join_options {
    size_t               struct_size; /* set by cq_join_options_init, never by hand */
    const cq_connection *connections; /* none: the only output to the only input */
    size_t               n_connections;
} cq_join_options;

CQ_API void cq_join_options_init(cq_join_options *options);

/* Appends second to model, which owns second from now on, also if the call fails. Inputs are those
 * of model and then those of second that are not connected; outputs are those of model that are
 * not connected and then those of second. Names of second that collide get a number: relu_2.
 * Dynamic sizes of connected values become one. Functions that are equal are shared; of equal
 * metadata keys both are kept. Operator sets must agree. After a failure model can only be freed.
 * options may be NULL. */
CQ_API cq_status cq_onnx_model_join(cq_onnx_model *model, cq_onnx_model *second,
                                    const cq_join_options *options);

/* Runs first and second one after the other, and compares their outputs with those of joined. The
 * connections are those that joined was made with. */
CQ_API cq_status cq_onnx_prove_join(cq_proof *proof, const cq_onnx_model *first,
                                    const cq_onnx_model *second, const cq_onnx_model *joined,
                                    const cq_join_options  *connections,
                                    const cq_proof_options *options);

/* ---- Steps before and after a model ---- */

typedef enum cq_step_side { CQ_STEP_BEFORE = 0, CQ_STEP_AFTER = 1 } cq_step_side;

enum { CQ_STEP_CONNECTIONS = 2 };

/* A model to be joined before or after another one. The names belong to either model. */
typedef struct cq_step {
    cq_onnx_model *model;
    cq_connection  connections[CQ_STEP_CONNECTIONS];
    size_t         n_connections;
} cq_step;

/* Common pre- and post-processing for an input or output of model, in plain operators of its opset;
 * docs/better-onnx.md lists the steps:
 *
 *     "image:mean=0.485,0.456,0.406:std=0.229,0.224,0.225:layout=NHWC"            before
 *     "softmax", "argmax:axis=1", "topk:5", "nms:iou=0.5:score=0.25:max=100"      after
 *
 * The caller joins out->model and model, or frees it. */
CQ_API cq_status cq_onnx_step_new(cq_step *out, const cq_onnx_model *model, cq_step_side side,
                                  const char *text);

#ifdef __cplusplus
}
#endif

#endif
