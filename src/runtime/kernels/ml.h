/* Helpers of ai.onnx.ml models: rows of features, scores and labels. */
#ifndef CQ_RUNTIME_KERNELS_ML_H
#define CQ_RUNTIME_KERNELS_ML_H

#include "runtime/call.h"

/* X as rows of doubles; a tensor with one axis is one row. */
typedef struct cq_ml_rows {
    cq_operands   s;
    const double *at;
    int64_t       n, width;
} cq_ml_rows;

cq_status cq_ml_rows_open(cq_ml_rows *rows, const cq_tensor *x);

typedef enum cq_ml_transform {
    CQ_ML_NONE,
    CQ_ML_SOFTMAX,
    CQ_ML_LOGISTIC,
    CQ_ML_SOFTMAX_ZERO,
    CQ_ML_PROBIT
} cq_ml_transform;

cq_status cq_ml_transform_of(cq_ml_transform *out, const cq_rt *rt); /* post_transform */
void      cq_ml_transform_row(double *scores, int64_t n, cq_ml_transform how);

/* Expands one score of two classes to two: s and its opposite, which is 1 - s or, if signed, -s. */
void cq_ml_second_score(double scores[2], bool is_signed, cq_ml_transform how);

/* The number of class labels, strings or the integers of another attribute; 0 if neither is
 * given. */
int64_t cq_ml_n_labels(const cq_rt *rt, const char *ints);

/* Sets output 0 to the labels with the n indices in `which`. */
cq_status cq_ml_set_labels(cq_rt *rt, const char *ints, const int64_t *which, int64_t n);

/* Reads a list of floats from the attribute `name` or from the tensor in name_as_tensor; wanted is
 * the expected length, or -1 for any length. *out is owned; NULL if the attribute is missing. */
cq_status cq_ml_floats(double **out, int64_t *n, const cq_rt *rt, const char *name);

int64_t cq_ml_greatest(const double *scores, int64_t n); /* the index of the first greatest score */

#endif
