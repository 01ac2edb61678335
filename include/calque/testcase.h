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

#ifdef __cplusplus
}
#endif

#endif
