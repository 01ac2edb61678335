/* Test cases in the layout of pytorch-pfn-extras and ONNX's own tests: a model with inputs and
 * outputs. Also strips the weights of models and tensors, to make them small enough for a bug
 * report. */
#ifndef CALQUE_TESTCASE_H
#define CALQUE_TESTCASE_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stripping ---- */

#define CQ_STRIP_THRESHOLD 100

enum {
    /* Keep the model runnable: replace a float weight by nodes that compute a tensor of the same
     * type, shape, mean and variance, deterministically. Requires opset 9. */
    CQ_STRIP_RUNNABLE = 1 << 0
};

typedef struct cq_strip_options {
    size_t   struct_size; /* set by cq_strip_options_init, never by hand */
    uint32_t flags;       /* CQ_STRIP_*; default 0 */
    int64_t  threshold;   /* tensors with more elements are stripped; default CQ_STRIP_THRESHOLD */
} cq_strip_options;

CQ_API void cq_strip_options_init(cq_strip_options *options);

/* Removes the data of large initializers, also in subgraphs. The mean and variance are kept as
 * external data at `{"type": "stripped", "average": …, "variance": …}`, so save the model with
 * CQ_ONNX_SAVE_AS_IS. Tensors of strings or complex numbers, and tensors in external files, are not
 * changed. options may be NULL. */
CQ_API cq_status cq_onnx_model_strip(cq_onnx_model *model, const cq_strip_options *options);

/* The same for a file: a model, or one tensor if its name ends in .pb. out NULL: in place. */
CQ_API cq_status cq_strip_file(const char *path, const char *out, const cq_strip_options *options);

/* Fills stripped tensors, also those of pytorch-pfn-extras, with random numbers of the same mean
 * and variance; equal seeds and tensor names give equal numbers. path is a model, a tensor (.pb),
 * or a folder with a test case. out NULL: in place. */
CQ_API cq_status cq_unstrip(const char *path, const char *out, uint64_t seed);

/* ---- Writing test-cases ---- */

enum {
    CQ_TESTCASE_NO_METADATA = 1 << 0, /* no meta.json */
    CQ_TESTCASE_KEEP_MODEL  = 1 << 1, /* keep an existing model.onnx and write the data into the
                                       * next free test_data_set_N */
    CQ_TESTCASE_STRIP     = 1 << 2,   /* strip the model and the data */
    CQ_TESTCASE_NO_TRACE  = 1 << 3,   /* no effect: the trace is off by default */
    CQ_TESTCASE_GRADIENTS = 1 << 4,   /* gradient_i.pb and gradient_input_i.pb */
    CQ_TESTCASE_TRACE     = 1 << 5    /* export_trace.json.gz: duration of each step */
};

/* Set the defaults with cq_testcase_options_init. All pointers are borrowed during the call. */
typedef struct cq_testcase_options {
    size_t                   struct_size;    /* set by cq_testcase_options_init, never by hand */
    uint32_t                 flags;          /* CQ_TESTCASE_*; default 0 */
    int64_t                  threshold;      /* of CQ_TESTCASE_STRIP; default CQ_STRIP_THRESHOLD */
    const char              *user_meta;      /* a JSON object for meta.json; NULL: none */
    const cq_export_options *export_options; /* NULL: the defaults */
    const char *torch_script; /* a TorchScript archive to copy to model_script.pt; NULL: none */
    const char *torch_trace;  /* the same for model_trace.pt */

    /* For CQ_TESTCASE_GRADIENTS: gradients of the outputs, in order; missing ones are ones. */
    cq_tensor *const *output_gradients;
    size_t            n_output_gradients;
} cq_testcase_options;

CQ_API void cq_testcase_options_init(cq_testcase_options *options);

/* Enough for the key-value cache of a large language model. */
#define CQ_TESTCASE_MAX_OUTPUTS 512

/* The source of a test case: a model that can be exported and run on the same inputs. */
typedef struct cq_testcase_source {
    void *user;
    cq_status (*export_to)(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options);

    /* Runs the model like cq_module_run_as. outputs has room for CQ_TESTCASE_MAX_OUTPUTS; the
     * caller releases those that it sets, whether it succeeds or not. */
    cq_status (*run)(void *user, cq_tensor *const *inputs, size_t n_inputs,
                     const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs);
} cq_testcase_source;

/* Writes model.onnx, meta.json and test_data_set_N/input_i.pb, output_i.pb into folder, which is
 * created if necessary. N is 0 if the model is written; existing *.pb files of that set are
 * deleted. Inputs without a name in the options are called input_0, input_1, …; unused inputs are
 * omitted from model and data. Outputs without a given name have no name in the data. With
 * CQ_TESTCASE_GRADIENTS, gradient_i.pb is the gradient of the i-th parameter, with its name, and
 * gradient_input_i.pb the gradient of output i that the backward pass starts from; the number of a
 * parameter without gradient is skipped, with a warning. Nothing is written if the export or the
 * run fails. */
CQ_API cq_status cq_testcase_write(const char *folder, const cq_testcase_source *source,
                                   cq_tensor *const *inputs, size_t n_inputs,
                                   const cq_testcase_options *options);

/* The same for a module, run in the training mode of the export options. outputs, if not NULL,
 * receives n_outputs tensors, which the caller releases. options may be NULL. */
CQ_API cq_status cq_module_testcase(cq_tensor **outputs, const char *folder, cq_module *module,
                                    cq_tensor *const *inputs, size_t n_inputs, size_t n_outputs,
                                    const cq_testcase_options *options);

#ifdef __cplusplus
}
#endif

#endif
