/* Test-cases in the layout of pytorch-pfn-extras, which is that of ONNX's own tests: a model with
 * the inputs it was given and the outputs it gave. And models and tensors without their weights,
 * small enough for a bug report. */
#ifndef CALQUE_TESTCASE_H
#define CALQUE_TESTCASE_H

#include <calque/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stripping ---- */

#define CQ_STRIP_THRESHOLD 100

enum {
    /* The model still runs: in place of a float weight are a few nodes that compute a tensor of
     * its type, shape, mean and variance, the same each time. Needs opset 9 or newer. */
    CQ_STRIP_RUNNABLE = 1 << 0
};

typedef struct cq_strip_options {
    size_t   struct_size; /* set by cq_strip_options_init, never by hand */
    uint32_t flags;       /* CQ_STRIP_*; default 0 */
    int64_t  threshold;   /* tensors with more elements are stripped; default CQ_STRIP_THRESHOLD */
} cq_strip_options;

CQ_API void cq_strip_options_init(cq_strip_options *options);

/* Takes the data out of large initializers, those of subgraphs too. What is left says its mean
 * and variance, as external data at `{"type": "stripped", "average": …, "variance": …}`, so
 * save the model with CQ_ONNX_SAVE_AS_IS. Tensors of texts or complex numbers, and those that
 * are in external files already, stay. options may be NULL. */
CQ_API cq_status cq_onnx_model_strip(cq_onnx_model *model, const cq_strip_options *options);

/* The same for a file: a model, or one tensor if its name ends in .pb. out NULL: in place. */
CQ_API cq_status cq_strip_file(const char *path, const char *out, const cq_strip_options *options);

/* Fills what was stripped, here or by pytorch-pfn-extras, with random numbers of the same mean
 * and variance; the same seed and name of a tensor give the same numbers. path is a model, a
 * tensor (.pb), or a folder with a test-case. out NULL: in place. */
CQ_API cq_status cq_unstrip(const char *path, const char *out, uint64_t seed);

/* ---- Writing test-cases ---- */

enum {
    CQ_TESTCASE_NO_METADATA = 1 << 0, /* no meta.json */
    CQ_TESTCASE_KEEP_MODEL  = 1 << 1, /* a model.onnx that is there stays, and the data goes to the
                                       * next test_data_set_N that is not there yet */
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

    /* Of CQ_TESTCASE_GRADIENTS: those of the outputs, in order; ones where there is none. */
    cq_tensor *const *output_gradients;
    size_t            n_output_gradients;
} cq_testcase_options;

CQ_API void cq_testcase_options_init(cq_testcase_options *options);

/* A key and a value of every layer of a language model, and more. */
#define CQ_TESTCASE_MAX_OUTPUTS 512

/* Where a test-case comes from: what can be exported, and be run on the same inputs. */
typedef struct cq_testcase_source {
    void *user;
    cq_status (*export_to)(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options);

    /* Runs the model, as cq_module_run_as. outputs has room for CQ_TESTCASE_MAX_OUTPUTS;
     * those it sets are released by the caller, whether it succeeds or not. */
    cq_status (*run)(void *user, cq_tensor *const *inputs, size_t n_inputs,
                     const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs);
} cq_testcase_source;

/* Writes model.onnx, meta.json and test_data_set_N/input_i.pb, output_i.pb into folder, which is
 * made if need be. N is 0 when the model was written; *.pb files in that set are deleted first.
 * Inputs without a name in the options are called input_0, input_1, …; those that the model does
 * not use are left out, of the model and of the data. Outputs without a name of their own have none
 * in the data. With CQ_TESTCASE_GRADIENTS there are gradient_i.pb for the i-th parameter, by its
 * name, and gradient_input_i.pb with the gradient of output i that they come from; a parameter
 * without one leaves its number free, with a warning. Nothing is written if the export or the run
 * fails. */
CQ_API cq_status cq_testcase_write(const char *folder, const cq_testcase_source *source,
                                   cq_tensor *const *inputs, size_t n_inputs,
                                   const cq_testcase_options *options);

/* The same for a module, run in the mode that the options of the export say. outputs may be NULL;
 * else it gets n_outputs tensors, which are the caller's to release. options may be NULL. */
CQ_API cq_status cq_module_testcase(cq_tensor **outputs, const char *folder, cq_module *module,
                                    cq_tensor *const *inputs, size_t n_inputs, size_t n_outputs,
                                    const cq_testcase_options *options);

#ifdef __cplusplus
}
#endif

#endif
