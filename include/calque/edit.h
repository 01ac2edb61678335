/* Changing ONNX models, with proof: a change is applied to a model in memory, and cq_onnx_prove
 * runs the model as it was and as it is now on the same inputs.
 *
 *     cq_onnx_model *before, *after;
 *     cq_proof       proof;
 *     cq_onnx_model_load(&before, "net.onnx");
 *     cq_onnx_model_load(&after, "net.onnx");
 *     … change after …
 *     if (cq_onnx_prove(&proof, before, after, NULL) == CQ_OK)
 *         cq_onnx_model_save(after, "net.better.onnx", NULL); */
#ifndef CALQUE_EDIT_H
#define CALQUE_EDIT_H

#include <calque/onnx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_proof_flags {
    CQ_PROOF_LOSSY = 1, /* the change rounds values: indices and element types may differ */
    CQ_PROOF_FORCE = 2  /* run the models however large their weights are */
} cq_proof_flags;

typedef struct cq_proof_options {
    size_t      struct_size; /* set by cq_proof_options_init, never by hand */
    uint32_t    flags;       /* CQ_PROOF_*; default 0 */
    double      rtol;        /* relative to each number; default 1e-3 */
    double      atol;        /* relative to the largest number of the tensor; default 2e-5 */
    const char *example;     /* a folder with input_0.pb or input_0.npy, …; NULL: random inputs */
    uint64_t    seed;        /* of random inputs; default 0 */
    uint64_t    max_weights; /* models with more bytes of weights are not run; default 2 GB */
    const char *what;        /* the change, for messages: "optimizing"; default "the change" */
} cq_proof_options;

CQ_API void cq_proof_options_init(cq_proof_options *options);

typedef struct cq_proof {
    size_t n_runs;       /* sets of inputs that both models ran on; 0: nothing was compared */
    size_t n_outputs;    /* compared in each run */
    double largest;      /* difference between two numbers */
    char   skipped[512]; /* why nothing was compared, or "" */
} cq_proof;

/* Runs both models on the same inputs, at two sizes of dynamic axes where before accepts two, and
 * compares all outputs. A difference beyond the tolerance is CQ_E_TYPE, and the error names the
 * first node whose result differs. If no inputs can be made that before accepts, or its results
 * are random, the call succeeds and proof->skipped says why. Inputs and outputs belong together by
 * name, or by position where names differ. options may be NULL. */
CQ_API cq_status cq_onnx_prove(cq_proof *proof, const cq_onnx_model *before,
                               const cq_onnx_model *after, const cq_proof_options *options);

/* Whether some initializer of the model lies in an external file. */
CQ_API bool cq_onnx_model_has_external_data(const cq_onnx_model *model);

#ifdef __cplusplus
}
#endif

#endif
