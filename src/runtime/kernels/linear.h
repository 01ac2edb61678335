/* A product by a constant matrix with its bias and activation. It replaces MatMul or Gemm and the
 * steps after it. */
#ifndef CQ_RUNTIME_KERNELS_LINEAR_H
#define CQ_RUNTIME_KERNELS_LINEAR_H

#include "base/lock.h"
#include "kernel/matrix/packed.h"
#include "runtime/call.h"

#include <stdatomic.h>

typedef struct cq_rt_linear {
    cq_tensor *shape; /* tensor without data that has the shape of the matrix */
    int64_t    k, n, row, col;
    float     *bias;      /* owned; may be NULL */
    bool       is_matrix; /* the left operand must be a matrix */
    bool       clamps, activates;
    float      lo, hi;
    cq_ew_op   act;
    cq_params  act_params;

    /* Packed on the first product with several rows, or after a number of single-row products. */
    cq_mutex   lock;
    cq_tensor *b; /* element (i, j) is at i * row + j * col; NULL if the matrix is only
                   * packed */
    uint32_t             n_alone;
    _Atomic(cq_packed *) packed;
} cq_rt_linear;

cq_status cq_rt_linear_new(cq_rt_linear **out, cq_tensor *b, bool transposed);
void      cq_rt_linear_free(void *linear);

extern const cq_rt_row cq_rt_row_linear;

#endif
