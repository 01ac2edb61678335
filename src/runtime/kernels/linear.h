/* A product by a constant matrix with its bias and activation, which replaces MatMul or Gemm and
 * the steps after it. */
#ifndef CQ_RUNTIME_KERNELS_LINEAR_H
#define CQ_RUNTIME_KERNELS_LINEAR_H

#include "base/lock.h"
#include "kernel/matrix/packed.h"
#include "runtime/call.h"

#include <stdatomic.h>

typedef struct cq_rt_linear {
    cq_tensor *shape; /* of the matrix, without data */
    int64_t    k, n, row, col;
    float     *bias;      /* owned; NULL: none */
    bool       is_matrix; /* the left operand must be a matrix, too */
    bool       clamps, activates;
    float      lo, hi;
    cq_ew_op   act;
    cq_params  act_params;

    /* Packed when it is first multiplied by several rows, or after a number of single rows. */
    cq_mutex             lock;
    cq_tensor           *b; /* element (i, j) is at i * row + j * col; NULL: only packed */
    uint32_t             n_alone;
    _Atomic(cq_packed *) packed;
} cq_rt_linear;

cq_status cq_rt_linear_new(cq_rt_linear **out, cq_tensor *b, bool transposed);
void      cq_rt_linear_free(void *linear);

extern const cq_rt_row cq_rt_row_linear;

#endif
