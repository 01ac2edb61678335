/* Sets of inputs for calibration and comparison: samples.c. */
#ifndef CQ_QUANTIZE_SAMPLES_H
#define CQ_QUANTIZE_SAMPLES_H

#include "edit/proof.h"

#include <calque/quantize.h>

typedef struct cq_samples {
    const cq_onnx_model *m;
    CQ_VEC(char *) paths; /* of sets, or of files with the only input; none: random */
    double  low, high;
    int64_t n;
    size_t  choice; /* of random inputs: an index of cq_input_choices */
} cq_samples;

/* folder NULL: options->n_random random sets. */
cq_status cq_samples_open(cq_samples *out, const cq_onnx_model *m, const char *folder,
                          const cq_quantize_options *options);
void      cq_samples_close(cq_samples *s);

/* Loads or draws set i and runs the session on it; outputs has cq_session_n_outputs values. Random
 * sizes that the model refuses are replaced by others, for i = 0. Clear and release both. */
cq_status cq_samples_run(cq_samples *s, const cq_session *session, int64_t i, cq_input_set *inputs,
                         cq_onnx_value **outputs);

void cq_values_release(cq_onnx_value **values, size_t n); /* values may be NULL; frees the array */

#endif
