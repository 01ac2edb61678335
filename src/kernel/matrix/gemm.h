/* Matrix multiplication: C = alpha * A * B + beta * C + bias.
 *
 * A and B have any strides, C has rows of unit stride. A is packed as a whole before the
 * multiplication starts (or once for many, cq_gemm_pack_a); B is packed tile by tile, from a
 * matrix or from whatever pack_b makes of it, which is how a convolution multiplies by
 * an image without unfolding it first.
 *
 * The tensor-level call is cq_kernel_matmul in kernel/matrix/matmul.h. */
#ifndef CQ_KERNEL_MATRIX_GEMM_H
#define CQ_KERNEL_MATRIX_GEMM_H

#include "tensor/tensor.h"

typedef struct cq_matrix {
    const void *data;
    int64_t     row, col; /* strides in elements */
} cq_matrix;

/* Writes rows [k0, k0 + kc) and columns [n0, n0 + nc) of B as panels of nr columns:
 * element (k, n) goes to panel n / nr, then row k of kc, then column n % nr. Columns past
 * nc in the last panel are zero. */
typedef void (*cq_pack_b_fn)(void *dst, const void *user, int64_t k0, int64_t kc, int64_t n0,
                             int64_t nc, int nr);

typedef struct cq_gemm {
    cq_dtype  dtype; /* F32, F64, C128, or I64, which wraps around */
    int64_t   m, n, k;
    cq_matrix a, b;
    void     *c;
    int64_t   ldc;
    double    alpha, beta; /* beta 0: C is not read */

    const void  *row_bias; /* m elements added to the rows' elements, or NULL */
    const void  *col_bias; /* n elements added to the columns; not both */
    const void  *packed_a; /* instead of a */
    cq_pack_b_fn pack_b;   /* instead of b */
    const void  *pack_b_user;
} cq_gemm;

cq_status cq_gemm_run(const cq_gemm *g);

/* A in the layout of packed_a, for any n; free with cq_free_aligned. */
cq_status cq_gemm_pack_a(void **out, cq_dtype dtype, int64_t m, int64_t k, cq_matrix a);

#endif
