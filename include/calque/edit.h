/* Changes ONNX models, with proof: a change is applied to a model in memory, and cq_onnx_prove runs
 * the original and the changed model on the same inputs.
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
    char   sizes[256]; /* other sizes of after's inputs: "right at batch=2,3; runs at H=448,112" */
} cq_proof;

/* Runs both models on the same inputs, at two sizes of dynamic axes where before accepts two, and
 * compares all outputs. A difference beyond the tolerance is CQ_E_TYPE, and the error names the
 * first node whose result differs. If no inputs can be made that before accepts, or its results
 * are random, the call succeeds and proof->skipped says why. Inputs and outputs are matched by
 * name, or by position if names differ. options may be NULL.
 *
 * Where a size of before is dynamic in after, after also runs at two other sizes: an axis
 * that is called batch, or comes first, is a batch, whose samples before computes one by one;
 * along other axes after must run. */
CQ_API cq_status cq_onnx_prove(cq_proof *proof, const cq_onnx_model *before,
                               const cq_onnx_model *after, const cq_proof_options *options);

/* Whether an initializer of the model is stored in an external file. */
CQ_API bool cq_onnx_model_has_external_data(const cq_onnx_model *model);

/* ---- optimizing ---- */

typedef enum cq_optimize_flags {
    CQ_OPTIMIZE_INLINE             = 1, /* inline the model's functions */
    CQ_OPTIMIZE_FOR_ONNXRUNTIME    = 2, /* use operators of com.microsoft */
    CQ_OPTIMIZE_DROP_UNREAD_INPUTS = 4  /* remove inputs of the model that nothing reads */
} cq_optimize_flags;

typedef struct cq_optimize_options {
    size_t             struct_size; /* set by cq_optimize_options_init, never by hand */
    uint32_t           flags;       /* CQ_OPTIMIZE_*; default 0 */
    const char *const *only;        /* names of passes; NULL: all */
    size_t             n_only;
    const char *const *skip; /* names of passes that do not run */
    size_t             n_skip;
} cq_optimize_options;

CQ_API void cq_optimize_options_init(cq_optimize_options *options);

/* The effect of a pass: the number of nodes that it removed, over all its runs. */
typedef struct cq_pass_result {
    const char *name;
    int64_t     removed;
} cq_pass_result;

typedef struct cq_optimize_report {
    size_t         n_passes;
    cq_pass_result passes[32];
    size_t         n_before, n_after; /* nodes of the top graph */
} cq_optimize_report;

/* Makes the model smaller without changing what it computes. Inputs, outputs, metadata, functions
 * and the names of values that remain are kept. report and options may be NULL. */
CQ_API cq_status cq_onnx_model_optimize(cq_onnx_model *model, cq_optimize_report *report,
                                        const cq_optimize_options *options);

/* The name of a pass by index, and what it does; NULL past the last one. */
CQ_API const char *cq_optimize_pass(size_t index, const char **about);

/* Calls of the model's functions become their nodes, and the functions are removed. */
CQ_API cq_status cq_onnx_model_inline(cq_onnx_model *model);

/* ---- converting ---- */

/* Changes the version of ONNX's own operator set, up or down. If the target cannot express some
 * nodes, one error lists all of them and the lowest opset that can; the model must not be used
 * then. */
CQ_API cq_status cq_onnx_model_convert_opset(cq_onnx_model *model, int64_t opset);

/* Converts the model with the older version of ONNX's own operator set to that of the other, as
 * cq_onnx_model_join requires. */
CQ_API cq_status cq_onnx_models_match_opsets(cq_onnx_model *a, cq_onnx_model *b);

typedef enum cq_precision_flags {
    CQ_PRECISION_NO_RUN = 1, /* do not run the model to find values that overflow */
    CQ_PRECISION_IO     = 2  /* change the types of the model's inputs and outputs as well */
} cq_precision_flags;

typedef struct cq_precision_options {
    size_t             struct_size; /* set by cq_precision_options_init, never by hand */
    uint32_t           flags;       /* CQ_PRECISION_*; default 0 */
    const char *const *keep;        /* names of operators and nodes that keep their type */
    size_t             n_keep;
} cq_precision_options;

CQ_API void cq_precision_options_init(cq_precision_options *options);

/* Computes in float16, bfloat16 or float32. Casts are inserted only where types change; inputs and
 * outputs keep their types unless CQ_PRECISION_IO is set. The model is run on random inputs to find
 * values that float16 cannot represent; these stay in float32, as do quantized layers. options may
 * be NULL. */
CQ_API cq_status cq_onnx_model_convert_float(cq_onnx_model *model, cq_dtype to,
                                             const cq_precision_options *options);

/* Gives inputs other sizes: numbers, or names, which are dynamic sizes. A spec is NAME=SIZES, as in
 * "x=batchx3xHxW" or "x=[batch,3,H,W]"; the name may be left out if the model has one input.
 * Constants that were computed from the old sizes (of Reshape, Expand, Slice, Split, Resize, and
 * tensors that others are joined with) are found and computed from the new ones. Nodes that need
 * the old sizes are listed in one error; the model must not be used then. */
CQ_API cq_status cq_onnx_model_convert_inputs(cq_onnx_model *model, const char *const *specs,
                                              size_t n_specs);

/* Renames a value wherever it occurs: an input, an output, an initializer or an inner value. */
CQ_API cq_status cq_onnx_model_rename(cq_onnx_model *model, const char *from, const char *to);

/* Sets the IR version; one that is older than the model's opset needs is an error. */
CQ_API cq_status cq_onnx_model_convert_ir(cq_onnx_model *model, int64_t version);

#ifdef __cplusplus
}
#endif

#endif
